//! Simulation of a virtual-lane network, event by event.

use crate::endpoints::{Endpoints, SwitchChooser};
use crate::lanes::allocation::Request;
use crate::lanes::clock::{Clock, Tick};
use crate::lanes::event::{Event, Flit};
use crate::lanes::host_state::{InTransit, InTransitPacket, OutgoingPacket};
use crate::lanes::journey::{JourneyId, Journeys};
use crate::lanes::ports::{Hold, Input, Output};
use crate::run::Network;
use crate::timeline::Timeline;
use crate::watched::Watched;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::congestion::{Onward, Queued, Waiter};
use gingham_net::measure::ChannelCount;
use gingham_net::{EjectionHead, Notice, PipelinePlan, Plan, Wait, WaitForGraph, WhenFull};
use gingham_topology::routing::{Buffer, LaneSet};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) lane_plan: Arc<PipelinePlan>,
    pub(crate) clock: Clock,
    pub(crate) timeline: Timeline<Event>,
    pub(crate) endpoints: Endpoints,
    pub(crate) switch_chooser: Option<SwitchChooser>,
    pub(crate) watched: Watched,
    /// Host that sends on each channel; `None` for channels from switches.
    pub(crate) hosts: Vec<Option<EndpointId>>,
    pub(crate) senders: Vec<Vec<Option<OutgoingPacket>>>,
    pub(crate) in_transit: Vec<InTransit>,
    pub(crate) journeys: Journeys,
    /// Lane buffers at the end of each channel; `None` at a host that accepts every flit.
    pub(crate) inputs: Vec<Option<Input>>,
    pub(crate) outputs: Vec<Output>,
    /// Tick of each switch's scheduled or most recent action, indexed by node.
    awake_switches: Vec<Option<Tick>>,
    awake_adapters: Vec<Option<Tick>>,
    pub(crate) counts: Vec<ChannelCount>,
    pub(crate) flits_entered: u64,
    pub(crate) flits_consumed: u64,
}

impl Network for Simulation {
    type Event = Event;

    fn parts(&self) -> (&Plan, &Timeline<Event>, &Endpoints) {
        (&self.plan, &self.timeline, &self.endpoints)
    }

    fn parts_mut(&mut self) -> (&mut Timeline<Event>, &mut Endpoints) {
        (&mut self.timeline, &mut self.endpoints)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Create { source } => self.notify(Notice::Created { source }),
            Event::Wake { endpoint } => self.notify(Notice::Woken { endpoint }),
            Event::TailLeft { channel, packet } => self.tail_left(channel, packet),
            Event::FlitArrives { channel, flit } => self.flit_arrives(channel, flit),
            Event::Credit { channel, lane } => self.credit(channel, lane),
            Event::FlitIsThere { channel, lane, flit } => self.flit_is_there(channel, lane, flit),
            Event::Receive { channel } => self.receive(channel),
            Event::Link { node } => self.traverse_links(node),
            Event::Send { channel } => self.send(channel),
            Event::Begin { channel, flit } => self.begin(channel, flit),
            Event::Cross { node } => {
                self.allocate_switch(node);
                self.notify_lanes(node);
            }
            Event::Allocate { node } => {
                self.allocate_lanes(node);
                self.notify_lanes(node);
            }
        }
    }

    fn counts_until(&self, end: Time) -> Vec<ChannelCount> {
        let mut counts = self.counts.clone();
        for ((count, input), output) in counts.iter_mut().zip(&self.inputs).zip(&self.outputs) {
            count.occupancy_flit_ps =
                input.as_ref().map_or(0, |input| input.occupancy_flit_ps(end));
            count.stopped_ps = output.wait.until_ps(end);
        }
        counts
    }

    fn packets_in_flight(&self) -> usize {
        self.journeys.len()
    }

    fn waiters(&self, now: Time) -> Vec<Waiter> {
        self.all_waiters(now)
    }

    fn wait_for_graph(&self, now: Time) -> WaitForGraph {
        self.waits(now)
    }

    fn assert_invariants(&self) {
        let mut on_wire = vec![vec![0; self.plan.lanes.count.into()]; self.outputs.len()];
        let mut to_hosts = 0;
        for event in self.timeline.pending() {
            match event {
                Event::FlitIsThere { channel, lane, .. } => {
                    on_wire[channel.index()][usize::from(*lane)] += 1;
                }
                Event::FlitArrives { .. } => to_hosts += 1,
                _ => {}
            }
        }
        self.assert_flits_conserved(to_hosts + on_wire.iter().flatten().sum::<usize>());
        for channel in ChannelId::first(self.outputs.len()) {
            for (lane, on_wire) in (0..).zip(&on_wire[channel.index()]) {
                self.assert_credits_conserved(channel, lane, *on_wire);
            }
        }
        for in_transit in &self.in_transit {
            let pool_bytes = in_transit.machine.pool_bytes();
            assert_eq!(
                pool_bytes,
                in_transit.needed_bytes(),
                "the fill of a pool equals its contents"
            );
            assert!(pool_bytes <= self.plan.in_transit.pool_bytes, "a pool overflowed");
        }
    }
}

impl Simulation {
    pub(crate) fn new(plan: Arc<Plan>, lane_plan: Arc<PipelinePlan>) -> Self {
        let lanes = &plan.lanes;
        let channels = || ChannelId::first(plan.channels.len());
        let levels = lane_plan.arbitration.level(plan.highest_priority()) + 1;
        let endpoint_of = |channel| plan.fabric.endpoint_at(plan.ends(channel).source);
        let input = |channel| {
            plan.has_buffer(channel)
                .then(|| Input::new(lanes, lane_plan.input_speedup, &lane_plan.crossbar_input))
        };
        let output = |channel| {
            let is_host = endpoint_of(channel).is_some();
            let arbiter = if is_host { &lanes.adapter_port } else { &lanes.link_output };
            let depths = plan.has_buffer(channel).then_some(&lane_plan.depths_flits[..]);
            let arbiters = (arbiter, lane_plan.crossbar_output.as_ref());
            Output::new((lanes, lane_plan.output_speedup), levels, arbiters, depths)
        };
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let in_transit = endpoints.adapters().iter().map(|adapter| {
            let counts = (adapter.groups().len(), lanes.count);
            InTransit::new(plan.in_transit, counts, endpoints.tally())
        });
        let mut simulation = Self {
            clock: Clock { cycle: lane_plan.cycle },
            timeline: Timeline::new(),
            switch_chooser: SwitchChooser::new(&plan, endpoints.tally()),
            watched: Watched::new(&plan),
            hosts: channels().map(endpoint_of).collect(),
            senders: vec![vec![None; lanes.count.into()]; endpoints.adapters().len()],
            in_transit: in_transit.collect(),
            endpoints,
            journeys: Journeys::default(),
            inputs: channels().map(input).collect(),
            outputs: channels().map(output).collect(),
            awake_switches: vec![None; plan.fabric.nodes().len()],
            awake_adapters: vec![None; plan.channels.len()],
            counts: vec![ChannelCount::default(); plan.channels.len()],
            flits_entered: 0,
            flits_consumed: 0,
            lane_plan,
            plan,
        };
        simulation.carry_out(0);
        simulation.timeline.schedule_caused();
        simulation
    }

    fn assert_flits_conserved(&self, on_wire: usize) {
        let in_buffers: usize = self.inputs.iter().flatten().map(Input::fill).sum();
        let in_output_lanes: usize = self.outputs.iter().map(Output::fill).sum();
        let at_hosts: usize = self.in_transit.iter().map(InTransit::flits).sum();
        let in_flight = (on_wire + in_buffers + in_output_lanes + at_hosts) as u64;
        let accounted = self.flits_consumed + in_flight;
        assert_eq!(self.flits_entered, accounted, "flits are conserved at {:?}", self.timeline.now);
    }

    fn assert_credits_conserved(&self, channel: ChannelId, lane: u8, on_wire: usize) {
        let Some(credits) = self.outputs[channel.index()].lane(lane).credits else { return };
        assert!(credits.promised <= credits.here, "what is promised is there");
        let places = on_wire + self.input(channel).lane(lane).fill();
        let accounted = credits.here + credits.on_their_way + places as u64;
        assert_eq!(accounted, credits.depth, "credits are conserved at {:?}", self.timeline.now);
    }

    pub(crate) fn tick(&self) -> Tick {
        self.clock.tick_at(self.timeline.now)
    }

    pub(crate) fn wake_switch(&mut self, node: NodeId, tick: Tick) {
        let awake = &mut self.awake_switches[node.index()];
        if *awake < Some(tick) {
            *awake = Some(tick);
            let time = self.clock.instant(tick);
            self.timeline.cause(time, Event::Link { node });
            self.timeline.cause(time, Event::Cross { node });
            self.timeline.cause(time, Event::Allocate { node });
        }
    }

    pub(crate) fn wake_adapter(&mut self, channel: ChannelId, tick: Tick) {
        let awake = &mut self.awake_adapters[channel.index()];
        if *awake < Some(tick) {
            *awake = Some(tick);
            self.timeline.cause(self.clock.instant(tick), Event::Send { channel });
        }
    }

    pub(crate) fn holds_a_flit(&self, node: NodeId) -> bool {
        self.channels_into(node).into_iter().any(|channel| self.input(channel).fill() > 0)
            || self
                .channels_from(node)
                .into_iter()
                .any(|channel| self.outputs[channel.index()].fill() > 0)
    }

    pub(crate) fn channels_from(&self, node: NodeId) -> Vec<ChannelId> {
        self.plan.fabric.channels_from(node).collect()
    }

    pub(crate) fn channels_into(&self, node: NodeId) -> Vec<ChannelId> {
        self.plan.fabric.channels_from(node).map(Fabric::reverse).collect()
    }

    pub(crate) fn ports(&self, node: NodeId) -> usize {
        usize::from(self.plan.fabric.node(node).ports) + 1
    }

    pub(crate) fn input(&self, channel: ChannelId) -> &Input {
        self.inputs[channel.index()].as_ref().expect("the channel has lane buffers")
    }

    pub(crate) fn input_mut(&mut self, channel: ChannelId) -> &mut Input {
        self.inputs[channel.index()].as_mut().expect("the channel has lane buffers")
    }
}

// Wait-for graph of a virtual-lane network; `WaitCycle` defines deadlock.
//
// ```text
//   head with requests ──► any of:  the input lane that holds a permitted output lane
//                                   the input lane behind a free output lane that lacks credits
//   lane that holds an output lane without space ──► the input lane behind that output lane, if full
//   packet that waits for space at a host ──► any of:  the input lanes that pool packets will enter
// ```
//
// Credits on their way are certain to arrive, so waiting for them does not count as a wait.

impl Simulation {
    pub(crate) fn waits(&self, time: Time) -> WaitForGraph {
        let tick = self.clock.last_until(time);
        ChannelId::first(self.inputs.len())
            .filter(|channel| self.inputs[channel.index()].is_some())
            .flat_map(|channel| {
                (0..self.plan.lanes.count).map(move |lane| Buffer { channel, lane })
            })
            .filter_map(|buffer| Some((buffer, waits_for(self, buffer, tick)?)))
            .collect()
    }
}

fn waits_for(simulation: &Simulation, of: Buffer, tick: Tick) -> Option<Wait> {
    if simulation.ends_at_host(of.channel) {
        return waits_at_host(simulation, of);
    }
    if let Some(hold) = simulation.input(of.channel).lane(of.lane).holds {
        return full_behind(simulation, hold).map(Wait::one);
    }
    let requests = simulation.requests_of(of.channel, of.lane, tick);
    if requests.is_empty() {
        return None;
    }
    let lanes = requests.iter().flat_map(|of| of.lanes.lanes().map(move |lane| (of, lane)));
    let waits = lanes.map(|(request, lane)| blocker(simulation, request, lane));
    Some(Wait::Any(waits.collect::<Option<Vec<Buffer>>>()?))
}

fn full_behind(simulation: &Simulation, hold: Hold) -> Option<Buffer> {
    let Hold { output: channel, lane, .. } = hold;
    let behind = Buffer { channel, lane };
    if simulation.has_room(channel, lane) {
        return None;
    }
    is_full(simulation, behind).then_some(behind)
}

fn is_full(simulation: &Simulation, of: Buffer) -> bool {
    let depth = simulation.lane_plan.depths_flits[usize::from(of.lane)];
    let input = simulation.inputs[of.channel.index()].as_ref();
    input.is_some_and(|input| input.lane(of.lane).fill() == depth as usize)
}

/// Returns the input lane that prevents the grant of a lane; `None` if the obstacle is temporary.
fn blocker(simulation: &Simulation, request: &Request, lane: u8) -> Option<Buffer> {
    let output_lane = simulation.outputs[request.output.index()].lane(lane);
    if let Some((channel, lane)) = output_lane.holder {
        return Some(Buffer { channel, lane });
    }
    let flits = simulation.flits_of(request);
    let needed = simulation.lane_plan.credits_to_be_given(lane, flits);
    output_lane.stays_short_of(needed).then_some(Buffer { channel: request.output, lane })
}

/// Returns the wait of a packet without pool space. Any pool packet may leave first, so the packet
/// waits for all input lanes that pool packets enter or may enter.
fn waits_at_host(simulation: &Simulation, of: Buffer) -> Option<Wait> {
    let host = simulation.host_at(of.channel);
    let in_transit = &simulation.in_transit[host.index()];
    let head = in_transit.heads[usize::from(of.lane)];
    let first = simulation.input(of.channel).lane(of.lane).first()?;
    // Space that was freed after the last tick is used at the next tick.
    let gets_room = simulation.pool_has_room(host, first.flit.packet);
    if !matches!(head, EjectionHead::Waiting { .. }) || gets_room {
        return None;
    }
    let channel = Fabric::reverse(of.channel);
    let output = &simulation.outputs[channel.index()];
    let mut waits = Vec::new();
    let adapter = simulation.endpoints.adapter(host);
    for packet in &in_transit.packets {
        let on = simulation.lane_of(host, packet.packet);
        if on.is_none() && packet.has_begun {
            return None;
        }
        let queue = adapter.groups().nth(packet.taken.group).expect("the group is one of these");
        for lane in on.map_or(queue, LaneSet::one).lanes() {
            let behind = Buffer { channel, lane };
            let flits = simulation.journeys.get(packet.packet).flits;
            let is_by_packet = output.chooser.is_by_packet();
            let needed = simulation.lane_plan.credits_to_begin(lane, flits, is_by_packet);
            let is_short = on.is_none() && output.lane(lane).stays_short_of(needed);
            if !is_short && !is_full(simulation, behind) {
                return None;
            }
            waits.push(behind);
        }
    }
    waits.sort_unstable();
    waits.dedup();
    Some(Wait::Any(waits))
}

// Blocked packets, for congestion trees (`docs/concepts/timing.md`).
//
// ```text
//   lane buffer   its first packet   ─► the output lane that it holds, or the permitted output lanes
//                 packets behind it  ─► nothing
//   host          packets on lanes   ─► their lanes;   the first packet of each queue ─► lanes of its group
//   blocked       no credit is available, or too few for a packet that needs credits for all its flits
// ```

impl Simulation {
    pub(crate) fn all_waiters(&self, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            if self.inputs[channel.index()].is_some() {
                for lane in 0..self.plan.lanes.count {
                    self.waiters_in(Buffer { channel, lane }, &mut found);
                }
            }
        }
        for endpoint in self.plan.fabric.endpoint_ids() {
            self.waiters_at(endpoint, now, &mut found);
        }
        found
    }

    fn waiters_in(&self, at: Buffer, found: &mut Vec<Waiter>) {
        let Some(first) = self.input(at.channel).lane(at.lane).first() else { return };
        let Some(onward) = self.onward_of_first(at, first.flit) else { return };
        let mut before = first.flit.packet;
        let packet = |flit: Flit| &self.journeys.get(flit.packet).packet;
        found.push(Waiter::in_buffer(at, packet(first.flit), Some(onward)));
        for flit in self.input(at.channel).lane(at.lane).flits() {
            if flit.packet != std::mem::replace(&mut before, flit.packet) {
                found.push(Waiter::in_buffer(at, packet(flit), None));
            }
        }
    }

    /// Returns the next lanes of a buffer's first packet; `None` if the packet is at a host and
    /// need not wait there.
    fn onward_of_first(&self, at: Buffer, first: Flit) -> Option<Onward> {
        if self.ends_at_host(at.channel) {
            let heads = &self.in_transit[self.host_at(at.channel).index()].heads;
            let waits = matches!(heads[usize::from(at.lane)], EjectionHead::Waiting { .. });
            let output = Fabric::reverse(at.channel);
            let all = LaneSet::first_n(self.plan.lanes.count);
            return waits
                .then(|| Onward::by(output, all, |lane| !self.has_credits(output, lane, 1)));
        }
        if let Some(Hold { output, lane, .. }) = self.input(at.channel).lane(at.lane).holds {
            let is_blocked = |lane| !self.outputs[output.index()].lane(lane).has_credit();
            return Some(Onward::by(output, LaneSet::one(lane), is_blocked));
        }
        // Requests count even while the head is being routed.
        let [request] = self.requests_of(at.channel, at.lane, u64::MAX)[..] else { return None };
        let flits = self.journeys.get(first.packet).flits;
        let is_blocked = |lane| {
            let needed = self.lane_plan.credits_to_be_given(lane, flits).max(1);
            !self.has_credits(request.output, lane, needed)
        };
        Some(Onward::by(request.output, request.lanes, is_blocked))
    }

    fn waiters_at(&self, endpoint: EndpointId, now: Time, found: &mut Vec<Waiter>) {
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        let lanes = (0..self.plan.lanes.count).zip(&self.senders[endpoint.index()]);
        for (lane, sending) in lanes.filter_map(|(lane, of)| Some((lane, of.as_ref()?))) {
            let is_blocked = |lane| !self.outputs[channel.index()].lane(lane).has_credit();
            let onward = Onward::by(channel, LaneSet::one(lane), is_blocked);
            found.push(Waiter::sending(&self.journeys.get(sending.packet).packet, onward));
        }
        let groups: Vec<LaneSet> = self.endpoints.adapter(endpoint).groups().collect();
        for queued in self.endpoints.queued(endpoint, now) {
            let onward = self.onward_of_queued(channel, groups[queued.group], &queued);
            found.push(Waiter::queued(&queued, onward));
        }
    }

    fn onward_of_queued(&self, channel: ChannelId, lanes: LaneSet, queued: &Queued) -> Onward {
        let flits = self.lane_plan.packet_flits(queued.payload_bytes);
        let is_by_packet = self.outputs[channel.index()].chooser.is_by_packet();
        Onward::by(channel, lanes, |lane| {
            let needed = self.lane_plan.credits_to_begin(lane, flits, is_by_packet);
            !self.has_credits(channel, lane, needed.max(1))
        })
    }

    fn has_credits(&self, channel: ChannelId, lane: u8, flits: u64) -> bool {
        self.outputs[channel.index()].lane(lane).has_credits(flits)
    }
}

// Credit waits (`docs/concepts/timing.md`, "Lanes and credits"): an idle channel could have sent a
// flit with more credits.
//
// ```text
//   flit in an output lane ─► it lacks a credit                     noted in step 2
//   head without a lane    ─► free lanes lack credits for it        noted in step 4 of the previous tick
//   flit at the crossbar   ─► it lacks a credit, if taken there     noted in step 3 of the previous tick
// ```

impl Simulation {
    pub(crate) fn set_credit_wait(&mut self, channel: ChannelId, waits: bool, tick: Tick) {
        let from = if waits { self.begins(channel, tick) } else { self.timeline.now };
        self.outputs[channel.index()].wait.set(waits, from);
    }

    pub(crate) fn lacks_credits(
        &self,
        channel: ChannelId,
        candidates: &[Option<Head>],
        tick: Tick,
    ) -> bool {
        let output = &self.outputs[channel.index()];
        let mut open = (0..self.plan.lanes.count).filter(|lane| output.chooser.is_open_to(*lane));
        if open.clone().any(|lane| candidates[usize::from(lane)].is_some()) {
            return false;
        }
        let first = |lane| output.lane(lane).buffer.front();
        let stands = |lane| first(lane).is_some_and(|flit| flit.since < tick);
        open.any(stands) || output.is_short || output.is_unpaid
    }

    pub(crate) fn note_short(&mut self, node: NodeId, tick: Tick) {
        let mut short = Vec::new();
        for input in self.channels_into(node) {
            for lane in 0..self.plan.lanes.count {
                let requests = self.requests_of(input, lane, tick);
                let is_short = |request: &&Request| self.is_short(request, tick);
                short.extend(requests.iter().filter(is_short).map(|request| request.output));
            }
        }
        for output in self.channels_from(node) {
            self.outputs[output.index()].is_short = short.contains(&output);
        }
    }

    fn is_short(&self, request: &Request, tick: Tick) -> bool {
        self.lanes_to_grant(request, tick).is_empty()
            && self.free_lanes(request, tick).next().is_some()
    }

    /// Records each output where only a lack of credits prevents the waiting flits from crossing.
    pub(crate) fn note_unpaid(&mut self, node: NodeId) {
        let tick = self.tick();
        let mut unpaid = Vec::new();
        let mut paid = Vec::new();
        for input in self.channels_into(node) {
            for lane in &self.input(input).lanes {
                let is_there = lane.first().is_some_and(|first| first.since < tick);
                let Some(hold) = lane.holds.filter(|hold| is_there && hold.since < tick) else {
                    continue;
                };
                let has_credit = self.outputs[hold.output.index()].lane(hold.lane).has_credit();
                if has_credit { &mut paid } else { &mut unpaid }.push(hold.output);
            }
        }
        for output in self.channels_from(node) {
            let is_empty = self.outputs[output.index()].fill() == 0;
            self.outputs[output.index()].is_unpaid =
                is_empty && unpaid.contains(&output) && !paid.contains(&output);
        }
    }
}

// In-transit hosts: [`InTransitHost`] decides which packets get space, when each packet is ready,
// and which packet is next. The code here processes arrivals and departures flit by flit. Packets
// on several lanes arrive interleaved. A host that stops its senders has lane buffers.

impl Simulation {
    pub(crate) fn pool_has_room(&self, host: EndpointId, packet: JourneyId) -> bool {
        let bytes = self.journeys.get(packet).wire_bytes;
        self.in_transit[host.index()].machine.has_room(bytes)
    }

    /// Admits an in-transit packet to the pool, or spills it; its first flit arrived at `head`.
    pub(crate) fn take_in(&mut self, host: EndpointId, packet: JourneyId, head: Time) {
        let journey = self.journeys.get(packet);
        let group = self.endpoints.adapter(host).group_of(journey.packet.vc_class);
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

    pub(crate) fn release(&mut self, host: EndpointId, packet: JourneyId) {
        let in_transit = &mut self.in_transit[host.index()];
        let place = in_transit.packets.iter().position(|other| other.packet == packet);
        let left = in_transit.packets.remove(place.expect("the packet went on"));
        assert!(left.received.is_empty(), "the tail was the last flit");
        in_transit.machine.release(packet, &left.taken);
        if self.plan.in_transit.when_full == WhenFull::Stop {
            let tick = self.clock.instant(self.clock.first_from(self.timeline.now));
            let channel = Fabric::reverse(self.plan.fabric.endpoint_channel(host));
            self.timeline.cause(tick, Event::Receive { channel });
        }
    }

    /// Empties the lane buffers of a host while the pool has space for waiting packets.
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
