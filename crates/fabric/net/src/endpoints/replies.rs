//! Replies: messages that a source creates a think time after it received one.

use super::sources::Sources;
use crate::{ClassId, Message};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sources of replies and the replies that wait for the end of a think time.
#[derive(Clone, Debug)]
pub(super) struct Replies {
    /// Repliers by class and destination of the messages to be answered.
    repliers: BTreeMap<(ClassId, EndpointId), Arc<[Replier]>>,
    /// Pending replies by endpoint, time and number.
    pending: BTreeMap<(EndpointId, Time, usize), Reply>,
    /// Number of replies that had to wait so far.
    number: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Replier {
    source: usize,
    think: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) source: usize,
    pub(super) destination: EndpointId,
}

impl Replies {
    pub(super) fn new(sources: &Sources) -> Self {
        let mut repliers: BTreeMap<_, Vec<Replier>> = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            if let Some(replies) = source.replies() {
                let replier = Replier { source: index, think: replies.think };
                repliers.entry((replies.to, source.endpoint())).or_default().push(replier);
            }
        }
        let repliers = repliers.into_iter().map(|(key, of)| (key, of.into())).collect();
        Self { repliers, pending: BTreeMap::new(), number: 0 }
    }

    /// Whether any source replies.
    pub(super) fn are_planned(&self) -> bool {
        !self.repliers.is_empty()
    }

    /// Returns the sources that reply to a message, if any do.
    pub(super) fn repliers_to(&self, message: &Message) -> Option<Arc<[Replier]>> {
        self.repliers.get(&(message.class, message.destination)).cloned()
    }

    /// Whether no reply waits for the end of its think time.
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Keeps a reply until the end of its think time, when its endpoint is to be woken.
    pub(super) fn keep(&mut self, endpoint: EndpointId, at: Time, reply: Reply) {
        self.pending.insert((endpoint, at, self.number), reply);
        self.number += 1;
    }

    /// Takes the next reply of an endpoint whose think time is over.
    pub(super) fn take_due(&mut self, endpoint: EndpointId, now: Time) -> Option<Reply> {
        let due = (endpoint, Time::ZERO, 0)..=(endpoint, now, usize::MAX);
        let (key, _) = self.pending.range(due).next()?;
        let key = *key;
        self.pending.remove(&key)
    }
}

impl Replier {
    /// Returns the reply to a message delivered `now`, with the time of its creation; `None` if the
    /// source is not active then.
    pub(super) fn reply(
        self,
        message: &Message,
        sources: &Sources,
        now: Time,
    ) -> Option<(Time, Reply)> {
        let at = now + self.think;
        let reply = Reply { source: self.source, destination: message.source };
        sources.get(self.source).is_active(at).then_some((at, reply))
    }
}
