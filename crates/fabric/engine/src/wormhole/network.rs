//! State shared by switches and hosts.

use crate::wormhole::clock::Clock;
use crate::wormhole::links::Links;
use crate::wormhole::worm::{Incoming, Worms};
use gingham_topology::ChannelId;

#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) clock: Clock,
    pub(crate) links: Links,
    pub(crate) worms: Worms,
}

impl Network {
    pub(crate) fn begin(&mut self, channel: ChannelId, worm: Incoming, ready: u64) {
        self.links.begin(&mut self.clock, &self.worms, channel, worm, ready);
    }
}
