//! Who waits, for congestion trees (`docs/concepts/timing.md`, congestion trees).
//!
//! ```text
//!   lane buffer   its first packet   ─► the output lane that it holds, or those that it may take
//!                 packets behind it  ─► nothing
//!   host          packets on lanes   ─► that lane;   the first of every queue ─► the lanes of its group
//!   blocked       no credit counts; where a packet needs the credits for all of it, not so many
//! ```

use crate::lanes::event::Flit;
use crate::lanes::ports::Hold;
use crate::lanes::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::EjectionHead;
use gingham_model::congestion::{Onward, Queued, Waiter};
use gingham_topology::routing::{Buffer, LaneSet};
use gingham_topology::{ChannelId, EndpointId, Fabric};

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
            self.waiters_at(endpoint, now, &mut found);
        }
        found
    }

    /// Those that stand in a lane buffer.
    fn waiters_in(&self, at: Buffer, found: &mut Vec<Waiter>) {
        let Some(first) = self.input(at.channel).lane(at.lane).first() else { return };
        let Some(onward) = self.onward_of_first(at, first.flit) else { return };
        let mut before = first.flit.packet;
        let packet = |flit: Flit| &self.journeys.get(flit.packet).packet;
        found.push(Waiter::standing(at, packet(first.flit), Some(onward)));
        for flit in self.input(at.channel).lane(at.lane).flits() {
            if flit.packet != std::mem::replace(&mut before, flit.packet) {
                found.push(Waiter::standing(at, packet(flit), None));
            }
        }
    }

    /// How the first packet of a lane buffer goes on; not at all at a host where it does not wait.
    fn onward_of_first(&self, at: Buffer, first: Flit) -> Option<Onward> {
        if self.ends_at_host(at.channel) {
            let heads = &self.in_transit[self.host_at(at.channel).index()].heads;
            let waits = matches!(heads[usize::from(at.lane)], EjectionHead::Waiting { .. });
            let output = Fabric::reverse(at.channel);
            let all = LaneSet::first_n(self.plan.lanes.count);
            return waits
                .then(|| Onward::by(output, all, |lane| !self.has_credits(output, lane, 1)));
        }
        if let Some(Hold { output, lane, .. }) = self.input(at.channel).lane(at.lane).holds {
            let is_blocked = |lane| !self.outputs[output.index()].lane(lane).has_credit();
            return Some(Onward::by(output, LaneSet::one(lane), is_blocked));
        }
        // Whether its routing is over or not.
        let [request] = self.requests_of(at.channel, at.lane, u64::MAX)[..] else { return None };
        let flits = self.journeys.get(first.packet).flits;
        let is_blocked = |lane| {
            let needed = self.lane_plan.credits_to_be_given(lane, flits).max(1);
            !self.has_credits(request.output, lane, needed)
        };
        Some(Onward::by(request.output, request.lanes, is_blocked))
    }

    /// Those that a host has for its own channel.
    fn waiters_at(&self, endpoint: EndpointId, now: Time, found: &mut Vec<Waiter>) {
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        let lanes = (0..self.plan.lanes.count).zip(&self.senders[endpoint.index()]);
        for (lane, sending) in lanes.filter_map(|(lane, of)| Some((lane, of.as_ref()?))) {
            let is_blocked = |lane| !self.outputs[channel.index()].lane(lane).has_credit();
            let onward = Onward::by(channel, LaneSet::one(lane), is_blocked);
            found.push(Waiter::sending(&self.journeys.get(sending.packet).packet, onward));
        }
        let groups: Vec<LaneSet> = self.endpoints.adapters[endpoint.index()].groups().collect();
        for queued in self.endpoints.queued(endpoint, now) {
            let onward = self.onward_of_queued(channel, groups[queued.group], &queued);
            found.push(Waiter::queued(&queued, onward));
        }
    }

    fn onward_of_queued(&self, channel: ChannelId, lanes: LaneSet, queued: &Queued) -> Onward {
        let flits = self.lane_plan.packet_flits(queued.payload_bytes);
        let is_by_packet = self.outputs[channel.index()].chooser.is_by_packet();
        Onward::by(channel, lanes, |lane| {
            let needed = self.lane_plan.credits_to_begin(lane, flits, is_by_packet);
            !self.has_credits(channel, lane, needed.max(1))
        })
    }

    fn has_credits(&self, channel: ChannelId, lane: u8, flits: u64) -> bool {
        self.outputs[channel.index()].lane(lane).has_credits(flits)
    }
}
