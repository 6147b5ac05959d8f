//! What an adapter does at a tick: it chooses among its lanes, each of which may be in the middle of a packet.
//!
//! ```text
//!   queue of lanes 0, 1   [ p7 ][ p9 ]  ─┐   lane 0   p3: flit 5 of 8    no credit
//!   in transit, ready     [ p2 ]        ─┴─► lane 1   none               p2 could begin, before p7
//!   queue of lane 2       [ p8 ]        ───► lane 2   p5: flit 0 of 3    could go on
//! ```

use crate::lanes::clock::Tick;
use crate::lanes::event::{Event, Flit};
use crate::lanes::journey::{Journey, JourneyId};
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::{Next, Packet, Turn};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, EndpointId};

/// The packet on a lane of an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    packet: JourneyId,
    /// The lanes of the queue from which it came.
    queue: LaneSet,
    /// The next flit.
    next: u64,
    /// When its message was created or, in transit, it was ready.
    came: Time,
}

/// What a lane can do now.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    flits: u64,
    came: Time,
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
        if self.may_take(channel, tick) {
            let candidates = self.candidates(channel, tick);
            let chooser = &mut self.outputs[channel.index()].chooser;
            let by_packet = chooser.is_by_packet();
            let plan = &self.lane_plan;
            let head = |candidate: &Candidate| {
                let flits = if by_packet { candidate.flits } else { 1 };
                let length_bytes = u32::try_from(plan.wire_bytes(flits)).expect("below 4 GiB");
                Head { length_bytes, arrival_ps: candidate.came.as_ps() }
            };
            let heads: Vec<_> = candidates.iter().map(|found| found.as_ref().map(head)).collect();
            if let Some(lane) = chooser.choose(&heads) {
                let candidate = candidates[usize::from(lane)].expect("a candidate was chosen");
                self.send_on(channel, lane, candidate.step, tick);
            }
        }
        if self.has_something_to_send(host) {
            self.wake_adapter(channel, tick + 1);
        }
    }

    fn has_something_to_send(&self, host: EndpointId) -> bool {
        let adapter = &self.endpoints.adapters[host.index()];
        (0..adapter.groups().len()).any(|group| adapter.is_waiting(group))
            || self.senders[host.index()].iter().flatten().next().is_some()
            || !self.transits[host.index()].passing.is_empty()
    }

    /// By lane: what it can do at a tick at which the channel may take a flit.
    fn candidates(&mut self, channel: ChannelId, tick: Tick) -> Vec<Option<Candidate>> {
        let host = self.host_of(channel);
        let lanes = 0..self.plan.lanes.count;
        let mut candidates: Vec<_> = lanes.map(|lane| self.can_go_on(channel, lane)).collect();
        if !self.outputs[channel.index()].chooser.is_open() {
            return candidates;
        }
        // From the queue of the lowest lanes on, so that it is the one from which a lane takes.
        for queue in self.queues(host) {
            let is_of_queue = |sending: &Sending| sending.queue == queue;
            let goes_on = |lane: u8| {
                let sending = self.senders[host.index()][usize::from(lane)].as_ref();
                candidates[usize::from(lane)].is_some_and(|can| matches!(can.step, Step::GoOn))
                    && sending.is_some_and(is_of_queue)
            };
            if (0..self.plan.lanes.count).any(goes_on) {
                continue;
            }
            let idle: Vec<u8> = self.idle_lanes(channel, queue);
            if idle.is_empty() {
                continue;
            }
            let Some(next) = self.next_of(channel, queue, tick) else { continue };
            for lane in idle {
                if candidates[usize::from(lane)].is_none()
                    && self.can_begin(channel, lane, next.flits)
                {
                    candidates[usize::from(lane)] = Some(next);
                }
            }
        }
        candidates
    }

    /// A lane in the middle of a packet, if there is a credit and the flit is there.
    fn can_go_on(&self, channel: ChannelId, lane: u8) -> Option<Candidate> {
        let host = self.host_of(channel);
        let Sending { packet, came, .. } = self.senders[host.index()][usize::from(lane)]?;
        let has_credit = self.outputs[channel.index()].lane(lane).has_credit();
        let in_transit = self.transits[host.index()].passing(packet);
        let is_there = in_transit.is_none_or(|passing| !passing.gathered.is_empty());
        let flits = self.journeys.get(packet).flits;
        (has_credit && is_there).then_some(Candidate { flits, came, step: Step::GoOn })
    }

    /// The lanes of each queue in which something waits, in ascending order.
    fn queues(&self, host: EndpointId) -> Vec<LaneSet> {
        let adapter = &self.endpoints.adapters[host.index()];
        let own = adapter.groups().enumerate();
        let own = own.filter(|(group, _)| adapter.is_waiting(*group)).map(|(_, lanes)| lanes);
        let mut queues: Vec<LaneSet> = own.chain(self.transits[host.index()].queues()).collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }

    /// The lanes of a queue that are in no packet and have a credit.
    fn idle_lanes(&self, channel: ChannelId, queue: LaneSet) -> Vec<u8> {
        let sending = &self.senders[self.host_of(channel).index()];
        let output = &self.outputs[channel.index()];
        let is_idle =
            |lane: &u8| sending[usize::from(*lane)].is_none() && output.lane(*lane).has_credit();
        queue.lanes().filter(is_idle).collect()
    }

    /// Whether there are the credits to begin a packet: for all of it under virtual cut-through or by the packet.
    fn can_begin(&self, channel: ChannelId, lane: u8, flits: u64) -> bool {
        let output = &self.outputs[channel.index()];
        let whole = self.lane_plan.cut_through.contains(lane) || output.chooser.is_by_packet();
        output.lane(lane).has_credits(if whole { flits } else { 1 })
    }

    /// The next packet of a queue, if it may begin now: one in transit before those of the host's own.
    fn next_of(&mut self, channel: ChannelId, queue: LaneSet, tick: Tick) -> Option<Candidate> {
        let host = self.host_of(channel);
        if let Some((packet, came)) = self.transits[host.index()].ripest(queue, self.now) {
            let flits = self.journeys.get(packet).flits;
            return Some(Candidate { flits, came, step: Step::InTransit { packet } });
        }
        let begins = self.begins(channel, tick);
        let adapter = &mut self.endpoints.adapters[host.index()];
        let group = adapter.groups().position(|lanes| lanes == queue)?;
        match adapter.next(group, begins) {
            Next::Packet { payload_bytes, created } => {
                let flits = self.lane_plan.packet_flits(payload_bytes);
                Some(Candidate { flits, came: created, step: Step::Own { group } })
            }
            Next::At(_) | Next::Nothing => None,
        }
    }

    /// The next flit of a lane goes.
    fn send_on(&mut self, channel: ChannelId, lane: u8, step: Step, tick: Tick) {
        let host = self.host_of(channel);
        let begins = self.begins(channel, tick);
        let begun = match step {
            Step::GoOn => self.senders[host.index()][usize::from(lane)],
            Step::Own { group } => Some(self.begin_own(host, group, begins)),
            Step::InTransit { packet } => Some(self.begin_in_transit(host, packet)),
        };
        let mut sending = begun.expect("a lane goes on with its packet");
        let flit = Flit { packet: sending.packet, index: sending.next };
        if let Some(passing) = self.transits[host.index()].passing_mut(sending.packet) {
            assert_eq!(passing.gathered.pop_front(), Some(flit), "flits go on in order");
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
            self.cause(left, Event::TailLeft { channel, packet: flit.packet });
        }
    }

    fn begin_own(&mut self, host: EndpointId, group: usize, begins: Time) -> Sending {
        let Turn::Send(packet) = self.endpoints.begin(host, group, begins) else {
            panic!("the adapter had a packet that may begin")
        };
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let flits = self.lane_plan.packet_flits(packet.payload_bytes);
        let came = self.endpoints.reassembly.message(packet.assembly).created;
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
        let packet = self.journeys.insert(journey);
        Sending {
            packet,
            queue: self.first_lanes(host, &self.journeys.get(packet).packet),
            next: 0,
            came,
        }
    }

    fn begin_in_transit(&mut self, host: EndpointId, packet: JourneyId) -> Sending {
        let journey = self.journeys.get_mut(packet);
        journey.position += 1;
        journey.dateline_class = DatelineClass(0);
        let passing = self.transits[host.index()].passing_mut(packet).expect("the packet goes on");
        passing.has_begun = true;
        let came = passing.ready.expect("what begins is ready");
        Sending { packet, queue: passing.queue, next: 0, came }
    }

    /// The lanes on which a packet may leave a host.
    pub(crate) fn first_lanes(&self, host: EndpointId, packet: &Packet) -> LaneSet {
        self.plan.lanes.allowed.first(host, packet.vc_class)
    }

    /// The lane of a host on which a packet is.
    pub(crate) fn lane_of(&self, host: EndpointId, packet: JourneyId) -> Option<u8> {
        let is_of =
            |sending: &Option<Sending>| sending.is_some_and(|sending| sending.packet == packet);
        let place = self.senders[host.index()].iter().position(is_of)?;
        Some(u8::try_from(place).expect("lanes are few"))
    }
}
