//! Workloads: messages of one class at one endpoint, and the events that make them due.
//!
//! ```text
//!                     ┌──────────── Workload ────────────┐
//!   started ─────────►│ one of its messages starts       │
//!   delivered ───────►│ a message arrives at its endpoint│──► next_at: due by its own clock
//!   suspend, resume ─►│ admission control                │──► due: the next message
//!   end ─────────────►│ crash of its host or application │──► is_finished
//!                     └──────────────────────────────────┘
//! ```
//!
//! A message becomes due at [`Workload::next_at`], by the workload's own clock, or at a time
//! returned by a notification. At each of these times the endpoint calls [`Workload::due`] once;
//! messages due by clocks precede messages due by earlier notifications. Lost messages cause no
//! notification: a transport detects a loss by a time-out.

mod drawn;
mod replies;
mod schedule;
mod start;
mod stream;

use super::{Draft, MessagePlan, StreamPart};
use crate::{ClassId, Message, Plan, StreamId};
use drawn::Drawn;
use gingham_kernel::Time;
use replies::Replies;
use schedule::Schedule;
use start::Start;
use std::ops::{Deref, DerefMut};
pub(super) use stream::{StreamSender, application_crash};

/// Notifications that a workload needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Awaited {
    /// Whether the workload needs notifications of its own messages' starts
    /// ([`super::Source::started`]).
    pub starts: bool,
    /// Class whose deliveries at this endpoint the workload must be notified of
    /// ([`super::Source::delivered`]).
    pub deliveries: Option<ClassId>,
}

pub(super) trait Workload {
    fn next_at(&self) -> Option<Time>;

    fn due(&mut self, now: Time) -> Option<Draft>;

    fn is_finished(&self) -> bool {
        self.next_at().is_none()
    }

    fn end(&mut self);

    fn awaited(&self) -> Awaited {
        Awaited::default()
    }

    fn started(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn delivered(&mut self, _message: &Message, _now: Time) -> Option<Time> {
        None
    }

    fn stream(&self) -> Option<StreamId> {
        None
    }

    fn part(&self) -> Option<StreamPart> {
        None
    }

    fn suspend(&mut self) {
        unreachable!("only streams request admission");
    }

    fn resume(&mut self, _now: Time) {
        unreachable!("only streams are admitted");
    }
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are drawn, and are used for each message"
)]
pub(super) enum AnyWorkload {
    Drawn(Drawn),
    Schedule(Schedule),
    Replies(Box<Replies>),
    Stream(Box<StreamSender>),
}

impl AnyWorkload {
    pub(super) fn new(plan: &Plan, class: ClassId, index: usize, streams_before: usize) -> Self {
        let start = Start { plan, class, index, streams_before };
        match &start.source().messages {
            MessagePlan::Drawn(drawn) => Self::Drawn(Drawn::new(start, drawn)),
            MessagePlan::Scheduled(messages) => Self::Schedule(Schedule::new(start, messages)),
            MessagePlan::Replies(replies) => Self::Replies(Box::new(Replies::new(start, replies))),
            MessagePlan::Stream(stream) => Self::Stream(Box::new(StreamSender::new(start, stream))),
        }
    }

    /// Avoids a dynamic call for drawn messages.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Time> {
        match self {
            Self::Drawn(drawn) => drawn.next_at(),
            _ => (**self).next_at(),
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn due(&mut self, now: Time) -> Option<Draft> {
        match self {
            Self::Drawn(drawn) => drawn.due(now),
            _ => (**self).due(now),
        }
    }
}

impl Deref for AnyWorkload {
    type Target = dyn Workload;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Drawn(drawn) => drawn,
            Self::Schedule(schedule) => schedule,
            Self::Replies(replies) => &**replies,
            Self::Stream(stream) => &**stream,
        }
    }
}

impl DerefMut for AnyWorkload {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Drawn(drawn) => drawn,
            Self::Schedule(schedule) => schedule,
            Self::Replies(replies) => &mut **replies,
            Self::Stream(stream) => &mut **stream,
        }
    }
}
