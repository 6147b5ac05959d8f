//! Notices and orders: the interface between a network and its endpoints.
//!
//! ```text
//!   network                                           endpoints
//!        │ ─── Notice: created, began, left, received,  ──► │
//!        │             read at a switch, sent on by a host, │
//!        │             woken, sampled                       │
//!        │ ◄── Order:  send, create at, wake at, weigh ──── │
//!        │ ─── a link is free: next packet? ──────────────► │
//!        │ ◄── Turn:   this packet, or nothing before ───── │
//! ```
//!
//! The network delivers each notice at its instant and carries out the resulting orders
//! ([`Endpoints::next_order`](crate::Endpoints::next_order)) before any other event. Received, read
//! and timed events have no other effect.
//!
//! The required notices are known at time zero ([`Wanted`]), so that a run without special
//! mechanisms delivers only notices of created messages and of packets received or sent on.
//!
//! Invariant: notices of one instant are ordered by phase, component, port and lane, in every
//! simulation of a plan (`docs/concepts/timing.md`).

use crate::congestion::Waiter;
use crate::measure::ChannelCount;
use crate::{Arrival, Content, Packet, Weighing};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};

/// An event reported to the endpoints.
#[derive(Debug)]
pub enum Notice<'a> {
    /// A source is due to create its next message.
    Created {
        /// Index of the source.
        source: usize,
    },
    /// The first flit of a packet of an endpoint's own starts on its link.
    Began {
        /// Endpoint that sends it.
        endpoint: EndpointId,
        /// Packet that starts.
        packet: &'a Packet,
    },
    /// The tail of a packet of an endpoint's own has left.
    Left {
        /// Endpoint that sent it.
        endpoint: EndpointId,
        /// Start of its first flit.
        began: Time,
        /// Number of its flits.
        flits: u64,
        /// Time of a flit on this link.
        flit: Span,
        /// Contents of the packet.
        content: Content,
    },
    /// The first flit of a packet in transit starts on the link of a host, whose endpoint may
    /// modify the packet.
    SentOn {
        /// Endpoint of the in-transit host.
        endpoint: EndpointId,
        /// Waiting time since it was ready.
        waited: Span,
        /// Packet in transit.
        packet: &'a mut Packet,
    },
    /// A packet has arrived whole at its destination. If it is bad, it is lost there, and its message
    /// with it.
    Received {
        /// Packet that arrived.
        packet: &'a Packet,
        /// Details of its arrival.
        arrival: &'a Arrival,
    },
    /// A switch has read the head of a packet: its routing is over, and from now on it requests an
    /// output. The receiver of the notice may modify the packet; if it makes the switch's port 0
    /// the destination, the packet goes there instead of onward
    /// ([`Endpoints::read`](crate::Endpoints::read)).
    Read {
        /// Input channel of the switch.
        input: ChannelId,
        /// Lane of the input channel.
        lane: u8,
        /// Flits in the buffer of that lane, including those of the packet.
        waiting_flits: u64,
        /// Packet that was read.
        packet: &'a mut Packet,
    },
    /// The head of a packet was read at a switch of whole packets: from now on the packet counts as
    /// waiting for its output. All heads read at an instant are reported before any packet is
    /// forwarded.
    Queued {
        /// Packet in the switch.
        stay: Stay,
    },
    /// A packet at a switch of whole packets starts on its output. The receiver of the notice may
    /// modify it.
    Forwarded {
        /// Packet in the switch, before it left.
        stay: Stay,
        /// When its tail will have left.
        left: Time,
        /// Packet that starts.
        packet: &'a mut Packet,
    },
    /// All events of an instant at a switch of whole packets have happened; the head of a packet
    /// was read then.
    Settled {
        /// Packet in the switch, or just forwarded.
        stay: Stay,
        /// Whether its output has space for another packet of its length, on a lane that it may
        /// take; true if this information is not requested ([`Switched`]).
        has_space: bool,
    },
    /// The set of free lanes of a switch's output may have changed
    /// ([`Plan::watched_outputs`](crate::Plan::watched_outputs)).
    Lanes {
        /// Output channel.
        output: ChannelId,
        /// All free lanes.
        free: LaneSet,
    },
    /// Full buffers were counted on request.
    Gathered {
        /// Number of full buffers at the ends of channels between switches
        /// ([`Plan::gathered_channels`](crate::Plan::gathered_channels)).
        full: u64,
    },
    /// A requested wake-up is due.
    Woken {
        /// Endpoint to wake.
        endpoint: EndpointId,
    },
    /// A step of followed channels is over; nothing of this instant has happened.
    Sampled {
        /// Counts of every followed channel up to this instant.
        counts: &'a [ChannelCount],
    },
    /// Congestion trees are due; nothing of this instant has happened.
    Looked {
        /// Waiting packets, in any order.
        waiters: &'a [Waiter],
    },
}

/// A packet in the input buffer of a switch of whole packets, identified by input, lane and arrival
/// time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// Input channel.
    pub input: ChannelId,
    /// Lane of the input channel.
    pub lane: u8,
    /// Arrival of its first byte.
    pub came: Time,
    /// Bytes on the wire.
    pub wire_bytes: u64,
    /// Output channel.
    pub output: ChannelId,
    /// Lanes that the packet may take there.
    pub lanes: LaneSet,
}

/// An action requested in response to a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// An endpoint has something to send, or may send it now: poll it as soon as its link is free.
    Send {
        /// Endpoint to poll.
        endpoint: EndpointId,
    },
    /// Deliver [`Notice::Created`].
    CreateAt {
        /// Index of the source.
        source: usize,
        /// Time of the notice.
        at: Time,
    },
    /// Deliver [`Notice::Woken`].
    WakeAt {
        /// Endpoint to wake.
        endpoint: EndpointId,
        /// Time of the notice, later than now.
        at: Time,
    },
    /// Change the weight of a lane at one place of one port. Not allowed if [`Plan::can_weigh`] is
    /// false.
    ///
    /// [`Plan::can_weigh`]: crate::Plan::can_weigh
    Weigh(Weighing),
    /// Deliver [`Notice::Gathered`], before any other event.
    Gather,
}

/// Actions after a source has created a message, before any other orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Created {
    /// Time of the source's next [`Order::CreateAt`], which comes first, if there is one.
    pub next: Option<Time>,
    /// Endpoint for [`Order::Send`].
    pub endpoint: EndpointId,
}

/// Optional notices that a run requires, in addition to those of messages created, packets received
/// or sent on, and endpoints woken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Packets with a [`Notice::Began`].
    pub began: Which,
    /// Whether [`Notice::Left`] is required.
    pub left: bool,
    /// Whether [`Notice::Read`] is required.
    pub read: bool,
    /// Whether [`Notice::Queued`], [`Notice::Forwarded`] and [`Notice::Settled`] are required.
    pub switched: Switched,
}

/// Required notices of packets in switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switched {
    /// None.
    #[default]
    Nothing,
    /// All of them.
    Stays,
    /// All of them, with the space at the output in [`Notice::Settled`].
    StaysAndSpace,
}

impl Switched {
    /// Returns whether notices of packets in switches are required.
    #[inline]
    pub const fn are_stays(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Returns whether the space at outputs is required.
    #[inline]
    pub const fn is_space(self) -> bool {
        matches!(self, Self::StaysAndSpace)
    }
}

/// Extent of a notice: the packets that require it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// No packet.
    #[default]
    None,
    /// The first packet of each message.
    First,
    /// All packets.
    All,
}

impl Which {
    /// Returns whether a notice is required for this packet.
    #[inline]
    pub const fn has(self, packet: &Packet) -> bool {
        match self {
            Self::None => false,
            Self::First => packet.is_first,
            Self::All => true,
        }
    }
}
