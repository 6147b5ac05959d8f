//! The middle of packets, which most flits are: a host that is in one goes on with it.

use super::{Group, Hosts};
use crate::lanes::layout::round_robin;
use crate::lanes::network::Network;

impl Hosts {
    /// A common channel of a host to a switch takes a flit that is not the last of its packet, if
    /// there is nothing to decide but which of those that were begun goes on. Returns whether the
    /// host may have something to send at the next tick, if a flit was taken.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(super) fn send_body(
        &mut self,
        port: usize,
        network: &mut Network,
        tick: u64,
    ) -> Option<bool> {
        let (link, host) = (network.links.port_mut(port), &mut self.ports[port - self.first_port]);
        let could = link.can_send();
        let goes_on = host.waiting == 0
            || matches!(*host.groups, [Group { middle, .. }] if middle & could != 0);
        if could == 0 || !goes_on || !link.is_plain() {
            return None;
        }
        let mut after = link.after;
        let lane = round_robin(could, &mut after);
        let sender = &mut host.lanes[lane];
        if sender.left <= 1 {
            return None;
        }
        sender.left -= 1;
        link.after = after;
        let can_send = network.launch(port, lane, tick);
        Some(can_send || host.waiting != 0)
    }
}
