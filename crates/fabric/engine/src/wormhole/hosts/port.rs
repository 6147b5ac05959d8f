//! Port of a host that stops its sender when the pool is full. The port reads heads one after the
//! other. A worm leaves the port if it ends at this host, or once it has space in the pool.

use super::Hosts;
use crate::wormhole::event::Event;
use crate::wormhole::network::Network;
use crate::wormhole::worm::{Incoming, Worms};
use gingham_topology::ChannelId;

impl Hosts {
    fn ends_here(&self, worms: &Worms, channel: ChannelId, worm: Incoming) -> bool {
        self.host_at(channel) == worms.get(worm.worm).packet.destination
    }

    pub(super) fn tail_at_port(&mut self, network: &mut Network, channel: ChannelId) {
        if let Some(worm) = network.links.tail_at_port(channel, network.clock.now()) {
            self.has_passed(network, channel, worm);
        } else if let Some(worm) = network.links.next_at_port(channel)
            && worm.flits == 1
            && self.ends_here(&network.worms, channel, worm)
        {
            // A worm of a single flit is consumed once that flit has arrived; longer worms are read
            // before their tails arrive.
            self.read_port(network, channel);
        }
    }

    #[inline(never)]
    pub(crate) fn read_port(&mut self, network: &mut Network, channel: ChannelId) {
        let now = network.clock.now();
        while let Some(worm) = network.links.read_head(channel, now) {
            if self.ends_here(&network.worms, channel, worm) {
                network.worms.set_head_arrived(worm.worm, now);
            } else if !self.take_in(network, channel, worm, now) {
                return network.links.wait_at_port(channel, now);
            }
            if !self.open_port(network, channel, worm) {
                return;
            }
        }
    }

    pub(super) fn offer_room(&mut self, network: &mut Network, channel: ChannelId) {
        if let Some((worm, head)) = network.links.waiting_at_port(channel)
            && self.take_in(network, channel, worm, head)
            && self.open_port(network, channel, worm)
        {
            network.clock.schedule(network.clock.now(), Event::ReadHead { channel });
        }
    }

    /// Removes the flits of the first worm that gathered in the port. Returns whether the worm is
    /// complete.
    fn open_port(&mut self, network: &mut Network, channel: ChannelId, worm: Incoming) -> bool {
        let is_whole = network.links.open_port(channel, worm, network.clock.now());
        if is_whole {
            self.has_passed(network, channel, worm);
        }
        is_whole
    }

    fn has_passed(&mut self, network: &mut Network, channel: ChannelId, worm: Incoming) {
        if self.ends_here(&network.worms, channel, worm) {
            self.deliver(network, channel, worm.worm);
        }
    }
}
