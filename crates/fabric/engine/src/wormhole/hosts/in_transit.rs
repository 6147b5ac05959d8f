//! In-transit hosts: worms that a host takes in and sends on.
//!
//! ```text
//!   ejection channel ──► head arrives ──┬─ room in the pool ──► ready T_d + T_r later, while the rest arrives ──┐
//!                        (incoming)     └─ none: to memory ──► ready some time after the tail has arrived ──────┤
//!   host's channel   ◄── the worm that became ready first, else the adapter ◄───────────────── (ready) ◄────────┘
//! ```
//!
//! [`gingham_net::InTransitHost`] says whether there is room and who is ready; here it is told
//! what arrives. A worm of which something is still to arrive when it is sent on is fed by the
//! channel into the host, in the same manner as an output of a switch is fed by an input; one that
//! is there whole is sent as if it began there. `docs/concepts/timing.md` says when things happen.

use super::Hosts;
use crate::wormhole::event::Event;
use crate::wormhole::network::Network;
use crate::wormhole::worm::Incoming;
use gingham_kernel::Time;
use gingham_net::Notice;
use gingham_topology::{ChannelId, Fabric};

impl Hosts {
    /// What a worm in transit that comes in is made shorter by.
    fn mark(&self) -> u64 {
        u64::from(self.wormhole.mark_bytes)
    }

    // Phase 4: request.

    /// Looks at the head of the next worm in transit that comes in `channel`, if it is there.
    #[inline(never)]
    pub(crate) fn recognise(&mut self, network: &mut Network, channel: ChannelId) {
        let now = network.clock.now();
        if let Some(worm) = network.links.read_head(channel, now) {
            let is_taken = self.take_in(network, channel, worm, now);
            assert!(is_taken, "a host without a port takes in all that comes");
        }
    }

    /// Takes in a worm whose head was read at `head`, unless the pool has no room and its sender is
    /// to be stopped. Returns whether it did.
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

    /// The tail of a worm in transit has left on `channel` into a host, and will arrive at
    /// `arrival`.
    #[inline(never)]
    pub(crate) fn tail_of_transit_left(
        &mut self,
        network: &mut Network,
        channel: ChannelId,
        arrival: u64,
    ) {
        let host = self.host_at(channel);
        let in_transit = &mut self.in_transit[host.index()];
        // If its head is still to come, it is not known whether the pool has room.
        if let Some((worm, mut taken)) = in_transit.spilled.take() {
            let ready = in_transit.host.tail_received(worm, &mut taken, Time::from_ps(arrival));
            let ready = ready.expect("what spilled is sent on once it is there");
            send_on_from(network, channel, ready);
        }
    }

    /// The tail of a worm has left the host by `channel`: one in transit gives back its space.
    /// Returns whether it is one.
    pub(super) fn leave_pool(&mut self, network: &mut Network, channel: ChannelId) -> bool {
        let host = self.cable(channel).endpoint;
        let in_transit = &mut self.in_transit[host.index()];
        let Some(taken) = in_transit.sending.take() else { return false };
        if in_transit.host.release(&taken) {
            self.offer_room(network, Fabric::reverse(channel));
        }
        true
    }

    // Phase 6: transfer.

    /// Sends on the worm that became ready first, if there is one; the host's `channel` is free.
    #[inline(never)]
    pub(super) fn send_on(&mut self, network: &mut Network, channel: ChannelId) -> bool {
        let (endpoint, mark, now) =
            (self.cable(channel).endpoint, self.mark(), network.clock.time());
        let in_transit = &mut self.in_transit[endpoint.index()];
        let Some((worm, ready)) = in_transit.host.next_ready(0, now) else { return false };
        in_transit.sending = Some(in_transit.host.begin(0));
        network.links.feed_on(channel, worm, worm.first + mark, network.clock.now());
        let next = Incoming { flits: worm.flits - mark, position: worm.position + 1, ..worm };
        network.begin(channel, next, now.as_ps());
        // Not before the channel is taken, lest it be taken twice.
        let packet = &mut network.worms.get_mut(worm.worm).packet;
        let notice = Notice::SentOn { endpoint, waited: now.since(ready), packet };
        self.endpoints.tell(now, notice);
        self.carry_out(network);
        true
    }
}

/// The worm that came by `channel` may be sent on from an instant on, which is now or later: after all
/// that is still read at the host.
fn send_on_from(network: &mut Network, channel: ChannelId, ready: Time) {
    network.clock.schedule(ready.as_ps(), Event::StartWorm { channel: Fabric::reverse(channel) });
}
