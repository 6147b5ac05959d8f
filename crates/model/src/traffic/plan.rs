//! What an endpoint sends in a class, as plans say it.

use super::{ArrivalPlan, DestinationPlan, LengthPlan};
use crate::ClassId;
use gingham_kernel::{Span, Time};
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
        let messages = MessagePlan::Drawn(DrawnPlan { arrivals, lengths, destinations });
        Self { endpoint, messages }
    }

    /// The load that it offers while its class sends; `None` if it is backlogged or scheduled, or
    /// replies.
    pub fn load(&self) -> Option<f64> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.arrivals.load(),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => None,
        }
    }

    /// The least and the most payload that a message of it may have.
    pub fn payload_bytes(&self) -> RangeInclusive<u32> {
        match &self.messages {
            MessagePlan::Drawn(drawn) => drawn.lengths.range_bytes(),
            MessagePlan::Replies(replies) => replies.lengths.range_bytes(),
            MessagePlan::Scheduled(messages) => {
                let bytes = || messages.iter().map(|message| message.draft.payload_bytes);
                bytes().min().unwrap_or(1)..=bytes().max().unwrap_or(1)
            }
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
    /// When.
    pub arrivals: ArrivalPlan,
    /// How long.
    pub lengths: LengthPlan,
    /// Where to.
    pub destinations: DestinationPlan,
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
