//! Channels into hosts with in-transit worms: the arriving worms, and the runs of their flits that
//! are still needed.

use crate::wormhole::worm::Incoming;
use gingham_topology::EndpointId;
use std::collections::VecDeque;

/// Arrivals at a host without a port.
#[derive(Clone, Debug)]
pub(super) struct Ejection {
    pub(super) host: EndpointId,
    pub(super) incoming: VecDeque<Incoming>,
    /// Worm whose head was read last, the only worm that may still be arriving.
    pub(super) latest: Option<Incoming>,
}

impl Ejection {
    pub(super) fn new(host: EndpointId) -> Self {
        Self { host, incoming: VecDeque::new(), latest: None }
    }

    /// Returns the sequence number of the first flit that may still be needed. `arrived` is the
    /// number of arrived flits, `sent_from` the number of the first flit of a worm that is being
    /// re-injected.
    pub(super) fn needed_from(&self, arrived: u64, sent_from: Option<u64>) -> u64 {
        let latest = self.latest.filter(|worm| worm.first + worm.flits > arrived);
        latest.map_or(arrived, |worm| worm.first).min(sent_from.unwrap_or(arrived))
    }
}
