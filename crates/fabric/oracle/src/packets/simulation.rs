//! Simulation of a whole-packet network, event by event.

use crate::credit_wait::CreditWait;
use crate::endpoints::Endpoints;
use crate::packets::buffer::{Buffered, Input};
use crate::packets::event::Event;
use crate::packets::host::Pausing;
use crate::packets::journey::Journeys;
use crate::packets::output::{Credits, Output};
use crate::packets::switch::OutputLane;
use crate::run::Network;
use crate::timeline::Timeline;
use crate::watched::Watched;
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::measure::ChannelCount;
use gingham_net::{
    Among, Arbitration, BLOCK_BYTES, Decision, LaneBlocks, Notice, PacketsPlan, Plan, Read,
    WaitForGraph, WhenFull,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) packets: Arc<PacketsPlan>,
    pub(crate) timeline: Timeline<Event>,
    pub(crate) endpoints: Endpoints,
    pub(crate) watched: Watched,
    /// Host that sends on each channel; `None` for channels from switches.
    pub(crate) hosts: Vec<Option<EndpointId>>,
    pub(crate) journeys: Journeys,
    /// Input port at the end of each channel; `None` at a host.
    pub(crate) inputs: Vec<Option<Input>>,
    pub(crate) outputs: Vec<Output>,
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
            Event::Left { channel } => self.left(channel),
            Event::LeftInput { channel, lane, packet } => self.left_switch(channel, lane, packet),
            Event::Repeat { channel, lane, since } => self.repeat(channel, lane, since),
            Event::Arrived { channel: _, packet } => self.arrived(packet),
            Event::CheckBuffer { channel, lane } => self.check_buffer(channel, lane),
            Event::Known { channel, lane, limit_blocks } => {
                self.known(channel, lane, limit_blocks);
                self.notify_lanes(channel);
            }
            Event::PauseReceived { channel, lane, is_pause } => {
                self.pause_received(channel, lane, is_pause);
                self.notify_lanes(channel);
            }
            Event::ReadHead { channel, lane, packet } => self.read_head(channel, lane, packet),
            Event::Ready { channel, lane, packet } => self.ready(channel, lane, packet),
            Event::Start { channel } => {
                self.choose(channel);
                self.notify_lanes(channel);
            }
            Event::Settle { channel, lane, packet } => self.settle(channel, lane, packet),
        }
    }

    fn counts_until(&self, end: Time) -> Vec<ChannelCount> {
        let bytes = |channel: ChannelId| {
            self.outputs[channel.index()].bytes_until(end, self.plan.channel(channel).bytes)
        };
        self.counts(end, bytes)
    }

    fn counts_before(&self, end: Time) -> Vec<ChannelCount> {
        let bytes = |channel: ChannelId| {
            self.outputs[channel.index()].bytes_before(end, self.plan.channel(channel).bytes)
        };
        self.counts(end, bytes)
    }

    fn packets_in_flight(&self) -> usize {
        self.journeys.len()
    }

    fn waiters(&self, now: Time) -> Vec<Waiter> {
        self.all_waiters(now)
    }

    fn wait_for_graph(&self, _now: Time) -> WaitForGraph {
        self.waits()
    }

    fn assert_invariants(&self) {
        self.assert_conserved();
    }
}

impl Simulation {
    pub(crate) fn new(plan: Arc<Plan>, packets: Arc<PacketsPlan>) -> Self {
        assert_supported(&plan, &packets);
        let channels = || ChannelId::first(plan.channels.len());
        let endpoint_of = |channel| plan.fabric.endpoint_at(plan.ends(channel).source);
        let input = |channel| plan.has_buffer(channel).then(|| Input::new(plan.lanes.count));
        let mut simulation = Self {
            timeline: Timeline::new(),
            endpoints: Endpoints::new(Arc::clone(&plan)),
            watched: Watched::new(&plan),
            hosts: channels().map(endpoint_of).collect(),
            journeys: Journeys::default(),
            inputs: channels().map(input).collect(),
            outputs: channels().map(|channel| output(&plan, &packets, channel)).collect(),
            packets,
            plan,
        };
        simulation.carry_out();
        simulation.timeline.schedule_caused();
        simulation
    }

    fn counts(&self, end: Time, bytes: impl Fn(ChannelId) -> u64) -> Vec<ChannelCount> {
        let count = |(channel, input): (ChannelId, &Option<Input>)| {
            let output = &self.outputs[channel.index()];
            ChannelCount {
                data_flits: bytes(channel),
                stops: output.pausing.as_ref().map_or(0, |of| of.pauses),
                stopped_ps: output.stopped_ps(end),
                occupancy_flit_ps: input.as_ref().map_or(0, |input| input.occupancy_byte_ps(end)),
                ..ChannelCount::default()
            }
        };
        ChannelId::first(self.inputs.len()).zip(&self.inputs).map(count).collect()
    }

    pub(crate) fn channels_into(&self, node: NodeId) -> impl Iterator<Item = ChannelId> {
        self.plan.fabric.channels_from(node).map(Fabric::reverse)
    }

    pub(crate) fn input(&self, channel: ChannelId) -> &Input {
        self.inputs[channel.index()].as_ref().expect("the channel ends at a switch")
    }

    pub(crate) fn input_mut(&mut self, channel: ChannelId) -> &mut Input {
        self.inputs[channel.index()].as_mut().expect("the channel ends at a switch")
    }

    pub(crate) fn credits_mut(&mut self, channel: ChannelId, lane: u8) -> &mut Credits {
        let credits = self.outputs[channel.index()].credits.as_mut();
        &mut credits.expect("a buffer has credits")[usize::from(lane)]
    }
}

fn assert_supported(plan: &Plan, packets: &PacketsPlan) {
    assert!(!plan.routing.has_in_transit_hosts(), "whole packets go through no hosts");
    assert!(plan.in_transit.when_full != WhenFull::Stop, "hosts take in all that comes");
    let is_by_contention = matches!(plan.routing.decision, Decision::ByContention(_));
    assert!(!is_by_contention, "paths are not chosen by contention");
    let slowest = plan.channels.iter().map(|channel| channel.bytes.of(1)).max();
    let delay = packets.forwarding_delay;
    assert!(
        slowest.is_none_or(|slowest| delay >= slowest),
        "a byte arrives before its head is read"
    );
}

fn output(plan: &Plan, packets: &PacketsPlan, channel: ChannelId) -> Output {
    let is_host = plan.fabric.endpoint_at(plan.ends(channel).source).is_some();
    let lanes = &plan.lanes;
    let scheduler = if is_host { &lanes.adapter_port } else { &lanes.link_output };
    let blocks = packets.buffer_blocks.iter().take(lanes.count.into());
    let credits = || blocks.map(|blocks| Credits::new(u64::from(*blocks))).collect();
    let of_output = |blocks: LaneBlocks| {
        let lanes = blocks.iter().take(lanes.count.into());
        lanes.map(|blocks| OutputLane::new(u64::from(*blocks))).collect()
    };
    let has_buffer = plan.has_buffer(channel);
    let pauses = packets.pauses.is_some();
    Output {
        sending: None,
        arbiter: gingham_net::LaneArbiter::over(scheduler, lanes),
        last_port: vec![None; lanes.count.into()],
        buffer: packets.output_blocks.filter(|_| !is_host).map(of_output),
        credits: (has_buffer && !pauses).then(credits),
        pausing: (has_buffer && pauses).then(|| Pausing::new(lanes.count)),
        sent_bytes: 0,
        wait: CreditWait::default(),
    }
}

// Order of the packets that wait for an output lane of a switch.
//
// ```text
//   oldest first      arrival time a, then input port, then incoming lane
//   strict priority   level, then as for oldest first
//   round robin       input port, starting after the last winner; within a port, a, then incoming lane
// ```

/// Waiting packet, identified by its buffer and its index in the buffer; the oldest packet has
/// index 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Waiting {
    pub(crate) input: ChannelId,
    pub(crate) lane: u8,
    pub(crate) place: usize,
}

impl Simulation {
    /// Returns the ready packets that may start on a lane of `output`, in serving order.
    pub(crate) fn in_order(&self, output: ChannelId, lane: u8) -> Vec<Waiting> {
        let node = self.plan.ends(output).source.node;
        let mut found = Vec::new();
        for input in self.channels_into(node) {
            for came_on in 0..self.plan.lanes.count {
                for (place, buffered) in self.input(input).lane(came_on).iter().enumerate() {
                    let waits_for_it = buffered.waits() && buffered.output == output;
                    if waits_for_it && buffered.lanes.contains(lane) {
                        found.push(Waiting { input, lane: came_on, place });
                    }
                }
            }
        }
        found.sort_by_key(|waiting| self.key(output, lane, *waiting));
        found
    }

    fn key(
        &self,
        output: ChannelId,
        lane: u8,
        waiting: Waiting,
    ) -> (Reverse<usize>, usize, Time, usize, u8) {
        let buffered = self.waiting(waiting);
        let port = usize::from(self.plan.ends(waiting.input).target.port);
        let turn = match self.packets.arbitration {
            Arbitration::OldestFirst | Arbitration::StrictPriority => 0,
            Arbitration::RoundRobin => self.turns_until(output, lane, port),
        };
        (Reverse(buffered.level), turn, buffered.came, port, waiting.lane)
    }

    /// Returns the number of ports that precede `port` in round-robin order.
    fn turns_until(&self, output: ChannelId, lane: u8, port: usize) -> usize {
        let node = self.plan.ends(output).source.node;
        let ports = usize::from(self.plan.fabric.node(node).ports) + 1;
        let last = self.outputs[output.index()].last_port[usize::from(lane)];
        let first = last.map_or(0, |last| last + 1);
        (port + ports - first) % ports
    }

    pub(crate) fn waiting(&self, at: Waiting) -> &Buffered {
        &self.input(at.input).lane(at.lane)[at.place]
    }
}

// Invariants after every event, computed from scratch; slow, for tests.

impl Simulation {
    pub(crate) fn assert_conserved(&self) {
        let to_hosts =
            self.timeline.pending().filter(|e| matches!(e, Event::Arrived { .. })).count();
        let all = self.inputs.iter().flatten().flat_map(|input| input.lanes.iter().flatten());
        let in_buffers = all.filter(|buffered| !buffered.has_started).count();
        let lanes = self.outputs.iter().filter_map(|output| output.buffer.as_ref()).flatten();
        lanes.clone().for_each(OutputLane::assert_no_overflow);
        let crossed = lanes.flat_map(|lane| &lane.packets);
        let at_outputs = crossed.filter(|crossed| !crossed.has_started).count();
        let there = to_hosts + in_buffers + at_outputs;
        assert_eq!(self.journeys.len(), there, "packets are conserved");
        for channel in ChannelId::first(self.inputs.len()) {
            if self.inputs[channel.index()].is_some() {
                self.assert_read(channel);
                for lane in 0..self.plan.lanes.count {
                    self.assert_space(channel, lane);
                }
            }
        }
    }

    fn assert_read(&self, channel: ChannelId) {
        let input = self.input(channel);
        let started = input.lanes.iter().flatten().filter(|buffered| buffered.has_started).count();
        assert_eq!(input.reading, started, "a started packet is being read");
        assert!(self.packets.read == Read::Any || started <= 1, "a port is read by one output");
    }

    fn assert_space(&self, channel: ChannelId, lane: u8) {
        let buffer = self.input(channel).lane(lane);
        let is_in_order = |pair: &[Buffered]| pair[0].came <= pair[1].came;
        assert!(buffer.windows(2).all(is_in_order), "packets of a buffer are in order");
        if self.packets.pauses.is_some() {
            return self.assert_no_overflow(channel, lane);
        }
        let holds = u64::from(self.packets.buffer_blocks[usize::from(lane)]);
        let taken: u64 = buffer.iter().map(|buffered| buffered.blocks).sum();
        let bytes: u64 = buffer.iter().map(|buffered| buffered.wire_bytes).sum();
        assert!(bytes <= holds * u64::from(BLOCK_BYTES), "a buffer overflowed");
        let credits = self.outputs[channel.index()].credits.as_ref().expect("there is a buffer");
        let credits = credits[usize::from(lane)];
        let free = credits.limit - credits.sent;
        let in_flight = self.blocks_in_flight(channel, lane, credits.limit);
        let came_free = credits.capacity + self.input(channel).freed_blocks[usize::from(lane)];
        let lost = came_free - credits.limit - in_flight;
        assert_eq!(free + taken + in_flight + lost, holds, "space is conserved");
        let since = self.input(channel).credit_updates[usize::from(lane)];
        let heals = |event: &Event| match *event {
            Event::Repeat { channel: of, lane: on, since: then } => {
                (of, on, Some(then)) == (channel, lane, since)
            }
            _ => false,
        };
        assert!(lost == 0 || self.timeline.pending().any(heals), "what was lost is said again");
    }

    fn blocks_in_flight(&self, channel: ChannelId, lane: u8, known: u64) -> u64 {
        let limit = |event: &Event| match *event {
            Event::Known { channel: of, lane: on, limit_blocks } if (of, on) == (channel, lane) => {
                Some(limit_blocks)
            }
            _ => None,
        };
        self.timeline.pending().filter_map(limit).max().map_or(0, |last| last - known)
    }
}

// Credit updates on their way to the sender, their loss, and their repetition.
//
// ```text
//   e: blocks free ── update with the total ──► e + d' + c: known
//                  └─ lost: the total is sent with the lane's next update, or repeated at e + period
// ```

impl Simulation {
    pub(crate) fn send_credit_update(&mut self, channel: ChannelId, lane: u8) {
        let now = self.timeline.now;
        self.input_mut(channel).credit_updates[usize::from(lane)] = Some(now);
        let back = *self.plan.channel(Fabric::reverse(channel));
        if let Some(loss) = &self.packets.credit_loss
            && loss.is_lost(self.plan.seed, channel, lane, now)
        {
            let again = now + loss.period_on(&back);
            return self.timeline.cause(again, Event::Repeat { channel, lane, since: now });
        }
        let freed = self.input(channel).freed_blocks[usize::from(lane)];
        let limit_blocks = self.credits_mut(channel, lane).capacity + freed;
        let known = now + back.delay + self.packets.credit_delay;
        self.timeline.cause(known, Event::Known { channel, lane, limit_blocks });
    }

    /// Repeats an update that was lost one period ago, unless another update was sent since.
    pub(crate) fn repeat(&mut self, channel: ChannelId, lane: u8, since: Time) {
        if self.input(channel).credit_updates[usize::from(lane)] == Some(since) {
            self.send_credit_update(channel, lane);
        }
    }

    pub(crate) fn known(&mut self, channel: ChannelId, lane: u8, limit_blocks: u64) {
        let is_of_host = self.hosts[channel.index()].is_some();
        let credits = self.credits_mut(channel, lane);
        credits.limit = limit_blocks;
        let was_awaited = std::mem::take(&mut credits.is_awaited);
        if was_awaited || !is_of_host {
            self.timeline.cause(self.timeline.now, Event::Start { channel });
        }
    }
}

// Overtaking: how often other packets pass a packet, and the limit on it.
//
// ```text
//   p1 overtaken `at_most` times ─► waited for:  no later packet in the order of a lane may precede p1
//   p2 behind p1 in its buffer   ─► held back:   p2 cannot be read, and no packet waits for p2
// ```
//
// Packets are held back only if the limit counts overtaking within their buffer.

impl Simulation {
    /// Returns whether the buffer contains an older waiting packet that may not be overtaken again.
    pub(crate) fn is_held_back(&self, at: Waiting) -> bool {
        let overtaking = self.packets.overtaking;
        let buffer = self.input(at.input).lane(at.lane);
        let mut older = buffer[..at.place].iter().filter(|buffered| buffered.waits());
        overtaking.among == Among::AnyOutput
            && older.any(|buffered| buffered.overtaken >= overtaking.at_most)
    }

    pub(crate) fn is_waited_for(&self, at: Waiting) -> bool {
        let overtaken = self.waiting(at).overtaken;
        overtaken >= self.packets.overtaking.at_most && !self.is_held_back(at)
    }

    /// Increments the overtaking counts of all packets that a starting packet overtakes.
    pub(crate) fn overtake(&mut self, output: ChannelId, lane: u8, starting: Waiting) {
        let in_order = self.in_order(output, lane);
        let before = in_order.into_iter().take_while(|other| *other != starting);
        let mut overtaken: BTreeSet<Waiting> = before.collect();
        if self.packets.overtaking.among == Among::AnyOutput {
            let older = (0..starting.place).map(|place| Waiting { place, ..starting });
            overtaken.extend(older.filter(|older| self.waiting(*older).waits()));
        }
        for Waiting { input, lane, place } in overtaken {
            self.input_mut(input).lanes[usize::from(lane)][place].overtaken += 1;
        }
    }
}
