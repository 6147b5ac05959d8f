//! The simulation: one event at a time, few events a worm.

use crate::wormhole::arbiter::Arbiter;
use crate::wormhole::event::{Event, INDEX_MAX, Packed};
use crate::wormhole::state::{Head, Input, Owner, Sender};
use crate::wormhole::transit::Transit;
use crate::wormhole::worm::Worms;
use gingham_kernel::{Time, Wheel};
use gingham_model::measure::{ChannelCount, Ledger};
use gingham_model::traffic::Source;
use gingham_model::{
    Adapter, Assemblies, Delivery, PathChoice, Plan, Status, Wait, WaitCycle, WormholePlan,
};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::sync::Arc;

/// Deadlocks are looked for this many times a run.
const DEADLOCK_SEARCHES: u64 = 64;

/// A wormhole run by runs of flits.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) wormhole: WormholePlan,
    pub(crate) queue: Wheel<Packed>,
    /// The current instant, in picoseconds.
    pub(crate) now: u64,
    pub(crate) status: Status,
    /// Inputs whose arrivals or departures changed in this instant.
    pub(crate) unsettled: Vec<ChannelId>,
    pub(crate) sources: Vec<Source>,
    /// By endpoint: its backlogged sources.
    pub(crate) backlogged: Vec<Vec<u32>>,
    /// By endpoint.
    pub(crate) adapters: Vec<Adapter>,
    /// By endpoint; empty where no path visits a host.
    pub(crate) transits: Vec<Transit>,
    /// Whether hosts choose paths by how long their packets took to leave.
    pub(crate) looks_at_contention: bool,
    pub(crate) worms: Worms,
    pub(crate) assemblies: Assemblies,
    /// By channel.
    pub(crate) senders: Vec<Sender>,
    /// By channel; none where the channel ends at a host.
    pub(crate) inputs: Vec<Option<Input>>,
    /// By channel.
    pub(crate) arbiters: Vec<Arbiter>,
    /// By channel.
    pub(crate) places: Vec<Place>,
    pub(crate) ledger: Ledger,
    /// By channel: what is counted as it comes.
    pub(crate) counts: Vec<ChannelCount>,
    /// By channel: all counts at the last section end.
    pub(crate) section_counts: Vec<ChannelCount>,
    /// Channels whose counts may have changed since.
    pub(crate) touched: Vec<ChannelId>,
    pub(crate) messages_created: usize,
    /// Sources whose next message is scheduled.
    pub(crate) arrivals_pending: usize,
    events: u64,
    /// When a deadlock is looked for next: everything up to this instant, itself included, comes before.
    next_search: u64,
    /// Events from here on wait until the end of a section, a search or the end of the run was seen to.
    pause: u64,
}

impl Simulation {
    /// A run of `plan`, at time zero.
    pub fn new(plan: Arc<Plan>) -> Self {
        let wormhole = *plan.wormhole_plan().expect("a plan of a wormhole network");
        let sources = Source::all(&plan);
        assert!(
            plan.channels.len().max(sources.len()) <= INDEX_MAX,
            "an event holds 28 bits of index"
        );
        let mut backlogged = vec![Vec::new(); plan.fabric.endpoints().len()];
        for (index, source) in (0_u32..).zip(&sources) {
            if source.is_backlogged() {
                backlogged[source.endpoint().index()].push(index);
            }
        }
        let ports =
            |channel| usize::from(plan.fabric.node(plan.ends(channel).source.node).ports) + 1;
        let channels = || ChannelId::first(plan.channels.len());
        let levels = wormhole.arbitration.level(plan.highest_priority()) + 1;
        let mut simulation = Self {
            wormhole,
            queue: Wheel::new(),
            unsettled: Vec::new(),
            now: 0,
            status: Status::Running,
            sources,
            backlogged,
            adapters: Adapter::all(&plan),
            transits: Transit::all(&plan),
            looks_at_contention: matches!(plan.path_choice, PathChoice::ByContention(_)),
            worms: Worms::default(),
            assemblies: Assemblies::default(),
            senders: plan.channels.iter().map(Sender::new).collect(),
            inputs: channels().map(|channel| input_of(&plan, channel)).collect(),
            arbiters: channels().map(|channel| Arbiter::new(ports(channel), levels)).collect(),
            places: channels().map(|channel| Place::of(&plan, channel)).collect(),
            ledger: Ledger::new(&plan),
            counts: vec![ChannelCount::default(); plan.channels.len()],
            section_counts: vec![ChannelCount::default(); plan.channels.len()],
            touched: Vec::with_capacity(plan.channels.len()),
            messages_created: 0,
            arrivals_pending: 0,
            events: 0,
            next_search: 0,
            pause: 0,
            plan,
        };
        simulation.next_search = simulation.search_after(0);
        simulation.set_pause();
        simulation.start_sources();
        simulation
    }

    /// Simulates at most `events_max` events. The size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> &Status {
        for _ in 0..events_max {
            if self.status != Status::Running {
                break;
            }
            self.step();
        }
        &self.status
    }

    /// How far the run has come.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        Time::from_ps(self.now)
    }

    /// What was counted so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
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
        self.ledger.take_messages()
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
        if next.is_some_and(|(time, _)| time < self.pause) {
            let (time, event) = self.queue.pop().expect("an event is pending");
            self.now = time;
            self.events += 1;
            self.handle(event.unpack());
        } else {
            self.pause();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Create { source } => self.create_and_follow(source),
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

    /// Decides again up to when events may happen: the ledger has changed its mind, or a pause is over.
    pub(crate) fn set_pause(&mut self) {
        let last = self.last_before_look();
        let section_end = self.ledger.section_end().filter(|end| end.as_ps() <= last);
        self.pause = section_end.map_or(last + 1, Time::as_ps);
    }

    /// Nothing more happens before `self.pause`: a section ends there, or it is time to look around.
    fn pause(&mut self) {
        let last = self.last_before_look();
        if self.pause <= last {
            self.end_section(self.pause);
        } else {
            self.look_around(last);
        }
        self.set_pause();
    }

    /// The last instant before the next search for a deadlock, or of the run.
    fn last_before_look(&self) -> u64 {
        self.next_search.min(self.ledger.end().as_ps())
    }

    fn search_after(&self, time: u64) -> u64 {
        let interval = (self.plan.stop.latest_end().as_ps() / DEADLOCK_SEARCHES).max(1);
        (time / interval + 1).saturating_mul(interval)
    }

    /// Everything up to `time` has happened: is it a deadlock, or the end?
    fn look_around(&mut self, time: u64) {
        self.next_search = self.search_after(time);
        let in_flight = self.ledger.in_flight_messages();
        if let Some(cycle) = self.find_cycle() {
            self.now = time;
            self.status = Status::Deadlocked(cycle);
        } else if time == self.ledger.end().as_ps() {
            self.now = time;
            let drained = in_flight == 0 && self.arrivals_pending == 0;
            self.status = if drained { Status::Drained } else { Status::Finished };
        } else {
            assert!(
                in_flight == 0 || !self.queue.is_empty(),
                "messages are left, nothing can happen, and no circle of waits explains it"
            );
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
