//! Arbiters of lanes: what a scenario writes under `crossbar_input`, `link_output` and `adapter_port` as plans.
//!
//! ```text
//!   weights, quanta, rates, levels ──► one value a lane ──┐
//!   tables of InfiniBand, a file ────► lanes that exist ──┴─► ArbiterPlan ─► lanes that are served ⊇ lanes of a class
//! ```
//!
//! Invariant: [`gingham_model::LaneArbiter::new`] takes every plan that comes from here.

mod file;
mod notes;
mod served;

pub(super) use notes::note;
pub(super) use served::check as check_served;

use super::Gathered;
use crate::error::LabError;
use crate::scenario::{LaneParameters, ScenarioSource};
use gingham_model::scheduler::{LaneRate, Quanta, TableSlot, Tables};
use gingham_model::{ArbiterPlan, Crossbar, Granularity, Scheduler, SchedulerPlan};
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE};
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables, PortKind};
use std::num::NonZeroU64;

/// The most slots of a table of InfiniBand.
const SLOTS_MAX: usize = 64;

/// The highest level of strict priority.
const LEVEL_MAX: u8 = 15;

/// Where an arbiter stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// At the input ports of a multiplexed crossbar.
    CrossbarInput,
    /// At the output ports of a switch.
    LinkOutput,
    /// At the port of an adapter.
    AdapterPort,
}

impl Place {
    const fn key(self) -> &'static str {
        match self {
            Self::CrossbarInput => "network.lanes.crossbar_input",
            Self::LinkOutput => "network.lanes.link_output",
            Self::AdapterPort => "network.lanes.adapter_port",
        }
    }

    /// The ports whose tables in `opensm.conf` are taken.
    const fn port_kind(self) -> PortKind {
        match self {
            Self::CrossbarInput | Self::LinkOutput => PortKind::SwitchOuter,
            Self::AdapterPort => PortKind::Adapter,
        }
    }
}

/// What an arbiter chooses among.
#[derive(Clone, Copy, Debug)]
pub(super) struct Among {
    /// Lanes of a channel.
    pub(super) count: u8,
    /// Bytes of a flit.
    pub(super) flit_bytes: u32,
    /// Lanes with virtual cut-through.
    pub(super) cut_through: LaneSet,
    /// How lanes share the crossbar.
    pub(super) crossbar: Crossbar,
}

/// The plans of the arbiters of a network.
pub(super) struct Arbiters {
    pub(super) crossbar_input: ArbiterPlan,
    pub(super) link_output: ArbiterPlan,
    pub(super) adapter_port: ArbiterPlan,
}

impl Arbiters {
    pub(super) fn of(
        source: &ScenarioSource,
        lanes: &LaneParameters,
        among: Among,
        gathered: &mut Gathered,
    ) -> Result<Self, LabError> {
        let mut plan = |place, scheduler| Reader { source, place, among }.plan(scheduler, gathered);
        Ok(Self {
            crossbar_input: plan(Place::CrossbarInput, &lanes.crossbar_input)?,
            link_output: plan(Place::LinkOutput, &lanes.link_output)?,
            adapter_port: plan(Place::AdapterPort, &lanes.adapter_port)?,
        })
    }
}

struct Reader<'a> {
    source: &'a ScenarioSource,
    place: Place,
    among: Among,
}

impl Reader<'_> {
    fn plan(&self, written: &Scheduler, gathered: &mut Gathered) -> Result<ArbiterPlan, LabError> {
        self.check_place(written)?;
        let scheduler = self.scheduler(written, gathered)?;
        let plan = ArbiterPlan { scheduler, granularity: written.granularity() };
        plan.check(self.among.count).map_err(|error| self.refuse(written.name(), error))?;
        Ok(plan)
    }

    fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("{}.{key}", self.place.key()), message).into()
    }

    /// Whether there can be such an arbiter at the place.
    fn check_place(&self, scheduler: &Scheduler) -> Result<(), LabError> {
        let refuse = |message: &str| Err(self.source.refuse(self.place.key(), message).into());
        let Among { count, cut_through, crossbar, .. } = self.among;
        if crossbar == Crossbar::Full
            && self.place == Place::CrossbarInput
            && *scheduler != Scheduler::default()
        {
            return refuse(
                "every lane has its own way into a full crossbar, so that nothing chooses there: leave the key out, or \
                 say crossbar = \"multiplexed\"",
            );
        }
        if scheduler.granularity() == Granularity::Packet && cut_through != LaneSet::first_n(count)
        {
            return refuse(
                "by the packet, a packet that waits for credits would hold up the other lanes: let all lanes have \
                 forwarding = \"virtual-cut-through\", or choose by = \"flit\" (not under infiniband)",
            );
        }
        Ok(())
    }

    fn scheduler(
        &self,
        written: &Scheduler,
        gathered: &mut Gathered,
    ) -> Result<SchedulerPlan, LabError> {
        Ok(match written {
            Scheduler::RoundRobin(_) => SchedulerPlan::RoundRobin,
            Scheduler::FirstComeFirstServed(_) => SchedulerPlan::FirstComeFirstServed,
            Scheduler::WeightedRoundRobin(of) => {
                self.one_a_lane("weighted-round-robin.weights", &of.weights)?;
                SchedulerPlan::WeightedRoundRobin { weights: of.weights.clone() }
            }
            Scheduler::SurplusRoundRobin(of) => {
                let quanta_bytes = self.quanta("surplus-round-robin.quanta", of)?;
                SchedulerPlan::SurplusRoundRobin { quanta_bytes }
            }
            Scheduler::DeficitRoundRobin(of) => {
                let quanta_bytes = self.quanta("deficit-round-robin.quanta", of)?;
                SchedulerPlan::DeficitRoundRobin { quanta_bytes }
            }
            Scheduler::VirtualClock(of) => {
                self.one_a_lane("virtual-clock.rates", &of.rates)?;
                let rate = |rate: &LaneRate| match rate {
                    LaneRate::Reserved(rate) => NonZeroU64::new(rate.bytes_per_second()),
                    LaneRate::BestEffort => None,
                };
                let rates_bytes_per_second = of.rates.iter().map(rate).collect();
                SchedulerPlan::VirtualClock { rates_bytes_per_second }
            }
            Scheduler::StrictPriority(of) => {
                self.one_a_lane("strict-priority.levels", &of.levels)?;
                if let Some(lane) = of.levels.iter().position(|level| *level > LEVEL_MAX) {
                    let message = format!("levels are 0 to {LEVEL_MAX}, not {}", of.levels[lane]);
                    let key = format!("strict-priority.levels.{lane}");
                    return Err(self.refuse(&key, message));
                }
                SchedulerPlan::StrictPriority { levels: of.levels.clone() }
            }
            Scheduler::InfiniBand(of) => SchedulerPlan::InfiniBand(self.tables(of, gathered)?),
        })
    }

    /// What is given by lane is given once for each.
    fn one_a_lane<T>(&self, key: &str, values: &[T]) -> Result<(), LabError> {
        let (values, lanes) = (values.len(), usize::from(self.among.count));
        if values == lanes {
            return Ok(());
        }
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let message = format!(
            "{values} value{} for {lanes} lane{}: give one for each lane, lane 0 first (network.lanes.count says how \
             many there are)",
            plural(values),
            plural(lanes)
        );
        Err(self.refuse(key, message))
    }

    fn quanta(&self, key: &str, of: &Quanta) -> Result<Vec<u32>, LabError> {
        self.one_a_lane(key, &of.quanta)?;
        let flit_bytes = self.among.flit_bytes;
        let quantum = |(lane, quantum): (usize, &gingham_kernel::Bytes)| {
            let bytes = u32::try_from(quantum.0).ok();
            bytes.filter(|bytes| *bytes == 0 || *bytes >= flit_bytes).ok_or_else(|| {
                let message = format!(
                    "a turn is at least a flit, {flit_bytes} B, and less than 4 GiB, or `0 B` for a lane that is never \
                     served, not {quantum}"
                );
                self.refuse(&format!("{key}.{lane}"), message)
            })
        };
        of.quanta.iter().enumerate().map(quantum).collect()
    }

    fn tables(&self, of: &Tables, gathered: &mut Gathered) -> Result<ArbitrationTables, LabError> {
        if let Some(name) = &of.file {
            if of.high.is_some() || of.low.is_some() {
                let message =
                    "the tables come from the file or are written here: leave out one of both";
                return Err(self.refuse("infiniband.file", message));
            }
            return self.tables_of_file(name, of.high_limit, gathered);
        }
        let high_limit = of.high_limit.unwrap_or_default();
        if of.high.is_none() && of.low.is_none() {
            let ArbitrationTables { high, low, .. } = ArbitrationTables::default();
            let there = |slots: Vec<ArbitrationSlot>| {
                slots.into_iter().filter(|it| self.has(it.lane)).collect()
            };
            return Ok(ArbitrationTables { high_limit, high: there(high), low: there(low) });
        }
        let table = |key, slots: &Option<Vec<TableSlot>>| {
            slots.as_deref().map_or(Ok(Vec::new()), |slots| self.table(key, slots))
        };
        let high = table("infiniband.high", &of.high)?;
        Ok(ArbitrationTables { high_limit, high, low: table("infiniband.low", &of.low)? })
    }

    fn has(&self, lane: u8) -> bool {
        lane < self.among.count && lane < MANAGEMENT_LANE
    }

    fn table(&self, key: &str, slots: &[TableSlot]) -> Result<Vec<ArbitrationSlot>, LabError> {
        if slots.len() > SLOTS_MAX {
            let message = format!(
                "a table has at most {SLOTS_MAX} slots, as ports of InfiniBand do, not {}",
                slots.len()
            );
            return Err(self.refuse(key, message));
        }
        if let Some(index) = slots.iter().position(|slot| !self.has(slot.lane)) {
            let lane = slots[index].lane;
            let message = if lane == MANAGEMENT_LANE {
                "lane 15 goes before both tables and has no slot; leave it out".to_owned()
            } else {
                format!(
                    "there is no lane {lane}: {} are numbered from 0 (network.lanes.count)",
                    self.among.count
                )
            };
            return Err(self.refuse(&format!("{key}.{index}.lane"), message));
        }
        Ok(slots
            .iter()
            .map(|slot| ArbitrationSlot { lane: slot.lane, weight: slot.weight })
            .collect())
    }
}
