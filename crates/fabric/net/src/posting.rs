//! Posting: admission of work requests into the send buffer of a channel adapter.
//!
//! ```text
//!   created ─► post ─┬─ a credit is free ─► accepted ─► copied by DMA ─► queue of its lanes ─► link
//!                    │                        │ posted                                          │
//!                    └─ no credit: waits, or  └───────────── credit returns ◄── tail has left ◄─┘
//!                       is posted again
//! ```
//!
//! A **credit** is space for one message in the send buffer. It returns, with a completion, when
//! the message's tail has left the adapter. Without congestion control, all messages of an adapter
//! share one pool of credits; with credit-based congestion control, every class of a host or every
//! flow has a separate pool.
//!
//! Source: Yum et al. 2002, sections 3.2 (queue pairs, DMA, completion queues, priority by class)
//! and 4.2 (credits); our reading: `docs/concepts/channel-adapters.md`.
//!
//! Invariants: a pool never gives out more credits than it has; each credit taken returns exactly
//! once.

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
    /// DMA engine that copies messages into the send buffer; `None`: copying takes no time.
    pub dma: Option<DmaPlan>,
    /// Injection throttling.
    pub throttle: Option<ThrottlePlan>,
}

/// DMA engine, which copies one message at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DmaPlan {
    /// Set-up time before the first byte of a message is copied.
    pub setup: Span,
    /// Time to copy [`REFILL_BYTES`] bytes.
    pub refill: Span,
}

impl DmaPlan {
    /// Returns the time to set up and copy a message, rounded up to 1 ps.
    pub fn time_of(self, payload_bytes: u32) -> Span {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let copied = parts.div_ceil(u128::from(REFILL_BYTES));
        self.setup + Span::from_ps(u64::try_from(copied).expect("a message is copied within a run"))
    }
}

/// Rules for posting a class's messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PostPlan {
    /// Credits that messages need.
    pub credits: Credits,
    /// Treatment of messages without a credit.
    pub refused: Refused,
    /// Lane selection for messages.
    pub lane: LaneChoice,
}

impl PostPlan {
    /// Returns whether posting distinguishes the flows of the class.
    pub const fn is_by_flow(&self) -> bool {
        matches!(self.credits, Credits::OfFlow(_)) || matches!(self.lane, LaneChoice::OfFlow(_))
    }
}

/// Credits for messages of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Credits {
    /// Send buffer credits, shared with other classes.
    #[default]
    OfBuffer,
    /// Messages need no credit.
    Exempt,
    /// Number of credits for this class at each host, by endpoint.
    OfClass(Box<[u32]>),
    /// Number of credits for each flow, by source endpoint.
    OfFlow(Box<[u32]>),
}

/// Treatment of messages without a credit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Refused {
    /// The message waits for a credit.
    #[default]
    Wait,
    /// The message is posted again at a fixed interval until it gets a credit. Intervals are listed
    /// by endpoint and are not zero.
    Retry(Box<[Span]>),
}

/// Selection among the lanes of a message's class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum LaneChoice {
    /// Any free lane, at each hop.
    #[default]
    Any,
    /// Random lane for each message, from VC classes with one lane each.
    AtRandom(Box<[VcClass]>),
    /// Random lane for each flow, from VC classes with one lane each.
    OfFlow(Box<[VcClass]>),
}
