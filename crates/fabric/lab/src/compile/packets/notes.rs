//! Notes on buffers for whole packets that are too small for the full rate.
//!
//! ```text
//!   starts ── d ── F ── cuts through: the tail has left ── d ── c ──► the sender sees the space
//!   └────────────── up to w packets in flight: w t(W) in 2 d + F + c + t(W)
//! ```
//!
//! A packet of W wire bytes takes t(W) to transmit; d is the cable delay, F the forwarding delay
//! and c the credit delay. Source: the second closed form of `docs/concepts/timing-packets.md`.

use crate::check::{Check, Sentence, note, say};
use crate::compile::longest::{longest_on, used_lanes};
use gingham_kernel::{Bytes, Span};
use gingham_net::{BLOCK_BYTES, ChannelPlan, PacketsPlan, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

pub(super) struct Used<'a> {
    plan: &'a Plan,
    packets: &'a PacketsPlan,
    lane: u8,
    blocks: u32,
    payload_bytes: u32,
}

/// Returns the first used lane for each combination of buffer size and longest packet; empty if
/// pauses replace credits.
pub(super) fn lanes<'a>(plan: &'a Plan, packets: &'a PacketsPlan) -> Vec<Used<'a>> {
    let mut lanes: Vec<Used<'_>> = Vec::new();
    for lane in used_lanes(plan).lanes().filter(|_| packets.pauses.is_none()) {
        let Some(payload_bytes) = longest_on(plan, LaneSet::one(lane)) else { continue };
        let blocks = packets.buffer_blocks[usize::from(lane)];
        let is_like = |of: &Used<'_>| (of.blocks, of.payload_bytes) == (blocks, payload_bytes);
        if !lanes.iter().any(is_like) {
            lanes.push(Used { plan, packets, lane, blocks, payload_bytes });
        }
    }
    lanes
}

pub(super) fn of_lane<'a>() -> [Check<Used<'a>>; 1] {
    [note(|it| small(it))]
}

fn small(of: &Used<'_>) -> Option<Sentence> {
    let Used { plan, packets, lane, blocks, payload_bytes } = *of;
    let wire_bytes = packets.wire_bytes(payload_bytes);
    let takes = PacketsPlan::blocks(wire_bytes);
    let fits = u64::from(blocks) / takes;
    let into_switches = ChannelId::first(plan.channels.len())
        .filter(|channel| plan.is_switch(plan.ends(*channel).target.node))
        .map(|channel| plan.channel(channel));
    let needed: Vec<u64> =
        into_switches.map(|channel| packets_for_full_rate(channel, packets, wire_bytes)).collect();
    let slow = needed.iter().filter(|needed| **needed > fits).count();
    let enough = needed.iter().max().filter(|_| slow > 0)?;
    let held = Bytes(u64::from(blocks) * u64::from(BLOCK_BYTES));
    let would = Bytes(enough * takes * u64::from(BLOCK_BYTES));
    let holds = if fits == 1 { "1 packet".to_owned() } else { format!("{fits} packets") };
    say!(
        "on {slow} of {} channels a buffer of {held} (lane {lane}) holds {holds} of {wire_bytes} B, too few for a round trip, and the \
         lane by itself carries less than the full rate: network.packets.buffer = \"{would}\" would carry it",
        needed.len()
    )
}

/// Returns the number of packets that a buffer must hold so that a backlogged sender never waits
/// for space while outputs are idle.
fn packets_for_full_rate(channel: &ChannelPlan, packets: &PacketsPlan, wire_bytes: u64) -> u64 {
    let time = channel.bytes.of(wire_bytes).max(Span::from_ps(1));
    let back = packets.forwarding_delay + packets.credit_delay;
    (channel.delay * 2 + back + time).div_ceil(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Rate;
    use gingham_net::{Among, Arbitration, OvertakingPlan, Read};

    #[test]
    fn full_rate_needs_a_buffer_of_one_round_trip() {
        let rate = Rate::from_bytes_per_second(1_000_000_000);
        let delay = Span::from_ps(49_200);
        let channel =
            ChannelPlan { flit: Span::from_ns(1), bytes: rate.byte_time(), delay, slack: None };
        let packets = PacketsPlan {
            overhead_bytes: 20,
            forwarding_delay: Span::from_ns(40),
            head_interval: Span::ZERO,
            buffer_blocks: [0; 16],
            output_blocks: None,
            read: Read::Any,
            overtaking: OvertakingPlan { at_most: 4, among: Among::SameOutput },
            credit_delay: Span::from_ps(1_600),
            credit_loss: None,
            pauses: None,
            arbitration: Arbitration::OldestFirst,
        };
        // In addition to the packet's transmission time, a round trip takes twice the cable delay
        // (98.4 ns), the forwarding delay (40 ns) and the credit delay (1.6 ns): 140 ns.
        for (wire_bytes, needed) in [(2_068, 2), (140, 2), (139, 3), (70, 3), (28, 6)] {
            assert_eq!(packets_for_full_rate(&channel, &packets, wire_bytes), needed);
        }
    }
}
