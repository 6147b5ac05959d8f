//! The endpoints of a run: all of a simulation but what moves flits.
//!
//! ```text
//!   sources ─► messages ─► adapters ─► packets ─► [ what moves flits ] ─► reassembly ─► collector
//!
//!   due(next event):   event          something happens before the checkpoint
//!                      section ends   counts of all channels are asked for
//!                      deadlock check is it a deadlock, or the end?
//! ```
//!
//! A simulation tells them what happens ([`Endpoints::tell`]) and carries out what they order
//! ([`Endpoints::next_order`]). It asks [`Endpoints::due`] before every event, and does what it
//! says. Sections, steps and deadlock checks lie between instants: a section or a step that ends at
//! `t` ends before anything of `t` happens, a check at `t` comes after all of it.
//!
//! Invariant: what is here never depends on how flits move; two simulations of a plan that deliver
//! the same packets at the same instants leave the same collector.

mod admitted;
mod probed;
mod told;

use crate::admission::Desk;
use crate::congestion::Queued;
use crate::flows::Flows;
use crate::marking::{Marker, Marking};
use crate::measure::{ChannelCount, Collector};
use crate::messages::{Messages, Outgoing};
use crate::posting::{Outcome, Posts};
use crate::throttle::Throttle;
use crate::traffic::{Source, StreamPart};
use crate::{
    Adapter, ClassId, Conformance, Content, Credits, Delivery, LaneChoice, Message, MessageSlot,
    Next, Noted, Order, PathChoice, Plan, Refused, Status, Switched, Turn, WaitCycle, Wanted,
    Which,
};
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_topology::routing::{LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId};
use probed::Probe;
use std::collections::BTreeMap;
use std::sync::Arc;
use told::{PendingReply, ReplyKey};

/// Deadlocks are looked for this many times a run. *(ours)*, by judgement and not measured: a
/// deadlock is found at most a 64th of the latest end of the run after it closed.
const DEADLOCK_CHECKS: u64 = 64;

/// What a simulation is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Its next event.
    Event,
    /// Nothing more happens before this instant: it ends a section ([`Endpoints::end_section`]).
    SectionEnd(Time),
    /// Nothing more happens before this instant: it ends a step of what is followed
    /// ([`crate::Notice::Sampled`]).
    StepEnd(Time),
    /// Nothing more happens before this instant: it is time to look who waits
    /// ([`crate::Notice::Looked`]).
    Look(Time),
    /// Nothing more happens up to this instant, itself included: a deadlock check
    /// ([`Endpoints::check_deadlock`]).
    DeadlockCheck(Time),
}

/// Sources, adapters, messages under way and collector of a run, and how far it has come.
#[derive(Clone, Debug)]
pub struct Endpoints {
    plan: Arc<Plan>,
    sources: Vec<Source>,
    /// By endpoint: its backlogged sources.
    backlogged: Vec<Vec<usize>>,
    /// By class and endpoint: its sources of replies.
    repliers: BTreeMap<ReplyKey, Vec<usize>>,
    /// By endpoint, instant and number: replies that are thought about.
    replies: BTreeMap<(EndpointId, Time, usize), PendingReply>,
    replies_ordered: usize,
    /// By endpoint.
    pub adapters: Vec<Adapter>,
    /// Flows, where any are told apart.
    flows: Flows,
    /// Messages under way.
    messages: Messages,
    /// Who may send, where there is an admission control.
    desk: Option<Box<Desk>>,
    /// By stream: its source, where there is one.
    sources_of_streams: Vec<usize>,
    /// What is posted, where there are adapters.
    posts: Option<Box<Posts>>,
    /// Whether what comes of posts is being carried out.
    is_carrying: bool,
    /// What holds messages back for the sake of the network, if anything does.
    throttle: Option<Box<Throttle>>,
    /// Draws lanes of messages.
    lanes: LaneChooser,
    collector: Collector,
    status: Status,
    messages_created: usize,
    /// Sources whose next message is scheduled.
    arrivals_pending: usize,
    /// Packets that no message is behind, and that have not arrived.
    ordered_under_way: usize,
    wanted: Wanted,
    orders: Vec<Order>,
    /// What marks packets that switches read.
    marker: Option<Marker>,
    /// Whether packets that are received may cause others.
    is_causal: bool,
    /// Whether there is a probe.
    is_probed: bool,
    probe: Probe,
    next_check: Time,
    /// Events before this instant may happen without asking.
    checkpoint: Time,
}

impl Endpoints {
    /// A run of `plan`, at time zero. What it orders first is when sources create their first
    /// messages.
    pub fn new(plan: Arc<Plan>) -> Self {
        let sources = Source::all(&plan);
        let mut backlogged = vec![Vec::new(); plan.fabric.endpoints().len()];
        let mut repliers: BTreeMap<ReplyKey, Vec<usize>> = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            if source.is_backlogged() {
                backlogged[source.endpoint().index()].push(index);
            }
            if let Some(replies) = source.replies() {
                repliers.entry((replies.to, source.endpoint())).or_default().push(index);
            }
        }
        let is_of_stream = |index: &usize| sources[*index].stream().is_some();
        let sources_of_streams = (0..sources.len()).filter(is_of_stream).collect();
        let is_probed = plan.probe.is_some();
        let is_backlogged = backlogged.iter().any(|sources| !sources.is_empty());
        let wanted = Wanted {
            began: match (is_probed, is_backlogged) {
                (true, _) => Which::All,
                (false, true) => Which::First,
                (false, false) => Which::None,
            },
            left: is_probed
                || plan.adapters.is_some()
                || plan.admission.is_some()
                || matches!(plan.path_choice, PathChoice::ByContention(_)),
            read: is_probed
                || plan.admission.is_some()
                || plan.marking.as_ref().is_some_and(|of| !of.looks_at_outputs()),
            switched: switched(&plan),
        };
        let throttle = Throttle::new(&plan);
        let counts_received = throttle.as_ref().is_some_and(Throttle::counts_received);
        let is_causal = plan.is_controlled() || !repliers.is_empty() || counts_received;
        let mut endpoints = Self {
            sources,
            backlogged,
            repliers,
            replies: BTreeMap::new(),
            replies_ordered: 0,
            adapters: Adapter::all(&plan),
            flows: Flows::new(&plan),
            messages: Messages::default(),
            desk: Desk::new(&plan).map(Box::new),
            sources_of_streams,
            posts: Posts::new(&plan).map(Box::new),
            is_carrying: false,
            throttle: throttle.map(Box::new),
            lanes: LaneChooser::new(&plan),
            collector: Collector::new(&plan),
            status: Status::Running,
            messages_created: 0,
            arrivals_pending: 0,
            ordered_under_way: 0,
            wanted,
            orders: Vec::new(),
            marker: plan.marking.as_ref().map(|marking| marking.start(&plan)),
            is_causal,
            is_probed,
            probe: Probe::new(&plan),
            next_check: Time::ZERO,
            checkpoint: Time::ZERO,
            plan,
        };
        endpoints.next_check = endpoints.check_after(Time::ZERO);
        endpoints.set_checkpoint();
        for source in 0..endpoints.sources.len() {
            endpoints.await_arrival(source);
        }
        endpoints.await_gather();
        endpoints
    }

    /// The plan being run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// How far the run has come.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Whether there is more to do.
    pub fn is_running(&self) -> bool {
        self.status == Status::Running
    }

    /// What was counted so far.
    pub fn collector(&self) -> &Collector {
        &self.collector
    }

    /// The same, for what in-transit hosts tell it.
    pub fn collector_mut(&mut self) -> &mut Collector {
        &mut self.collector
    }

    /// Empties the buffer of a run that keeps all messages, in order of delivery.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        self.collector.take_messages()
    }

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// Which notices are wanted beside those that always are told; the same all the time.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// What a probe has noted, in order; nothing where there is none.
    pub fn noted(&self) -> &[Noted] {
        self.probe.noted()
    }

    // Turns.

    /// What an endpoint would send of a group of its queues at an instant: what [`Self::turn`]
    /// gives.
    pub fn next(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Next {
        let adapter = &mut self.adapters[endpoint.index()];
        let throttle = self.throttle.as_deref_mut();
        adapter.next(&mut self.flows, &mut self.messages, throttle, group, begins)
    }

    /// Whether a group of queues of an endpoint has a packet at an instant that neither window nor pace
    /// holds back. Unlike [`Self::next`], it tests no bucket and no control of hosts, and changes nothing.
    pub fn has_ready(&self, endpoint: EndpointId, group: usize, now: Time) -> bool {
        self.adapters[endpoint.index()].has_ready(&self.flows, group, now)
    }

    /// What an endpoint begins to send of a group of its queues at an instant at which its link is
    /// free; it may be later than the present one. [`crate::Notice::Began`] is to follow then, if
    /// that is wanted.
    #[expect(clippy::inline_always, reason = "who asks takes the packet apart where it stands")]
    #[inline(always)]
    pub fn turn(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Turn {
        let adapter = &mut self.adapters[endpoint.index()];
        let throttle = self.throttle.as_deref_mut();
        let turn = adapter.take(&mut self.flows, &mut self.messages, throttle, group, begins);
        if self.flows.has_held() {
            self.tell_held();
        }
        turn
    }

    /// What an endpoint could send `now`, were its link free: the first of each of its queues, but
    /// for what waits for an answer or its pace.
    pub fn queued(&self, endpoint: EndpointId, now: Time) -> Vec<Queued> {
        self.adapters[endpoint.index()].queued(&self.flows, &self.messages, now)
    }

    // Sections, deadlock checks and the end.

    /// Events before this instant happen without anything in between; it changes with deliveries,
    /// section ends and deadlock checks.
    pub fn checkpoint(&self) -> Time {
        self.checkpoint
    }

    /// What is to be done if the next event is at `next`.
    pub fn due(&self, next: Option<Time>) -> Due {
        if next.is_some_and(|next| next < self.checkpoint) {
            return Due::Event;
        }
        let last = self.last_before_check();
        if self.checkpoint <= last {
            // A step that ends with a section is a part of it, and so is a look.
            let is_now = |due| due == Some(self.checkpoint);
            match &self.collector {
                of if is_now(of.next_sample()) => Due::StepEnd(self.checkpoint),
                of if is_now(of.next_look()) => Due::Look(self.checkpoint),
                _ => Due::SectionEnd(self.checkpoint),
            }
        } else {
            Due::DeadlockCheck(last)
        }
    }

    /// A section has ended at the instant that was due: these are the counts, over all time before,
    /// of every channel on which anything happened since the section before, or of more, in
    /// ascending order.
    pub fn end_section(&mut self, counts: &[(ChannelId, ChannelCount)]) {
        self.flows.settle(self.checkpoint);
        self.tell_held();
        self.collector.on_section_end(counts);
        self.set_checkpoint();
    }

    /// Everything up to `time` has happened: whether that is a deadlock, or the end. `has_events`
    /// says whether anything is still to happen.
    pub fn check_deadlock(&mut self, time: Time, cycle: Option<WaitCycle>, has_events: bool) {
        self.next_check = self.check_after(time);
        let in_flight = self.collector.in_flight_messages();
        if let Some(cycle) = cycle {
            self.status = Status::Deadlocked(cycle);
        } else if time == self.collector.end() {
            if let Some(desk) = &mut self.desk {
                desk.settle(time);
            }
            let is_quiet = self.arrivals_pending == 0 && self.replies.is_empty();
            let drained = in_flight == 0 && self.ordered_under_way == 0 && is_quiet;
            if drained {
                self.collector.finish();
            }
            self.status = if drained { Status::Drained } else { Status::Finished };
        } else {
            // Who waits for tokens or its pace is woken, and who waits for an answer waits for a
            // packet: in a queue, which an event empties, or in the network.
            assert!(
                (in_flight == 0 && self.ordered_under_way == 0) || has_events,
                "{in_flight} messages and {} packets without one are left, {} flows wait for answers, nothing can happen, \
                 and no cycle of waits explains it",
                self.ordered_under_way,
                self.flows.shut()
            );
        }
        self.set_checkpoint();
    }

    /// Decides again up to when events may happen: the collector has changed its mind, or a
    /// checkpoint is over.
    fn set_checkpoint(&mut self) {
        let last = self.last_before_check();
        let collector = &self.collector;
        let ends = [collector.section_end(), collector.next_sample(), collector.next_look()];
        let end = ends.into_iter().flatten().min().filter(|end| *end <= last);
        self.checkpoint = end.unwrap_or(last + Span::from_ps(1));
    }

    /// The last instant before the next deadlock check, or of the run.
    fn last_before_check(&self) -> Time {
        self.next_check.min(self.collector.end())
    }

    fn check_after(&self, time: Time) -> Time {
        let interval = (self.plan.stop.latest_end().as_ps() / DEADLOCK_CHECKS).max(1);
        Time::from_ps((time.as_ps() / interval + 1).saturating_mul(interval))
    }
}

/// What is wanted of packets in switches.
fn switched(plan: &Plan) -> Switched {
    let marking = plan.marking.as_ref();
    let asks = |of: fn(&Marking) -> bool| plan.probe.is_some() || marking.is_some_and(of);
    if !plan.switching.tells_switched() || !asks(Marking::looks_at_outputs) {
        Switched::Nothing
    } else if asks(Marking::looks_at_space) {
        Switched::StaysAndSpace
    } else {
        Switched::Stays
    }
}

// What hosts that look at the network hear, and whom that wakes.

impl Endpoints {
    /// How many times a host was woken that had been held back for the sake of the network.
    pub fn throttled(&self) -> u64 {
        self.throttle.as_ref().map_or(0, |throttle| throttle.woken())
    }

    /// Orders when buffers are counted for the first time, if they are.
    fn await_gather(&mut self) {
        let gather = self.throttle.as_ref().and_then(|throttle| throttle.first_gather());
        self.orders.extend(gather);
    }

    /// These lanes of an output are free.
    fn on_lanes(&mut self, output: ChannelId, free: LaneSet) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_lanes(output, free, &mut self.orders);
        }
    }

    /// So many buffers between switches are full.
    fn on_gathered(&mut self, full: u64, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_gathered(full, self.posts.as_deref(), now, &mut self.orders);
        }
    }

    /// The instant has come for which an endpoint waited.
    fn throttle_woken(&mut self, endpoint: EndpointId, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_woken(endpoint, now, &mut self.orders);
        }
    }
}

// Messages that are posted to channel adapters: what comes of posts, copies and credits.
//
// ```text
//   created ──► post ──► accepted: a backlogged class creates its next message
//                 └────► ready: into the queue of its lanes, and the endpoint is to send
//   left ───────► its credit is back: the next post
//   woken ──────► an attempt, or the end of a copy
// ```

impl Endpoints {
    /// A message was created, and is not dropped: it is posted, or put into its queue where there
    /// are no adapters.
    #[inline(never)]
    fn post(
        &mut self,
        message: Message,
        (class, conformance): (ClassId, Conformance),
        part: Option<StreamPart>,
    ) {
        let vc_class = self.lanes.choose(&self.plan, &mut self.flows, class, &message);
        let outgoing = Outgoing::new(&self.plan, message, (class, conformance), vc_class);
        let slot = self.messages.insert(outgoing);
        if let Some(part) = part {
            self.messages.note_part(slot, part);
        }
        let now = message.created;
        let Some(posts) = &mut self.posts else { return self.enqueue(slot, now) };
        let class = &self.plan.classes[message.class.index()];
        posts.post(&mut self.messages, class, slot, now);
        self.carry_posts(now);
    }

    /// A packet of an endpoint's own has left.
    #[inline(never)]
    fn content_left(&mut self, endpoint: EndpointId, content: Content, now: Time) {
        let Content::Data(slot) = content else { return };
        if self.has_leases() {
            self.admission_renewed(endpoint, slot, now);
        }
        if (self.posts.is_none() && self.desk.is_none()) || !self.messages.leave(slot) {
            return;
        }
        if self.desk.is_some() {
            self.admission_left(endpoint, slot);
        }
        if let Some(posts) = &mut self.posts {
            posts.left(&mut self.messages, slot, now);
            self.carry_posts(now);
        }
    }

    /// The instant has come for which an endpoint waited.
    fn posted_woken(&mut self, endpoint: EndpointId, now: Time) {
        if let Some(posts) = &mut self.posts {
            posts.woken(&mut self.messages, endpoint, now);
            self.carry_posts(now);
        }
    }

    /// Carries out what comes of posts. What these bring about is carried out by the call that is
    /// under way: credits may be many.
    fn carry_posts(&mut self, now: Time) {
        if std::mem::replace(&mut self.is_carrying, true) {
            return;
        }
        while let Some(outcome) = self.posts.as_mut().and_then(|posts| posts.next_outcome()) {
            match outcome {
                Outcome::Accepted(slot) => self.on_accepted(slot, now),
                Outcome::Ready(slot) => {
                    self.orders.push(Order::Send { endpoint: self.messages.message(slot).source });
                    self.enqueue(slot, now);
                }
                Outcome::WakeAt(endpoint, at) => self.orders.push(Order::WakeAt { endpoint, at }),
            }
        }
        self.is_carrying = false;
    }

    fn on_accepted(&mut self, slot: MessageSlot, now: Time) {
        let message = *self.messages.message(slot);
        let post = &self.plan.classes[message.class.index()].post;
        if post.credits == Credits::Exempt {
            return;
        }
        if let Refused::Retry(periods) = &post.refused {
            let period = periods[message.source.index()];
            let refusals = now.since(message.created).as_ps() / period.as_ps();
            self.collector.on_refused(message.class, refusals);
        }
        self.refill(message.source, message.class, now);
    }

    fn enqueue(&mut self, slot: MessageSlot, now: Time) {
        let message = self.messages.message(slot);
        let (endpoint, is_told_apart) = (message.source, message.flow.is_some());
        let adapter = &mut self.adapters[endpoint.index()];
        adapter.enqueue(&mut self.flows, &mut self.messages, slot, now);
        if is_told_apart {
            self.tell_held();
        }
    }
}

// On which lane a message goes, where its class says more than which lanes there are.
//
// Drawn evenly among the lanes of the class: for every message, or with the first one of a flow.
// Source: Yum et al. 2002, section 5.2 ("VLs for a message are assigned using a uniform distribution
// of the available VLs").

/// The random streams of lanes.
#[derive(Clone, Debug)]
struct LaneChooser {
    /// By endpoint and class; empty where no class draws.
    streams: Box<[Option<Stream>]>,
    classes: usize,
}

impl LaneChooser {
    fn new(plan: &Plan) -> Self {
        let classes = plan.classes.len();
        if plan.classes.iter().all(|class| class.post.lane == LaneChoice::Any) {
            return Self { streams: Box::default(), classes };
        }
        let mut streams = vec![None; plan.fabric.endpoints().len() * classes];
        for (index, class) in plan.classes.iter().enumerate() {
            if class.post.lane == LaneChoice::Any {
                continue;
            }
            for endpoint in plan.fabric.endpoint_ids() {
                let name = plan.name_of(endpoint, ClassId::new(index));
                let stream = Stream::new(plan.seed, &name, Purpose::Lane);
                streams[endpoint.index() * classes + index] = Some(stream);
            }
        }
        Self { streams: streams.into(), classes }
    }

    /// Whether any class draws.
    fn draws(&self) -> bool {
        !self.streams.is_empty()
    }

    /// The VC class of a message, which is sent as one of a class.
    fn choose(
        &mut self,
        plan: &Plan,
        flows: &mut Flows,
        class: ClassId,
        message: &Message,
    ) -> VcClass {
        let stream = self.streams.get_mut(message.source.index() * self.classes + class.index());
        let draw = |among: &[VcClass]| {
            let stream = stream.and_then(Option::as_mut).expect("the class draws");
            let place = stream.below(among.len() as u64);
            among[usize::try_from(place).expect("lanes are few")]
        };
        match &plan.classes[class.index()].post.lane {
            LaneChoice::Any => plan.vc_class(class, message.source, message.destination),
            LaneChoice::AtRandom(among) => draw(among),
            LaneChoice::OfFlow(among) => {
                let flow = flows.get_mut(message.flow.expect("its flows are told apart"));
                *flow.lane.get_or_insert_with(|| draw(among))
            }
        }
    }
}
