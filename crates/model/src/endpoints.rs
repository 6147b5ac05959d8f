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
//! A simulation asks [`Endpoints::due`] before every event, and does what it says. Sections and
//! deadlock checks lie between instants: a section that ends at `t` ends before anything of `t`
//! happens, a check at `t` comes after all of it.
//!
//! Invariant: what is here never depends on how flits move; two simulations of a plan that deliver
//! the same packets at the same instants leave the same collector.

use crate::measure::{ChannelCount, Collector};
use crate::traffic::Source;
use crate::{
    Adapter, Arrival, Conformance, Delivery, Message, MessageId, Packet, Plan, Reassembly, Status,
    Turn, WaitCycle,
};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use std::sync::Arc;

/// Deadlocks are looked for this many times a run.
const DEADLOCK_CHECKS: u64 = 64;

/// What a simulation is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Its next event.
    Event,
    /// Nothing more happens before this instant: it ends a section ([`Endpoints::end_section`]).
    SectionEnd(Time),
    /// Nothing more happens up to this instant, itself included: a deadlock check
    /// ([`Endpoints::check_deadlock`]).
    DeadlockCheck(Time),
}

/// Sources, adapters, reassembly and collector of a run, and how far it has come.
#[derive(Clone, Debug)]
pub struct Endpoints {
    plan: Arc<Plan>,
    sources: Vec<Source>,
    /// By endpoint: its backlogged sources.
    backlogged: Vec<Vec<usize>>,
    /// By endpoint.
    pub adapters: Vec<Adapter>,
    /// Messages under way.
    pub reassembly: Reassembly,
    collector: Collector,
    status: Status,
    messages_created: usize,
    /// Sources whose next message is scheduled.
    arrivals_pending: usize,
    next_check: Time,
    /// Events before this instant may happen without asking.
    checkpoint: Time,
}

impl Endpoints {
    /// A run of `plan`, at time zero. Every source is to be asked for its first message
    /// ([`Self::await_arrival`]).
    pub fn new(plan: Arc<Plan>) -> Self {
        let sources = Source::all(&plan);
        let mut backlogged = vec![Vec::new(); plan.fabric.endpoints().len()];
        for (index, source) in sources.iter().enumerate() {
            if source.is_backlogged() {
                backlogged[source.endpoint().index()].push(index);
            }
        }
        let mut endpoints = Self {
            sources,
            backlogged,
            adapters: Adapter::all(&plan),
            reassembly: Reassembly::default(),
            collector: Collector::new(&plan),
            status: Status::Running,
            messages_created: 0,
            arrivals_pending: 0,
            next_check: Time::ZERO,
            checkpoint: Time::ZERO,
            plan,
        };
        endpoints.next_check = endpoints.check_after(Time::ZERO);
        endpoints.set_checkpoint();
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

    // Messages.

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// Where the messages of a source begin.
    pub fn endpoint(&self, source: usize) -> EndpointId {
        self.sources[source].endpoint()
    }

    /// When a source creates its next message, if there is one and its instant is known. To be
    /// asked once at the beginning, and by [`Self::arrive`] ever after.
    pub fn await_arrival(&mut self, source: usize) -> Option<Time> {
        let next = self.sources[source].next_arrival()?;
        self.arrivals_pending += 1;
        Some(next)
    }

    /// A source creates the message that was awaited `now`: when its next one comes.
    pub fn arrive(&mut self, source: usize, now: Time) -> Option<Time> {
        self.arrivals_pending -= 1;
        self.create(source, now);
        self.await_arrival(source)
    }

    fn create(&mut self, source: usize, now: Time) {
        let source = &mut self.sources[source];
        let draft = source.draw();
        let message = Message {
            id: MessageId::new(self.messages_created),
            class: source.class(),
            source: source.endpoint(),
            destination: draft.destination,
            payload_bytes: draft.payload_bytes,
            created: now,
            flow: None,
        };
        self.messages_created += 1;
        self.collector.on_created(&message);
        let adapter = &mut self.adapters[message.source.index()];
        if adapter.admit(&self.plan, message) == Conformance::Dropped {
            self.collector.on_dropped(&message);
        }
    }

    /// What an adapter begins to send of a group of its queues `now`, the link being free.
    ///
    /// A backlogged class creates its next message at this same instant, although messages are
    /// created before all else: nothing of this instant can depend on it any more.
    pub fn take(&mut self, endpoint: EndpointId, group: usize, now: Time) -> Turn {
        let turn = self.begin(endpoint, group, now);
        if let Turn::Send(packet) = &turn {
            self.refill(endpoint, packet, now);
        }
        turn
    }

    /// What an adapter begins to send of a group of its queues at `begins`, which may be later than
    /// the present instant: [`Self::refill`] is to follow then.
    pub fn begin(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Turn {
        self.adapters[endpoint.index()].take(group, begins, &mut self.reassembly)
    }

    /// A packet of an endpoint's own begins `now`: a backlogged class creates its next message if
    /// it is the first of one.
    pub fn refill(&mut self, endpoint: EndpointId, packet: &Packet, now: Time) {
        if !packet.is_first {
            return;
        }
        for place in 0..self.backlogged[endpoint.index()].len() {
            let index = self.backlogged[endpoint.index()][place];
            let source = &self.sources[index];
            if source.class() == packet.class && source.refills(now) {
                self.create(index, now);
            }
        }
    }

    /// The tail of a packet of an endpoint's own, of so many flits on a link of that flit time, has
    /// left `now`; its first flit began at `began`.
    pub fn on_left(
        &mut self,
        endpoint: EndpointId,
        began: Time,
        now: Time,
        flits: u64,
        flit: Span,
    ) {
        let adapter = &mut self.adapters[endpoint.index()];
        if let Some(contention) = adapter.on_left(began, now, flits, flit) {
            self.collector.on_contention(endpoint, now, contention);
        }
    }

    /// A packet has arrived whole.
    pub fn deliver(&mut self, packet: &Packet, arrival: &Arrival) {
        let Some(delivery) = self.reassembly.arrive(packet.assembly, arrival) else { return };
        self.collector.on_delivered(&delivery);
        if self.collector.is_complete() {
            self.set_checkpoint();
        }
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
            Due::SectionEnd(self.checkpoint)
        } else {
            Due::DeadlockCheck(last)
        }
    }

    /// A section has ended at the instant that was due: these are the counts of every channel over
    /// all time before.
    pub fn end_section(&mut self, counts: &[ChannelCount]) {
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
            let drained = in_flight == 0 && self.arrivals_pending == 0;
            self.status = if drained { Status::Drained } else { Status::Finished };
        } else {
            assert!(
                in_flight == 0 || has_events,
                "messages are left, nothing can happen, and no cycle of waits explains it"
            );
        }
        self.set_checkpoint();
    }

    /// Decides again up to when events may happen: the collector has changed its mind, or a
    /// checkpoint is over.
    fn set_checkpoint(&mut self) {
        let last = self.last_before_check();
        let section_end = self.collector.section_end().filter(|end| *end <= last);
        self.checkpoint = section_end.unwrap_or(last + Span::from_ps(1));
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
