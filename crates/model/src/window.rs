//! What holds back a flow: a window of packets under way, and a pace.
//!
//! ```text
//!   source        p1 p2 p3 |                p4 |        window of 3 packets: p4 waits for the first answer
//!                  \\  \\  \\|               / \\|
//!   destination     a1 a2 a3 ──────────────          each packet that has arrived whole is answered
//! ```
//!
//! Source: windows of unacknowledged packets, textbook; answers of 20 bytes, one a packet, Santos
//! et al. 2002, section I and table I.
//!
//! Invariant: no more packets of a flow are under way, or have arrived and are not answered, than
//! its window says.

use crate::{ClassId, Priority, REFILL_BYTES, Response};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;

/// What makes packets one flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// The class as which they are sent.
    pub class: ClassId,
    /// Where they begin.
    pub source: EndpointId,
    /// Where they end.
    pub destination: EndpointId,
}

/// How many packets of a flow may be under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowPlan {
    /// Packets that were sent and are not answered, at the most; at least 1.
    pub packets: u32,
    /// How each of them is answered.
    pub answer: AnswerPlan,
    /// What the flow makes of marks that come back.
    pub response: Response,
}

/// The packet with which a destination answers one that it received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerPlan {
    /// Its payload, at least 1 B.
    pub payload_bytes: u32,
    /// Its level.
    pub priority: Priority,
    /// Its VC class; that which the lanes say of the pair if not given.
    pub vc_class: Option<VcClass>,
}

/// Why a flow that has something to send is held back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hold {
    /// As many of its packets are under way as its window says: it waits for an answer.
    Window,
    /// Its pace: the packet before has started not long enough ago.
    Pace,
    /// Its class waits for tokens.
    Tokens,
}

/// How fast flows of a class may send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacePlan {
    /// By endpoint: the time in which [`REFILL_BYTES`] bytes of payload of a flow may
    /// start.
    pub refill: Box<[Span]>,
}

/// The pace of a flow: a packet starts no sooner than the one before it did, and the time of that
/// at this rate, rounded up to a picosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    refill: Span,
}

impl Pace {
    /// That of the flows of a source.
    pub const fn new(refill: Span) -> Self {
        Self { refill }
    }

    /// The time in which [`REFILL_BYTES`] bytes of payload may start.
    pub const fn refill(self) -> Span {
        self.refill
    }

    /// From when on the next packet may start, if one with so much payload starts `now`.
    pub fn next_start(self, now: Time, payload_bytes: u32) -> Time {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let span = parts.div_ceil(u128::from(REFILL_BYTES));
        now + Span::from_ps(u64::try_from(span).expect("a packet starts within a run"))
    }
}
