//! What moves packets between hosts, and what all of it shares.

use crate::bits::Bits;
use crate::packets::clock::Clock;
use crate::packets::credits::Credits;
use crate::packets::links::Links;
use crate::packets::losses::Losses;
use crate::packets::packet::Packets;
use crate::packets::pauses::Pauses;
use crate::packets::standing::Standing;
use crate::packets::waiting::Waiting;
use gingham_model::{Endpoints, Notice, PacketsPlan, Plan, Wanted};
use gingham_topology::ChannelId;
use std::sync::Arc;

/// The network with its clock, and the endpoints that are told what happens.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) plan: Arc<Plan>,
    pub(crate) packets_plan: Arc<PacketsPlan>,
    pub(crate) clock: Clock,
    pub(crate) endpoints: Endpoints,
    pub(crate) wanted: Wanted,
    pub(crate) packets: Packets,
    pub(crate) links: Links,
    pub(crate) credits: Credits,
    /// What is not known of credits, where updates of them may be lost.
    pub(crate) losses: Option<Losses>,
    /// In place of credits, where receivers pause lanes.
    pub(crate) pauses: Option<Pauses>,
    pub(crate) waiting: Waiting,
    pub(crate) inputs: Inputs,
    pub(crate) standing: Standing,
    /// Channels on which anything may have happened since the last section.
    pub(crate) active: Bits,
}

/// The ends of channels in switches.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// By channel: when the last head was read.
    heads_ps: Vec<u64>,
    /// By channel: bytes that stood there, times the picoseconds for which they did, of packets
    /// that have begun to leave.
    occupancies: Vec<u128>,
}

impl Inputs {
    fn new(channels: usize) -> Self {
        Self { heads_ps: vec![0; channels], occupancies: vec![0; channels] }
    }

    /// When the head is read of a packet whose first byte arrives at an instant.
    #[inline]
    pub(crate) fn read_head(&mut self, input: ChannelId, arrival_ps: u64, of: &PacketsPlan) -> u64 {
        let last = &mut self.heads_ps[input.index()];
        let forwarded = arrival_ps + of.forwarding_delay.as_ps();
        let is_first = *last == 0;
        let spaced = if is_first { 0 } else { *last + of.head_interval.as_ps() };
        *last = forwarded.max(spaced);
        *last
    }

    /// A packet that came at an instant begins to leave, and has left at another.
    #[inline]
    pub(crate) fn leave(&mut self, input: ChannelId, wire_bytes: u32, stay_ps: u64) {
        self.occupancies[input.index()] += u128::from(wire_bytes) * u128::from(stay_ps);
    }

    pub(crate) fn occupancy(&self, input: ChannelId) -> u128 {
        self.occupancies[input.index()]
    }
}

impl Network {
    pub(crate) fn new(plan: Arc<Plan>, packets_plan: Arc<PacketsPlan>) -> Self {
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let channels = plan.channels.len();
        let wanted = endpoints.wanted();
        Self {
            clock: Clock::new(),
            wanted,
            endpoints,
            packets: Packets::default(),
            links: Links::new(&plan),
            credits: Credits::new(&plan, &packets_plan.buffer_blocks),
            losses: Losses::new(&plan, &packets_plan),
            pauses: Pauses::new(&plan, &packets_plan),
            waiting: Waiting::new(channels),
            inputs: Inputs::new(channels),
            standing: Standing::new(channels, plan.lanes.count, wanted.read),
            active: Bits::new(channels),
            packets_plan,
            plan,
        }
    }

    /// Tells the endpoints what happens now. What they order is to be carried out by the hosts
    /// before anything else happens.
    #[inline]
    pub(crate) fn tell(&mut self, notice: Notice<'_>) {
        self.endpoints.tell(self.clock.time(), notice);
    }

    /// Whether a channel is idle now.
    #[inline]
    pub(crate) fn is_idle(&self, channel: ChannelId) -> bool {
        self.links.busy_until_ps(channel) <= self.clock.now()
    }
}
