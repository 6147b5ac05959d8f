//! The simulation: one event at a time.

use crate::credit_wait::CreditWait;
use crate::packets::buffer::Input;
use crate::packets::crossing::OutputLane;
use crate::packets::event::Event;
use crate::packets::journey::Journeys;
use crate::packets::output::{Credits, Output};
use crate::packets::pausing::Pausing;
use crate::run::Network;
use crate::timeline::Timeline;
use crate::watched::Watched;
use gingham_kernel::Time;
use gingham_model::congestion::Waiter;
use gingham_model::measure::ChannelCount;
use gingham_model::{
    Endpoints, LaneBlocks, Notice, PacketsPlan, PathChoice, Plan, WaitCycle, WhenFull,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::sync::Arc;

/// A run of whole packets.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) packets: Arc<PacketsPlan>,
    pub(crate) timeline: Timeline<Event>,
    pub(crate) endpoints: Endpoints,
    /// What hosts look at before they begin a message.
    pub(crate) watched: Watched,
    /// By channel: the host that sends on it, if one does.
    pub(crate) hosts: Vec<Option<EndpointId>>,
    pub(crate) journeys: Journeys,
    /// By channel: the input port at its end, if that is a switch's.
    pub(crate) inputs: Vec<Option<Input>>,
    /// By channel.
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
            Event::Create { source } => self.tell(Notice::Created { source }),
            Event::Wake { endpoint } => self.tell(Notice::Woken { endpoint }),
            Event::Left { channel } => self.left(channel),
            Event::LeftInput { channel, lane, packet } => self.left_switch(channel, lane, packet),
            Event::Repeat { channel, lane, since } => self.repeat(channel, lane, since),
            Event::Arrived { channel: _, packet } => self.arrived(packet),
            Event::Look { channel, lane } => self.look(channel, lane),
            Event::Known { channel, lane, limit_blocks } => {
                self.known(channel, lane, limit_blocks);
                self.tell_lanes(channel);
            }
            Event::Heard { channel, lane, is_pause } => {
                self.heard(channel, lane, is_pause);
                self.tell_lanes(channel);
            }
            Event::ReadHead { channel, lane, packet } => self.read_head(channel, lane, packet),
            Event::Ready { channel, lane, packet } => self.ready(channel, lane, packet),
            Event::Start { channel } => {
                self.choose(channel);
                self.tell_lanes(channel);
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

    fn waiters(&self, now: Time) -> Vec<Waiter> {
        self.all_waiters(now)
    }

    fn find_cycle(&self, _now: Time) -> Option<WaitCycle> {
        self.wait_cycle()
    }

    fn assert_invariants(&self) {
        self.assert_conserved();
    }
}

impl Simulation {
    /// A run of `plan`, a plan of whole packets, at time zero.
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

    /// Counts by channel, with what stands in buffers counted up to `end`.
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

    // What the phases share.

    /// The channels that end at a node, in the order of ports.
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

/// What does not occur in networks of this kind, and what the specification presumes.
fn assert_supported(plan: &Plan, packets: &PacketsPlan) {
    assert!(!plan.has_in_transit_hosts(), "whole packets go through no hosts");
    assert!(plan.in_transit.when_full != WhenFull::Stop, "hosts take in all that comes");
    let is_by_contention = matches!(plan.path_choice, PathChoice::ByContention(_));
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
        arbiter: gingham_model::LaneArbiter::over(scheduler, lanes),
        last_port: vec![None; lanes.count.into()],
        buffer: packets.output_blocks.filter(|_| !is_host).map(of_output),
        credits: (has_buffer && !pauses).then(credits),
        pausing: (has_buffer && pauses).then(|| Pausing::new(lanes.count)),
        sent_bytes: 0,
        wait: CreditWait::default(),
    }
}
