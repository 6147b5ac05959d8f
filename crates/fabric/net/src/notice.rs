//! Notices and orders: what passes between those who move packets and the endpoints.
//!
//! ```text
//!   what moves packets                                endpoints
//!        │ ─── Notice: created, began, left, received,  ──► │
//!        │             read at a switch, sent on by a host, │
//!        │             woken, sampled                       │
//!        │ ◄── Order:  send, create at, wake at, weigh ──── │
//!        │ ─── a link is free: whose turn? ───────────────► │
//!        │ ◄── Turn:   this packet, or nothing before ───── │
//! ```
//!
//! Who moves packets tells each notice at its instant and carries out the orders that this brings
//! about ([`Endpoints::next_order`](crate::Endpoints::next_order)) before anything else happens.
//! Nothing that is received, read or timed acts in any other way.
//!
//! What is wanted is known at time zero ([`Wanted`]), so that a run in which nobody asks is told of
//! nothing but messages that are created and packets that are received or sent on.
//!
//! Invariant: notices of one instant come in the order of phase, component, port and lane, in every
//! simulation of a plan (`docs/concepts/timing.md`).

use crate::congestion::Waiter;
use crate::measure::ChannelCount;
use crate::{Arrival, Content, Packet, Weighing};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};

/// What happened.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The instant has come at which a source creates its next message.
    Created {
        /// Its number.
        source: usize,
    },
    /// The first flit of a packet of an endpoint's own starts on its link.
    Began {
        /// Where.
        endpoint: EndpointId,
        /// What.
        packet: &'a Packet,
    },
    /// The tail of a packet of an endpoint's own has left.
    Left {
        /// Where.
        endpoint: EndpointId,
        /// When its first flit started.
        began: Time,
        /// How many it has.
        flits: u64,
        /// The time of one on this link.
        flit: Span,
        /// What it carried.
        content: Content,
    },
    /// The first flit of a packet in transit starts on the link of a host. What sends it on may write
    /// on it.
    SentOn {
        /// Where.
        endpoint: EndpointId,
        /// How long it has waited since it was ready.
        waited: Span,
        /// What.
        packet: &'a mut Packet,
    },
    /// A packet has arrived whole at its destination.
    Received {
        /// What.
        packet: &'a Packet,
        /// How.
        arrival: &'a Arrival,
    },
    /// A switch has read the head of a packet: its routing is over, and it asks for an output from
    /// now on. What reads it may write on it; with the end of the switch as its destination it goes
    /// there instead of onward ([`Endpoints::read`](crate::Endpoints::read)).
    Read {
        /// The channel by which it came into the switch.
        input: ChannelId,
        /// The lane of that.
        lane: u8,
        /// Flits that stand in the buffer from which it was read, its own among them.
        waiting_flits: u64,
        /// What.
        packet: &'a mut Packet,
    },
    /// The head of a packet was read at a switch of whole packets: from now on the packet is known to
    /// wait for its output. All that are read at an instant are told before anything is forwarded.
    Queued {
        /// Where.
        stay: Stay,
    },
    /// Such a packet starts on its output. What starts it may write on it.
    Forwarded {
        /// Where it was.
        stay: Stay,
        /// When its tail has left.
        left: Time,
        /// What.
        packet: &'a mut Packet,
    },
    /// All has happened of the instant at which the head of such a packet was read.
    Settled {
        /// Where it is, or was.
        stay: Stay,
        /// Whether its output knows of space for one as long, on a lane that it may take; true where
        /// nobody wants to know ([`Switched`]).
        has_space: bool,
    },
    /// The lanes that are free of an output of a switch are others than before, or may be
    /// ([`Plan::watched_outputs`](crate::Plan::watched_outputs)).
    Lanes {
        /// Which output.
        output: ChannelId,
        /// All that are free.
        free: LaneSet,
    },
    /// Buffers were counted, as was ordered.
    Gathered {
        /// So many at the ends of channels between switches are full
        /// ([`Plan::gathered_channels`](crate::Plan::gathered_channels)).
        full: u64,
    },
    /// The instant has come at which an endpoint wanted to be woken.
    Woken {
        /// Which.
        endpoint: EndpointId,
    },
    /// A step of what is followed is over; nothing of this instant has happened.
    Sampled {
        /// Of every channel that is followed, all that it did before.
        counts: &'a [ChannelCount],
    },
    /// It is time to look for congestion trees; nothing of this instant has happened.
    Looked {
        /// Who waits, in any order.
        waiters: &'a [Waiter],
    },
}

/// A packet in the buffer of an input of a switch of whole packets. No other has the same input, lane
/// and instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// The channel by which it came.
    pub input: ChannelId,
    /// The lane of that.
    pub lane: u8,
    /// When its first byte was there.
    pub came: Time,
    /// Its bytes on the wire.
    pub wire_bytes: u64,
    /// The channel by which it goes on.
    pub output: ChannelId,
    /// The lanes that it may take there.
    pub lanes: LaneSet,
}

/// What is to be done on account of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// An endpoint has something to send, or may send it now: as soon as its link is free it is to
    /// be asked for its turn.
    Send {
        /// Which.
        endpoint: EndpointId,
    },
    /// [`Notice::Created`] is to be told.
    CreateAt {
        /// Of this source.
        source: usize,
        /// At this instant.
        at: Time,
    },
    /// [`Notice::Woken`] is to be told.
    WakeAt {
        /// To this endpoint.
        endpoint: EndpointId,
        /// At this instant, which is later than the present one.
        at: Time,
    },
    /// A lane has another weight at one place of one port. Where [`Plan::can_weigh`] says no, nobody
    /// orders it.
    ///
    /// [`Plan::can_weigh`]: crate::Plan::can_weigh
    Weigh(Weighing),
    /// [`Notice::Gathered`] is to be told, before anything else happens.
    Gather,
}

/// What is to be done once a source has created a message, before anything that was ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Created {
    /// [`Order::CreateAt`] of the source at this instant, first, if there is one.
    pub next: Option<Time>,
    /// [`Order::Send`] of this endpoint.
    pub endpoint: EndpointId,
}

/// The notices that somebody wants beside those of messages created, packets received or sent on, and
/// endpoints woken, which always are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Of which packets [`Notice::Began`] is.
    pub began: Which,
    /// [`Notice::Left`].
    pub left: bool,
    /// [`Notice::Read`].
    pub read: bool,
    /// [`Notice::Queued`], [`Notice::Forwarded`] and [`Notice::Settled`].
    pub switched: Switched,
}

/// What is wanted of packets in switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switched {
    /// Nothing.
    #[default]
    Nothing,
    /// Their stays.
    Stays,
    /// These, and with [`Notice::Settled`] whether there is space.
    StaysAndSpace,
}

impl Switched {
    /// Whether stays are told.
    #[inline]
    pub const fn are_stays(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Whether it is told if there is space.
    #[inline]
    pub const fn is_space(self) -> bool {
        matches!(self, Self::StaysAndSpace)
    }
}

/// Of which packets a notice is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// Of none.
    #[default]
    None,
    /// Of the first of each message.
    First,
    /// Of all.
    All,
}

impl Which {
    /// Whether it is wanted of this one.
    #[inline]
    pub const fn has(self, packet: &Packet) -> bool {
        match self {
            Self::None => false,
            Self::First => packet.is_first,
            Self::All => true,
        }
    }
}
