//! In-transit hosts: packets that a host takes in and sends on, flit by flit.
//!
//! [`InTransitHost`] says which packets have room, when each is ready and which goes next; here is
//! what comes to it. Packets of several lanes arrive through each other, so that each is
//! reassembled by itself. A host that stops its senders has lane buffers:
//! [`receive`](Simulation::receive) says what leaves them.

use crate::lanes::event::{Event, Flit};
use crate::lanes::host_state::InTransitPacket;
use crate::lanes::journey::JourneyId;
use crate::lanes::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::{EjectionHead, WhenFull};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::VecDeque;

impl Simulation {
    /// Whether the pool of a host has room for a packet.
    pub(crate) fn pool_has_room(&self, host: EndpointId, packet: JourneyId) -> bool {
        let bytes = self.journeys.get(packet).wire_bytes;
        self.in_transit[host.index()].machine.has_room(bytes)
    }

    /// A packet that goes on, whose first flit was there at `head`, gets room in the pool, or what
    /// it gets instead.
    pub(crate) fn take_in(&mut self, host: EndpointId, packet: JourneyId, head: Time) {
        let journey = self.journeys.get(packet);
        let group = self.endpoints.adapters[host.index()].group_of(journey.packet.vc_class);
        let in_transit = &mut self.in_transit[host.index()];
        let taken =
            in_transit.machine.take_in(packet, group, journey.wire_bytes, head, self.timeline.now);
        let taken = taken.expect("a host that stops its senders takes in what it has room for");
        let collector = self.endpoints.collector_mut();
        if taken.is_spilled {
            collector.on_spilled(host, self.timeline.now);
        } else {
            collector.on_pool(host, in_transit.machine.pool_bytes());
        }
        let received = VecDeque::new();
        in_transit.packets.push(InTransitPacket { packet, taken, received, has_begun: false });
    }

    /// A flit of a packet that goes on has come.
    pub(crate) fn reassemble(&mut self, host: EndpointId, flit: Flit) {
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        let in_transit = &mut self.in_transit[host.index()];
        let packet = in_transit.packets.iter_mut().find(|packet| packet.packet == flit.packet);
        let packet = packet.expect("its first flit came before");
        packet.received.push_back(flit);
        if is_tail {
            in_transit.machine.tail_received(flit.packet, &mut packet.taken, self.timeline.now);
        }
        let channel = self.plan.fabric.endpoint_channel(host);
        self.wake_adapter(channel, self.clock.first_from(self.timeline.now));
    }

    /// The tail of a packet in transit has left.
    pub(crate) fn release(&mut self, host: EndpointId, packet: JourneyId) {
        let in_transit = &mut self.in_transit[host.index()];
        let place = in_transit.packets.iter().position(|other| other.packet == packet);
        let left = in_transit.packets.remove(place.expect("the packet went on"));
        assert!(left.received.is_empty(), "the tail was the last flit");
        in_transit.machine.release(&left.taken);
        if self.plan.in_transit.when_full == WhenFull::Stop {
            let tick = self.clock.instant(self.clock.first_from(self.timeline.now));
            let channel = Fabric::reverse(self.plan.fabric.endpoint_channel(host));
            self.timeline.cause(tick, Event::Receive { channel });
        }
    }

    // Lane buffers of a host that stops its senders.

    /// What can leave the lane buffers of a host does, as long as the pool has room for a packet
    /// that waits.
    pub(crate) fn receive(&mut self, channel: ChannelId) {
        let host = self.host_at(channel);
        loop {
            for lane in 0..self.plan.lanes.count {
                self.read_on(channel, lane);
            }
            let first = |lane: usize| self.input(channel).lanes[lane].first();
            let packet = |lane| first(lane).expect("a head waits").flit.packet;
            let bytes = |lane| self.journeys.get(packet(lane)).wire_bytes;
            let in_transit = &self.in_transit[host.index()];
            let next = in_transit.machine.next_admitted(&in_transit.heads, bytes);
            let Some((lane, since)) = next else { return };
            let packet = packet(lane);
            self.take_in(host, packet, since);
            self.in_transit[host.index()].heads[lane] = EjectionHead::InTransit;
        }
    }

    /// Everything leaves a lane buffer of a host up to a packet that waits for room.
    fn read_on(&mut self, channel: ChannelId, lane: u8) {
        let (host, now) = (self.host_at(channel), self.timeline.now);
        while let Some(first) = self.input(channel).lane(lane).first() {
            let flit = first.flit;
            let journey = self.journeys.get(flit.packet);
            let (ends_here, is_tail) = (journey.ends_with(channel), journey.is_tail(flit.index));
            let head = &mut self.in_transit[host.index()].heads[usize::from(lane)];
            if *head == EjectionHead::Unread {
                let waiting = EjectionHead::Waiting { since: now };
                *head = if ends_here { EjectionHead::Consumed } else { waiting };
            }
            if matches!(head, EjectionHead::Waiting { .. }) {
                return;
            }
            if is_tail {
                *head = EjectionHead::Unread;
            }
            self.input_mut(channel).leave(lane, now);
            self.return_credit(channel, lane);
            if ends_here { self.consume(flit) } else { self.reassemble(host, flit) }
        }
    }
}
