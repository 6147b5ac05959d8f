//! The simulation: one event at a time, few events a worm.

use crate::wormhole::arbiter::Arbiter;
use crate::wormhole::event::{Event, INDEX_MAX, Packed};
use crate::wormhole::state::{Head, Input, Owner, Sender};
use crate::wormhole::transit::Transit;
use crate::wormhole::worm::Worms;
use gingham_kernel::{Time, Wheel};
use gingham_model::measure::{ChannelCount, Collector};
use gingham_model::{
    Delivery, Due, Endpoints, PathChoice, Plan, Status, Wait, WaitCycle, WormholePlan,
};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::sync::Arc;

/// A wormhole run by runs of flits.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) wormhole: WormholePlan,
    pub(crate) queue: Wheel<Packed>,
    /// The current instant, in picoseconds.
    pub(crate) now: u64,
    /// Inputs whose arrivals or departures changed in this instant.
    pub(crate) unsettled: Vec<ChannelId>,
    pub(crate) endpoints: Endpoints,
    /// By endpoint; empty where no path visits a host.
    pub(crate) transits: Vec<Transit>,
    /// Whether hosts choose paths by how long their packets took to leave.
    pub(crate) looks_at_contention: bool,
    pub(crate) worms: Worms,
    /// By channel.
    pub(crate) senders: Vec<Sender>,
    /// By channel; none where the channel ends at a host.
    pub(crate) inputs: Vec<Option<Input>>,
    /// By channel.
    pub(crate) arbiters: Vec<Arbiter>,
    /// By channel.
    pub(crate) places: Vec<Place>,
    /// By channel: what is counted as it comes.
    pub(crate) counts: Vec<ChannelCount>,
    /// By channel: all counts at the last section end.
    pub(crate) section_counts: Vec<ChannelCount>,
    /// Channels whose counts may have changed since.
    pub(crate) touched: Vec<ChannelId>,
    events: u64,
}

impl Simulation {
    /// A run of `plan`, at time zero.
    pub fn new(plan: Arc<Plan>, wormhole: WormholePlan) -> Self {
        let endpoints = Endpoints::new(Arc::clone(&plan));
        assert!(
            plan.channels.len().max(endpoints.source_count()) <= INDEX_MAX,
            "an event holds 28 bits of index"
        );
        let ports =
            |channel| usize::from(plan.fabric.node(plan.ends(channel).source.node).ports) + 1;
        let channels = || ChannelId::first(plan.channels.len());
        let levels = wormhole.arbitration.level(plan.highest_priority()) + 1;
        let mut simulation = Self {
            wormhole,
            queue: Wheel::new(),
            unsettled: Vec::new(),
            now: 0,
            endpoints,
            transits: Transit::all(&plan),
            looks_at_contention: matches!(plan.path_choice, PathChoice::ByContention(_)),
            worms: Worms::default(),
            senders: plan.channels.iter().map(Sender::new).collect(),
            inputs: channels().map(|channel| input_of(&plan, channel)).collect(),
            arbiters: channels().map(|channel| Arbiter::new(ports(channel), levels)).collect(),
            places: channels().map(|channel| Place::of(&plan, channel)).collect(),
            counts: vec![ChannelCount::default(); plan.channels.len()],
            section_counts: vec![ChannelCount::default(); plan.channels.len()],
            touched: Vec::with_capacity(plan.channels.len()),
            events: 0,
            plan,
        };
        simulation.start_sources();
        simulation
    }

    /// Simulates at most `events_max` events. The size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> &Status {
        for _ in 0..events_max {
            if !self.endpoints.is_running() {
                break;
            }
            self.step();
        }
        self.endpoints.status()
    }

    /// How far the run has come.
    pub fn status(&self) -> &Status {
        self.endpoints.status()
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        Time::from_ps(self.now)
    }

    /// What was counted so far.
    pub fn collector(&self) -> &Collector {
        self.endpoints.collector()
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The plan being run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Empties the buffer of a run that keeps all messages, in order of delivery.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        self.endpoints.take_messages()
    }

    /// Checks that no buffer overflows and no schedule runs ahead of its feeder; for tests. Slow.
    pub fn assert_invariants(&self) {
        for channel in ChannelId::first(self.senders.len()) {
            let Some(input) = &self.inputs[channel.index()] else { continue };
            let fill = self.fill(channel);
            assert!(fill <= u64::from(input.slack.capacity), "a slack buffer holds {fill} flits");
        }
        for sender in &self.senders {
            let Some(feed) = sender.feed() else { continue };
            let sent = sender.schedule.end() - sender.worm_first;
            let known = self.senders[feed.channel.index()].schedule.end();
            assert!(
                sent == 0 || feed.first + sent <= known,
                "{sent} flits from {} on are sent of {known}",
                feed.first
            );
        }
    }

    fn step(&mut self) {
        let next = self.queue.peek();
        if !self.unsettled.is_empty()
            && next.is_none_or(|(time, event)| time > self.now || event.is_last_phase())
        {
            return self.settle();
        }
        if next.is_some_and(|(time, _)| time < self.endpoints.checkpoint().as_ps()) {
            let (time, event) = self.queue.pop().expect("an event is pending");
            self.now = time;
            self.events += 1;
            self.handle(event.unpack());
        } else {
            self.checkpoint();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Create { source } => self.create(source),
            Event::ControlArrives { channel, stop } => self.hear(channel, stop),
            Event::Deliver { channel, worm } => self.tail_arrives(channel, worm),
            Event::Release { output } => self.release(output),
            Event::ReadHead { channel } => self.read_head(channel),
            Event::Request { channel } => self.request(channel),
            Event::Arbitrate { output } => self.arbitrate(output),
            Event::StartWorm { channel } => self.start_worm(channel),
            Event::SendControl { channel } => self.send_waiting_control(channel),
            Event::EmitControl { channel } => self.emit_control(channel),
        }
    }

    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    /// Whether no other event of this instant is pending, so that what belongs to a later phase of it
    /// may be done at once.
    pub(crate) fn instant_is_over(&mut self) -> bool {
        self.queue.peek().is_none_or(|(time, _)| time > self.now)
    }

    /// Nothing happens before something else is done: a section ends, or it is time to look around.
    fn checkpoint(&mut self) {
        match self.endpoints.due(None) {
            Due::Event => unreachable!("no event was asked for"),
            Due::SectionEnd(end) => self.end_section(end.as_ps()),
            Due::DeadlockCheck(time) => {
                let cycle = self.find_cycle();
                self.endpoints.check_deadlock(time, cycle, !self.queue.is_empty());
                if !self.endpoints.is_running() {
                    self.now = time.as_ps();
                }
            }
        }
    }

    /// A circle of waits, if there is one; [`WaitCycle`] says why that is a deadlock.
    fn find_cycle(&self) -> Option<WaitCycle> {
        // Where a worm waits something happened since all was at rest.
        let wait =
            |channel: &ChannelId| Some(((*channel).into(), Wait::one(self.waits_for(*channel)?)));
        let mut waits: Vec<(Buffer, Wait)> = self.touched.iter().filter_map(wait).collect();
        waits.sort_unstable_by_key(|(input, _)| *input);
        WaitCycle::find(&waits)
    }

    /// The input that the one at the end of `channel` waits for, if any.
    fn waits_for(&self, channel: ChannelId) -> Option<ChannelId> {
        match self.inputs[channel.index()].as_ref()?.head {
            Head::Idle | Head::Routing { .. } | Head::Open => None,
            Head::Waiting { output } => self.senders[output.index()].feeder,
            Head::Connected => self.stopped_by(self.senders[channel.index()].feeds?),
            Head::Full => self.stopped_by(Fabric::reverse(channel)),
        }
    }

    /// The input at the end of `channel`, if it stops the channel and goes on to.
    fn stopped_by(&self, channel: ChannelId) -> Option<ChannelId> {
        let blocker = self.inputs[channel.index()].as_ref()?;
        let stopped = self.senders[channel.index()].stopped_since.is_some();
        (stopped && blocker.wants_stop && blocker.announced_stop).then_some(channel)
    }
}

/// The input port at the end of a channel, if there is one.
fn input_of(plan: &Plan, channel: ChannelId) -> Option<Input> {
    let is_switch = plan.is_switch(plan.ends(channel).target.node);
    let owner = if is_switch { Owner::Switch } else { Owner::Host };
    Some(Input::new(plan.channel(channel).slack?, owner))
}

/// Where a channel begins and ends, as often asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The endpoint that sends on it, if a host does.
    pub(crate) sender: Option<EndpointId>,
    /// The endpoint at its end, if it ends at a host.
    pub(crate) receiver: Option<EndpointId>,
    /// The node at its end.
    pub(crate) target: NodeId,
    /// The port there.
    pub(crate) target_port: u16,
}

impl Place {
    fn of(plan: &Plan, channel: ChannelId) -> Self {
        let ends = plan.ends(channel);
        let sender = plan.fabric.endpoint_at(ends.source);
        let receiver = plan.fabric.endpoint_at(ends.target);
        Self { sender, receiver, target: ends.target.node, target_port: ends.target.port }
    }
}
