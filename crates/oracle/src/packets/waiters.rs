//! Who waits, for congestion trees (`docs/concepts/timing-packets.md`, congestion trees).
//!
//! ```text
//!   buffer of an input   every packet that waits; if none does, every one that comes ─► its lanes
//!                        one that is held back, or comes while others wait           ─► nothing
//!   host                 the first of every queue                  ─► the lanes of its group
//!   blocked              the sender knows of no space for the packet
//! ```

use crate::packets::buffer::Buffered;
use crate::packets::order::Waiting;
use crate::packets::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::PacketsPlan;
use gingham_model::congestion::{Onward, Waiter};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};

impl Simulation {
    /// Everything that waits before `now`.
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
            let adapter = &self.endpoints.adapters[endpoint.index()];
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
            found.push(Waiter::standing(at, packet, onward));
        }
    }

    fn onward(&self, output: ChannelId, lanes: LaneSet, blocks: u64) -> Onward {
        let of = &self.outputs[output.index()];
        Onward::by(output, lanes, |lane| !of.has_space(lane, blocks))
    }
}
