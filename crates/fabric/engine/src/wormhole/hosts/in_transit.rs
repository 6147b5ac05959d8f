//! In-transit hosts, which eject and re-inject worms.
//!
//! ```text
//!   ejection channel ─► head arrives ─┬─ pool has space ──► ready after a fixed delay ──────────────┐
//!                       (incoming)    └─ no space: memory ► ready some time after the tail arrived ─┤
//!   host's channel   ◄─ the worm that became ready first, else the adapter ◄───────── (ready) ◄─────┘
//! ```
//!
//! [`gingham_net::InTransitHost`] decides on space and order. While a worm is re-injected before
//! its tail has arrived, the channel into the host feeds it, as a switch input feeds an output. A
//! worm that has arrived completely is sent like the host's own worms. `docs/concepts/timing.md`
//! defines the times.

use super::Hosts;
use crate::wormhole::event::Event;
use crate::wormhole::network::Network;
use crate::wormhole::worm::{Incoming, Worm};
use gingham_kernel::Time;
use gingham_net::Notice;
use gingham_topology::{ChannelId, Fabric};

impl Hosts {
    /// Returns the length, in flits, of the in-transit mark that the host strips.
    fn mark(&self) -> u64 {
        u64::from(self.wormhole.mark_bytes)
    }

    #[inline(never)]
    pub(crate) fn recognise(&mut self, network: &mut Network, channel: ChannelId) {
        let now = network.clock.now();
        if let Some(worm) = network.links.read_head(channel, now) {
            let is_taken = self.take_in(network, channel, worm, now);
            assert!(is_taken, "a host without a port takes in all that comes");
        }
    }

    /// Admits a worm. Returns false if the pool is full and the sender must be stopped.
    pub(super) fn take_in(
        &mut self,
        network: &mut Network,
        channel: ChannelId,
        worm: Incoming,
        head: u64,
    ) -> bool {
        network.links.keep_arriving(channel, worm);
        let (endpoint, bytes) = (self.host_at(channel), worm.flits - self.mark());
        let (now, head) = (network.clock.time(), Time::from_ps(head));
        let in_transit = &mut self.in_transit[endpoint.index()];
        let Some(mut taken) = in_transit.host.take_in(worm, 0, bytes, head, now) else {
            return false;
        };
        if taken.is_spilled {
            self.endpoints.collector_mut().on_spilled(endpoint, now);
            match network.links.tail_arrival(channel, worm) {
                Some(tail) => {
                    in_transit.host.tail_received(worm, &mut taken, Time::from_ps(tail));
                }
                None => in_transit.spilled = Some((worm, taken)),
            }
        } else {
            let pool_bytes = in_transit.host.pool_bytes();
            self.endpoints.collector_mut().on_pool(endpoint, pool_bytes);
        }
        if let Some(ready) = taken.ready {
            send_on_from(network, channel, ready);
        }
        true
    }

    /// Handles a tail that has left the last switch and arrives at the host at `arrival`.
    #[inline(never)]
    pub(crate) fn tail_of_transit_left(
        &mut self,
        network: &mut Network,
        channel: ChannelId,
        arrival: u64,
    ) {
        let host = self.host_at(channel);
        let in_transit = &mut self.in_transit[host.index()];
        // Before the head arrives, it is unknown whether the pool has space.
        if let Some((worm, mut taken)) = in_transit.spilled.take() {
            let ready = in_transit.host.tail_received(worm, &mut taken, Time::from_ps(arrival));
            let ready = ready.expect("what spilled is sent on once it is there");
            send_on_from(network, channel, ready);
        }
    }

    /// Releases pool space after a worm has left. Returns whether the worm was in transit.
    pub(super) fn leave_pool(&mut self, network: &mut Network, channel: ChannelId) -> bool {
        let host = self.cable(channel).endpoint;
        let in_transit = &mut self.in_transit[host.index()];
        let Some(taken) = in_transit.sending.take() else { return false };
        if in_transit.host.release(&taken) {
            self.offer_room(network, Fabric::reverse(channel));
        }
        true
    }

    /// Sends the worm that became ready first. Returns false if no worm is ready.
    #[inline(never)]
    pub(super) fn send_on(&mut self, network: &mut Network, channel: ChannelId) -> bool {
        let (endpoint, mark, now) =
            (self.cable(channel).endpoint, self.mark(), network.clock.time());
        let in_transit = &mut self.in_transit[endpoint.index()];
        let Some((worm, ready)) = in_transit.host.next_ready(0, now) else { return false };
        in_transit.sending = Some(in_transit.host.begin(0));
        network.links.feed_on(channel, worm, worm.first + mark, network.clock.now());
        let next = Incoming { flits: worm.flits - mark, ..worm };
        network.begin(channel, next, now.as_ps());
        let Worm { packet, route, .. } = network.worms.get_mut(worm.worm);
        route.reinject();
        let notice = Notice::SentOn { endpoint, waited: now.since(ready), packet };
        self.endpoints.notify(now, notice);
        self.carry_out(network);
        true
    }
}

fn send_on_from(network: &mut Network, channel: ChannelId, ready: Time) {
    network.clock.schedule(ready.as_ps(), Event::StartWorm { channel: Fabric::reverse(channel) });
}
