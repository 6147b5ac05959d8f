//! Who waits, for congestion trees (`docs/concepts/timing-packets.md`, congestion trees): the
//! packets in buffers of inputs that have not begun to leave, and the first of every queue of hosts.

use crate::packets::network::Network;
use crate::packets::packet::Place;
use crate::packets::starting::blocks_of;
use crate::packets::waits::Waits;
use gingham_kernel::Time;
use gingham_model::congestion::{Onward, Waiter};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};

impl Waits<'_> {
    /// Everything that waits before `now`.
    pub(crate) fn waiters(self, now: Time) -> Vec<Waiter> {
        let Network { plan, packets, endpoints, .. } = self.network;
        let mut found = Vec::new();
        for (id, packet) in packets.in_inputs() {
            let waits = packet.place == Place::Waiting;
            let goes = !waits || !self.switches.rules.is_held_back(id, self.network);
            let blocks = blocks_of(packet.wire_bytes);
            let onward = goes.then(|| self.onward(packet.output, packet.lanes, blocks, now));
            let at = Buffer { channel: packet.input, lane: packet.lane };
            found.push(Waiter::standing(at, &packet.packet, onward));
        }
        for endpoint in plan.fabric.endpoint_ids() {
            let channel = plan.fabric.endpoint_channel(endpoint);
            let adapter = &endpoints.adapters[endpoint.index()];
            let groups: Vec<LaneSet> = adapter.groups().collect();
            for queued in endpoints.queued(endpoint, now) {
                let blocks = blocks_of(self.network.wire_bytes(queued.payload_bytes));
                let onward = self.onward(channel, groups[queued.group], blocks, now);
                found.push(Waiter::queued(&queued, onward));
            }
        }
        found
    }

    fn onward(self, output: ChannelId, lanes: LaneSet, blocks: u32, now: Time) -> Onward {
        let Network { credits, pauses, links, .. } = self.network;
        let before_ps = now.as_ps().saturating_sub(1);
        Onward::by(output, lanes, |lane| {
            links.is_into_switch(output)
                && match pauses {
                    None => credits.free_until(output, lane, before_ps) < blocks,
                    Some(pauses) => pauses.is_paused(output, lane),
                }
        })
    }
}
