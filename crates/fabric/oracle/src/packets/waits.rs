//! Wait-for graph of a whole-packet network; `WaitCycle` defines deadlock.
//!
//! ```text
//!   buffer whose packets are all ready and waiting ─► any of:  the buffers at the ends of the lanes that
//!                                                              its packets may take, if all are blocked
//! ```
//!
//! A packet on the incoming channel counts as part of the buffer. A departing tail is certain to
//! free its space, so waiting for the tail does not count as a wait.

use crate::packets::buffer::Buffered;
use crate::packets::simulation::{Simulation, Waiting};
use gingham_kernel::Time;
use gingham_net::congestion::{Onward, Waiter};
use gingham_net::{PacketsPlan, Wait, WaitForGraph};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};
use std::collections::BTreeSet;

impl Simulation {
    pub(crate) fn waits(&self) -> WaitForGraph {
        let lanes = self.plan.lanes.count;
        ChannelId::first(self.inputs.len())
            .filter(|channel| self.inputs[channel.index()].is_some())
            .flat_map(|channel| (0..lanes).map(move |lane| Buffer { channel, lane }))
            .filter_map(|buffer| Some((buffer, waits_for(self, buffer)?)))
            .collect()
    }
}

fn waits_for(simulation: &Simulation, of: Buffer) -> Option<Wait> {
    let buffer = simulation.input(of.channel).lane(of.lane);
    if buffer.is_empty() || !buffer.iter().all(Buffered::waits) {
        return None;
    }
    let mut parties = BTreeSet::new();
    for (place, buffered) in buffer.iter().enumerate() {
        let waiting = Waiting { input: of.channel, lane: of.lane, place };
        if simulation.is_held_back(waiting) {
            continue;
        }
        for lane in buffered.lanes.lanes() {
            let ahead = Buffer { channel: buffered.output, lane };
            if !is_blocked(simulation, ahead) {
                return None;
            }
            parties.insert(ahead);
        }
    }
    Some(Wait::Any(parties.into_iter().collect()))
}

/// Returns whether the lane is paused, or the first packet for it will not fit even after all
/// departing tails have left.
fn is_blocked(simulation: &Simulation, lane: Buffer) -> bool {
    let Some(input) = &simulation.inputs[lane.channel.index()] else { return false };
    let in_order = simulation.in_order(lane.channel, lane.lane);
    let first = in_order.into_iter().find(|waiting| !simulation.is_held_back(*waiting));
    let has_buffer = simulation.output_lane(lane.channel, lane.lane).is_some();
    let crosses = |first| !simulation.cannot_cross(lane.channel, lane.lane, first);
    if has_buffer && first.is_none_or(crosses) {
        return false;
    }
    if let Some(pausing) = &simulation.outputs[lane.channel.index()].pausing {
        return pausing.lanes[usize::from(lane.lane)].is_held();
    }
    let stays = input.lane(lane.lane).iter().filter(|buffered| !buffered.has_started);
    let taken: u64 = stays.map(|buffered| buffered.blocks).sum();
    let holds = u64::from(simulation.packets.buffer_blocks[usize::from(lane.lane)]);
    let next = if has_buffer {
        simulation.first_crossed(lane.channel, lane.lane).map(|crossed| crossed.blocks)
    } else {
        first.map(|first| simulation.waiting(first).blocks)
    };
    next.is_some_and(|blocks| blocks > holds - taken)
}

// Blocked packets, for congestion trees (`docs/concepts/timing-packets.md`).
//
// ```text
//   buffer of an input   every waiting packet or, if no packet waits, every arriving packet ─► its lanes
//                        a packet held back, or arriving while others wait                  ─► nothing
//   host                 the first packet of every queue           ─► the lanes of its group
//   blocked              the sender knows of no space for the packet
// ```

impl Simulation {
    pub(crate) fn all_waiters(&self, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            if self.inputs[channel.index()].is_some() {
                for lane in 0..self.plan.lanes.count {
                    self.waiters_in(Buffer { channel, lane }, &mut found);
                }
            }
        }
        for endpoint in self.plan.fabric.endpoint_ids() {
            let channel = self.plan.fabric.endpoint_channel(endpoint);
            let adapter = self.endpoints.adapter(endpoint);
            let groups: Vec<LaneSet> = adapter.groups().collect();
            for queued in self.endpoints.queued(endpoint, now) {
                let wire_bytes = self.packets.wire_bytes(queued.payload_bytes);
                let blocks = PacketsPlan::blocks(wire_bytes);
                let onward = self.onward(channel, groups[queued.group], blocks);
                found.push(Waiter::queued(&queued, onward));
            }
        }
        found
    }

    fn waiters_in(&self, at: Buffer, found: &mut Vec<Waiter>) {
        let buffer = self.input(at.channel).lane(at.lane);
        let does_any_wait = buffer.iter().any(Buffered::waits);
        let buffer = buffer.iter().enumerate();
        for (place, buffered) in buffer.filter(|(_, buffered)| !buffered.has_started) {
            let waiting = Waiting { input: at.channel, lane: at.lane, place };
            let goes =
                if does_any_wait { buffered.waits() && !self.is_held_back(waiting) } else { true };
            let onward =
                goes.then(|| self.onward(buffered.output, buffered.lanes, buffered.blocks));
            let packet = &self.journeys.get(buffered.packet).packet;
            found.push(Waiter::in_buffer(at, packet, onward));
        }
    }

    fn onward(&self, output: ChannelId, lanes: LaneSet, blocks: u64) -> Onward {
        let of = &self.outputs[output.index()];
        Onward::by(output, lanes, |lane| !of.has_space(lane, blocks))
    }
}
