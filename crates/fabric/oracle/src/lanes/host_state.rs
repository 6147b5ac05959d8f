//! State of a host: packets in progress on adapter lanes, and in-transit packets.

use crate::endpoints::{InTransitHost, Tally};
use crate::lanes::event::Flit;
use crate::lanes::journey::JourneyId;
use gingham_kernel::Time;
use gingham_net::{EjectionHead, InTransitPlan, TakenIn};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingPacket {
    pub(crate) packet: JourneyId,
    pub(crate) group: usize,
    pub(crate) next: u64,
    /// Creation time of the message or, for an in-transit packet, the time when it became ready.
    pub(crate) arrival: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct InTransit {
    pub(crate) machine: InTransitHost<JourneyId>,
    pub(crate) packets: Vec<InTransitPacket>,
    /// State of the first packet of each lane into the host, if the host has lane buffers.
    pub(crate) heads: Vec<EjectionHead>,
}

#[derive(Clone, Debug)]
pub(crate) struct InTransitPacket {
    pub(crate) packet: JourneyId,
    pub(crate) taken: TakenIn,
    pub(crate) received: VecDeque<Flit>,
    pub(crate) has_begun: bool,
}

impl InTransit {
    pub(crate) fn new(plan: InTransitPlan, (groups, lanes): (usize, u8), tally: &Tally) -> Self {
        let heads = vec![EjectionHead::default(); lanes.into()];
        let machine = InTransitHost::new(plan, groups, tally.clone());
        Self { machine, packets: Vec::new(), heads }
    }

    pub(crate) fn flits(&self) -> usize {
        self.packets.iter().map(|packet| packet.received.len()).sum()
    }

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
