//! What switches and hosts work on.

use crate::wormhole::clock::Clock;
use crate::wormhole::links::Links;
use crate::wormhole::worm::{Incoming, Worms};
use gingham_topology::ChannelId;

/// The links of a network, the worms under way on them, and what is to come. Each guards itself:
/// this only keeps together what nearly every phase needs.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) clock: Clock,
    pub(crate) links: Links,
    pub(crate) worms: Worms,
}

impl Network {
    /// Gives `channel` to a worm, whose first flit may start at `ready`.
    pub(crate) fn begin(&mut self, channel: ChannelId, worm: Incoming, ready: u64) {
        self.links.begin(&mut self.clock, &self.worms, channel, worm, ready);
    }
}
