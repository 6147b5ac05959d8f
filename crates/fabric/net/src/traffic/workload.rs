//! Workloads: messages of one class at one endpoint, and the events that make them due.
//!
//! ```text
//!                     ┌──────────── Workload ────────────┐
//!   started ─────────►│ one of its messages begins       │
//!   delivered ───────►│ a message arrives at its endpoint│──► next_at: due by its own clock
//!   suspend, resume ─►│ admission control                │──► due: the next message
//!   end ─────────────►│ crash of its host or application │──► is_finished
//!                     └──────────────────────────────────┘
//! ```
//!
//! A message becomes due by the workload's own clock, at [`Workload::next_at`], or by a
//! notification, which returns the instant. At each of these the endpoint calls [`Workload::due`]
//! once; messages due by clocks precede those due by earlier notifications. There is no
//! notification of lost messages: a transport learns of a loss by a time-out.
//!
//! A workload at a source and one at a destination share no state.
//!
//! A new workload is a file here, a variant of [`AnyWorkload`] and one of [`MessagePlan`]. The
//! compiler then lists the bounds, checks and estimates that have to cover it.

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
    /// Whether it needs the starts of its own messages ([`super::Source::started`]).
    pub starts: bool,
    /// Class with deliveries to its endpoint that it needs ([`super::Source::delivered`]).
    pub deliveries: Option<ClassId>,
}

pub(super) trait Workload {
    fn next_at(&self) -> Option<Time>;

    fn due(&mut self, now: Time) -> Option<Draft>;

    fn is_finished(&self) -> bool {
        self.next_at().is_none()
    }

    /// Ends the workload: no further message becomes due.
    fn end(&mut self);

    /// Notifications that the workload needs; constant over the run.
    fn awaited(&self) -> Awaited {
        Awaited::default()
    }

    /// Handles the start of a message, see [`super::Source::started`].
    fn started(&mut self, _now: Time) -> Option<Time> {
        None
    }

    /// Handles a delivery, see [`super::Source::delivered`].
    fn delivered(&mut self, _message: &Message, _now: Time) -> Option<Time> {
        None
    }

    // Streams.

    fn stream(&self) -> Option<StreamId> {
        None
    }

    /// Stream part of the last message created.
    fn part(&self) -> Option<StreamPart> {
        None
    }

    fn suspend(&mut self) {
        unreachable!("only streams request admission");
    }

    /// Resumes a stream, see [`super::Source::resume`].
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
    /// `streams_before` counts the streams of earlier sources.
    pub(super) fn new(plan: &Plan, class: ClassId, index: usize, streams_before: usize) -> Self {
        let start = Start { plan, class, index, streams_before };
        match &start.source().messages {
            MessagePlan::Drawn(drawn) => Self::Drawn(Drawn::new(start, drawn)),
            MessagePlan::Scheduled(messages) => Self::Schedule(Schedule::new(start, messages)),
            MessagePlan::Replies(replies) => Self::Replies(Box::new(Replies::new(start, replies))),
            MessagePlan::Stream(stream) => Self::Stream(Box::new(StreamSender::new(start, stream))),
        }
    }

    /// Next instant; avoids a dynamic call for drawn messages.
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
