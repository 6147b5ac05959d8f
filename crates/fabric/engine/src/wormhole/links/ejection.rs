//! The end of a channel at a host through which worms may go on: those that come, and which runs of
//! them are still needed.

use crate::wormhole::worm::Incoming;
use gingham_topology::EndpointId;
use std::collections::VecDeque;

/// What comes in at a host. A port with a buffer keeps itself what comes.
#[derive(Clone, Debug)]
pub(super) struct Ejection {
    pub(super) host: EndpointId,
    /// Worms in transit on the way to it whose head was not looked at.
    pub(super) incoming: VecDeque<Incoming>,
    /// The worm in transit whose head was looked at last, which alone may still be arriving.
    pub(super) latest: Option<Incoming>,
}

impl Ejection {
    pub(super) fn new(host: EndpointId) -> Self {
        Self { host, incoming: VecDeque::new(), latest: None }
    }

    /// The number of the first flit of the channel into the host that somebody may ask about, if so
    /// many have arrived and a worm is sent on from this number on.
    pub(super) fn needed_from(&self, arrived: u64, sent_from: Option<u64>) -> u64 {
        let latest = self.latest.filter(|worm| worm.first + worm.flits > arrived);
        latest.map_or(arrived, |worm| worm.first).min(sent_from.unwrap_or(arrived))
    }
}
