//! What hosts send in a tick. Most flits are in the middle of a packet: a host that is in one goes on
//! with it.

use super::{Group, Hosts};
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::network::Network;
use pulp::{Simd, WithSimd};

/// All hosts, compiled for what the machine has.
struct Stage<'a> {
    hosts: &'a mut Hosts,
    network: &'a mut Network,
    context: &'a mut Context,
}

impl WithSimd for Stage<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it is compiled for what the machine has")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.hosts.send_all(self.network, self.context);
    }
}

impl Hosts {
    /// All hosts that may have something to send do, if they can.
    pub(crate) fn send(&mut self, network: &mut Network, context: &mut Context) {
        self.arch.dispatch(Stage { hosts: self, network, context });
    }

    #[expect(clippy::inline_always, reason = "it is compiled for what the machine has")]
    #[inline(always)]
    fn send_all(&mut self, network: &mut Network, context: &mut Context) {
        let tick = context.clock.tick();
        let is_plain = self.is_plain && !network.in_transit.exists();
        for word in self.first_port / 64..context.layout.channels().len() / 64 {
            let mut stay = 0;
            for bit in members(network.links.take_ready(word)) {
                let port = word * 64 + bit;
                let sent = if is_plain { self.send_body(port, network, tick) } else { None };
                match sent {
                    Some(stays) => stay |= u64::from(stays) << bit,
                    None => self.send_flit(port, network, context),
                }
            }
            network.links.ready.words[word] |= stay;
        }
    }

    /// A common channel of a host to a switch takes a flit that is not the last of its packet, if
    /// there is nothing to decide but which of those that were begun goes on. Returns whether the
    /// host may have something to send at the next tick, if a flit was taken.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    fn send_body(&mut self, port: usize, network: &mut Network, tick: u64) -> Option<bool> {
        let (link, host) = (network.links.port(port), &mut self.ports[port - self.first_port]);
        let could = link.can_send();
        let goes_on = host.waiting == 0
            || matches!(*host.groups, [Group { middle, .. }] if middle & could != 0);
        if could == 0 || !goes_on || !link.is_plain() {
            return None;
        }
        let (lane, can_send) = network.links.spend_round_robin_if(port, could, |lane| {
            let left = &mut host.lanes[lane].left;
            let goes_on = *left > 1;
            *left -= u32::from(goes_on);
            goes_on
        })?;
        network.carry(port, lane, tick);
        let stays = can_send || host.waiting != 0;
        if !stays || network.links.port(port).waits() {
            network.links.note_sent(port, tick);
        }
        Some(stays)
    }
}
