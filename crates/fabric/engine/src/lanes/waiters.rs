//! Blocked packets, for congestion trees (`docs/concepts/timing.md`): the packets in every lane
//! buffer (only the first packet of a buffer can move on), and packets that wait at hosts.

use crate::lanes::layout::{SHIFT, number_of};
use crate::lanes::links::TO_HOST;
use crate::lanes::waits::Waits;
use crate::lanes::worms::Worm;
use gingham_kernel::Time;
use gingham_net::EjectionHead;
use gingham_net::congestion::{Onward, Waiter};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use std::collections::BTreeMap;

type Requested = BTreeMap<usize, (usize, u16)>;

impl Waits<'_> {
    pub(crate) fn waiters(self, now: Time) -> Vec<Waiter> {
        let requested = self.requested();
        let mut found = Vec::new();
        for lane in self.lanes_from(0) {
            if self.view.present(self.network, lane) > 0
                && let Some(onward) = self.onward_of_first(lane, &requested)
            {
                self.standing_in(lane, onward, &mut found);
            }
        }
        found.extend(self.hosts.waiters(&self.network.links, self.context, now));
        found
    }

    fn requested(self) -> Requested {
        let of_port = |port| {
            let requests = self.view.requests(self.network, port).into_iter();
            requests.map(move |(lane, lanes)| (lane, (port, lanes)))
        };
        self.switch_ports().flat_map(of_port).collect()
    }

    fn standing_in(self, lane: usize, onward: Onward, found: &mut Vec<Waiter>) {
        let at = self.buffer(lane);
        let mut onward = Some(onward);
        let (left, present) =
            (self.view.left(self.network, lane), self.view.present(self.network, lane));
        for worm in self.network.buffers.present_worms(lane, (left, present)) {
            let packet = &self.context.worms.get(worm).packet;
            found.push(Waiter::in_buffer(at, packet, onward.take()));
        }
    }

    /// Returns the onward lanes of a lane's first packet; `None` if the packet is at a host and
    /// need not wait there.
    fn onward_of_first(self, lane: usize, requested: &Requested) -> Option<Onward> {
        let (network, context) = (self.network, self.context);
        let port = lane >> SHIFT;
        if port >= context.layout.first_host {
            let in_transit = &network.in_transit;
            let waits = in_transit.stops
                && matches!(
                    in_transit.host(port).heads[number_of(lane)],
                    EjectionHead::Waiting { .. }
                );
            let all = LaneSet::first_n(context.plan.lanes.count);
            return waits.then(|| self.held(context.layout.channel(port), all, |_| 1));
        }
        if let Some(output) = self.view.held_by(network, lane) {
            let channel = context.layout.channel(output >> SHIFT);
            return Some(self.held(channel, LaneSet::one(lane_number(output)), |_| 1));
        }
        let left = self.view.left(network, lane);
        let needed = |choice| self.credits_to_be_given(choice, left).max(1);
        if let Some((port, lanes)) = requested.get(&lane) {
            let lanes = LaneSet::from_bits(*lanes);
            return Some(self.asked(context.layout.channel(*port), lanes, needed));
        }
        let input = context.layout.channel_into(port);
        let Worm { packet, mut route, .. } = *context.worms.get(network.buffers.worm(lane));
        let plan = &context.plan;
        let output = route.output(plan, &packet, || plan.ends(input).target.node);
        let lanes = route.enter(plan, &packet, input, output);
        Some(self.asked(output, lanes, needed))
    }

    /// Describes the onward lanes that a packet holds. Lanes with fewer credits than needed are
    /// blocked.
    fn held(self, output: ChannelId, lanes: LaneSet, needed: impl Fn(usize) -> u32) -> Onward {
        let (first, links) = (self.context.layout.port(output) << SHIFT, &self.network.links);
        Onward::by(output, lanes, |lane| {
            let lane = first | usize::from(lane);
            !links.port(first >> SHIFT).is(TO_HOST)
                && u32::from(self.view.credit(self.network, lane)) < needed(lane)
        })
    }

    fn asked(self, output: ChannelId, lanes: LaneSet, needed: impl Fn(usize) -> u32) -> Onward {
        let (first, links) = (self.context.layout.port(output) << SHIFT, &self.network.links);
        Onward::by(output, lanes, |lane| {
            let lane = first | usize::from(lane);
            !links.port(first >> SHIFT).is(TO_HOST) && self.free_credits(lane) < needed(lane)
        })
    }
}

fn lane_number(lane: usize) -> u8 {
    u8::try_from(number_of(lane)).expect("lanes are few")
}
