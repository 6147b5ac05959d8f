//! Admission control: a stream sends after every link on its path has reserved its rate.
//!
//! ```text
//!   source        s0            s1            s2              probe: reserves at each node, as it is read
//!     │── probe ──►│── probe ────►│── probe ────►│              the last switch responds: ACK
//!     │◄──────────────────── ACK ────────────────┘
//!     │── probe ──►│── probe ────►X  refused                    the refusing switch responds: NACK
//!     │◄──────── NACK(s1) ────────┘                             the source releases, up to the node before it
//!     │── release(s1) ──►│ s0 next to s1: ends here
//!     │══ data ... last packet ═══════════════════►            releases at each node that it passes
//! ```
//!
//! Every node keeps a [`Ledger`] of the reserved bandwidth of its links, and decides when it reads
//! the probe, an ordinary packet on its own lanes. A signal that ends at a switch goes to port 0 of
//! that switch, which responds.
//!
//! An in-transit host has no port 0 and decides when it re-injects the probe: a refused probe
//! continues as a NACK and ends at the next switch.
//!
//! ```text
//!   source        s0         h0         s0              the path turns at s0, by way of its host
//!     │── probe ──►│─ probe ─►X refused
//!     │            │          └─ NACK ──►│                s0 is visited twice: positions are channels, not nodes
//!     │◄──────── NACK(h0 to s0) ─────────┘
//! ```
//!
//! Source: Yum et al. 2002, section 4.1. Ours: the limit on reservations, the start of a stream
//! after its complete ACK, and in-transit hosts.
//!
//! Invariants: the reserved bandwidth of a link is the sum of the rates of unexpired reservations;
//! it is 0 after all streams have ended or released. A crashed stream keeps its reservations until
//! their leases expire, or forever without leases.

mod controller;
mod leases;
mod ledger;
#[cfg(test)]
mod tests;
mod weights;

pub(crate) use controller::{AdmissionController, Hop, HostAction, Onward};
pub use controller::{Request, StreamState};
pub use ledger::Ledger;

use crate::{Plan, Priority, StreamId};
use gingham_kernel::Span;
use gingham_topology::ChannelId;
use gingham_topology::routing::{LaneSet, VcClass};

/// Admission control of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdmissionPlan {
    /// For each class: whether its streams request admission.
    pub classes: Box<[bool]>,
    /// For each channel: bandwidth that may be reserved, in payload bytes per second.
    pub limits: Box<[u64]>,
    /// For each channel: capacity in payload bytes per second.
    pub rates: Box<[u64]>,
    /// Time after which a reservation expires unless a packet renews it; `None`: never.
    pub lease: Option<Span>,
    /// Minimum weight of a lane not used by streams, in 64ths of a link.
    pub others_min: u16,
    /// Payload of a probe and its response, at least 1 B.
    pub payload_bytes: u32,
    /// Priority of probes and responses.
    pub priority: Priority,
    /// VC class of probes and responses; `None` uses that of the endpoint pair.
    pub vc_class: Option<VcClass>,
}

impl AdmissionPlan {
    /// Returns the lanes of classes with admission control, and the lanes used only by other
    /// classes.
    pub fn lanes(&self, plan: &Plan) -> [LaneSet; 2] {
        let of = |asks: bool| {
            let of = plan.classes.iter().zip(&self.classes).filter(|(_, asked)| **asked == asks);
            of.fold(LaneSet::EMPTY, |all, (class, _)| all | plan.lanes_of(class))
        };
        let streams = of(true);
        [streams, LaneSet::from_bits(of(false).bits() & !streams.bits())]
    }
}

/// Content of a packet of admission control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Request for the admission of a stream.
    Probe(StreamId),
    /// Admission of a stream.
    Ack(StreamId),
    /// Refusal by the sender on this channel for lack of bandwidth.
    Nack(StreamId, ChannelId),
    /// Release of the reservations up to the node before the sender on this channel, which refused.
    Release(StreamId, ChannelId),
}

impl Signal {
    /// Stream of the signal.
    pub const fn stream(self) -> StreamId {
        match self {
            Self::Probe(stream)
            | Self::Ack(stream)
            | Self::Nack(stream, _)
            | Self::Release(stream, _) => stream,
        }
    }
}
