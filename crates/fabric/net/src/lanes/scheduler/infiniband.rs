//! InfiniBand's high-priority and low-priority arbitration tables, with lane 15 above both.
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.6.9.

use super::{DependsOn, Facts, Fault, Granularity, LaneScheduler};
use gingham_kernel::FileName;
use gingham_topology::routing::{LANES_MAX, MANAGEMENT_LANE};
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SLOTS_MAX: usize = 64;

/// Parameters of `infiniband`: tables, or a file that contains them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InfiniBand {
    /// Slots of the high-priority table, at most 64; none if only `low` is given.
    pub high: Option<Vec<TableSlot>>,
    /// Slots of the low-priority table, at most 64; none if only `high` is given.
    pub low: Option<Vec<TableSlot>>,
    /// Amount that the high-priority table may send before a low-priority packet has its turn, in
    /// units of 4,096 bytes: 0 for a single packet, 255 for no limit. Default: the value in the
    /// file, or else 0.
    pub high_limit: Option<u8>,
    /// File with the tables: an `opensm.conf` (with its lines for switches or adapters), or outputs
    /// of `smpquery vlarb`, which must all agree. The path is relative to the scenario.
    pub file: Option<FileName>,
}

/// Slot of an InfiniBand arbitration table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSlot {
    /// Lane, 0 to 14. A lane may have several slots, in both tables.
    pub lane: u8,
    /// Amount that the lane may send per turn, in units of 64 bytes; 0 skips the slot.
    pub weight: u8,
}

impl InfiniBand {
    /// Creates the parameters from the tables of a file or port.
    pub fn of(ArbitrationTables { high_limit, high, low }: ArbitrationTables) -> Self {
        let slots = |slots: Vec<ArbitrationSlot>| {
            slots
                .into_iter()
                .map(|ArbitrationSlot { lane, weight }| TableSlot { lane, weight })
                .collect()
        };
        let (high, low) = (Some(slots(high)), Some(slots(low)));
        Self { high, low, high_limit: Some(high_limit), file: None }
    }

    /// Returns the tables for `lanes` lanes. By default, these are OpenSM's tables without the
    /// slots of missing lanes.
    pub fn arbitration(&self, lanes: u8) -> ArbitrationTables {
        let high_limit = self.high_limit.unwrap_or_default();
        if self.high.is_none() && self.low.is_none() {
            let ArbitrationTables { high, low, .. } = ArbitrationTables::default();
            let there = |slots: Vec<ArbitrationSlot>| {
                slots.into_iter().filter(|it| has_slots(it.lane, lanes)).collect()
            };
            return ArbitrationTables { high_limit, high: there(high), low: there(low) };
        }
        let slots = |slots: &Option<Vec<TableSlot>>| {
            let slot = |slot: &TableSlot| ArbitrationSlot { lane: slot.lane, weight: slot.weight };
            slots.iter().flatten().map(slot).collect()
        };
        ArbitrationTables { high_limit, high: slots(&self.high), low: slots(&self.low) }
    }
}

/// Returns whether a table for `lanes` lanes may have slots for `lane`.
pub const fn has_slots(lane: u8, lanes: u8) -> bool {
    lane < lanes && lane < MANAGEMENT_LANE
}

impl LaneScheduler for InfiniBand {
    type Arbiter = gingham_fairq::TwoLevelTables;

    fn facts(&self) -> Facts {
        let ArbitrationTables { high, low, .. } = self.arbitration(LANES_MAX);
        let slots = high.iter().chain(&low).filter(|slot| slot.weight > 0).map(|slot| slot.lane);
        let served =
            slots.filter(|lane| has_slots(*lane, LANES_MAX)).chain([MANAGEMENT_LANE]).collect();
        let by = Granularity::Packet;
        Facts { name: "infiniband", depends_on: DependsOn::Lengths, by, served }
    }

    fn by_packet(self) -> Self {
        self
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        assert!(self.file.is_none(), "the tables of a file were put in its place");
        for (key, slots) in [("high", &self.high), ("low", &self.low)] {
            check_table(key, slots.as_deref().unwrap_or_default(), lanes)?;
        }
        let ArbitrationTables { high_limit, high, low } = self.arbitration(lanes);
        let [high, low] = [high, low].map(|slots| {
            let slot = |slot: &ArbitrationSlot| gingham_fairq::Slot {
                queue: slot.lane,
                weight: slot.weight,
            };
            slots.iter().map(slot).collect::<Vec<_>>()
        });
        Ok(gingham_fairq::TwoLevelTables::new(lanes.into(), &high, &low, high_limit)?)
    }
}

fn check_table(key: &str, slots: &[TableSlot], lanes: u8) -> Result<(), Fault> {
    if slots.len() > SLOTS_MAX {
        let message = format!(
            "a table has at most {SLOTS_MAX} slots, as ports of InfiniBand do, not {}",
            slots.len()
        );
        return Err(Fault { key: key.to_owned(), message });
    }
    let Some(index) = slots.iter().position(|slot| !has_slots(slot.lane, lanes)) else {
        return Ok(());
    };
    let lane = slots[index].lane;
    let message = if lane == MANAGEMENT_LANE {
        "lane 15 goes before both tables and has no slot; leave it out".to_owned()
    } else {
        format!("lane {lane} does not exist: {lanes} are numbered from 0 (network.lanes.count)")
    };
    Err(Fault { key: format!("{key}.{index}.lane"), message })
}
