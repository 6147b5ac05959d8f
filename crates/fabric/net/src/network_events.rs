//! Network events: failures of hosts and applications at given times during a run.
//!
//! Source: ours (`docs/concepts/timing.md`, "Network events").
//!
//! Invariant: events are ordered by time, and at equal times as [`NetworkEvent`] orders them.

mod conservation;

pub use conservation::Conservation;

use crate::{Endpoints, StreamId};
use gingham_kernel::Time;
use gingham_topology::EndpointId;

/// A change during a run. `Ord` defines the order of simultaneous events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NetworkEvent {
    /// A host crashes: its endpoint creates no more messages and ignores replies to its admission
    /// probes. Earlier messages are still sent, and arriving packets are accepted.
    HostCrash(EndpointId),
    /// The application of a stream crashes: the stream creates no more messages and ignores replies
    /// to its admission probe.
    ApplicationCrash(StreamId),
}

impl NetworkEvent {
    /// Applies the event to the endpoints.
    pub fn apply(self, endpoints: &mut Endpoints) {
        match self {
            Self::HostCrash(endpoint) => endpoints.crash_host(endpoint),
            Self::ApplicationCrash(stream) => endpoints.crash_application(stream),
        }
    }
}

/// Network events in chronological order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetworkEvents {
    ordered: Vec<(Time, NetworkEvent)>,
}

impl NetworkEvents {
    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    /// Returns the events with their times, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, NetworkEvent)> {
        self.ordered.iter().copied()
    }

    pub(crate) fn get(&self, index: usize) -> Option<(Time, NetworkEvent)> {
        self.ordered.get(index).copied()
    }
}

impl FromIterator<(Time, NetworkEvent)> for NetworkEvents {
    fn from_iter<I: IntoIterator<Item = (Time, NetworkEvent)>>(events: I) -> Self {
        let mut ordered: Vec<_> = events.into_iter().collect();
        ordered.sort_unstable();
        Self { ordered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_kind_and_component() {
        let host = |index| NetworkEvent::HostCrash(EndpointId::new(index));
        let application = |index| NetworkEvent::ApplicationCrash(StreamId::new(index));
        let given = [(7, application(0)), (7, host(2)), (3, application(5)), (7, host(1))];
        let events: NetworkEvents =
            given.map(|(at, event)| (Time::from_ps(at), event)).into_iter().collect();
        let found: Vec<_> = events.iter().map(|(at, event)| (at.as_ps(), event)).collect();
        assert_eq!(found, [(3, application(5)), (7, host(1)), (7, host(2)), (7, application(0))]);
    }
}
