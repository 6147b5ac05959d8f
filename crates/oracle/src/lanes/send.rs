//! What an adapter does at a tick: it chooses among its lanes, each of which may be in the middle
//! of a packet.
//!
//! ```text
//!   queue of lanes 0, 1   [ p7 ][ p9 ]  ─┐   lane 0   p3: flit 5 of 8    no credit
//!   in transit, ready     [ p2 ]        ─┴─► lane 1   none               p2 could begin, before p7
//!   queue of lane 2       [ p8 ]        ───► lane 2   p5: flit 0 of 3    could go on
//! ```

use crate::lanes::clock::Tick;
use crate::lanes::event::{Event, Flit};
use crate::lanes::host_state::OutgoingPacket;
use crate::lanes::journey::{Journey, JourneyId};
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::{Injection, Next, Turn};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, EndpointId};

/// What a lane can do now.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    flits: u64,
    arrival: Time,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// It goes on with its packet.
    GoOn,
    /// It begins the next packet of the host's own, of this group of queues.
    Own { group: usize },
    /// It begins a packet in transit.
    InTransit { packet: JourneyId },
}

impl Simulation {
    pub(crate) fn send(&mut self, channel: ChannelId) {
        let tick = self.tick();
        let host = self.host_of(channel);
        let mut waits = false;
        if self.may_take(channel, tick) {
            let (candidates, is_short) = self.candidates(channel, tick);
            waits = self.adapter_waits(channel, &candidates, is_short);
            let chooser = &mut self.outputs[channel.index()].chooser;
            let by_packet = chooser.is_by_packet();
            let plan = &self.lane_plan;
            let head = |candidate: &Candidate| {
                let flits = if by_packet { candidate.flits } else { 1 };
                let length_bytes = u32::try_from(plan.wire_bytes(flits)).expect("below 4 GiB");
                Head { length_bytes, arrival_ps: candidate.arrival.as_ps() }
            };
            let heads: Vec<_> = candidates.iter().map(|found| found.as_ref().map(head)).collect();
            if let Some(lane) = chooser.choose(&heads) {
                let candidate = candidates[usize::from(lane)].expect("a candidate was chosen");
                self.send_on(channel, lane, candidate, tick);
            }
        }
        self.set_credit_wait(channel, waits, tick);
        if self.has_something_to_send(host) {
            self.wake_adapter(channel, tick + 1);
        }
    }

    fn has_something_to_send(&self, host: EndpointId) -> bool {
        self.endpoints.adapters[host.index()].waiting_groups() != 0
            || self.senders[host.index()].iter().flatten().next().is_some()
            || !self.in_transit[host.index()].packets.is_empty()
    }

    /// Whether a channel of a host has something to take and no credits for any of it; `is_short`
    /// is set if a packet could begin with more credits.
    fn adapter_waits(
        &self,
        channel: ChannelId,
        candidates: &[Option<Candidate>],
        is_short: bool,
    ) -> bool {
        let chooser = &self.outputs[channel.index()].chooser;
        let mut open = (0..self.plan.lanes.count).filter(|lane| chooser.is_open_to(*lane));
        if open.clone().any(|lane| candidates[usize::from(lane)].is_some()) {
            return false;
        }
        // None that could go on has a credit.
        is_short || open.any(|lane| self.is_there(channel, lane))
    }

    /// Returns the candidate of each lane in a tick when the channel may take a flit, and whether a
    /// packet of any queue lacks nothing but credits.
    fn candidates(&mut self, channel: ChannelId, tick: Tick) -> (Vec<Option<Candidate>>, bool) {
        let host = self.host_of(channel);
        let lanes = 0..self.plan.lanes.count;
        let mut candidates: Vec<_> = lanes.map(|lane| self.can_go_on(channel, lane)).collect();
        let mut is_short = false;
        if !self.outputs[channel.index()].chooser.is_open() {
            return (candidates, is_short);
        }
        // Groups of queues are in the order of their lanes: from the lowest on, so that it is the
        // one from which a lane takes.
        for (group, queue) in self.waiting_groups(host) {
            let is_of_group = |packet: &OutgoingPacket| packet.group == group;
            let goes_on = |lane: u8| {
                let sending = self.senders[host.index()][usize::from(lane)].as_ref();
                candidates[usize::from(lane)].is_some_and(|can| matches!(can.step, Step::GoOn))
                    && sending.is_some_and(is_of_group)
            };
            if (0..self.plan.lanes.count).any(goes_on) {
                continue;
            }
            let idle: Vec<u8> = self.idle_lanes(channel, queue);
            if idle.is_empty() {
                // It is not asked, and nothing changes.
                let is_any_idle = queue
                    .lanes()
                    .any(|lane| self.senders[host.index()][usize::from(lane)].is_none());
                is_short |= is_any_idle && self.has_ready(channel, group, tick);
                continue;
            }
            let Some(next) = self.next_of(channel, group, tick) else { continue };
            let fits = |lane: &u8| self.can_begin(channel, *lane, next.flits);
            let fitting: Vec<u8> = idle.into_iter().filter(fits).collect();
            is_short |= fitting.is_empty();
            for lane in fitting {
                candidates[usize::from(lane)].get_or_insert(next);
            }
        }
        (candidates, is_short)
    }

    /// A lane in the middle of a packet, if there is a credit and the flit is there.
    fn can_go_on(&self, channel: ChannelId, lane: u8) -> Option<Candidate> {
        let host = self.host_of(channel);
        let OutgoingPacket { packet, arrival, .. } = self.senders[host.index()][usize::from(lane)]?;
        let has_credit = self.outputs[channel.index()].lane(lane).has_credit();
        let flits = self.journeys.get(packet).flits;
        let can = has_credit && self.is_there(channel, lane);
        can.then_some(Candidate { flits, arrival, step: Step::GoOn })
    }

    /// Whether the next flit of a lane in the middle of a packet is there.
    fn is_there(&self, channel: ChannelId, lane: u8) -> bool {
        let host = self.host_of(channel).index();
        let Some(sending) = self.senders[host][usize::from(lane)] else { return false };
        let in_transit = self.in_transit[host].packet(sending.packet);
        in_transit.is_none_or(|packet| !packet.received.is_empty())
    }

    /// Whether a queue without a lane that has a credit holds a packet that neither window nor pace holds
    /// back.
    fn has_ready(&self, channel: ChannelId, group: usize, tick: Tick) -> bool {
        let host = self.host_of(channel);
        let machine = &self.in_transit[host.index()].machine;
        let is_held = self.lane_plan.injection == Injection::OneAtATime && self.is_in_own(host);
        machine.next_ready(group, self.timeline.now).is_some()
            || !is_held && self.endpoints.has_ready(host, group, self.begins(channel, tick))
    }

    /// The groups of queues in which something waits, and their lanes, in ascending order.
    fn waiting_groups(&self, host: EndpointId) -> Vec<(usize, LaneSet)> {
        let adapter = &self.endpoints.adapters[host.index()];
        let in_transit = self.in_transit[host.index()].machine.waiting_groups();
        let waiting = adapter.waiting_groups() | in_transit;
        let waits = |group: usize| waiting >> group & 1 == 1;
        adapter.groups().enumerate().filter(|(group, _)| waits(*group)).collect()
    }

    /// The lanes of a queue that are in no packet and have a credit.
    fn idle_lanes(&self, channel: ChannelId, queue: LaneSet) -> Vec<u8> {
        let sending = &self.senders[self.host_of(channel).index()];
        let output = &self.outputs[channel.index()];
        let is_idle =
            |lane: &u8| sending[usize::from(*lane)].is_none() && output.lane(*lane).has_credit();
        queue.lanes().filter(is_idle).collect()
    }

    /// Whether there are the credits to begin a packet.
    fn can_begin(&self, channel: ChannelId, lane: u8, flits: u64) -> bool {
        let output = &self.outputs[channel.index()];
        let is_by_packet = output.chooser.is_by_packet();
        let needed = self.lane_plan.credits_to_begin(lane, flits, is_by_packet);
        output.lane(lane).has_credits(needed.max(1))
    }

    /// The next packet of a group, if it may begin now: one in transit before those of the host's
    /// own.
    fn next_of(&mut self, channel: ChannelId, group: usize, tick: Tick) -> Option<Candidate> {
        let host = self.host_of(channel);
        let in_transit = &self.in_transit[host.index()].machine;
        if let Some((packet, arrival)) = in_transit.next_ready(group, self.timeline.now) {
            let flits = self.journeys.get(packet).flits;
            return Some(Candidate { flits, arrival, step: Step::InTransit { packet } });
        }
        if self.lane_plan.injection == Injection::OneAtATime && self.is_in_own(host) {
            return None;
        }
        let begins = self.begins(channel, tick);
        match self.endpoints.next(host, group, begins) {
            Next::Packet { payload_bytes, created } => {
                let flits = self.lane_plan.packet_flits(payload_bytes);
                Some(Candidate { flits, arrival: created, step: Step::Own { group } })
            }
            Next::At(_) | Next::Nothing => None,
        }
    }

    /// Whether a host is in the middle of a packet of its own, on any lane.
    fn is_in_own(&self, host: EndpointId) -> bool {
        let in_transit = &self.in_transit[host.index()];
        let is_own = |sent: &OutgoingPacket| in_transit.packet(sent.packet).is_none();
        self.senders[host.index()].iter().flatten().any(is_own)
    }

    /// The next flit of a lane goes.
    fn send_on(&mut self, channel: ChannelId, lane: u8, candidate: Candidate, tick: Tick) {
        let host = self.host_of(channel);
        let begins = self.begins(channel, tick);
        let begun = match candidate.step {
            Step::GoOn => self.senders[host.index()][usize::from(lane)],
            Step::Own { group } => Some(self.begin_own(host, group, begins, candidate.arrival)),
            Step::InTransit { packet } => Some(self.begin_in_transit(host, packet)),
        };
        let mut sending = begun.expect("a lane goes on with its packet");
        let flit = Flit { packet: sending.packet, index: sending.next };
        if let Some(packet) = self.in_transit[host.index()].packet_mut(sending.packet) {
            assert_eq!(packet.received.pop_front(), Some(flit), "flits go on in order");
        } else {
            self.flits_entered += 1;
        }
        sending.next += 1;
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        self.senders[host.index()][usize::from(lane)] = (!is_tail).then_some(sending);
        self.outputs[channel.index()].chooser.sent(lane, is_tail);
        self.take_flit(channel, lane, flit, tick);
        if is_tail {
            let left = self.outputs[channel.index()].free;
            self.timeline.cause(left, Event::TailLeft { channel, packet: flit.packet });
        }
    }

    fn begin_own(
        &mut self,
        host: EndpointId,
        group: usize,
        begins: Time,
        arrival: Time,
    ) -> OutgoingPacket {
        let Turn::Send(packet) = self.endpoints.turn(host, group, begins) else {
            panic!("the adapter had a packet that may begin")
        };
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let flits = self.lane_plan.packet_flits(packet.payload_bytes);
        let journey = Journey {
            packet,
            length: self.plan.length_of(&path[1..]),
            path,
            flits,
            wire_bytes: self.lane_plan.wire_bytes(flits),
            began: begins,
            position: 0,
            dateline_class: DatelineClass(0),
            head_arrived: None,
            index_expected: 0,
        };
        OutgoingPacket { packet: self.journeys.insert(journey), group, next: 0, arrival }
    }

    fn begin_in_transit(&mut self, host: EndpointId, packet: JourneyId) -> OutgoingPacket {
        let journey = self.journeys.get_mut(packet);
        journey.position += 1;
        journey.dateline_class = DatelineClass(0);
        let in_transit = &mut self.in_transit[host.index()];
        let begun = in_transit.packet_mut(packet).expect("the packet goes on");
        begun.has_begun = true;
        let (group, ready) = (begun.taken.group, begun.taken.ready);
        in_transit.machine.begin(group);
        let arrival = ready.expect("what begins is ready");
        OutgoingPacket { packet, group, next: 0, arrival }
    }

    /// The lane of a host on which a packet is.
    pub(crate) fn lane_of(&self, host: EndpointId, packet: JourneyId) -> Option<u8> {
        let is_of = |sending: &Option<OutgoingPacket>| {
            sending.is_some_and(|sending| sending.packet == packet)
        };
        let lane = self.senders[host.index()].iter().position(is_of)?;
        Some(u8::try_from(lane).expect("lanes are few"))
    }
}
