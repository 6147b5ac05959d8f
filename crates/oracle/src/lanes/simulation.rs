//! The simulation: one event at a time.

use crate::lanes::clock::{Clock, Tick};
use crate::lanes::event::Event;
use crate::lanes::host_state::{InTransit, OutgoingPacket};
use crate::lanes::journey::Journeys;
use crate::lanes::ports::{Input, Output};
use crate::run::Network;
use crate::timeline::Timeline;
use crate::watched::Watched;
use gingham_kernel::Time;
use gingham_model::congestion::Waiter;
use gingham_model::measure::ChannelCount;
use gingham_model::{Endpoints, Notice, PipelinePlan, Plan, Selector, WaitCycle};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::sync::Arc;

/// A run over virtual lanes, flit by flit.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) lane_plan: Arc<PipelinePlan>,
    pub(crate) clock: Clock,
    pub(crate) timeline: Timeline<Event>,
    pub(crate) endpoints: Endpoints,
    /// What chooses an output for packets that may take any of several.
    pub(crate) selector: Option<Selector>,
    /// What hosts look at before they begin a message.
    pub(crate) watched: Watched,
    /// By channel: the host that sends on it, if one does.
    pub(crate) hosts: Vec<Option<EndpointId>>,
    /// By endpoint, then by lane: the packet that the adapter is in the middle of.
    pub(crate) senders: Vec<Vec<Option<OutgoingPacket>>>,
    /// By endpoint: what it sends on.
    pub(crate) in_transit: Vec<InTransit>,
    pub(crate) journeys: Journeys,
    /// By channel: the lane buffers at its end, where it has any.
    pub(crate) inputs: Vec<Option<Input>>,
    /// By channel.
    pub(crate) outputs: Vec<Output>,
    /// By node: the tick at which a switch acts next, or acted last.
    awake_switches: Vec<Option<Tick>>,
    /// By channel: the same of the adapter that sends on it.
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
            Event::Create { source } => self.tell(Notice::Created { source }),
            Event::Wake { endpoint } => self.tell(Notice::Woken { endpoint }),
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
                self.tell_lanes(node);
            }
            Event::Allocate { node } => {
                self.allocate_lanes(node);
                self.tell_lanes(node);
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

    fn waiters(&self, now: Time) -> Vec<Waiter> {
        self.all_waiters(now)
    }

    fn find_cycle(&self, now: Time) -> Option<WaitCycle> {
        self.wait_cycle(now)
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
            assert_eq!(pool_bytes, in_transit.needed_bytes(), "a pool holds what is in it");
            assert!(pool_bytes <= self.plan.in_transit.pool_bytes, "a pool overflowed");
        }
    }
}

impl Simulation {
    /// A run of `plan`, a plan of virtual lanes, at time zero.
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
        let in_transit = endpoints
            .adapters
            .iter()
            .map(|adapter| InTransit::new(plan.in_transit, adapter.groups().len(), lanes.count));
        let mut simulation = Self {
            clock: Clock { cycle: lane_plan.cycle },
            timeline: Timeline::new(),
            selector: Selector::new(&plan, &lane_plan),
            watched: Watched::new(&plan),
            hosts: channels().map(endpoint_of).collect(),
            senders: vec![vec![None; lanes.count.into()]; endpoints.adapters.len()],
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
        let under_way = (on_wire + in_buffers + in_output_lanes + at_hosts) as u64;
        let accounted = self.flits_consumed + under_way;
        assert_eq!(self.flits_entered, accounted, "flits are conserved at {:?}", self.timeline.now);
    }

    fn assert_credits_conserved(&self, channel: ChannelId, lane: u8, on_wire: usize) {
        let Some(credits) = self.outputs[channel.index()].lane(lane).credits else { return };
        assert!(credits.promised <= credits.here, "what is promised is there");
        let places = on_wire + self.input(channel).lane(lane).fill();
        let accounted = credits.here + credits.on_their_way + places as u64;
        assert_eq!(accounted, credits.depth, "credits are conserved at {:?}", self.timeline.now);
    }

    // What the stages share.

    /// The present tick.
    pub(crate) fn tick(&self) -> Tick {
        self.clock.tick_at(self.timeline.now)
    }

    /// A switch acts at a tick, this one or the next.
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

    /// The adapter that sends on a channel acts at a tick, this one or the next.
    pub(crate) fn wake_adapter(&mut self, channel: ChannelId, tick: Tick) {
        let awake = &mut self.awake_adapters[channel.index()];
        if *awake < Some(tick) {
            *awake = Some(tick);
            self.timeline.cause(self.clock.instant(tick), Event::Send { channel });
        }
    }

    /// Whether a switch holds a flit.
    pub(crate) fn holds_a_flit(&self, node: NodeId) -> bool {
        self.channels_into(node).into_iter().any(|channel| self.input(channel).fill() > 0)
            || self
                .channels_from(node)
                .into_iter()
                .any(|channel| self.outputs[channel.index()].fill() > 0)
    }

    /// The channels that begin at a node, in the order of ports.
    pub(crate) fn channels_from(&self, node: NodeId) -> Vec<ChannelId> {
        self.plan.fabric.channels_from(node).collect()
    }

    /// The channels that end at a node, in the order of ports.
    pub(crate) fn channels_into(&self, node: NodeId) -> Vec<ChannelId> {
        self.plan.fabric.channels_from(node).map(Fabric::reverse).collect()
    }

    /// One more than the highest port of a node.
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
