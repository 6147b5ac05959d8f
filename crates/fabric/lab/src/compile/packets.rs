//! Compilation of whole-packet switches.
//!
//! Invariants: every packet fits into the buffer of any lane that it may use; a byte takes at most
//! the forwarding delay to arrive; if lanes are paused, buffers have the headroom.

mod limits;
mod notes;
mod section;

use super::gathered::Gathered;
use super::lanes::{LaneFigures, Laned, Room, count_of_lanes, of_lanes, of_room};
use crate::check::{Subject, check as check_rows};
use crate::error::LabError;
use crate::mechanisms::arbiters::{self, Among};
use crate::mechanisms::flow_control;
use crate::scenario::{OvertakingParameters, PacketsParameters, Parameters, ScenarioSource};
use gingham_net::{BLOCK_BYTES, OvertakingPlan, PacketsPlan, Plan};
use gingham_topology::routing::LaneSet;
use section::{blocks, of_buffers, of_overtaking};

pub(super) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    switch: &PacketsParameters,
    overhead_bytes: u32,
    gathered: &mut Gathered,
) -> Result<(PacketsPlan, LaneFigures), LabError> {
    let count = count_of_lanes(source, &switch.lanes, gathered)?;
    let buffers = Subject::of_table(source, "network.packets", Laned { switch, count });
    check_rows(&of_buffers(), &buffers, gathered)?;
    let among = Among { count, flit_bytes: 1, cut_through: LaneSet::first_n(count) };
    let lanes = Subject::of_table(source, "network.lanes", &source.scenario.network.lanes);
    check_rows(&arbiters::of_packets(), &lanes, gathered)?;
    let ports = arbiters::ports(source, &switch.lanes, among, gathered)?;
    let table = &Subject::of_table(source, "network.packets", switch);
    check_rows(&of_overtaking(), table, gathered)?;
    check_rows(&flow_control::of_keys(), table, gathered)?;
    let OvertakingParameters { at_most, among } = switch.overtaking;
    let at_most = u32::try_from(at_most).expect("a check refuses other numbers");
    let packets = PacketsPlan {
        overhead_bytes,
        forwarding_delay: switch.forwarding_delay,
        head_interval: switch.head_interval,
        buffer_blocks: blocks(&switch.buffer, count),
        output_blocks: switch.output_buffer.as_ref().map(|written| blocks(written, count)),
        read: switch.read,
        overtaking: OvertakingPlan { at_most, among },
        credit_delay: switch.credit_delay,
        credit_loss: flow_control::credit_loss(switch),
        pauses: flow_control::pauses(switch),
        arbitration: parameters.arbitration,
    };
    Ok((packets, LaneFigures::of(source, count, ports)?))
}

/// Returns the payload of a packet that fills the smallest buffer of the given lanes; adaptive
/// segments have up to this payload per switch on their route.
pub(super) fn held_bytes(packets: &PacketsPlan, lanes: LaneSet) -> u64 {
    let blocks = lanes.lanes().map(|lane| packets.buffer_blocks[usize::from(lane)]).min();
    let bytes = u64::from(blocks.unwrap_or(1)) * u64::from(BLOCK_BYTES);
    bytes.saturating_sub(packets.overhead_bytes.into()).max(1)
}

pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    packets: &PacketsPlan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let packed = &Subject::of_table(source, "", (plan, packets));
    check_rows(&limits::of_plan(), packed, gathered)?;
    let room = Room {
        plan,
        lanes: LaneSet::first_n(plan.lanes.count),
        holds: &packets.buffer_blocks,
        takes: &|payload| PacketsPlan::blocks(packets.wire_bytes(payload)),
        key: "network.packets.buffer",
        kind: "",
        unit: "blocks of 64 B",
    };
    check_rows(&of_room(), &Subject::of_table(source, "", room), gathered)?;
    if let Some(holds) = &packets.output_blocks {
        let room = Room { holds, key: "network.packets.output_buffer", ..room };
        check_rows(&of_room(), &Subject::of_table(source, "", room), gathered)?;
    }
    for small in notes::lanes(plan, packets) {
        check_rows(&notes::of_lane(), &Subject::of_table(source, "", small), gathered)?;
    }
    check_rows(&of_lanes(), &Subject::of_table(source, "", plan), gathered)
}
