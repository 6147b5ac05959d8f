//! What waits at hosts: for congestion trees packets in the middle of a lane, and the first of every
//! queue; for a search of deadlocks where packets in transit are.

use super::{Group, Hosts};
use crate::lanes::context::Context;
use crate::lanes::layout::{SHIFT, lanes_of};
use crate::lanes::links::{Links, TO_HOST};
use crate::lanes::worms::InTransitId;
use gingham_kernel::Time;
use gingham_model::congestion::{Onward, Waiter};
use gingham_topology::routing::LaneSet;

impl Hosts {
    /// Those of all hosts before `now`.
    pub(crate) fn waiters(&self, links: &Links, context: &Context, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for (number, host) in self.ports.iter().enumerate() {
            let port = self.first_port + number;
            let is_short_of = |lane: u8, flits: u32| {
                let credit = links.lane(port << SHIFT | usize::from(lane)).credit;
                !links.port(port).is(TO_HOST) && u32::from(credit) < flits
            };
            for lane in LaneSet::from_bits(links.port(port).filled).lanes() {
                let packet = &context.worms.get(host.lanes[usize::from(lane)].worm).packet;
                let is_blocked = |lane| is_short_of(lane, 1);
                let onward = Onward::by(host.channel, LaneSet::one(lane), is_blocked);
                found.push(Waiter::sending(packet, onward));
            }
            for queued in context.endpoints.queued(host.endpoint, now) {
                let flits = context.lanes.packet_flits(queued.payload_bytes);
                let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
                let Group { lanes, .. } = host.groups[queued.group];
                let onward = Onward::by(host.channel, LaneSet::from_bits(lanes), |lane| {
                    is_short_of(lane, self.credits_to_begin(lane.into(), flits, context).max(1))
                });
                found.push(Waiter::queued(&queued, onward));
            }
        }
        found
    }

    /// The lane on which a host sends a packet in transit, if it is in the middle of it.
    pub(crate) fn lane_of(&self, port: usize, id: InTransitId, links: &Links) -> Option<usize> {
        let lanes = &self.host(port).lanes;
        lanes_of(links.port(port).filled).find(|lane| lanes[*lane].in_transit == Some(id))
    }

    /// The lanes on which packets of a group of a host may leave.
    pub(crate) fn lanes_of_group(&self, port: usize, group: usize) -> u16 {
        self.host(port).groups[group].lanes
    }

    /// The credits that a lane of a host must have for a packet of so many flits to begin; 0 where
    /// one for its first flit is enough.
    pub(crate) fn credits_to_begin(&self, lane: usize, flits: u32, context: &Context) -> u32 {
        let lane = u8::try_from(lane).expect("lanes are few");
        let is_by_packet = self.arbiters.are_by_packet;
        let credits = context.lanes.credits_to_begin(lane, flits.into(), is_by_packet);
        u32::try_from(credits).expect("a lane is of fewer than 2^32 flits")
    }
}
