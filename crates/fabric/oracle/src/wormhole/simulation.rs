//! Simulation of a wormhole network, event by event.

use crate::endpoints::Endpoints;
use crate::run::Network;
use crate::timeline::Timeline;
use crate::watched::Watched;
use crate::wormhole::event::{Event, Flit, Symbol};
use crate::wormhole::host::{Host, Injection};
use crate::wormhole::input::{Head, Input, Output};
use crate::wormhole::worm::{WormId, Worms};
use gingham_fairq::RoundRobin;
use gingham_kernel::Time;
use gingham_net::congestion::{Onward, Waiter};
use gingham_net::measure::ChannelCount;
use gingham_net::{Notice, Plan, Wait, WaitForGraph, WormholePlan};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) wormhole: WormholePlan,
    pub(crate) timeline: Timeline<Event>,
    pub(crate) endpoints: Endpoints,
    pub(crate) watched: Watched,
    /// Endpoint that sends on each channel; `None` for channels from switches.
    pub(crate) endpoint_of: Vec<Option<EndpointId>>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) worms: Worms,
    pub(crate) inputs: Vec<Option<Input>>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) arbiters: Vec<Vec<RoundRobin>>,
    /// Ports that request an output, one bit per port; stored to avoid an allocation per grant.
    pub(crate) requests: Vec<u64>,
    pub(crate) counts: Vec<ChannelCount>,
    pub(crate) flits_entered: u64,
    pub(crate) flits_consumed: u64,
    pub(crate) flits_stripped: u64,
    pub(crate) flits_dropped: u64,
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
            Event::ControlArrives { channel, symbol } => self.on_control(channel, symbol),
            Event::FlitArrives { channel, flit } => self.receive(channel, flit),
            Event::Release { output } => {
                self.release(output);
                self.notify_lane(output);
            }
            Event::ReadHead { channel } => self.read_head(channel),
            Event::Request { channel } => self.request(channel),
            Event::Arbitrate { output } => {
                self.arbitrate(output);
                self.notify_lane(output);
            }
            Event::Transfer { channel } => self.transfer(channel),
            Event::EmitControl { channel } => self.emit_control(channel),
        }
    }

    fn counts_until(&self, end: Time) -> Vec<ChannelCount> {
        let mut counts = self.counts.clone();
        for (index, count) in counts.iter_mut().enumerate() {
            let stopped_since = self.outputs[index].stopped_since;
            count.stopped_ps += stopped_since.map_or(0, |since| end.since(since).as_ps());
            let input = self.inputs[index].as_ref();
            count.occupancy_flit_ps = input.map_or(0, |input| input.occupancy_flit_ps(end));
        }
        counts
    }

    fn packets_in_flight(&self) -> usize {
        self.worms.len()
    }

    fn waiters(&self, now: Time) -> Vec<Waiter> {
        self.all_waiters(now)
    }

    fn wait_for_graph(&self, _now: Time) -> WaitForGraph {
        self.waits()
    }

    fn assert_invariants(&self) {
        let buffered: usize = self.inputs.iter().flatten().map(Input::fill).sum();
        let on_wire =
            self.timeline.pending().filter(|e| matches!(e, Event::FlitArrives { .. })).count();
        let in_transit: usize = self.hosts.iter().map(Host::flits).sum();
        let gone = self.flits_consumed + self.flits_stripped + self.flits_dropped;
        let accounted = gone + (buffered + in_transit + on_wire) as u64;
        assert_eq!(self.flits_entered, accounted, "flits are conserved at {:?}", self.timeline.now);
        for input in self.inputs.iter().flatten() {
            assert!(input.fill() <= input.slack.capacity as usize, "a slack buffer overflowed");
        }
        for host in &self.hosts {
            let pool_bytes = host.in_transit.pool_bytes();
            assert_eq!(pool_bytes, host.needed_bytes(), "the fill of a pool equals its contents");
            assert!(pool_bytes <= self.plan.in_transit.pool_bytes, "a pool overflowed");
        }
    }
}

impl Simulation {
    pub(crate) fn new(plan: Arc<Plan>, wormhole: WormholePlan) -> Self {
        let channels = || ChannelId::first(plan.channels.len());
        let ports = |channel| usize::from(plan.fabric.node(plan.ends(channel).source.node).ports);
        let levels = wormhole.arbitration.level(plan.highest_priority()) + 1;
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let host = Host::new(plan.in_transit, endpoints.tally());
        let mut simulation = Self {
            wormhole,
            timeline: Timeline::new(),
            endpoints,
            watched: Watched::new(&plan),
            endpoint_of: channels()
                .map(|channel| plan.fabric.endpoint_at(plan.ends(channel).source))
                .collect(),
            hosts: vec![host; plan.fabric.endpoints().len()],
            worms: Worms::default(),
            inputs: plan.channels.iter().map(|channel| channel.slack.map(Input::new)).collect(),
            outputs: channels().map(|_| Output::new()).collect(),
            arbiters: channels()
                .map(|channel| vec![RoundRobin::new(ports(channel) + 1); levels])
                .collect(),
            requests: Vec::new(),
            counts: vec![ChannelCount::default(); plan.channels.len()],
            flits_entered: 0,
            flits_consumed: 0,
            flits_stripped: 0,
            flits_dropped: 0,
            plan,
        };
        simulation.carry_out();
        simulation.timeline.schedule_caused();
        simulation
    }

    pub(crate) fn input_mut(&mut self, channel: ChannelId) -> &mut Input {
        self.inputs[channel.index()].as_mut().expect("the channel ends at an input")
    }

    pub(crate) fn enter(&mut self, channel: ChannelId, flit: Flit) {
        let now = self.timeline.now;
        let input = self.input_mut(channel);
        assert!(input.fill() < input.slack.capacity as usize, "a slack buffer overflowed");
        input.enter(flit, now);
        self.fill_changed(channel);
    }

    pub(crate) fn leave(&mut self, channel: ChannelId) -> Option<Flit> {
        let now = self.timeline.now;
        let flit = self.input_mut(channel).leave(now)?;
        self.fill_changed(channel);
        Some(flit)
    }
}

// Wait-for graph of a wormhole network; `WaitCycle` defines deadlock.

impl Simulation {
    pub(crate) fn waits(&self) -> WaitForGraph {
        ChannelId::first(self.inputs.len())
            .filter_map(|channel| Some((channel.into(), Wait::one(self.waits_for(channel)?))))
            .collect()
    }

    fn waits_for(&self, channel: ChannelId) -> Option<ChannelId> {
        let input = self.inputs[channel.index()].as_ref()?;
        if self.is_waiting_at_host(channel) {
            return self.lastingly_stopped_by(Fabric::reverse(channel));
        }
        match input.head {
            Head::Idle | Head::Routing { .. } => None,
            Head::Waiting { output, .. } => self.outputs[output.index()].owner,
            Head::Connected { output } => self.lastingly_stopped_by(output),
        }
    }

    /// Returns the input at the end of `output` if it has stopped the output and still requests
    /// STOP.
    fn lastingly_stopped_by(&self, output: ChannelId) -> Option<ChannelId> {
        let blocker = self.inputs[output.index()].as_ref()?;
        let stopped = self.outputs[output.index()].stopped_since.is_some();
        let lasting = blocker.wanted == Symbol::Stop && blocker.announced == Symbol::Stop;
        (stopped && lasting).then_some(output)
    }
}

// Blocked worms, for congestion trees (`docs/concepts/timing.md`).
//
// ```text
//   input    its worm, from its header on   ─► the output that it requests or holds, blocked if stopped
//            worms behind that worm         ─► nothing
//   host     the worm that is being sent, and the first worm of every queue ─► the host's channel
// ```

impl Simulation {
    pub(crate) fn all_waiters(&self, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            if let Some(input) = &self.inputs[channel.index()] {
                self.waiters_in(channel, input, &mut found);
            }
        }
        for endpoint in self.plan.fabric.endpoint_ids() {
            self.waiters_at(endpoint, now, &mut found);
        }
        found
    }

    fn waiters_in(&self, channel: ChannelId, input: &Input, found: &mut Vec<Waiter>) {
        let Some((first, output)) = self.first_in(channel, input) else { return };
        let waiter =
            |worm, onward| Waiter::in_buffer(channel.into(), &self.worms.get(worm).packet, onward);
        found.push(waiter(first, Some(self.onward(output))));
        let mut before = first;
        for worm in input.worms() {
            if worm != std::mem::replace(&mut before, worm) {
                found.push(waiter(worm, None));
            }
        }
    }

    /// Returns the worm that an input serves, or that waits at a host for pool space, and the next
    /// channel of the worm.
    fn first_in(&self, channel: ChannelId, input: &Input) -> Option<(WormId, ChannelId)> {
        if self.is_waiting_at_host(channel) {
            return Some((input.worms().next()?, Fabric::reverse(channel)));
        }
        match input.head {
            Head::Idle => None,
            Head::Routing { output, .. }
            | Head::Waiting { output, .. }
            | Head::Connected { output } => Some((input.serves?, output)),
        }
    }

    fn waiters_at(&self, endpoint: EndpointId, now: Time, found: &mut Vec<Waiter>) {
        let onward = self.onward(self.plan.fabric.endpoint_channel(endpoint));
        let host = &self.hosts[endpoint.index()];
        let sending = host.injection.as_ref().map(|injection| match injection {
            Injection::Local(local) => local.worm,
            Injection::InTransit(worm) => *worm,
        });
        found.extend(sending.map(|worm| Waiter::sending(&self.worms.get(worm).packet, onward)));
        let queued = self.endpoints.queued(endpoint, now);
        found.extend(queued.iter().map(|queued| Waiter::queued(queued, onward)));
    }

    fn onward(&self, output: ChannelId) -> Onward {
        Onward::by_channel(output, self.outputs[output.index()].stopped_since.is_some())
    }
}
