//! Notices and orders: the interface between a network and its endpoints.
//!
//! The network delivers each notice at the time of its event, and carries out the resulting orders
//! ([`Endpoints::next_order`](crate::Endpoints::next_order)) before any other event. The optional
//! notices of a run are fixed at time zero ([`Wanted`]).
//!
//! Invariant: simultaneous notices are ordered by phase, component, port and lane, in every
//! simulation of a plan (`docs/concepts/timing.md`).

use crate::congestion::Waiter;
use crate::measure::ChannelCount;
use crate::{Arrival, Content, OutputLoad, Packet, Weighing};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};

/// Event reported to the endpoints, which may modify a packet passed as `&mut`.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The next message of a source is due for creation.
    Created {
        /// Index of the traffic source.
        source: usize,
    },
    /// A packet created at an endpoint starts on the endpoint's link.
    Began {
        /// Sending endpoint.
        endpoint: EndpointId,
        /// Starting packet.
        packet: &'a Packet,
    },
    /// The tail of a packet has left the endpoint that created it.
    Left {
        /// Sending endpoint.
        endpoint: EndpointId,
        /// Start of the first flit.
        began: Time,
        /// Number of flits in the packet.
        flits: u64,
        /// Serialisation time of one flit on this link.
        flit: Span,
        /// Contents of the packet.
        content: Content,
    },
    /// A packet in transit starts on an in-transit host's link.
    SentOn {
        /// In-transit host.
        endpoint: EndpointId,
        /// Time from the packet's readiness to its start.
        waited: Span,
        /// Re-injected packet.
        packet: &'a mut Packet,
    },
    /// A packet has arrived completely at its destination. A bad packet is lost there together with
    /// its message.
    Received {
        /// Arrived packet.
        packet: &'a Packet,
        /// Details of the arrival.
        arrival: &'a Arrival,
    },
    /// A switch has read a head: its routing is complete, and it requests an output. The endpoints
    /// may redirect the packet to port 0 of the switch
    /// ([`Endpoints::read`](crate::Endpoints::read)).
    Read {
        /// Input channel.
        input: ChannelId,
        /// Input lane.
        lane: u8,
        /// Flits in the lane's buffer, including flits of the packet itself.
        waiting_flits: u64,
        /// Packet whose head was read.
        packet: &'a mut Packet,
    },
    /// A switch that handles whole packets has read a head, which now waits for its output. All
    /// heads read at the same time are reported before any packet is forwarded.
    Queued {
        /// Packet that waits in the switch.
        stay: Stay,
    },
    /// A switch that handles whole packets starts to send a packet on the output channel.
    Forwarded {
        /// Packet as it waited in the switch.
        stay: Stay,
        /// Departure time of the packet's tail.
        left: Time,
        /// Starting packet.
        packet: &'a mut Packet,
    },
    /// Follows all events of the time when a switch that handles whole packets has read a head.
    Settled {
        /// Packet whose head was read, possibly already forwarded.
        stay: Stay,
        /// Whether the output has space for another packet of this length on a permitted lane;
        /// always true unless requested ([`Switched`]).
        has_space: bool,
    },
    /// The free lanes of a switch's output may have changed
    /// ([`Plan::watched_outputs`](crate::Plan::watched_outputs)).
    Lanes {
        /// Output channel.
        output: ChannelId,
        /// Free lanes.
        free: LaneSet,
    },
    /// Loads of the outputs at an endpoint's first switch, immediately before the endpoint selects
    /// a packet ([`Wanted::loads`]).
    Loads {
        /// Sending endpoint.
        endpoint: EndpointId,
        /// Loads of the [`Plan::first_outputs`](crate::Plan::first_outputs), in the same order.
        loads: &'a [OutputLoad],
    },
    /// Response to [`Order::Gather`].
    Gathered {
        /// Number of full receive buffers on channels between switches
        /// ([`Plan::gathered_channels`](crate::Plan::gathered_channels)).
        full: u64,
    },
    /// A requested wake-up is due.
    Woken {
        /// Endpoint to wake.
        endpoint: EndpointId,
    },
    /// A step of the followed channels ends, before any event of this time.
    Sampled {
        /// Counters of the followed channels up to this time.
        counts: &'a [ChannelCount],
    },
    /// A search for congestion trees is due, before any event of this time.
    TreesSampled {
        /// Waiting packets, in any order.
        waiters: &'a [Waiter],
    },
}

/// Packet in the input buffer of a switch that handles whole packets, identified by input, lane and
/// arrival time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// Input channel.
    pub input: ChannelId,
    /// Input lane.
    pub lane: u8,
    /// Arrival time of the packet's first byte.
    pub came: Time,
    /// Length of the packet on the wire, in bytes.
    pub wire_bytes: u64,
    /// Output channel.
    pub output: ChannelId,
    /// Lanes that the packet may use on the output.
    pub lanes: LaneSet,
}

/// Action requested in response to a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Poll an endpoint as soon as its link is free.
    Send {
        /// Endpoint to poll.
        endpoint: EndpointId,
    },
    /// Deliver [`Notice::Created`].
    CreateAt {
        /// Index of the traffic source.
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
    /// Change a lane's weight. Allowed only if [`Plan::can_weigh`](crate::Plan::can_weigh) is true.
    Weigh(Weighing),
    /// Deliver [`Notice::Gathered`] before any other event.
    Gather,
}

/// Actions that follow the creation of a message. The network must take them before it carries out
/// any [`Order`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Created {
    /// Time of the source's next [`Order::CreateAt`], to schedule before `endpoint` is polled.
    pub next: Option<Time>,
    /// Endpoint to poll, as with [`Order::Send`].
    pub endpoint: EndpointId,
}

/// Optional notices that a run needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Packets whose start the network must report ([`Notice::Began`]).
    pub began: Which,
    /// Whether [`Notice::Left`] is needed.
    pub left: bool,
    /// Whether [`Notice::Read`] is needed.
    pub read: bool,
    /// Whether [`Notice::Loads`] is needed.
    pub loads: bool,
    /// Required detail of [`Notice::Queued`], [`Notice::Forwarded`] and [`Notice::Settled`].
    pub switched: Switched,
}

/// Required detail of the notices about packets in switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switched {
    /// No notices.
    #[default]
    Nothing,
    /// All notices, without the output space in [`Notice::Settled`].
    Stays,
    /// All notices, with the output space in [`Notice::Settled`].
    StaysAndSpace,
}

impl Switched {
    /// Returns whether notices about packets in switches are needed.
    #[inline]
    pub const fn are_stays(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Returns whether the space at outputs is needed.
    #[inline]
    pub const fn is_space(self) -> bool {
        matches!(self, Self::StaysAndSpace)
    }
}

/// Selection of the packets that need a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// No packets.
    #[default]
    None,
    /// The first packet of each message.
    First,
    /// All packets.
    All,
}

impl Which {
    /// Returns whether a notice is needed for this packet.
    #[inline]
    pub const fn has(self, packet: &Packet) -> bool {
        match self {
            Self::None => false,
            Self::First => packet.is_first,
            Self::All => true,
        }
    }
}
