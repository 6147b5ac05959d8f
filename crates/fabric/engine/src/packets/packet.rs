//! Packets in flight.

use gingham_kernel::{Time, optional_id_type};
use gingham_net::{Arrival, Packet, Plan, RouteState};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, NodeId};

optional_id_type!(
    /// Index of a packet in flight; reused after delivery.
    PacketId
);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Packet in an input buffer, not yet ready.
    Coming,
    /// Packet in an input buffer, not yet ready; the endpoints were notified that its head was
    /// read.
    Read,
    /// Ready packet in an input buffer.
    Waiting,
    /// Packet in an output buffer.
    Crossed,
    /// Packet on its last channel, or not yet in the network.
    Leaving,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Moving {
    pub(crate) packet: Packet,
    pub(crate) wire_bytes: u32,
    pub(crate) next: Option<PacketId>,
    /// Time when the packet entered the network or, at a later hop, when its first byte arrived at
    /// the current switch, in ps.
    pub(crate) came_ps: u64,
    /// Incoming channel at the current switch, or the last channel once the packet is on it.
    pub(crate) input: ChannelId,
    pub(crate) output: ChannelId,
    pub(crate) lane: u8,
    pub(crate) place: Place,
    pub(crate) lanes: LaneSet,
    pub(crate) overtaken: u32,
    pub(crate) route: RouteState,
}

const _: () = assert!(size_of::<Moving>() == 128, "a packet under way is two cache lines");

impl Moving {
    pub(crate) fn new(
        plan: &Plan,
        packet: Packet,
        wire_bytes: u32,
        channel: ChannelId,
        first_node: NodeId,
    ) -> Self {
        Self {
            packet,
            wire_bytes,
            next: None,
            came_ps: 0,
            input: channel,
            output: channel,
            lane: 0,
            place: Place::Leaving,
            lanes: LaneSet::EMPTY,
            overtaken: 0,
            route: RouteState::new(plan, &packet, first_node),
        }
    }

    #[inline]
    pub(crate) fn come(&mut self, plan: &Plan, (channel, lane): (ChannelId, u8), node: NodeId) {
        let Self { packet, route, .. } = self;
        let output = route.output(plan, packet, || node);
        self.lanes = route.enter(plan, packet, channel, output);
        (self.input, self.lane, self.output) = (channel, lane, output);
        self.place = Place::Coming;
    }

    /// Diverts the packet to port 0 of the current switch; `into_end` is the channel to port 0.
    pub(crate) fn divert(&mut self, plan: &Plan, into_end: ChannelId) {
        self.lanes = self.route.enter(plan, &self.packet, self.input, into_end);
        self.output = into_end;
    }

    pub(crate) fn arrival(&self, head_arrived: Time, arrived: Time) -> Arrival {
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: self.wire_bytes.into(),
            hops: self.route.hops,
            in_transit_hosts: 0,
            head_arrived,
            arrived,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    packets: Vec<Moving>,
    free: Vec<PacketId>,
}

impl Packets {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Moving) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id.index()] = packet;
            return id;
        }
        self.packets.push(packet);
        PacketId::new(self.packets.len() - 1)
    }

    /// Frees the id of a packet. The packet remains readable until the id is reused.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> &Moving {
        self.free.push(id);
        &self.packets[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Moving {
        &self.packets[id.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Moving {
        &mut self.packets[id.index()]
    }

    pub(crate) fn in_inputs(&self) -> impl Iterator<Item = (PacketId, &Moving)> {
        let ids = (0..self.packets.len()).map(PacketId::new);
        let is_there = |place| !matches!(place, Place::Crossed | Place::Leaving);
        ids.zip(&self.packets).filter(move |(_, packet)| is_there(packet.place))
    }
}
