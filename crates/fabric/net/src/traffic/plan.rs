//! What an endpoint sends in a class, as plans say it.

use super::{ArrivalPlan, DestinationPlan, LengthPlan, StreamPlan};
use crate::ClassId;
use gingham_kernel::{Span, Stream, Time};
use gingham_topology::EndpointId;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// An endpoint that sends in a class, and what.
#[derive(Clone, PartialEq, Debug)]
pub struct SourcePlan {
    /// Where messages begin.
    pub endpoint: EndpointId,
    /// What it sends.
    pub messages: MessagePlan,
}

impl SourcePlan {
    /// A source that draws its messages.
    pub fn drawn(
        endpoint: EndpointId,
        arrivals: ArrivalPlan,
        lengths: LengthPlan,
        destinations: DestinationPlan,
    ) -> Self {
        let later = LaterPlan::default();
        let messages = MessagePlan::Drawn(DrawnPlan { later, arrivals, lengths, destinations });
        Self { endpoint, messages }
    }

    /// The longest time by which it may begin after its class.
    pub fn later_max(&self) -> Span {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.later.max(),
            MessagePlan::Stream(stream) => stream.later.max(),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => Span::ZERO,
        }
    }

    /// The load that it offers while its class sends, where a byte takes `byte_ps` on its link;
    /// `None` if it is backlogged or scheduled, or replies.
    pub fn load(&self, byte_ps: f64) -> Option<f64> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.arrivals.load(),
            MessagePlan::Stream(stream) => Some(stream.data.bytes_per_ps() * byte_ps),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => None,
        }
    }

    /// The least and the most payload that a message of it may have.
    pub fn payload_bytes(&self) -> RangeInclusive<u32> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.lengths.range_bytes(),
            MessagePlan::Replies(replies) => replies.lengths.range_bytes(),
            MessagePlan::Stream(stream) => stream.data.payload_bytes(),
            MessagePlan::Scheduled(messages) => {
                let bytes = || messages.iter().map(|message| message.draft.payload_bytes);
                bytes().min().unwrap_or(1)..=bytes().max().unwrap_or(1)
            }
        }
    }

    /// The stream that it is, if it is one.
    pub fn stream(&self) -> Option<&StreamPlan> {
        match &self.messages {
            MessagePlan::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// Whether it always has a message waiting.
    pub fn is_backlogged(&self) -> bool {
        let MessagePlan::Drawn(drawn) = &self.messages else { return false };
        matches!(drawn.arrivals, ArrivalPlan::Backlogged)
    }
}

/// Where the messages of a source come from.
#[derive(Clone, PartialEq, Debug)]
pub enum MessagePlan {
    /// Random streams.
    Drawn(DrawnPlan),
    /// A list, in order of time.
    Scheduled(Arc<[Scheduled]>),
    /// One for each message of another class that is delivered here, back to where that came from.
    Replies(ReplyPlan),
    /// A stream; a host may have many of a class.
    Stream(StreamPlan),
}

/// Messages that wait for those of another class.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplyPlan {
    /// The class whose messages are replied to.
    pub to: ClassId,
    /// From the delivery of such a message to the creation of its reply.
    pub think: Span,
    /// How long.
    pub lengths: LengthPlan,
}

/// When messages are drawn, how long, and where to.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPlan {
    /// How much later than its class the source begins.
    pub later: LaterPlan,
    /// Time of the crash.
    pub arrivals: ArrivalPlan,
    /// How long.
    pub lengths: LengthPlan,
    /// Where to.
    pub destinations: DestinationPlan,
}

/// From the start of a class to that of one of its sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaterPlan {
    /// At least so much.
    pub turn: Span,
    /// And less than so much more, drawn; nothing if it is zero.
    pub jitter: Span,
}

impl LaterPlan {
    /// A bound, which is met where nothing is drawn.
    pub fn max(self) -> Span {
        self.turn + self.jitter
    }

    /// How much it is, with the stream that it is drawn from.
    pub(super) fn draw(self, stream: &mut Stream) -> Span {
        let drawn_ps =
            if self.jitter == Span::ZERO { 0 } else { stream.below(self.jitter.as_ps()) };
        self.turn + Span::from_ps(drawn_ps)
    }
}

/// A message of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// When it is created.
    pub created: Time,
    /// What is created.
    pub draft: Draft,
}

/// A message about to be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draft {
    /// Where it goes.
    pub destination: EndpointId,
    /// Payload in bytes.
    pub payload_bytes: u32,
}
