//! Packets: the unit that moves through the fabric.
//!
//! ```text
//!   data      a message travels as one packet or as several, its segments
//!   answer    says that data packets have come, and which were marked
//!   signal    asks whether a stream may send, and what comes of that
//!   control   anything else that adapters and switches tell each other
//! ```
//!
//! A data packet knows the place of its message, where all packets of that come together again. The
//! others take wire, buffers, lanes and routes as it does, and no message is behind them.

use crate::{ClassId, FlowId, MessageSlot, PathSet, Signal};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;

/// Who goes first, at a host and where switches look at it: a higher level goes before a lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Priority(u8);

impl Priority {
    /// How many levels there are.
    pub const LEVELS: u8 = 8;

    /// The level with this number, from 0, the lowest, on; `None` beyond the highest.
    pub const fn new(level: u8) -> Option<Self> {
        if level < Self::LEVELS { Some(Self(level)) } else { None }
    }

    /// Its number.
    pub const fn level(self) -> usize {
        self.0 as usize
    }
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Payload of a message, as it comes together at its destination.
    Data(MessageSlot),
    /// News that data packets of its flow have arrived.
    Answer {
        /// How many.
        packets: u32,
        /// How many of these were marked.
        marked: u32,
    },
    /// What an admission control says of a stream.
    Signal(Signal),
    /// Something that no message is behind and that answers nothing.
    Control,
}

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// What it carries.
    pub content: Content,
    /// Traffic class; an answer is of that of the packet which it answers.
    pub class: ClassId,
    /// Its flow, where flows are told apart; that of an answer is the one which it answers.
    pub flow: Option<FlowId>,
    /// Where it begins.
    pub source: EndpointId,
    /// Where it ends.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Its level.
    pub priority: Priority,
    /// Which of the paths of its pair it takes.
    pub path_set: PathSet,
    /// What decides on its lanes.
    pub vc_class: VcClass,
    /// Whether it is the first data packet of its message.
    pub is_first: bool,
    /// Whether it is the last packet of a stream, which releases what that has reserved.
    pub is_last_of_stream: bool,
    /// What switches wrote on it.
    pub mark: bool,
}
