//! Blocked packets, for congestion trees (`docs/concepts/timing-packets.md`): packets in input
//! buffers that have not started to leave, and the first packet of each host queue.

use crate::packets::network::Network;
use crate::packets::network::blocks_of;
use crate::packets::packet::{Moving, Place};
use crate::packets::waits::Waits;
use gingham_kernel::Time;
use gingham_net::congestion::{Onward, Waiter};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};
use std::collections::BTreeSet;

impl Waits<'_> {
    pub(crate) fn waiters(self, now: Time) -> Vec<Waiter> {
        let Network { plan, packets, endpoints, .. } = self.network;
        let mut found = Vec::new();
        let at = |packet: &Moving| Buffer { channel: packet.input, lane: packet.lane };
        let waiting = packets.in_inputs().filter(|(_, packet)| packet.place == Place::Waiting);
        let with_waiting: BTreeSet<Buffer> = waiting.map(|(_, packet)| at(packet)).collect();
        for (id, packet) in packets.in_inputs() {
            let goes = if with_waiting.contains(&at(packet)) {
                packet.place == Place::Waiting
                    && !self.switches.rules.is_held_back(id, self.network)
            } else {
                true
            };
            let blocks = blocks_of(packet.wire_bytes);
            let onward = goes.then(|| self.onward(packet.output, packet.lanes, blocks, now));
            found.push(Waiter::in_buffer(at(packet), &packet.packet, onward));
        }
        for endpoint in plan.fabric.endpoint_ids() {
            let channel = plan.fabric.endpoint_channel(endpoint);
            let adapter = endpoints.adapter(endpoint);
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
        let Network { credits, flow_control, links, .. } = self.network;
        let before_ps = now.as_ps().saturating_sub(1);
        Onward::by(output, lanes, |lane| {
            links.is_into_switch(output)
                && match flow_control.pauses() {
                    None => credits.free_until(output, lane, before_ps) < blocks,
                    Some(pauses) => pauses.is_paused(output, lane),
                }
        })
    }
}
