//! Congestion trees: what waits for what at an instant, and why.
//!
//! ```text
//!   A1 ══► A ══► B ──► BC        ══  branch: a lane without space at its end, and somebody wants it
//!          ▲     ▲               ──  root: a channel that has space, and what stands at the end of a
//!          ║     └── B1 (feeds)                branch goes on by it
//!          A2 (leaf: nothing spreads further)
//! ```
//!
//! A simulation says at given instants who waits ([`Waiter`]); [`trees`] makes of that the trees,
//! each with its root, branches and leaves, the flows that feed it and those that are its victims.
//! Where the waits go round in a circle there is no root: that tree is a knot, which is what a
//! search for a deadlock finds ([`crate::WaitCycle`]), if it lasts.
//!
//! Source: the words are those of Santos et al. 2002, section II, and of Pfister and Norton, "Hot
//! Spot Contention and Combining in Multistage Interconnection Networks", IEEE Transactions on
//! Computers 34(10), 1985; the definitions are ours and stand in
//! `docs/concepts/congestion-trees.md`.
//!
//! Invariants: what is made of waiters does not depend on their order; every branch is in a tree.

mod goes_over;
mod tree;

pub use tree::{Tree, trees};

use crate::{FlowKey, Packet, PathSet};
use gingham_topology::ChannelId;
use gingham_topology::routing::{Buffer, LaneSet};

/// A packet that stands somewhere at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// The buffer in which it stands; none at a host where it has its turn on the host's channel.
    pub at: Option<Buffer>,
    /// Its class, where it begins and where it ends.
    pub flow: FlowKey,
    /// Which of the paths of its pair it takes; none if that is not decided.
    pub path_set: Option<PathSet>,
    /// How it goes on; none of a packet that stands behind another one and waits for that.
    pub onward: Option<Onward>,
}

/// How a packet goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Onward {
    /// The channel by which.
    pub output: ChannelId,
    /// The lanes that it may take there: at least one.
    pub lanes: LaneSet,
    /// Those of them without space for it.
    pub blocked: LaneSet,
}

/// What an endpoint would send of one of its queues, were its channel free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// The group of queues.
    pub group: usize,
    /// The flow of the packet.
    pub flow: FlowKey,
    /// Its payload.
    pub payload_bytes: u32,
}

impl Waiter {
    /// A packet that stands in a buffer and goes on so, or waits for the one before it.
    pub fn standing(at: Buffer, packet: &Packet, onward: Option<Onward>) -> Self {
        Self { at: Some(at), flow: packet.into(), path_set: Some(packet.path_set), onward }
    }

    /// A packet that has its turn on the channel of a host.
    pub fn sending(packet: &Packet, onward: Onward) -> Self {
        let onward = Some(onward);
        Self { at: None, flow: packet.into(), path_set: Some(packet.path_set), onward }
    }

    /// A packet that could begin.
    pub fn queued(queued: &Queued, onward: Onward) -> Self {
        Self { at: None, flow: queued.flow, path_set: None, onward: Some(onward) }
    }
}

impl Onward {
    /// By one of these lanes; `is_blocked` says whether one has no space.
    pub fn by(output: ChannelId, lanes: LaneSet, is_blocked: impl Fn(u8) -> bool) -> Self {
        let blocked = lanes.lanes().filter(|lane| is_blocked(*lane)).collect();
        Self { output, lanes, blocked }
    }

    /// By a channel that has but one lane.
    pub fn by_channel(output: ChannelId, is_blocked: bool) -> Self {
        Self::by(output, LaneSet::one(0), |_| is_blocked)
    }

    /// Whether no lane has space.
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
