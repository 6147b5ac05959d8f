//! What switches and hosts work on.

use crate::wormhole::clock::Clock;
use crate::wormhole::links::Links;
use crate::wormhole::worm::Worms;

/// The links of a network, the worms under way on them, and what is to come. Each guards itself: this only keeps together
/// what nearly every phase needs.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) clock: Clock,
    pub(crate) links: Links,
    pub(crate) worms: Worms,
}
