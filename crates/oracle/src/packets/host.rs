//! Hosts: messages are created, packets begin, have left and are received.

use crate::packets::event::Event;
use crate::packets::journey::{Journey, JourneyId};
use crate::packets::output::{Leaves, Sending};
use crate::packets::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::{Next, Notice, Order, PacketsPlan, Turn, Weighing};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, EndpointId};

/// What a lane could begin now.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Of this group of queues.
    group: usize,
    wire_bytes: u64,
    created: Time,
}

impl Simulation {
    // Phase 1: create.

    /// Tells the endpoints what happens now, and carries out what they order.
    pub(crate) fn tell(&mut self, notice: Notice<'_>) {
        self.endpoints.tell(self.timeline.now, notice);
        self.carry_out();
    }

    pub(crate) fn carry_out(&mut self) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    let channel = self.plan.fabric.endpoint_channel(endpoint);
                    self.timeline.cause(self.timeline.now, Event::Start { channel });
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(Weighing { channel, lane, weight, .. }) => {
                    self.outputs[channel.index()].arbiter.weigh(lane, weight);
                }
                Order::Gather => self.tell_gathered(),
            }
        }
    }

    /// Tells the endpoints of an output, if other lanes of it have space, as far as its sender knows.
    pub(crate) fn tell_lanes(&mut self, output: ChannelId) {
        let (state, space_blocks) = (&self.outputs[output.index()], self.watched.space_blocks);
        let has_space = |lane| state.has_space(lane, space_blocks[usize::from(lane)].into());
        if let Some(free) = self.watched.change(output, has_space) {
            self.tell(Notice::Lanes { output, free });
        }
    }

    /// Tells the endpoints how many buffers between switches have no space, as far as senders know.
    fn tell_gathered(&mut self) {
        let full = self.watched.full(|channel, lane| !self.has_space(channel, lane));
        self.endpoints.tell(self.timeline.now, Notice::Gathered { full });
    }

    /// Whether there is space on a lane for a packet as long as the longest.
    fn has_space(&self, channel: ChannelId, lane: u8) -> bool {
        let blocks = self.watched.space_blocks[usize::from(lane)];
        self.outputs[channel.index()].has_space(lane, blocks.into())
    }

    // Phase 2: left.

    /// The tail of a packet of a host's own has left.
    pub(crate) fn left_host(&mut self, channel: ChannelId, sending: &Sending) {
        let endpoint = self.hosts[channel.index()].expect("a host sends here");
        let Sending { packet, started: began, wire_bytes: flits, .. } = *sending;
        if self.endpoints.wanted().left {
            let flit = self.plan.channel(channel).flit;
            let content = self.journeys.get(packet).packet.content;
            self.tell(Notice::Left { endpoint, began, flits, flit, content });
        }
        self.timeline.cause(self.timeline.now, Event::Start { channel });
    }

    // Phase 3: arrived.

    pub(crate) fn arrived(&mut self, packet: JourneyId) {
        let journey = self.journeys.remove(packet);
        let (packet, arrival) = (&journey.packet, &journey.arrival(self.timeline.now));
        self.tell(Notice::Received { packet, arrival });
    }

    // Phase 6: start.

    /// Lets a host with an idle channel start a packet, if possible. Returns whether a packet is
    /// ready but none has credits.
    pub(crate) fn choose_at_host(&mut self, endpoint: EndpointId, channel: ChannelId) -> bool {
        let (candidates, is_any_ready) = self.candidates_at_host(endpoint, channel);
        let head = |candidate: &Candidate| Head {
            length_bytes: u32::try_from(candidate.wire_bytes).expect("a packet is below 4 GiB"),
            arrival_ps: candidate.created.as_ps(),
        };
        let heads: Vec<_> = candidates.iter().map(|found| found.as_ref().map(head)).collect();
        if let Some(lane) = self.choose_lane(channel, &heads) {
            let chosen = candidates[usize::from(lane)].expect("a lane that can be chosen was");
            self.begin(endpoint, lane, chosen.group);
        }
        is_any_ready && candidates.iter().all(Option::is_none)
    }

    /// For each lane the packet that could start, and whether any packet is ready. Every queue with
    /// a packet is checked, regardless of credits.
    fn candidates_at_host(
        &mut self,
        endpoint: EndpointId,
        channel: ChannelId,
    ) -> (Vec<Option<Candidate>>, bool) {
        let mut candidates = vec![None; self.plan.lanes.count.into()];
        let mut is_any_ready = false;
        // Groups are in the order of their lanes, so that the one of the lowest takes a lane.
        for (group, lanes) in self.waiting_groups(endpoint) {
            let Some(next) = self.next_of(endpoint, channel, group) else { continue };
            is_any_ready = true;
            let blocks = PacketsPlan::blocks(next.wire_bytes);
            for lane in lanes.lanes() {
                let candidate: &mut Option<Candidate> = &mut candidates[usize::from(lane)];
                if candidate.is_some() {
                    continue;
                }
                if self.outputs[channel.index()].has_space(lane, blocks) {
                    *candidate = Some(next);
                } else {
                    self.await_space(channel, lane);
                }
            }
        }
        (candidates, is_any_ready)
    }

    /// The groups of queues in which something waits, and their lanes, in ascending order.
    fn waiting_groups(&self, endpoint: EndpointId) -> Vec<(usize, LaneSet)> {
        let adapter = &self.endpoints.adapters[endpoint.index()];
        let waiting = adapter.waiting_groups();
        let waits = |group: usize| waiting >> group & 1 == 1;
        adapter.groups().enumerate().filter(|(group, _)| waits(*group)).collect()
    }

    /// The packet that a group of queues would send now. If it could later, it is asked then.
    fn next_of(
        &mut self,
        endpoint: EndpointId,
        channel: ChannelId,
        group: usize,
    ) -> Option<Candidate> {
        match self.endpoints.next(endpoint, group, self.timeline.now) {
            Next::Packet { payload_bytes, created } => {
                let wire_bytes = self.packets.wire_bytes(payload_bytes);
                Some(Candidate { group, wire_bytes, created })
            }
            Next::At(time) => {
                self.timeline.cause(time, Event::Start { channel });
                None
            }
            Next::Nothing => None,
        }
    }

    fn begin(&mut self, endpoint: EndpointId, lane: u8, group: usize) {
        let Turn::Send(packet) = self.endpoints.turn(endpoint, group, self.timeline.now) else {
            panic!("the adapter had a packet that may begin")
        };
        if self.endpoints.wanted().began.has(&packet) {
            self.tell(Notice::Began { endpoint, packet: &packet });
        }
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let journey = Journey {
            packet,
            length: self.plan.length_of(&path[1..]),
            path,
            wire_bytes: self.packets.wire_bytes(packet.payload_bytes),
            position: 0,
            dateline_class: DatelineClass(0),
            head_arrived: None,
        };
        let packet = self.journeys.insert(journey);
        self.start(packet, lane, Leaves::Host);
    }
}
