//! Admission control: a stream may send once every link on its path has reserved the stream's rate.
//!
//! ```text
//!   source        s0            s1            s2              probe: each node that reads it reserves
//!     │── probe ──►│── probe ────►│── probe ────►│              the last switch responds: ACK
//!     │◄──────────────────── ACK ────────────────┘
//!     │── probe ──►│── probe ────►X  refused                    the refusing switch responds: NACK
//!     │◄──────── NACK(s1) ────────┘                             the source releases at nodes before s1
//!     │── release(s1) ──►│ s0 precedes s1: ends here
//!     │══ data ... last packet ═══════════════════►            releases at each node it passes
//! ```
//!
//! Every node keeps a [`Ledger`] of the bandwidth reserved on its links, and decides when it reads
//! the probe, an ordinary packet. A signal that ends at a switch is diverted to the switch's port
//! 0, which responds.
//!
//! An in-transit host has no port 0 and decides when it re-injects the probe. A probe refused there
//! continues as a NACK and ends at the next switch. Signals name channels rather than nodes,
//! because a path may visit a switch before and after a host.
//!
//! Source: Yum et al. 2002, section 4.1. Ours: the limit on reservations, the start of a stream
//! after the whole ACK has arrived, and in-transit hosts.
//!
//! Invariants: the reserved bandwidth of a link is the sum of the rates of unexpired reservations,
//! and 0 after all streams have ended or released. A crashed stream keeps its reservations until
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

/// Admission control parameters of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdmissionPlan {
    /// For each class: whether its streams must request admission.
    pub classes: Box<[bool]>,
    /// For each channel: maximum reserved bandwidth, in payload bytes per second.
    pub limits: Box<[u64]>,
    /// For each channel: capacity in payload bytes per second.
    pub rates: Box<[u64]>,
    /// Time after which a reservation expires unless a packet renews it; `None`: never.
    pub lease: Option<Span>,
    /// Minimum weight of each lane that streams do not use, in 64ths of a link's bandwidth.
    pub others_min: u16,
    /// Payload of a probe and of its response in bytes, at least 1.
    pub payload_bytes: u32,
    /// Priority of probes and responses.
    pub priority: Priority,
    /// VC class of probes and responses; `None` uses the VC class of the endpoint pair.
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

/// Meaning of an admission control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Requests admission for a stream.
    Probe(StreamId),
    /// Admits a stream.
    Ack(StreamId),
    /// Refuses a stream: the sender on this channel has too little unreserved bandwidth.
    Nack(StreamId, ChannelId),
    /// Releases a stream's reservations upstream of the sender on this channel, which refused the
    /// stream.
    Release(StreamId, ChannelId),
}

impl Signal {
    /// Returns the stream of the signal.
    pub const fn stream(self) -> StreamId {
        match self {
            Self::Probe(stream)
            | Self::Ack(stream)
            | Self::Nack(stream, _)
            | Self::Release(stream, _) => stream,
        }
    }
}
