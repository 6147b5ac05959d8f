//! The middle of packets, which most flits are: a host that is in one goes on with it.

use super::{Group, Hosts};
use crate::lanes::links::TO_HOST;
use crate::lanes::network::Network;

impl Hosts {
    /// A common channel of a host takes a flit that is not the last of its packet, if there is
    /// nothing to decide but which of those that were begun goes on. Returns whether it does.
    #[inline]
    pub(super) fn send_body(&mut self, port: usize, network: &mut Network, tick: u64) -> bool {
        let links = &mut network.links;
        let (link, host) = (links.port(port), &mut self.ports[port - self.first_port]);
        let could = link.can_send();
        let goes_on = match *host.groups {
            [Group { middle, .. }] => host.waiting == 0 || middle & could != 0,
            _ => host.waiting == 0,
        };
        if could == 0 || !goes_on || !link.is_common() || link.is(TO_HOST) {
            return false;
        }
        let Some(lane) = links.serve_round_robin_if(port, could, |lane| host.lanes[lane].left > 1)
        else {
            return false;
        };
        host.lanes[lane].left -= 1;
        if host.waiting != 0 {
            links.ready.insert(port);
        }
        network.launch(port, lane, tick);
        true
    }
}
