//! Arbiters of lanes: what a scenario writes under `crossbar_input`, `crossbar_output`,
//! `link_output` and `adapter_port` as plans.
//!
//! ```text
//!   weights, quanta, rates, levels ──► one value a lane ──┐
//!   tables of InfiniBand, a file ────► lanes that exist ──┴─► Scheduler ─► lanes that are served ⊇ lanes of a class
//! ```
//!
//! Invariant: [`gingham_net::LaneArbiter::new`] takes every scheduler that comes from here.

mod file;
mod notes;
mod served;

pub(crate) use notes::{note_idle_link, note_over_reserved};
pub(crate) use served::check as check_served;

use crate::compile::gathered::Gathered;
use crate::compile::written::whose;
use crate::error::LabError;
use crate::scenario::{LaneParameters, PipelineParameters, ScenarioSource};
use gingham_net::scheduler::Fault;
use gingham_net::{ArbiterPlace, Crossbar, Granularity, Scheduler};
use gingham_topology::routing::LaneSet;
use gingham_topology::subnet::PortKind;

/// What a scenario and a real fabric call a place.
trait Place {
    /// Its key.
    fn key(self) -> &'static str;

    /// The ports whose tables in `opensm.conf` are taken.
    fn port_kind(self) -> PortKind;
}

impl Place for ArbiterPlace {
    fn key(self) -> &'static str {
        match self {
            Self::CrossbarInput => "network.lanes.crossbar_input",
            Self::CrossbarOutput => "network.lanes.crossbar_output",
            Self::LinkOutput => "network.lanes.link_output",
            Self::AdapterPort => "network.lanes.adapter_port",
        }
    }

    fn port_kind(self) -> PortKind {
        match self {
            Self::CrossbarInput | Self::CrossbarOutput | Self::LinkOutput => PortKind::SwitchOuter,
            Self::AdapterPort => PortKind::Adapter,
        }
    }
}

/// What an arbiter chooses among.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    /// Lanes of a channel.
    pub(crate) count: u8,
    /// Bytes of a flit.
    pub(crate) flit_bytes: u32,
    /// Lanes with virtual cut-through.
    pub(crate) cut_through: LaneSet,
}

/// How link outputs and adapter ports choose, in any network with lanes.
pub(crate) fn ports(
    source: &ScenarioSource,
    lanes: &LaneParameters,
    among: Among,
    gathered: &mut Gathered,
) -> Result<[Scheduler; 2], LabError> {
    let mut plan = |place, scheduler| Reader { source, place, among }.plan(scheduler, gathered);
    Ok([
        plan(ArbiterPlace::LinkOutput, &lanes.arbiters.link_output)?,
        plan(ArbiterPlace::AdapterPort, &lanes.arbiters.adapter_port)?,
    ])
}

/// Refuses arbiters of link outputs and adapter ports that are told to choose by the flit, where
/// packets are not cut into any.
pub(crate) fn refuse_by_the_flit(source: &ScenarioSource) -> Result<(), LabError> {
    let lanes = &source.scenario.network.lanes;
    let places = [
        (ArbiterPlace::LinkOutput, &lanes.link_output),
        (ArbiterPlace::AdapterPort, &lanes.adapter_port),
    ];
    for (place, written) in places {
        let Some(facts) = written.as_ref().map(Scheduler::facts) else { continue };
        let key = format!("{}.{}.by", place.key(), facts.name);
        if facts.by == Granularity::Flit && source.tree.get(&key).is_some() {
            let message = "whole packets are not cut into flits, so that an arbiter chooses by the packet: say by = \"packet\", \
                           or leave the key out";
            return Err(source.refuse(&key, message).into());
        }
    }
    Ok(())
}

/// How the input ports of the crossbar of a switch of five stages choose, and its output ports,
/// where something chooses there.
pub(crate) fn crossbar(
    source: &ScenarioSource,
    switch: &PipelineParameters,
    among: Among,
    gathered: &mut Gathered,
) -> Result<(Scheduler, Option<Scheduler>), LabError> {
    let (input, output) = (&switch.crossbar_input, switch.crossbar_output.as_ref());
    let is_full = switch.crossbar == Crossbar::Full;
    for (place, way, is_said) in [
        (ArbiterPlace::CrossbarInput, "into", *input != Scheduler::default()),
        (ArbiterPlace::CrossbarOutput, "out of", output.is_some()),
    ] {
        if is_full && is_said {
            let message = format!(
                "every lane has its own way {way} a full crossbar{}, so that nothing chooses there: leave the key out, or say \
                 network.lanes.crossbar = \"multiplexed\"",
                whose(source, "network.lanes.crossbar")
            );
            return Err(source.refuse(place.key(), message).into());
        }
    }
    let mut plan = |place, scheduler| Reader { source, place, among }.plan(scheduler, gathered);
    let input = plan(ArbiterPlace::CrossbarInput, input)?;
    let output = output.map(|output| plan(ArbiterPlace::CrossbarOutput, output)).transpose()?;
    Ok((input, output))
}

struct Reader<'a> {
    source: &'a ScenarioSource,
    place: ArbiterPlace,
    among: Among,
}

impl Reader<'_> {
    /// The scheduler that is written, with the tables of its file where it names one.
    fn plan(&self, written: &Scheduler, gathered: &mut Gathered) -> Result<Scheduler, LabError> {
        self.check_place(written)?;
        let mut scheduler = written.clone();
        if let Scheduler::InfiniBand(tables) = &mut scheduler {
            self.resolve(tables, gathered)?;
        }
        let Among { count, flit_bytes, .. } = self.among;
        scheduler.check(count, flit_bytes).map_err(|Fault { key, message }| {
            let name = scheduler.facts().name.to_owned();
            self.refuse(&if key.is_empty() { name } else { format!("{name}.{key}") }, message)
        })?;
        Ok(scheduler)
    }

    fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("{}.{key}", self.place.key()), message).into()
    }

    /// Whether there can be such an arbiter at the place.
    fn check_place(&self, scheduler: &Scheduler) -> Result<(), LabError> {
        let Among { count, cut_through, .. } = self.among;
        if scheduler.facts().by == Granularity::Packet && cut_through != LaneSet::first_n(count) {
            let message = "by the packet, a packet that waits for credits would hold up the other lanes: let all lanes \
                           have forwarding = \"virtual-cut-through\", or choose by = \"flit\" (not under infiniband)";
            return Err(self.source.refuse(self.place.key(), message).into());
        }
        Ok(())
    }
}
