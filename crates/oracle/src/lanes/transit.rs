//! In-transit hosts: packets that a host takes in and sends on, flit by flit.
//!
//! ```text
//!   first flit there ─► room in the pool? ─┬ yes: n bytes of it             ─► ready ─► a lane of its queue ─► tail left
//!                                          └ no: memory of the host (spill)              ▲ flits, as they come
//! ```
//!
//! Packets of several lanes arrive through each other, so that each gathers its flits by itself. A host that stops its senders
//! has lane buffers instead of the memory: [`receive`](Simulation::receive) says what leaves them.
//!
//! Invariants: what is taken of the pool is the sum of what the packets in it need, and never more than it holds.

use crate::lanes::event::{Event, Flit};
use crate::lanes::journey::JourneyId;
use crate::lanes::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::WhenFull;
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::VecDeque;

/// What a host sends on.
#[derive(Clone, Debug)]
pub(crate) struct Transit {
    /// Packets that go on and whose tail has not left yet, in the order in which they were taken in.
    pub(crate) passing: Vec<Passing>,
    /// Bytes taken of the pool.
    pub(crate) pool_bytes: u64,
    /// By lane of the channel into it: what it does with the packet that stands first, where it has lane buffers.
    pub(crate) readings: Vec<Option<Reading>>,
}

/// What a host does with the packet that stands first in one of its lane buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// It ends here.
    Consuming,
    /// It goes on, and has room in the pool.
    Passing,
    /// It goes on, and waits for room since then.
    Waiting { since: Time },
}

/// A packet that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    pub(crate) packet: JourneyId,
    /// The lanes on which it may leave.
    pub(crate) queue: LaneSet,
    /// When its first flit was there.
    read: Time,
    /// All its bytes.
    bytes: u64,
    /// Flits that are here.
    pub(crate) gathered: VecDeque<Flit>,
    /// Whether it went to the memory of the host, the pool being full.
    is_spilled: bool,
    /// When it may be sent on, once that is known.
    pub(crate) ready: Option<Time>,
    /// Whether a flit of it was sent on.
    pub(crate) has_begun: bool,
}

impl Transit {
    pub(crate) fn new(lanes: u8) -> Self {
        Self { passing: Vec::new(), pool_bytes: 0, readings: vec![None; lanes.into()] }
    }

    /// Flits of packets that go on.
    pub(crate) fn flits(&self) -> usize {
        self.passing.iter().map(|passing| passing.gathered.len()).sum()
    }

    /// What the packets in the pool need of it.
    pub(crate) fn needed_bytes(&self) -> u64 {
        self.passing.iter().filter(|passing| !passing.is_spilled).map(|passing| passing.bytes).sum()
    }

    /// The lanes of the queues in which packets wait to be sent on.
    pub(crate) fn queues(&self) -> impl Iterator<Item = LaneSet> {
        self.passing.iter().filter(|passing| !passing.has_begun).map(|passing| passing.queue)
    }

    /// The packet that goes next of a queue at `now`, and since when it is ready: what became ready first, and of
    /// these what came first.
    pub(crate) fn ripest(&self, queue: LaneSet, now: Time) -> Option<(JourneyId, Time)> {
        self.passing
            .iter()
            .filter(|passing| passing.queue == queue && !passing.has_begun)
            .filter_map(|passing| Some((passing.packet, passing.ready?)))
            .filter(|(_, ready)| *ready <= now)
            .min_by_key(|(_, ready)| *ready)
    }

    pub(crate) fn passing(&self, packet: JourneyId) -> Option<&Passing> {
        self.passing.iter().find(|passing| passing.packet == packet)
    }

    pub(crate) fn passing_mut(&mut self, packet: JourneyId) -> Option<&mut Passing> {
        self.passing.iter_mut().find(|passing| passing.packet == packet)
    }
}

impl Simulation {
    /// Whether the pool of a host has room for a packet.
    pub(crate) fn pool_has_room(&self, host: EndpointId, packet: JourneyId) -> bool {
        let bytes = self.journeys.get(packet).wire_bytes;
        self.transits[host.index()].pool_bytes + bytes <= self.plan.in_transit.pool_bytes
    }

    /// A packet that goes on, whose first flit was there at `read`, gets room in the pool, or what it gets instead.
    pub(crate) fn take_in(&mut self, host: EndpointId, packet: JourneyId, read: Time) {
        let plan = self.plan.in_transit;
        let has_room = self.pool_has_room(host, packet);
        let journey = self.journeys.get(packet);
        let bytes = journey.wire_bytes;
        let queue = self.first_lanes(host, &journey.packet);
        let transit = &mut self.transits[host.index()];
        let ready = if has_room {
            transit.pool_bytes += bytes;
            self.endpoints.collector_mut().on_pool(host, transit.pool_bytes);
            Some((read + plan.detection).max(self.now) + plan.programming)
        } else {
            self.endpoints.collector_mut().on_spilled(host, self.now);
            None
        };
        let (gathered, is_spilled, has_begun) = (VecDeque::new(), !has_room, false);
        let passing =
            Passing { packet, queue, read, bytes, gathered, is_spilled, ready, has_begun };
        transit.passing.push(passing);
    }

    /// A flit of a packet that goes on has come.
    pub(crate) fn gather(&mut self, host: EndpointId, flit: Flit) {
        let (now, plan) = (self.now, self.plan.in_transit);
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        let passing = self.transits[host.index()].passing_mut(flit.packet);
        let passing = passing.expect("its first flit came before");
        passing.gathered.push_back(flit);
        if let (true, true, WhenFull::Spill { delay, byte }) =
            (is_tail, passing.is_spilled, plan.when_full)
        {
            let copied = now + delay + byte * (2 * passing.bytes);
            passing.ready = Some(copied.max(passing.read + plan.detection + plan.programming));
        }
        let channel = self.plan.fabric.endpoint_channel(host);
        self.wake_adapter(channel, self.clock.first_from(now));
    }

    /// The tail of a packet in transit has left.
    pub(crate) fn release(&mut self, host: EndpointId, packet: JourneyId) {
        let transit = &mut self.transits[host.index()];
        let place = transit.passing.iter().position(|passing| passing.packet == packet);
        let passed = transit.passing.remove(place.expect("the packet went on"));
        assert!(passed.gathered.is_empty(), "the tail was the last flit");
        if !passed.is_spilled {
            transit.pool_bytes -= passed.bytes;
        }
        if self.plan.in_transit.when_full == WhenFull::Stop {
            let tick = self.clock.instant(self.clock.first_from(self.now));
            let channel = Fabric::reverse(self.plan.fabric.endpoint_channel(host));
            self.cause(tick, Event::Receive { channel });
        }
    }

    // Lane buffers of a host that stops its senders.

    /// What can leave the lane buffers of a host does; as long as the pool has room for a packet that waits, the one that waits
    /// longest gets it, of equal ones that of the lowest lane.
    pub(crate) fn receive(&mut self, channel: ChannelId) {
        let host = self.host_at(channel);
        loop {
            for lane in 0..self.plan.lanes.count {
                self.read_on(channel, lane);
            }
            let waiting = |lane: u8| match self.transits[host.index()].readings[usize::from(lane)] {
                Some(Reading::Waiting { since }) => {
                    let first = self.input(channel).lane(lane).first();
                    let packet = first.expect("a head waits").flit.packet;
                    self.pool_has_room(host, packet).then_some((since, lane, packet))
                }
                _ => None,
            };
            let next = (0..self.plan.lanes.count).filter_map(waiting).min();
            let Some((since, lane, packet)) = next else { return };
            self.take_in(host, packet, since);
            self.transits[host.index()].readings[usize::from(lane)] = Some(Reading::Passing);
        }
    }

    /// Everything leaves a lane buffer of a host up to a packet that waits for room.
    fn read_on(&mut self, channel: ChannelId, lane: u8) {
        let host = self.host_at(channel);
        while let Some(first) = self.input(channel).lane(lane).first() {
            let flit = first.flit;
            let journey = self.journeys.get(flit.packet);
            let (ends_here, is_tail) = (journey.ends_with(channel), journey.is_tail(flit.index));
            let read =
                if ends_here { Reading::Consuming } else { Reading::Waiting { since: self.now } };
            let reading = &mut self.transits[host.index()].readings[usize::from(lane)];
            let doing = *reading.get_or_insert(read);
            if matches!(doing, Reading::Waiting { .. }) {
                return;
            }
            if is_tail {
                *reading = None;
            }
            let now = self.now;
            self.input_mut(channel).leave(lane, now);
            self.return_credit(channel, lane);
            if ends_here { self.consume(flit) } else { self.gather(host, flit) }
        }
    }
}
