//! Sources of one endpoint, the notifications that they need, and their postponed messages.

use crate::ClassId;
use crate::postponed::Postponed;
use crate::traffic::{Awaited, Source};
use gingham_kernel::Time;

#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    sources: Vec<usize>,
    of_starts: Vec<usize>,
    /// Sources to notify of deliveries, each with the class of the delivered messages.
    of_deliveries: Vec<(ClassId, usize)>,
    due: Postponed<usize>,
}

impl Agenda {
    pub(super) fn add(&mut self, index: usize, source: &Source) {
        self.sources.push(index);
        let Awaited { starts, deliveries } = source.awaited();
        self.of_starts.extend(starts.then_some(index));
        self.of_deliveries.extend(deliveries.map(|class| (class, index)));
    }

    pub(super) fn sources(&self) -> &[usize] {
        &self.sources
    }

    pub(super) fn of_starts(&self) -> &[usize] {
        &self.of_starts
    }

    pub(super) fn of_deliveries(&self) -> &[(ClassId, usize)] {
        &self.of_deliveries
    }

    pub(super) fn put(&mut self, source: usize, at: Time) {
        self.due.put(at, source);
    }

    pub(super) fn take_due(&mut self, now: Time) -> Option<usize> {
        self.due.take(now)
    }
}
