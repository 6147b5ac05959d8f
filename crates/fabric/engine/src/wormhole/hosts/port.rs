//! Port of a host that stops its sender while the pool is full. The port reads one head at a time.
//! A worm leaves the port if it ends at this host, or once the pool has space for it.

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
            // A worm of one flit is consumed when that flit has arrived; longer worms are read
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

    /// Removes the first worm's flits that have gathered in the port. Returns whether they complete
    /// the worm.
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
