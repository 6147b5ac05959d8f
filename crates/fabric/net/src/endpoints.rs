//! Endpoints of a run: all of the simulation except the movement of flits.
//!
//! ```text
//!   sources ─► messages ─► adapters ─► packets ─► [ network ] ─► reassembly ─► collector
//! ```
//!
//! Invariant: endpoints do not depend on the movement of flits. Two simulations of the same plan
//! that deliver the same packets at the same times have equal collectors.

mod admission;
mod agenda;
mod checkpoints;
mod creation;
mod lane_chooser;
mod notices;
mod outbox;
mod probe;
mod sources;

use crate::congestion::Queued;
use crate::flows::Flows;
use crate::marking::{Marker, Marking};
use crate::measure::{ChannelCount, Collector};
use crate::messages::Messages;
use crate::posting::Posts;
use crate::receipts::Receipts;
use crate::throttle::Throttle;
use crate::{
    Adapter, Conservation, Decision, Delivery, Ledger, NetworkEvent, Next, Noted, Order, Plan,
    Request, Status, StreamId, Switched, Turn, WaitCycle, Wanted, Which,
};
use admission::Admission;
use checkpoints::Checkpoints;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};
use lane_chooser::LaneChooser;
use outbox::Outbox;
use probe::Probe;
use sources::Sources;
use std::sync::Arc;

/// Next action of a simulation. An action with a time precedes all events of that time, except
/// [`Self::DeadlockCheck`], which follows them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Process the next event.
    Event,
    /// End a section ([`Endpoints::end_section`]).
    SectionEnd(Time),
    /// End a step of the followed quantities ([`crate::Notice::Sampled`]).
    StepEnd(Time),
    /// Search for congestion trees ([`crate::Notice::TreesSampled`]).
    TreeSample(Time),
    /// Apply a network event before any other event that is due
    /// ([`Endpoints::take_network_event`]).
    NetworkEvent,
    /// Search for deadlocks ([`Endpoints::check_deadlock`]).
    DeadlockCheck(Time),
}

/// Endpoints and progress of a run.
#[derive(Clone, Debug)]
pub struct Endpoints {
    plan: Arc<Plan>,
    sources: Sources,
    outbox: Outbox,
    flows: Flows,
    receipts: Receipts,
    messages: Messages,
    lanes: LaneChooser,
    admission: Option<Box<Admission>>,
    posts: Option<Box<Posts>>,
    throttle: Option<Box<Throttle>>,
    marker: Option<Marker>,
    probe: Option<Box<Probe>>,
    collector: Collector,
    checkpoints: Checkpoints,
    conservation: Conservation,
    status: Status,
    wanted: Wanted,
    is_causal: bool,
}

impl Endpoints {
    /// Creates the endpoints of a run at time zero, and schedules their first messages.
    pub fn new(plan: Arc<Plan>) -> Self {
        plan.assert_routing();
        let sources = Sources::new(&plan);
        let throttle = Throttle::new(&plan);
        let collector = Collector::new(&plan);
        let counts_received = throttle.as_ref().is_some_and(Throttle::counts_received);
        let mut endpoints = Self {
            outbox: Outbox::new(&plan),
            flows: Flows::new(&plan),
            receipts: Receipts::default(),
            messages: Messages::default(),
            lanes: LaneChooser::new(&plan),
            admission: Admission::new(&plan).map(Box::new),
            posts: Posts::new(&plan).map(Box::new),
            throttle: throttle.map(Box::new),
            marker: plan.marking.as_ref().map(|marking| marking.start(&plan)),
            probe: Probe::new(&plan).map(Box::new),
            checkpoints: Checkpoints::new(&plan, &collector),
            conservation: Conservation::default(),
            status: Status::Running,
            wanted: wanted(&plan, sources.await_starts()),
            is_causal: plan.is_controlled() || sources.await_deliveries() || counts_received,
            collector,
            sources,
            plan,
        };
        for source in 0..endpoints.sources.len() {
            endpoints.sources.schedule(source, &mut endpoints.outbox);
        }
        let gather = endpoints.throttle.as_ref().and_then(|throttle| throttle.first_gather());
        endpoints.outbox.orders_mut().extend(gather);
        endpoints
    }

    /// Returns the plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the status of the run.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Returns whether the run is still in progress.
    pub fn is_running(&self) -> bool {
        self.status == Status::Running
    }

    /// Returns the collector of all measurements so far.
    pub fn collector(&self) -> &Collector {
        &self.collector
    }

    /// Returns mutable access to the collector, for reports from in-transit hosts.
    pub fn collector_mut(&mut self) -> &mut Collector {
        &mut self.collector
    }

    /// Takes the messages delivered since the last call, in order of delivery; empty unless the
    /// plan keeps all messages.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        self.collector.take_messages()
    }

    /// Returns the number of sources.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// Returns the adapters, indexed by endpoint.
    #[inline]
    pub fn adapters(&self) -> &[Adapter] {
        self.outbox.adapters()
    }

    /// Returns the adapter of an endpoint.
    #[inline]
    pub fn adapter(&self, endpoint: EndpointId) -> &Adapter {
        &self.outbox.adapters()[endpoint.index()]
    }

    /// Returns which optional notices the endpoints need; constant during a run.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Returns the notices recorded by the probe, in order; empty without a probe.
    pub fn noted(&self) -> &[Noted] {
        self.probe.as_ref().map_or(&[], |probe| probe.noted())
    }

    /// Returns the admission requests, indexed by stream; empty without admission control.
    pub fn requests(&self) -> &[Request] {
        self.admission.as_ref().map_or(&[], |admission| admission.requests())
    }

    /// Returns the reserved bandwidth of all links; `None` without admission control.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.admission.as_ref().map(|admission| admission.ledger())
    }

    /// Returns the number of times that throttled hosts were woken.
    pub fn throttled(&self) -> u64 {
        self.throttle.as_ref().map_or(0, |throttle| throttle.woken())
    }

    /// Returns the packet that [`Self::turn`] would take.
    pub fn next(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Next {
        let adapter = self.outbox.adapter(endpoint);
        let throttle = self.throttle.as_deref_mut();
        adapter.next(&mut self.flows, &mut self.messages, throttle, group, begins)
    }

    /// Returns whether a group has a packet that neither a window nor a rate limit holds back.
    /// Ignores token buckets and throttling.
    pub fn has_ready(&self, endpoint: EndpointId, group: usize, now: Time) -> bool {
        self.adapter(endpoint).has_ready(&self.flows, group, now)
    }

    /// Takes the next packet of a group, to start at `begins`, when the endpoint's link becomes
    /// free. The network must then report [`crate::Notice::Began`] if that notice is wanted.
    #[expect(clippy::inline_always, reason = "callers take the packet apart in place")]
    #[inline(always)]
    pub fn turn(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Turn {
        let adapter = self.outbox.adapter(endpoint);
        let throttle = self.throttle.as_deref_mut();
        let turn = adapter.take(&mut self.flows, &mut self.messages, throttle, group, begins);
        if self.flows.has_held() {
            self.report_held();
        }
        if matches!(turn, Turn::Send(_)) {
            self.conservation.inject();
        }
        turn
    }

    /// Returns the first packet of each queue of an endpoint, except packets that wait for an
    /// acknowledgement or their rate limit.
    pub fn queued(&self, endpoint: EndpointId, now: Time) -> Vec<Queued> {
        self.adapter(endpoint).queued(&self.flows, &self.messages, now)
    }

    /// Returns whether any order is pending.
    #[inline]
    pub fn has_orders(&self) -> bool {
        !self.outbox.orders().is_empty()
    }

    /// Takes the latest pending order. Orders form a stack, because a source with another message
    /// due now must be scheduled before its endpoint sends.
    #[inline]
    pub fn next_order(&mut self) -> Option<Order> {
        self.outbox.orders_mut().pop()
    }

    #[inline(never)]
    fn report_held(&mut self) {
        while let Some(held) = self.flows.next_held() {
            self.collector.on_held(held.flow, held.by, held.from, held.to);
        }
    }

    /// Returns the time before which no checkpoint is due. Any event may change it.
    #[inline]
    pub fn checkpoint(&self) -> Time {
        self.checkpoints.next()
    }

    /// Returns the next action, given the time of the next event.
    pub fn due(&self, next: Option<Time>) -> Due {
        self.checkpoints.due(next, &self.collector)
    }

    /// Ends the section that is due. `counts` are totals since time zero, in ascending channel
    /// order, for at least every channel with events since the last section.
    pub fn end_section(&mut self, counts: &[(ChannelId, ChannelCount)]) {
        self.flows.settle(self.checkpoints.next());
        self.report_held();
        self.collector.on_section_end(counts);
        self.checkpoints.update(&self.collector);
    }

    /// Takes the network event that is due, for [`crate::Network::apply`].
    pub fn take_network_event(&mut self) -> NetworkEvent {
        let event = self.checkpoints.take_event();
        self.checkpoints.update(&self.collector);
        event
    }

    /// Ends all workloads of an endpoint because its host crashes.
    pub fn crash_host(&mut self, endpoint: EndpointId) {
        self.sources.crash_host(endpoint);
    }

    /// Ends the workload of a stream because its application crashes.
    pub fn crash_application(&mut self, stream: StreamId) {
        self.sources.crash_application(stream);
    }

    /// Returns the counts of packets that entered and left the network.
    pub fn conservation(&self) -> &Conservation {
        &self.conservation
    }

    /// Handles the result of a deadlock check after all events of `time`, and may end the run.
    /// `has_events` is set if the network has further events.
    pub fn check_deadlock(&mut self, time: Time, cycle: Option<WaitCycle>, has_events: bool) {
        self.checkpoints.pass_check(time);
        let (in_flight, others) = (self.collector.in_flight_messages(), self.outbox.in_flight());
        if let Some(cycle) = cycle {
            self.status = Status::Deadlocked(cycle);
        } else if time == self.collector.end() {
            if let Some(admission) = &mut self.admission {
                admission.settle(time);
            }
            let is_delivered = in_flight == 0 && others == 0 && self.conservation.lost() == 0;
            let is_finished = is_delivered && self.sources.are_finished();
            if is_finished {
                self.collector.finish();
            }
            self.status = if is_finished { Status::Finished } else { Status::Ended };
        } else {
            // Without a deadlock, a flow waits for an acknowledgement only while a packet is in the
            // network or in a queue that a future event empties.
            assert!(
                (in_flight == 0 && others == 0) || has_events || self.conservation.lost() > 0,
                "{in_flight} messages and {others} packets without one are left, {} flows wait for acknowledgements, nothing can happen, \
                 and no cycle of waits explains it",
                self.flows.shut()
            );
        }
        self.checkpoints.update(&self.collector);
    }
}

fn wanted(plan: &Plan, await_starts: bool) -> Wanted {
    let is_probed = plan.probe.is_some();
    Wanted {
        began: match (is_probed, await_starts) {
            (true, _) => Which::All,
            (false, true) => Which::First,
            (false, false) => Which::None,
        },
        left: is_probed
            || plan.adapters.is_some()
            || plan.admission.is_some()
            || matches!(plan.routing.decision, Decision::ByContention(_)),
        read: is_probed
            || plan.admission.is_some()
            || plan.marking.as_ref().is_some_and(|of| !of.uses_outputs()),
        loads: matches!(plan.routing.decision, Decision::ByLoad { .. }),
        switched: switched(plan),
    }
}

fn switched(plan: &Plan) -> Switched {
    let marking = plan.marking.as_ref();
    let asks = |of: fn(&Marking) -> bool| plan.probe.is_some() || marking.is_some_and(of);
    if !plan.switching.reports_waiting_for_outputs() || !asks(Marking::uses_outputs) {
        Switched::Nothing
    } else if asks(Marking::needs_space) {
        Switched::StaysAndSpace
    } else {
        Switched::Stays
    }
}
