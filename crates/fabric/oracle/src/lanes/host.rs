//! Hosts: create messages, send packets, and consume arriving flits.

use crate::lanes::clock::Tick;
use crate::lanes::event::{Event, Flit};
use crate::lanes::host_state::OutgoingPacket;
use crate::lanes::journey::{Journey, JourneyId};
use crate::lanes::ports::{BufferedFlit, Credits, Granting};
use crate::lanes::simulation::Simulation;
use crate::legs::Legs;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{ArbiterPlace, Injection, Next, Notice, Order, OutputLoad, Turn, Weighing};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

impl Simulation {
    /// Notifies the endpoints, and executes their orders. Hosts may send from this tick on or,
    /// between ticks, from the next tick on.
    pub(crate) fn notify(&mut self, notice: Notice<'_>) {
        self.endpoints.notify(self.timeline.now, notice);
        self.carry_out(self.clock.first_from(self.timeline.now));
    }

    /// Executes the orders of the endpoints. Hosts may send from tick `from` on.
    pub(crate) fn carry_out(&mut self, from: Tick) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    self.wake_adapter(self.plan.fabric.endpoint_channel(endpoint), from);
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(weighing) => self.weigh(weighing),
                Order::Gather => self.notify_gathered(),
            }
        }
    }

    /// Reports the outputs whose set of free lanes changed in this stage.
    pub(crate) fn notify_lanes(&mut self, node: NodeId) {
        for output in self.channels_from(node) {
            let state = &self.outputs[output.index()];
            let is_free = |lane| state.lane(lane).holder.is_none();
            if let Some(free) = self.watched.change(output, is_free) {
                self.endpoints.notify(self.timeline.now, Notice::Lanes { output, free });
                self.carry_out(self.tick() + 1);
            }
        }
    }

    fn notify_gathered(&mut self) {
        let full = self.watched.full(|channel, lane| {
            let depth = self.lane_plan.depths_flits[usize::from(lane)];
            self.input(channel).lane(lane).fill() == depth as usize
        });
        self.endpoints.notify(self.timeline.now, Notice::Gathered { full });
    }

    fn weigh(&mut self, Weighing { channel, place, lane, weight }: Weighing) {
        let arbiter = match place {
            ArbiterPlace::CrossbarInput => {
                &mut self.input_mut(channel).crossbar_port_of(lane).chooser
            }
            ArbiterPlace::CrossbarOutput => {
                let granting = self.outputs[channel.index()].crossbar_port_of(lane);
                let Granting::Lanes(chooser) = granting else { panic!("it has no weights") };
                chooser
            }
            ArbiterPlace::LinkOutput | ArbiterPlace::AdapterPort => {
                &mut self.outputs[channel.index()].chooser
            }
        };
        arbiter.weigh(lane, weight);
    }

    pub(crate) fn begin(&mut self, channel: ChannelId, flit: Flit) {
        self.counts[channel.index()].data_flits += 1;
        let Some(host) = self.hosts[channel.index()] else { return };
        if flit.index > 0 {
            return;
        }
        let from = self.clock.first_after(self.timeline.now);
        if let Some(packet) = self.in_transit[host.index()].packet(flit.packet) {
            let now = self.timeline.now;
            let waited = now.since(packet.taken.ready.expect("what begins is ready"));
            let packet = &mut self.journeys.get_mut(flit.packet).packet;
            self.endpoints.notify(now, Notice::SentOn { endpoint: host, waited, packet });
            self.carry_out(from);
        } else {
            let packet = &self.journeys.get(flit.packet).packet;
            if self.endpoints.wanted().began.has(packet) {
                self.endpoints.notify(self.timeline.now, Notice::Began { endpoint: host, packet });
                self.carry_out(from);
            }
            self.wake_adapter(channel, from);
        }
    }

    pub(crate) fn tail_left(&mut self, channel: ChannelId, packet: JourneyId) {
        let host = self.host_of(channel);
        if self.in_transit[host.index()].packet(packet).is_some() {
            return self.release(host, packet);
        }
        let (began, flits, content) = {
            let journey = self.journeys.get(packet);
            (journey.began, journey.flits, journey.packet.content)
        };
        let flit = self.plan.channel(channel).flit;
        if self.endpoints.wanted().left {
            self.notify(Notice::Left { endpoint: host, began, flits, flit, content });
        }
    }

    pub(crate) fn flit_arrives(&mut self, channel: ChannelId, flit: Flit) {
        if self.journeys.get(flit.packet).ends_with(channel) {
            return self.consume(flit);
        }
        let host = self.host_at(channel);
        if flit.index == 0 {
            self.take_in(host, flit.packet, self.timeline.now);
        }
        self.reassemble(host, flit);
    }

    pub(crate) fn consume(&mut self, flit: Flit) {
        self.flits_consumed += 1;
        let journey = self.journeys.get_mut(flit.packet);
        assert_eq!(journey.index_expected, flit.index, "flits of a packet stay in order");
        journey.index_expected += 1;
        journey.head_arrived.get_or_insert(self.timeline.now);
        if journey.is_tail(flit.index) {
            let journey = self.journeys.remove(flit.packet);
            let (packet, arrival) = (&journey.packet, &journey.arrival(self.timeline.now));
            self.notify(Notice::Received { packet, arrival });
        }
    }

    pub(crate) fn host_of(&self, channel: ChannelId) -> EndpointId {
        self.hosts[channel.index()].expect("a host sends here")
    }

    pub(crate) fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.host_of(Fabric::reverse(channel))
    }

    pub(crate) fn ends_at_host(&self, channel: ChannelId) -> bool {
        self.hosts[Fabric::reverse(channel).index()].is_some()
    }
}

// Stage 5 at an adapter: an arbiter chooses among the lanes; some have a packet in progress.
//
// ```text
//   queue of lanes 0, 1   [ p7 ][ p9 ]  ─┐   lane 0   p3: flit 5 of 8    no credit
//   in transit, ready     [ p2 ]        ─┴─► lane 1   no packet          p2 could start, before p7
//   queue of lane 2       [ p8 ]        ───► lane 2   p5: flit 0 of 3    could continue
// ```

#[derive(Clone, Copy, Debug)]
struct Candidate {
    flits: u64,
    arrival: Time,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    GoOn,
    Own { group: usize },
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
        self.endpoints.adapter(host).waiting_groups() != 0
            || self.senders[host.index()].iter().flatten().next().is_some()
            || !self.in_transit[host.index()].packets.is_empty()
    }

    /// Returns whether a channel has flits to send but no credits for them. `is_short` means that a
    /// packet could start with more credits.
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
        is_short || open.any(|lane| self.is_there(channel, lane))
    }

    /// Returns the candidate of each lane, and whether any packet lacks only credits. The channel
    /// must be able to accept a flit now.
    fn candidates(&mut self, channel: ChannelId, tick: Tick) -> (Vec<Option<Candidate>>, bool) {
        let host = self.host_of(channel);
        let lanes = 0..self.plan.lanes.count;
        let mut candidates: Vec<_> = lanes.map(|lane| self.can_go_on(channel, lane)).collect();
        let mut is_short = false;
        if !self.outputs[channel.index()].chooser.is_open() {
            return (candidates, is_short);
        }
        // Groups are sorted by lanes, so a lane serves the lowest group that includes it.
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

    /// Returns the candidate of a lane with a packet in progress, if the packet's next flit and a
    /// credit are available.
    fn can_go_on(&self, channel: ChannelId, lane: u8) -> Option<Candidate> {
        let host = self.host_of(channel);
        let OutgoingPacket { packet, arrival, .. } = self.senders[host.index()][usize::from(lane)]?;
        let has_credit = self.outputs[channel.index()].lane(lane).has_credit();
        let flits = self.journeys.get(packet).flits;
        let can = has_credit && self.is_there(channel, lane);
        can.then_some(Candidate { flits, arrival, step: Step::GoOn })
    }

    fn is_there(&self, channel: ChannelId, lane: u8) -> bool {
        let host = self.host_of(channel).index();
        let Some(sending) = self.senders[host][usize::from(lane)] else { return false };
        let in_transit = self.in_transit[host].packet(sending.packet);
        in_transit.is_none_or(|packet| !packet.received.is_empty())
    }

    /// Returns whether a queue has a packet that neither a window nor a rate limit delays, although
    /// all idle lanes of the queue lack credits.
    fn has_ready(&self, channel: ChannelId, group: usize, tick: Tick) -> bool {
        let host = self.host_of(channel);
        let machine = &self.in_transit[host.index()].machine;
        let is_held = self.lane_plan.injection == Injection::OneAtATime && self.is_in_own(host);
        machine.next_ready(group, self.timeline.now).is_some()
            || !is_held && self.endpoints.has_ready(host, group, self.begins(channel, tick))
    }

    fn waiting_groups(&self, host: EndpointId) -> Vec<(usize, LaneSet)> {
        let adapter = self.endpoints.adapter(host);
        let in_transit = self.in_transit[host.index()].machine.waiting_groups();
        let waiting = adapter.waiting_groups() | in_transit;
        let waits = |group: usize| waiting >> group & 1 == 1;
        adapter.groups().enumerate().filter(|(group, _)| waits(*group)).collect()
    }

    fn idle_lanes(&self, channel: ChannelId, queue: LaneSet) -> Vec<u8> {
        let sending = &self.senders[self.host_of(channel).index()];
        let output = &self.outputs[channel.index()];
        let is_idle =
            |lane: &u8| sending[usize::from(*lane)].is_none() && output.lane(*lane).has_credit();
        queue.lanes().filter(is_idle).collect()
    }

    fn can_begin(&self, channel: ChannelId, lane: u8, flits: u64) -> bool {
        let output = &self.outputs[channel.index()];
        let is_by_packet = output.chooser.is_by_packet();
        let needed = self.lane_plan.credits_to_begin(lane, flits, is_by_packet);
        output.lane(lane).has_credits(needed.max(1))
    }

    /// Returns the next packet that may start now, in-transit packets before the host's own
    /// packets.
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

    fn is_in_own(&self, host: EndpointId) -> bool {
        let in_transit = &self.in_transit[host.index()];
        let is_own = |sent: &OutgoingPacket| in_transit.packet(sent.packet).is_none();
        self.senders[host.index()].iter().flatten().any(is_own)
    }

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

    fn load(&self, output: ChannelId) -> OutputLoad {
        let lanes = (0..self.plan.lanes.count).map(|lane| self.outputs[output.index()].lane(lane));
        let credits = lanes.filter_map(|lane| lane.credits);
        OutputLoad { credits_out: credits.map(|of| of.depth - of.here).sum(), waiting_bytes: 0 }
    }

    fn begin_own(
        &mut self,
        host: EndpointId,
        group: usize,
        begins: Time,
        arrival: Time,
    ) -> OutgoingPacket {
        if self.endpoints.wanted().loads {
            let loads: Vec<OutputLoad> =
                self.plan.first_outputs(host).map(|output| self.load(output)).collect();
            let notice = Notice::Loads { endpoint: host, loads: &loads };
            self.endpoints.notify(self.timeline.now, notice);
        }
        let Turn::Send(packet) = self.endpoints.turn(host, group, begins) else {
            panic!("the adapter had a packet that may begin")
        };
        let legs = self.plan.legs(packet.path_id, packet.source, packet.destination);
        let legs = legs.expect("destinations are drawn among those that a route reaches");
        let path = legs.concat();
        let flits = self.lane_plan.packet_flits(packet.payload_bytes);
        let journey = Journey {
            packet,
            length: self.plan.length_of(&path[1..]),
            path,
            legs: Legs::new(&legs),
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

    pub(crate) fn lane_of(&self, host: EndpointId, packet: JourneyId) -> Option<u8> {
        let is_of = |sending: &Option<OutgoingPacket>| {
            sending.is_some_and(|sending| sending.packet == packet)
        };
        let lane = self.senders[host.index()].iter().position(is_of)?;
        Some(u8::try_from(lane).expect("lanes are few"))
    }
}

// Stage 5, link traversal: an arbiter chooses among the lanes of an output.

impl Simulation {
    pub(crate) fn traverse_links(&mut self, node: NodeId) {
        let tick = self.tick();
        for channel in self.channels_from(node) {
            let waits = self.may_take(channel, tick) && self.traverse_link(channel, tick);
            self.set_credit_wait(channel, waits, tick);
        }
    }

    /// Sends a flit if possible. Returns whether only a lack of credits prevents it.
    fn traverse_link(&mut self, channel: ChannelId, tick: Tick) -> bool {
        let candidates: Vec<_> =
            (0..self.plan.lanes.count).map(|lane| self.can_leave(channel, lane, tick)).collect();
        let lacks_credits = self.lacks_credits(channel, &candidates, tick);
        let output = &mut self.outputs[channel.index()];
        let Some(lane) = output.chooser.choose(&candidates) else { return lacks_credits };
        let first = output.lane_mut(lane).buffer.pop_front().expect("a flit stands first");
        let flit = first.flit;
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        output.chooser.sent(lane, is_tail);
        if self.lane_plan.cut_through.contains(lane) {
            output.lane_mut(lane).keep_promise();
        }
        self.take_flit(channel, lane, flit, tick);
        false
    }

    /// Returns the first flit of an output lane if the flit crossed before this tick and a credit
    /// is available.
    fn can_leave(&self, channel: ChannelId, lane: u8, tick: Tick) -> Option<Head> {
        let output = &self.outputs[channel.index()];
        let first = output.lane(lane).buffer.front().filter(|first| first.since < tick)?;
        let by_packet = output.chooser.is_by_packet();
        output.lane(lane).has_credit().then(|| self.head_of(first, by_packet))
    }

    /// Describes a flit, or the packet that starts with this flit, to the arbiter.
    pub(crate) fn head_of(&self, first: &BufferedFlit, by_packet: bool) -> Head {
        let flits = if by_packet { self.journeys.get(first.flit.packet).flits } else { 1 };
        let arrival_ps = self.clock.instant(first.since).as_ps();
        Head { length_bytes: self.bytes(flits), arrival_ps }
    }

    pub(crate) fn bytes(&self, flits: u64) -> u32 {
        u32::try_from(self.lane_plan.wire_bytes(flits)).expect("a packet has less than 4 GiB")
    }

    pub(crate) fn may_take(&self, channel: ChannelId, tick: Tick) -> bool {
        self.outputs[channel.index()].free < self.clock.instant(tick + 1)
    }

    pub(crate) fn begins(&self, channel: ChannelId, tick: Tick) -> Time {
        self.clock.instant(tick).max(self.outputs[channel.index()].free)
    }

    pub(crate) fn take_flit(&mut self, channel: ChannelId, lane: u8, flit: Flit, tick: Tick) {
        assert!(self.may_take(channel, tick), "a channel takes one flit at a time");
        let begins = self.begins(channel, tick);
        let left = begins + self.plan.channel(channel).flit;
        let arrives = left + self.plan.channel(channel).delay;
        let output = &mut self.outputs[channel.index()];
        output.free = left;
        let credits = &mut output.lane_mut(lane).credits;
        if let Some(credits) = credits {
            credits.here = credits.here.checked_sub(1).expect("a flit has a credit");
        }
        let has_buffer = credits.is_some();
        self.timeline.cause(begins, Event::Begin { channel, flit });
        if has_buffer {
            let is_switch = self.plan.is_switch(self.plan.ends(channel).target.node);
            let cycles = if is_switch { self.lane_plan.pipeline_cycles } else { 0 };
            let there = self.clock.first_from(arrives) + u64::from(cycles);
            let there = self.clock.instant(there);
            self.timeline.cause(there, Event::FlitIsThere { channel, lane, flit });
        } else {
            self.timeline.cause(arrives, Event::FlitArrives { channel, flit });
        }
    }

    pub(crate) fn flit_is_there(&mut self, channel: ChannelId, lane: u8, flit: Flit) {
        let (now, tick) = (self.timeline.now, self.tick());
        let depth = self.lane_plan.depths_flits[usize::from(lane)];
        let input = self.inputs[channel.index()].as_mut().expect("the channel has lane buffers");
        input.enter(lane, flit, tick, now);
        assert!(input.lane(lane).fill() <= depth as usize, "a lane buffer overflowed");
        if self.ends_at_host(channel) {
            self.timeline.cause(now, Event::Receive { channel });
        } else {
            self.wake_switch(self.plan.ends(channel).target.node, tick);
        }
    }

    pub(crate) fn return_credit(&mut self, channel: ChannelId, lane: u8) {
        let cycles = self.lane_plan.credit_cycles(self.plan.channel(channel));
        let counts = self.clock.instant(self.tick() + cycles);
        self.credits_mut(channel, lane).on_their_way += 1;
        self.timeline.cause(counts, Event::Credit { channel, lane });
    }

    pub(crate) fn credit(&mut self, channel: ChannelId, lane: u8) {
        let credits = self.credits_mut(channel, lane);
        credits.on_their_way -= 1;
        credits.here += 1;
    }

    fn credits_mut(&mut self, channel: ChannelId, lane: u8) -> &mut Credits {
        let credits = &mut self.outputs[channel.index()].lane_mut(lane).credits;
        credits.as_mut().expect("a lane buffer has credits")
    }
}
