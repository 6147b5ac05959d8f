//! Posting: how a channel adapter takes in what applications want to send.
//!
//! ```text
//!   created ─► post ─┬─ a credit is free ─► accepted ─► copied by DMA ─► queue of its lanes ─► link
//!                    │                        │ posted                                          │
//!                    └─ none is: waits, or    └───────────── a credit ◄── the tail has left ◄────┘
//!                       is posted again
//! ```
//!
//! The send buffer of an adapter holds so many messages. Who may use which part of it is a matter
//! of **credits**: a credit is a completion, that is the room of one message, and comes back when
//! the tail of the message has left the adapter. Without congestion control all messages of an
//! adapter draw on one [`Pool`] as large as the buffer; under credit-based congestion control every
//! class of a host, or every flow, has a pool of its own, so that no control is one pool and nothing
//! else. A message that finds its pool empty waits for a credit, first come first served, or is
//! refused and posted again after a time.
//!
//! Source: Yum et al. 2002, sections 3.2 (queue pairs, DMA, completion queues, priority by class)
//! and 4.2 (credits); that a credit is a message of a shared buffer of M messages, when it comes
//! back, and the time to the next attempt are our reading (`docs/concepts/channel-adapters.md`).
//!
//! Invariants: a pool never has more messages in the adapter than credits; every credit that was
//! taken comes back once.

mod dma;
mod pool;
mod posts;

pub(crate) use posts::{Outcome, Posts};

use crate::{REFILL_BYTES, ThrottlePlan};
use gingham_kernel::Span;
use gingham_topology::routing::VcClass;

/// The channel adapters of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdapterPlan {
    /// Messages that the send buffer of one holds, at least 1.
    pub send_buffer: u32,
    /// How messages come into it; at once if not given.
    pub dma: Option<DmaPlan>,
    /// What hosts look at before they begin a message; nothing if not given.
    pub throttle: Option<ThrottlePlan>,
}

/// The DMA engine of an adapter: one message after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DmaPlan {
    /// Before the first byte of a message.
    pub setup: Span,
    /// The time in which [`REFILL_BYTES`] bytes are copied.
    pub refill: Span,
}

impl DmaPlan {
    /// The time of a message with so much payload, rounded up to a picosecond.
    pub fn time_of(self, payload_bytes: u32) -> Span {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let copied = parts.div_ceil(u128::from(REFILL_BYTES));
        self.setup + Span::from_ps(u64::try_from(copied).expect("a message is copied within a run"))
    }
}

/// How messages of a class are posted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PostPlan {
    /// Which credits they need.
    pub credits: Credits,
    /// What becomes of one that finds none.
    pub refused: Refused,
    /// On which of its lanes one goes.
    pub lane: LaneChoice,
}

impl PostPlan {
    /// Whether flows of the class are told apart.
    pub const fn is_by_flow(&self) -> bool {
        matches!(self.credits, Credits::OfFlow(_)) || matches!(self.lane, LaneChoice::OfFlow(_))
    }
}

/// Which credits messages of a class need, where there are adapters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Credits {
    /// Those of the whole send buffer, which all classes share.
    #[default]
    OfBuffer,
    /// None.
    Exempt,
    /// Those of the class at the host: so many, by endpoint.
    OfClass(Box<[u32]>),
    /// Those of their flow: so many, by endpoint at which it begins.
    OfFlow(Box<[u32]>),
}

/// What becomes of a message that finds no credit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Refused {
    /// It waits for one.
    #[default]
    Wait,
    /// It is posted again after this time, and again until it finds one; by endpoint, not zero.
    Retry(Box<[Span]>),
}

/// On which of the lanes of its class a message goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum LaneChoice {
    /// On any that is free where its packets come to.
    #[default]
    Any,
    /// On one that is drawn when it is created, among these VC classes of a lane each.
    AtRandom(Box<[VcClass]>),
    /// On one that is drawn with the first message of its flow.
    OfFlow(Box<[VcClass]>),
}
