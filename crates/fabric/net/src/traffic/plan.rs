//! Traffic of an endpoint in a class.

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
    /// Source of random messages.
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

    /// Maximum delay of the source's start after that of its class.
    pub fn later_max(&self) -> Span {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.later.max(),
            MessagePlan::Stream(stream) => stream.later.max(),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => Span::ZERO,
        }
    }

    /// Offered load while its class sends, at `byte_ps` per byte on its link; `None` if it is
    /// backlogged or scheduled, or replies.
    pub fn load(&self, byte_ps: f64) -> Option<f64> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.arrivals.load(),
            MessagePlan::Stream(stream) => Some(stream.data.bytes_per_ps() * byte_ps),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => None,
        }
    }

    /// Smallest and largest possible payload of a message.
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

    /// Distributions of random messages, if any.
    pub fn random(&self) -> Option<&DrawnPlan> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => Some(drawn),
            _ => None,
        }
    }

    /// Schedule of its messages; empty if it has none.
    pub fn schedule(&self) -> &[Scheduled] {
        match &self.messages {
            MessagePlan::Scheduled(messages) => messages,
            _ => &[],
        }
    }

    /// Parameters of replies, if any.
    pub fn replies(&self) -> Option<&ReplyPlan> {
        match &self.messages {
            MessagePlan::Replies(replies) => Some(replies),
            _ => None,
        }
    }

    /// Stream, if the source is one.
    pub fn stream(&self) -> Option<&StreamPlan> {
        match &self.messages {
            MessagePlan::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// Returns the mean payload of its messages in bytes; 0 if it creates none.
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

    /// Whether it always has a message waiting.
    pub fn is_backlogged(&self) -> bool {
        self.random().is_some_and(|drawn| matches!(drawn.arrivals, ArrivalPlan::Backlogged))
    }
}

/// Origin of the messages of a source.
///
/// Bounds, checks and estimates of `lab` and `engine` match all variants without a wildcard: each
/// new one has to state its lengths, destinations, rate and random draws.
#[derive(Clone, PartialEq, Debug)]
pub enum MessagePlan {
    /// Random draws.
    Drawn(DrawnPlan),
    /// List in order of time.
    Scheduled(Arc<[Scheduled]>),
    /// One reply to the sender of each delivered message of another class.
    Replies(ReplyPlan),
    /// Stream; a host may have many of a class.
    Stream(StreamPlan),
}

/// Replies to messages of another class.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplyPlan {
    /// Class of the messages replied to.
    pub to: ClassId,
    /// Time from a delivery to the creation of its reply.
    pub think: Span,
    /// Lengths of the replies.
    pub lengths: LengthPlan,
}

/// Distributions of arrivals, lengths and destinations.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPlan {
    /// Delay of the start after that of the class.
    pub later: LaterPlan,
    /// Arrival process.
    pub arrivals: ArrivalPlan,
    /// Lengths of the messages.
    pub lengths: LengthPlan,
    /// Destinations of the messages.
    pub destinations: DestinationPlan,
}

/// Delay of a source's start after that of its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaterPlan {
    /// Fixed part.
    pub turn: Span,
    /// Upper bound, exclusive, of a random addition; zero for none.
    pub jitter: Span,
}

impl LaterPlan {
    /// Upper bound, exact without a random part.
    pub fn max(self) -> Span {
        self.turn + self.jitter
    }

    pub(super) fn draw(self, stream: &mut Stream) -> Span {
        let drawn_ps =
            if self.jitter == Span::ZERO { 0 } else { stream.below(self.jitter.as_ps()) };
        self.turn + Span::from_ps(drawn_ps)
    }
}

/// Message of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// Time of creation.
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
