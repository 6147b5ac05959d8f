//! Compilation of switches of whole packets: their parameters, limits and notes.
//!
//! ```text
//!   network.packets ─► blocks of buffers, delays, reading, marks ────────┐
//!   network.lanes ───► LaneFigures, arbiters that choose by the packet ─┴► PacketsPlan
//! ```
//!
//! Invariants: every packet fits into the buffer of any lane that it may use; a byte arrives in at
//! most the forwarding delay of a packet; if lanes are paused, buffers have the headroom.

mod limits;
mod notes;
pub(crate) mod section;

use super::gathered::Gathered;
use super::lanes::{LaneFigures, Room, check_rooms, count_of_lanes, note_unused};
use crate::check::{Subject, check as check_rows};
use crate::error::LabError;
use crate::mechanisms::arbiters::{self, Among};
use crate::mechanisms::flow_control;
use crate::scenario::{PacketsParameters, Parameters, ScenarioSource};
use gingham_net::{BLOCK_BYTES, PacketsPlan, Plan};
use gingham_topology::routing::LaneSet;
use section::Section;

/// Returns the plan of switches of whole packets, and the lane settings.
pub(super) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    switch: &PacketsParameters,
    overhead_bytes: u32,
    gathered: &mut Gathered,
) -> Result<(PacketsPlan, LaneFigures), LabError> {
    let of = Section { source };
    let count = count_of_lanes(source, &switch.lanes)?;
    let buffer_blocks = of.buffer_blocks("buffer", &switch.buffer, count)?;
    let output_blocks = of.output_blocks(switch.output_buffer.as_ref(), count)?;
    let among = Among { count, flit_bytes: 1, cut_through: LaneSet::first_n(count) };
    let lanes = Subject::of_table(source, "network.lanes", &source.scenario.network.lanes);
    check_rows(&arbiters::of_packets(), &lanes, gathered)?;
    let ports = arbiters::ports(source, &switch.lanes, among, gathered)?;
    let overtaking = of.overtaking(switch.overtaking)?;
    let table = Subject::of_table(source, "network.packets", switch);
    check_rows(&flow_control::of_keys(), &table, gathered)?;
    let packets = PacketsPlan {
        overhead_bytes,
        forwarding_delay: switch.forwarding_delay,
        head_interval: switch.head_interval,
        buffer_blocks,
        output_blocks,
        read: switch.read,
        overtaking,
        credit_delay: switch.credit_delay,
        credit_loss: flow_control::credit_loss(switch),
        pauses: flow_control::pauses(switch),
        arbitration: parameters.arbitration,
    };
    Ok((packets, LaneFigures::of(source, count, ports)?))
}

/// Returns the payload of a packet that fills the smallest buffer of some lanes, which adaptive
/// segments count per switch.
pub(super) fn held_bytes(packets: &PacketsPlan, lanes: LaneSet) -> u64 {
    let blocks = lanes.lanes().map(|lane| packets.buffer_blocks[usize::from(lane)]).min();
    let bytes = u64::from(blocks.unwrap_or(1)) * u64::from(BLOCK_BYTES);
    bytes.saturating_sub(packets.overhead_bytes.into()).max(1)
}

/// Refuses plans that switches of whole packets cannot run, and notes unexpected properties.
pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    packets: &PacketsPlan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    limits::check(source, plan, packets)?;
    let room = Room {
        lanes: LaneSet::first_n(plan.lanes.count),
        holds: &packets.buffer_blocks,
        takes: &|payload| PacketsPlan::blocks(packets.wire_bytes(payload)),
        key: "network.packets.buffer",
        kind: "",
        unit: "blocks of 64 B",
    };
    check_rooms(source, plan, &room)?;
    if let Some(holds) = &packets.output_blocks {
        check_rooms(source, plan, &Room { holds, key: "network.packets.output_buffer", ..room })?;
    }
    notes::note_small(plan, packets, gathered);
    note_unused(plan, gathered);
    Ok(())
}
