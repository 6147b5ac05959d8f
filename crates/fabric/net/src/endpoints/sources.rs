//! Traffic sources of a run, with the schedule of their messages.

use super::outbox::Outbox;
use crate::traffic::Source;
use crate::{MessageId, Order, Plan};
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(super) struct Sources {
    all: Vec<Source>,
    /// Indices of backlogged sources, by endpoint.
    backlogged: Vec<Vec<usize>>,
    /// Number of sources with a scheduled next message.
    scheduled: usize,
    messages_created: usize,
}

impl Sources {
    pub(super) fn new(plan: &Plan) -> Self {
        let all = Source::all(plan);
        let mut backlogged = vec![Vec::new(); plan.fabric.endpoints().len()];
        for (index, source) in all.iter().enumerate().filter(|(_, source)| source.is_backlogged()) {
            backlogged[source.endpoint().index()].push(index);
        }
        Self { all, backlogged, scheduled: 0, messages_created: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Source> {
        self.all.iter()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &Source {
        &self.all[index]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> &mut Source {
        &mut self.all[index]
    }

    pub(super) fn has_backlogged(&self) -> bool {
        self.backlogged.iter().any(|sources| !sources.is_empty())
    }

    pub(super) fn backlogged(&self, endpoint: EndpointId) -> &[usize] {
        &self.backlogged[endpoint.index()]
    }

    /// Schedules the next message of a source, if its time is known.
    pub(super) fn schedule(&mut self, index: usize, outbox: &mut Outbox) {
        if let Some(at) = self.all[index].next_arrival() {
            self.scheduled += 1;
            outbox.order(Order::CreateAt { source: index, at });
        }
    }

    /// Counts a source that has no further message scheduled.
    #[inline]
    pub(super) fn end_schedule(&mut self) {
        self.scheduled -= 1;
    }

    pub(super) fn is_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    #[inline]
    pub(super) fn next_id(&mut self) -> MessageId {
        self.messages_created += 1;
        MessageId::new(self.messages_created - 1)
    }
}
