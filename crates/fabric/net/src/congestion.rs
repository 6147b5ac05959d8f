//! Congestion trees: dependencies between packets that wait at the same time.
//!
//! ```text
//!   A1 ══► A ══► B ──► BC        ══  branch: a lane without space at its end, needed by a packet
//!          ▲     ▲               ──  root: a channel with space, the next hop of a packet at the end
//!          ║     └── B1 (feeds)                of a branch
//!          A2 (leaf: nothing spreads further)
//! ```
//!
//! [`trees`] derives the trees at one time from the waiting packets ([`Waiter`]). A cycle of waits
//! has no root: its tree is a knot, which is a deadlock if it persists ([`crate::WaitCycle`]).
//!
//! Source: terms of Santos et al. 2002, section II, and of Pfister and Norton, "Hot Spot Contention
//! and Combining in Multistage Interconnection Networks", IEEE Transactions on Computers 34(10),
//! 1985; the definitions are ours (`docs/concepts/congestion-trees.md`).
//!
//! Invariants: the order of waiters has no effect; every branch belongs to a tree.

mod goes_over;
mod tree;

pub use tree::{Tree, trees};

use crate::{FlowKey, Packet, PathId};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};

/// Waiting packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// Buffer that contains the packet; `None` at a host, for the next packet on the host's
    /// channel.
    pub at: Option<Buffer>,
    /// Class, source and destination of the packet.
    pub flow: FlowKey,
    /// Path of the packet; `None` before the path is chosen.
    pub path_id: Option<PathId>,
    /// Next hop; `None` if the packet waits behind another packet.
    pub onward: Option<Onward>,
}

/// Next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Onward {
    /// Output channel.
    pub output: ChannelId,
    /// Lanes of the output that the packet may take, at least one.
    pub lanes: LaneSet,
    /// Lanes in `lanes` without space for the packet.
    pub blocked: LaneSet,
}

/// Packet that an endpoint would send from a queue if its channel were free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// Index of the group of queues.
    pub group: usize,
    /// Flow of the packet.
    pub flow: FlowKey,
    /// Payload of the packet.
    pub payload_bytes: u32,
}

impl Waiter {
    /// Creates a waiter in a buffer; `onward` is `None` if another packet is ahead.
    pub fn in_buffer(at: Buffer, packet: &Packet, onward: Option<Onward>) -> Self {
        Self { at: Some(at), flow: packet.into(), path_id: Some(packet.path_id), onward }
    }

    /// Creates a waiter for the next packet on a host's channel.
    pub fn sending(packet: &Packet, onward: Onward) -> Self {
        let onward = Some(onward);
        Self { at: None, flow: packet.into(), path_id: Some(packet.path_id), onward }
    }

    /// Creates a waiter for a packet that could start at a host.
    pub fn queued(queued: &Queued, onward: Onward) -> Self {
        Self { at: None, flow: queued.flow, path_id: None, onward: Some(onward) }
    }
}

impl Onward {
    /// Creates a next hop on `output`, with a choice among `lanes`.
    pub fn by(output: ChannelId, lanes: LaneSet, is_blocked: impl Fn(u8) -> bool) -> Self {
        let blocked = lanes.lanes().filter(|lane| is_blocked(*lane)).collect();
        Self { output, lanes, blocked }
    }

    /// Creates a next hop on a channel with a single lane.
    pub fn by_channel(output: ChannelId, is_blocked: bool) -> Self {
        Self::by(output, LaneSet::one(0), |_| is_blocked)
    }

    fn is_blocked(self) -> bool {
        self.lanes == self.blocked
    }
}

impl From<&Packet> for FlowKey {
    fn from(packet: &Packet) -> Self {
        let Packet { class, source, destination, .. } = *packet;
        Self { class, source, destination, stream: None }
    }
}
