//! Posting: admission of work requests into the send buffer of a channel adapter.
//!
//! ```text
//!   created ─► post ─┬─ a credit is free ─► accepted ─► copied by DMA ─► queue of its lanes ─► link
//!                    │                        │ posted                                          │
//!                    └─ none is: waits, or    └───────────── a credit ◄── the tail has left ◄────┘
//!                       is posted again
//! ```
//!
//! The send buffer of an adapter holds a fixed number of messages, shared by **credits**: a credit
//! is a completion, that is space for one message, and returns when the tail of the message has
//! left the adapter. Without congestion control all messages of an adapter share one pool as large
//! as the buffer; with credit-based congestion control every class of a host, or every flow, has
//! its own pool. A message that finds its pool empty waits for a credit in FIFO order, or is
//! refused and posted again later.
//!
//! Source: Yum et al. 2002, sections 3.2 (queue pairs, DMA, completion queues, priority by class)
//! and 4.2 (credits). Our reading: a credit is a message of a shared buffer of M messages, when it
//! returns, and the time to the next attempt (`docs/concepts/channel-adapters.md`).
//!
//! Invariants: a pool never has more messages in the adapter than credits; every credit that was
//! taken returns once.

mod dma;
mod pool;
mod posts;

pub(crate) use posts::{Outcome, Posts};

use crate::{REFILL_BYTES, ThrottlePlan};
use gingham_kernel::Span;
use gingham_topology::routing::VcClass;

/// Channel adapters of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdapterPlan {
    /// Capacity of the send buffer in messages, at least 1.
    pub send_buffer: u32,
    /// Copying of messages into it; immediate without a plan.
    pub dma: Option<DmaPlan>,
    /// Injection throttling; none without a plan.
    pub throttle: Option<ThrottlePlan>,
}

/// DMA engine of an adapter, which copies one message at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DmaPlan {
    /// Time before the first byte of a message is copied.
    pub setup: Span,
    /// Copying time of [`REFILL_BYTES`] bytes.
    pub refill: Span,
}

impl DmaPlan {
    /// Returns the time to copy a message, rounded up to a picosecond.
    pub fn time_of(self, payload_bytes: u32) -> Span {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let copied = parts.div_ceil(u128::from(REFILL_BYTES));
        self.setup + Span::from_ps(u64::try_from(copied).expect("a message is copied within a run"))
    }
}

/// Posting of a class's messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PostPlan {
    /// Credits that a message needs.
    pub credits: Credits,
    /// Treatment of a message without a credit.
    pub refused: Refused,
    /// Selection of a message's lane.
    pub lane: LaneChoice,
}

impl PostPlan {
    /// Whether flows of the class are distinguished.
    pub const fn is_by_flow(&self) -> bool {
        matches!(self.credits, Credits::OfFlow(_)) || matches!(self.lane, LaneChoice::OfFlow(_))
    }
}

/// Credits that messages of a class need, if there are adapters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Credits {
    /// Credits of the whole send buffer, shared by all classes.
    #[default]
    OfBuffer,
    /// No credits.
    Exempt,
    /// Credits of the class at the host: their number by endpoint.
    OfClass(Box<[u32]>),
    /// Credits of the flow: their number by source endpoint.
    OfFlow(Box<[u32]>),
}

/// Treatment of a message without a credit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Refused {
    /// Waits for a credit.
    #[default]
    Wait,
    /// Is posted again at this interval until it gets a credit; by endpoint, not zero.
    Retry(Box<[Span]>),
}

/// Selection among the lanes of a message's class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum LaneChoice {
    /// Any free lane, selected at each hop.
    #[default]
    Any,
    /// A lane drawn when the message is created, among these VC classes with one lane each.
    AtRandom(Box<[VcClass]>),
    /// A lane drawn with the first message of the flow.
    OfFlow(Box<[VcClass]>),
}
