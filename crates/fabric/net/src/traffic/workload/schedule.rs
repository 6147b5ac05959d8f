//! Messages from a list, up to the first one outside the sending period of the class.

use super::{Start, Workload};
use crate::traffic::{Draft, Scheduled};
use gingham_kernel::Time;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(in crate::traffic) struct Schedule {
    messages: Arc<[Scheduled]>,
    next: usize,
    active: Range<Time>,
}

impl Schedule {
    pub(super) fn new(start: Start<'_>, messages: &Arc<[Scheduled]>) -> Self {
        Self { messages: Arc::clone(messages), next: 0, active: start.active() }
    }
}

impl Workload for Schedule {
    fn next_at(&self) -> Option<Time> {
        let next = self.messages.get(self.next)?.created;
        self.active.contains(&next).then_some(next)
    }

    fn due(&mut self, now: Time) -> Option<Draft> {
        let next = self.messages.get(self.next).filter(|next| next.created == now)?;
        self.next += 1;
        Some(next.draft)
    }

    fn end(&mut self) {
        self.next = self.messages.len();
    }
}
