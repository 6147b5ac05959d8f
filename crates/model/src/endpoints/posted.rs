//! Messages that are posted to channel adapters: what comes of posts, copies and credits.
//!
//! ```text
//!   created ──► post ──► accepted: a backlogged class creates its next message
//!                 └────► ready: into the queue of its lanes, and the endpoint is to send
//!   left ───────► its credit is back: the next post
//!   woken ──────► an attempt, or the end of a copy
//! ```

use super::Endpoints;
use crate::messages::Outgoing;
use crate::posting::Outcome;
use crate::traffic::StreamPart;
use crate::{ClassId, Conformance, Content, Credits, Message, MessageSlot, Order, Refused};
use gingham_kernel::Time;
use gingham_topology::EndpointId;

impl Endpoints {
    /// A message was created, and is not dropped: it is posted, or put into its queue where there
    /// are no adapters.
    #[inline(never)]
    pub(super) fn post(
        &mut self,
        message: Message,
        (class, conformance): (ClassId, Conformance),
        part: Option<StreamPart>,
    ) {
        let vc_class = self.lanes.choose(&self.plan, &mut self.flows, class, &message);
        let outgoing = Outgoing::new(&self.plan, message, (class, conformance), vc_class);
        let slot = self.messages.insert(outgoing);
        if let Some(part) = part {
            self.messages.note_part(slot, part);
        }
        let now = message.created;
        let Some(posts) = &mut self.posts else { return self.enqueue(slot, now) };
        let class = &self.plan.classes[message.class.index()];
        posts.post(&mut self.messages, class, slot, now);
        self.carry_posts(now);
    }

    /// A packet of an endpoint's own has left.
    #[inline(never)]
    pub(super) fn content_left(&mut self, endpoint: EndpointId, content: Content, now: Time) {
        let Content::Data(slot) = content else { return };
        if self.has_leases() {
            self.admission_renewed(endpoint, slot, now);
        }
        if (self.posts.is_none() && self.desk.is_none()) || !self.messages.leave(slot) {
            return;
        }
        if self.desk.is_some() {
            self.admission_left(endpoint, slot);
        }
        if let Some(posts) = &mut self.posts {
            posts.left(&mut self.messages, slot, now);
            self.carry_posts(now);
        }
    }

    /// The instant has come for which an endpoint waited.
    pub(super) fn posted_woken(&mut self, endpoint: EndpointId, now: Time) {
        if let Some(posts) = &mut self.posts {
            posts.woken(&mut self.messages, endpoint, now);
            self.carry_posts(now);
        }
    }

    /// Carries out what comes of posts. What these bring about is carried out by the call that is
    /// under way: credits may be many.
    fn carry_posts(&mut self, now: Time) {
        if std::mem::replace(&mut self.is_carrying, true) {
            return;
        }
        while let Some(outcome) = self.posts.as_mut().and_then(|posts| posts.next_outcome()) {
            match outcome {
                Outcome::Accepted(slot) => self.on_accepted(slot, now),
                Outcome::Ready(slot) => {
                    self.orders.push(Order::Send { endpoint: self.messages.message(slot).source });
                    self.enqueue(slot, now);
                }
                Outcome::WakeAt(endpoint, at) => self.orders.push(Order::WakeAt { endpoint, at }),
            }
        }
        self.is_carrying = false;
    }

    fn on_accepted(&mut self, slot: MessageSlot, now: Time) {
        let message = *self.messages.message(slot);
        let post = &self.plan.classes[message.class.index()].post;
        if post.credits == Credits::Exempt {
            return;
        }
        if let Refused::Retry(periods) = &post.refused {
            let period = periods[message.source.index()];
            let refusals = now.since(message.created).as_ps() / period.as_ps();
            self.collector.on_refused(message.class, refusals);
        }
        self.refill(message.source, message.class, now);
    }

    fn enqueue(&mut self, slot: MessageSlot, now: Time) {
        let message = self.messages.message(slot);
        let (endpoint, is_told_apart) = (message.source, message.flow.is_some());
        let adapter = &mut self.adapters[endpoint.index()];
        adapter.enqueue(&mut self.flows, &mut self.messages, slot, now);
        if is_told_apart {
            self.tell_held();
        }
    }
}
