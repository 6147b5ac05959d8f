//! What a host has under way: packets on the lanes of its adapter, and packets in transit.

use crate::lanes::event::Flit;
use crate::lanes::journey::JourneyId;
use gingham_kernel::Time;
use gingham_net::{EjectionHead, InTransitHost, InTransitPlan, TakenIn};
use std::collections::VecDeque;

/// The packet that a lane of an adapter is in the middle of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingPacket {
    pub(crate) packet: JourneyId,
    /// The group of queues from which it came.
    pub(crate) group: usize,
    /// The next flit.
    pub(crate) next: u64,
    /// When its message was created or, in transit, it was ready.
    pub(crate) arrival: Time,
}

/// What a host sends on.
#[derive(Clone, Debug)]
pub(crate) struct InTransit {
    pub(crate) machine: InTransitHost<JourneyId>,
    /// Packets that go on and whose tail has not left yet.
    pub(crate) packets: Vec<InTransitPacket>,
    /// By lane of the channel into it: what it does with the packet that stands first, where it has
    /// lane buffers.
    pub(crate) heads: Vec<EjectionHead>,
}

/// A packet that goes on.
#[derive(Clone, Debug)]
pub(crate) struct InTransitPacket {
    pub(crate) packet: JourneyId,
    pub(crate) taken: TakenIn,
    /// Flits that are here.
    pub(crate) received: VecDeque<Flit>,
    /// Whether a flit of it was sent on.
    pub(crate) has_begun: bool,
}

impl InTransit {
    /// A host with so many groups of queues and lanes.
    pub(crate) fn new(plan: InTransitPlan, groups: usize, lanes: u8) -> Self {
        let heads = vec![EjectionHead::default(); lanes.into()];
        Self { machine: InTransitHost::new(plan, groups), packets: Vec::new(), heads }
    }

    /// Flits of packets that go on.
    pub(crate) fn flits(&self) -> usize {
        self.packets.iter().map(|packet| packet.received.len()).sum()
    }

    /// What the packets in the pool need of it.
    pub(crate) fn needed_bytes(&self) -> u64 {
        let taken = self.packets.iter().map(|packet| &packet.taken);
        taken.filter(|taken| !taken.is_spilled).map(|taken| taken.bytes).sum()
    }

    pub(crate) fn packet(&self, packet: JourneyId) -> Option<&InTransitPacket> {
        self.packets.iter().find(|other| other.packet == packet)
    }

    pub(crate) fn packet_mut(&mut self, packet: JourneyId) -> Option<&mut InTransitPacket> {
        self.packets.iter_mut().find(|other| other.packet == packet)
    }
}
