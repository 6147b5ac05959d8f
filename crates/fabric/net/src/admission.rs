//! Admission control: a stream sends once every link on its way has room for its rate.
//!
//! ```text
//!   source        s0            s1            s2              probe: reserves at each node, as it is read
//!     │── probe ──►│── probe ────►│── probe ────►│              the last switch answers: ACK
//!     │◄──────────────────── ACK ────────────────┘
//!     │── probe ──►│── probe ────►X  no room                    the switch that refuses answers: NACK
//!     │◄──────── NACK(s1) ────────┘                             the source releases, up to the node before it
//!     │── release(s1) ──►│ s0 next to s1: ends here
//!     │══ data ... last packet ═══════════════════►            releases at each node that it passes
//! ```
//!
//! Every node keeps a [`Ledger`] of what is reserved of each link, where it begins and where it ends.
//! A probe is a packet like any other, on lanes of its own; what a node decides it decides as it reads
//! the probe, and what ends at a switch goes to the end of that switch (port 0), which answers.
//!
//! A host in transit has no such end. It decides as it sends the probe on: one that it refuses goes on
//! as a NACK, to the switch behind it, which ends it.
//!
//! ```text
//!   source        s0         h0         s0              the path turns at s0, by way of its host
//!     │── probe ──►│─ probe ─►X no room
//!     │            │          └─ NACK ──►│                s0 comes twice: a place is a channel, not a node
//!     │◄──────── NACK(h0 to s0) ─────────┘
//! ```
//!
//! Source: Yum et al. 2002, section 4.1. Ours: that the share of a link which streams may have is
//! bounded, that a stream sends from the instant at which the ACK has arrived whole, as late as it was
//! admitted, and what hosts in transit do.
//!
//! Invariants: what is reserved of a link is the sum of the rates of the streams that have reserved
//! and not released there, and whose lease there is not over; when all streams have ended, or were
//! refused and have released, that is nothing. A stream whose host crashes does neither, and holds what
//! it has reserved for as long as its lease, or for ever where there is none.

mod desk;
mod leases;
mod ledger;
#[cfg(test)]
mod tests;
mod weights;

pub(crate) use desk::{Answer, Desk, Onward, Way};
pub use desk::{Request, Standing as StreamStanding};
pub use ledger::Ledger;

use crate::{Plan, Priority, StreamId};
use gingham_kernel::Span;
use gingham_topology::ChannelId;
use gingham_topology::routing::{LaneSet, VcClass};

/// An admission control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdmissionPlan {
    /// By class: whether its streams ask before they send.
    pub classes: Box<[bool]>,
    /// By channel: what streams may reserve of it, in bytes of payload a second.
    pub limits: Box<[u64]>,
    /// By channel: what it carries, in bytes of payload a second.
    pub rates: Box<[u64]>,
    /// For how long what is reserved stays so unless a packet of the stream renews it; for ever if not
    /// given.
    pub lease: Option<Span>,
    /// The least weight of a lane that streams do not use, in 64ths of a link.
    pub others_min: u16,
    /// Payload of a probe, and of what answers it, at least 1 B.
    pub payload_bytes: u32,
    /// Their level.
    pub priority: Priority,
    /// Their VC class; that which the lanes say of the pair if not given.
    pub vc_class: Option<VcClass>,
}

impl AdmissionPlan {
    /// The lanes of classes whose streams ask, and those that only others have.
    pub fn lanes(&self, plan: &Plan) -> [LaneSet; 2] {
        let of = |asks: bool| {
            let of = plan.classes.iter().zip(&self.classes).filter(|(_, asked)| **asked == asks);
            of.fold(LaneSet::EMPTY, |all, (class, _)| all | plan.lanes_of(class))
        };
        let streams = of(true);
        [streams, LaneSet::from_bits(of(false).bits() & !streams.bits())]
    }
}

/// What packets of an admission control say of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// May it?
    Probe(StreamId),
    /// It may.
    Ack(StreamId),
    /// It may not: there was no room on this channel, says the node that sends on it.
    Nack(StreamId, ChannelId),
    /// What it has reserved is free again, up to the node before the one that sends on this channel.
    Release(StreamId, ChannelId),
}

impl Signal {
    /// Of which stream.
    pub const fn stream(self) -> StreamId {
        match self {
            Self::Probe(stream)
            | Self::Ack(stream)
            | Self::Nack(stream, _)
            | Self::Release(stream, _) => stream,
        }
    }
}
