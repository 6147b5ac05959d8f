//! Traffic of one endpoint in one class.

use super::{ArrivalPlan, DestinationPlan, LengthPlan, StreamPlan};
use crate::ClassId;
use gingham_kernel::{Span, Stream, Time};
use gingham_topology::EndpointId;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Sending endpoint of a class, with its traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct SourcePlan {
    /// Source endpoint of the messages.
    pub endpoint: EndpointId,
    /// Messages of the source.
    pub messages: MessagePlan,
}

impl SourcePlan {
    /// Creates a source of random messages.
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

    /// Returns the maximum delay of the source's start after the start of its class.
    pub fn later_max(&self) -> Span {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.later.max(),
            MessagePlan::Stream(stream) => stream.later.max(),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => Span::ZERO,
        }
    }

    /// Returns the offered load while the class sends, for `byte_ps` per byte on the source's link;
    /// `None` for a backlogged or scheduled source, or a source of replies.
    pub fn load(&self, byte_ps: f64) -> Option<f64> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.arrivals.load(),
            MessagePlan::Stream(stream) => Some(stream.data.bytes_per_ps() * byte_ps),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => None,
        }
    }

    /// Returns the range of possible message payloads.
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

    /// Returns the distributions of random messages; `None` for other sources.
    pub fn random(&self) -> Option<&DrawnPlan> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => Some(drawn),
            _ => None,
        }
    }

    /// Returns the schedule of messages; empty for other sources.
    pub fn schedule(&self) -> &[Scheduled] {
        match &self.messages {
            MessagePlan::Scheduled(messages) => messages,
            _ => &[],
        }
    }

    /// Returns the parameters of replies; `None` for other sources.
    pub fn replies(&self) -> Option<&ReplyPlan> {
        match &self.messages {
            MessagePlan::Replies(replies) => Some(replies),
            _ => None,
        }
    }

    /// Returns the parameters of a stream; `None` for other sources.
    pub fn stream(&self) -> Option<&StreamPlan> {
        match &self.messages {
            MessagePlan::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// Returns the mean message payload in bytes; 0 without messages.
    #[expect(clippy::cast_precision_loss, reason = "messages are far fewer than 2^52")]
    pub fn payload_mean_bytes(&self) -> f64 {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.lengths.mean_bytes(),
            MessagePlan::Replies(replies) => replies.lengths.mean_bytes(),
            MessagePlan::Stream(stream) => {
                stream.data.bytes_per_ps() / stream.data.messages_per_ps()
            }
            MessagePlan::Scheduled(messages) => {
                let bytes = messages.iter().map(|of| f64::from(of.draft.payload_bytes));
                bytes.sum::<f64>() / messages.len().max(1) as f64
            }
        }
    }

    /// Returns whether a message is always waiting to be sent.
    pub fn is_backlogged(&self) -> bool {
        self.random().is_some_and(|drawn| matches!(drawn.arrivals, ArrivalPlan::Backlogged))
    }
}

/// Origin of a source's messages. The `lab` and `engine` crates match all variants without a
/// wildcard.
#[derive(Clone, PartialEq, Debug)]
pub enum MessagePlan {
    /// Messages with random times, lengths and destinations.
    Drawn(DrawnPlan),
    /// Listed messages in time order.
    Scheduled(Arc<[Scheduled]>),
    /// One reply to the sender of each delivered message of another class.
    Replies(ReplyPlan),
    /// Frames or messages of a stream.
    Stream(StreamPlan),
}

/// Replies to messages of another class.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplyPlan {
    /// Class whose messages receive replies.
    pub to: ClassId,
    /// Time from a delivery to the creation of the reply.
    pub think: Span,
    /// Lengths of the replies.
    pub lengths: LengthPlan,
}

/// Distributions of arrivals, lengths and destinations.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPlan {
    /// Delay of the start after the start of the class.
    pub later: LaterPlan,
    /// Arrival process.
    pub arrivals: ArrivalPlan,
    /// Message lengths.
    pub lengths: LengthPlan,
    /// Message destinations.
    pub destinations: DestinationPlan,
}

/// Delay of a source's start after the start of its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaterPlan {
    /// Fixed part of the delay.
    pub turn: Span,
    /// Exclusive upper bound of a random addition; zero for a fixed delay.
    pub jitter: Span,
}

impl LaterPlan {
    /// Returns an upper bound of the delay, which is exact if `jitter` is zero.
    pub fn max(self) -> Span {
        self.turn + self.jitter
    }

    pub(super) fn draw(self, stream: &mut Stream) -> Span {
        let drawn_ps =
            if self.jitter == Span::ZERO { 0 } else { stream.below(self.jitter.as_ps()) };
        self.turn + Span::from_ps(drawn_ps)
    }
}

/// Scheduled message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// Creation time.
    pub created: Time,
    /// Message to create.
    pub draft: Draft,
}

/// Message about to be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draft {
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Payload in bytes.
    pub payload_bytes: u32,
}
