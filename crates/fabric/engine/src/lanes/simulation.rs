//! Simulation loop: events between ticks, and the stages of a tick.

use crate::Refusal;
use crate::bits::Bits;
use crate::lanes::clock::Clock;
use crate::lanes::columns;
use crate::lanes::context::Context;
use crate::lanes::counts::Counts;
use crate::lanes::event::Event;
use crate::lanes::hosts::Hosts;
use crate::lanes::layout::Layout;
use crate::lanes::network::Network;
use crate::lanes::stepper::{Ports, Stepper};
use crate::lanes::waits::Waits;
use crate::lanes::worms::Worms;
use crate::packed::assert_indices_fit;
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::measure::ChannelCount;
use gingham_net::{Endpoints, Notice, PipelinePlan, Plan, Run, SteppedBy, Stepping, WaitForGraph};
use gingham_topology::ChannelId;
use std::sync::Arc;

#[derive(Debug)]
struct Simulation<S> {
    context: Context,
    network: Network,
    hosts: Hosts,
    stepper: S,
    counted: Bits,
    counts: Vec<(ChannelId, ChannelCount)>,
    stepping: Stepping,
}

impl<S: Stepper> gingham_net::Network for Simulation<S> {
    fn now(&self) -> Time {
        Time::from_ps(self.context.clock.now())
    }

    fn events(&self) -> u64 {
        self.context.clock.events()
    }

    fn endpoints(&self) -> &Endpoints {
        &self.context.endpoints
    }

    fn endpoints_mut(&mut self) -> &mut Endpoints {
        &mut self.context.endpoints
    }

    fn packets_in_flight(&self) -> usize {
        self.context.worms.len()
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        let now = self.context.clock.now();
        let counts = Counts::new(&self.stepper, &self.network, &self.context);
        let channels = ChannelId::first(self.context.plan.channels.len());
        channels.map(|channel| counts.of(channel, (now + 1, now))).collect()
    }

    fn step(&mut self) -> Result<(), Option<Time>> {
        let (event_ps, tick_ps) = self.context.clock.next();
        let next_ps = event_ps.min(tick_ps);
        if next_ps >= self.context.endpoints.checkpoint().as_ps() {
            return Err((next_ps != u64::MAX).then(|| Time::from_ps(next_ps)));
        }
        if event_ps <= tick_ps {
            let event = self.context.clock.next_event();
            self.handle(event);
        } else {
            self.context.clock.go_to(tick_ps);
            self.step_tick();
        }
        Ok(())
    }

    fn finish(&mut self, at: Time) {
        self.context.clock.go_to(at.as_ps());
    }

    fn waiters(&mut self, at: Time) -> Vec<Waiter> {
        self.stepper.locate_worms(&self.network, &mut self.context);
        self.waits().waiters(at)
    }

    fn wait_for_graph(&mut self, at: Time) -> WaitForGraph {
        self.context.clock.go_to(at.as_ps());
        self.waits().graph()
    }

    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount> {
        let counts = Counts::new(&self.stepper, &self.network, &self.context);
        let count = |channel: &ChannelId| counts.of(*channel, (end.as_ps(), end.as_ps()));
        self.context.plan.follow.channels.iter().map(count).collect()
    }

    fn end_section(&mut self, end: Time) {
        self.count_section(end.as_ps());
    }

    fn stepping(&self) -> Option<Stepping> {
        Some(self.stepping)
    }

    fn assert_invariants(&self) {
        self.waits().assert_invariants();
        self.stepper.assert_invariants(&self.network, &self.context);
    }
}

pub(crate) fn start(plan: Arc<Plan>, lanes: Arc<PipelinePlan>) -> Box<dyn gingham_net::Simulation> {
    let endpoints = Endpoints::new(Arc::clone(&plan));
    let stepping = columns::choose(&plan, &lanes, &endpoints);
    SetUp::new(plan, lanes, endpoints, stepping).start()
}

pub(crate) fn start_by(
    plan: Arc<Plan>,
    lanes: Arc<PipelinePlan>,
    by: SteppedBy,
) -> Result<Box<dyn gingham_net::Simulation>, Refusal> {
    let endpoints = Endpoints::new(Arc::clone(&plan));
    if let Some(refusal) = columns::refusal(&plan, &lanes, &endpoints)
        && by == SteppedBy::Columns
    {
        return Err(refusal);
    }
    let stepping = Stepping::new(by, "it was asked for");
    Ok(SetUp::new(plan, lanes, endpoints, stepping).start())
}

pub(crate) struct SetUp {
    pub(crate) plan: Arc<Plan>,
    pub(crate) lanes: Arc<PipelinePlan>,
    pub(crate) layout: Layout,
    pub(crate) network: Network,
    endpoints: Endpoints,
    stepping: Stepping,
}

impl SetUp {
    fn new(
        plan: Arc<Plan>,
        lanes: Arc<PipelinePlan>,
        endpoints: Endpoints,
        stepping: Stepping,
    ) -> Self {
        let layout = Layout::new(&plan);
        assert_indices_fit(&endpoints);
        let network = Network::new(&plan, &lanes, &layout, &endpoints);
        Self { plan, lanes, layout, network, endpoints, stepping }
    }

    fn start(self) -> Box<dyn gingham_net::Simulation> {
        match self.stepping.by {
            SteppedBy::Ports => self.run(Ports),
            SteppedBy::Columns => columns::start(self),
        }
    }

    /// Creates a run with stages compiled for the stepper, because dynamic dispatch costs 2 % of
    /// the instructions on a small fabric.
    pub(crate) fn run<S: Stepper + 'static>(self, stepper: S) -> Box<dyn gingham_net::Simulation> {
        let Self { plan, lanes, layout, network, endpoints, stepping } = self;
        let mut simulation = Simulation {
            network,
            hosts: Hosts::new(&plan, &lanes, &layout, &endpoints),
            counted: Bits::new(plan.channels.len()),
            counts: Vec::new(),
            stepping,
            context: Context {
                clock: Clock::new(lanes.cycle.as_ps()),
                worms: Worms::new(!stepper.has_hops()),
                plan,
                lanes,
                layout,
                endpoints,
            },
            stepper,
        };
        let Simulation { context, network, hosts, .. } = &mut simulation;
        hosts.carry_out(&mut network.links, &mut network.switches, context);
        Box::new(Run::new(simulation))
    }
}

impl<S: Stepper> Simulation<S> {
    fn handle(&mut self, event: Event) {
        let Self { context, network, hosts, .. } = self;
        let Network { links, switches, in_transit, .. } = network;
        match event {
            Event::Create { source } => hosts.create(source, links, context),
            Event::WakeEndpoint { endpoint } => {
                context.notify(Notice::Woken { endpoint });
                hosts.carry_out(links, switches, context);
                if let Some(gathered) = hosts.take_gather() {
                    network.notify_gathered(gathered, context);
                    return hosts.carry_out(&mut network.links, &mut network.switches, context);
                }
                return;
            }
            Event::Reinject { packet, .. } => in_transit.on_reinjected(packet, context),
            Event::Left { channel, worm } => hosts.on_left(channel, worm, context),
            Event::Release { packet, .. } => in_transit.release(packet, links, context),
            Event::Recognise { packet, .. } => {
                in_transit.take_in(packet, context.clock.now(), links, context);
            }
            Event::TailReceived { packet, .. } => in_transit.receive_tail(packet, links, context),
            Event::Begin { channel, worm } => hosts.begin_late(channel, worm, links, context),
            Event::Deliver { worm, .. } => context.deliver(worm),
            Event::Wake { channel } => hosts.wake(channel, links, context),
        }
        hosts.carry_out(links, switches, context);
    }

    fn step_tick(&mut self) {
        let Self { context, network, hosts, stepper, .. } = self;
        let (tick, before) = (context.clock.tick(), context.clock.events());
        stepper.receive_credits(network, tick);
        if network.in_transit.exists() {
            network.in_transit.receive(&mut network.links, &mut network.buffers, context);
            hosts.carry_out(&mut network.links, &mut network.switches, context);
        }
        stepper.traverse_links(network, context, tick);
        hosts.send(network, context);
        stepper.launch(network, tick);
        stepper.traverse_switches(network, context, tick);
        stepper.route(network, context, tick);
        stepper.allocate_lanes(network, context);
        context.clock.count(stepper.receive_flits(network, tick));
        network.notify_lanes(context);
        hosts.carry_out(&mut network.links, &mut network.switches, context);
        context.clock.end_tick();
        if context.clock.events() == before {
            context.clock.count(1);
            self.fast_forward();
        }
    }

    #[inline(never)]
    fn fast_forward(&mut self) {
        let tick = self.context.clock.tick();
        if let Some(next) = self.network.idle_until(tick, &self.stepper) {
            self.context.clock.fast_forward(next);
        }
    }

    /// Ends a section. Events at `time` belong to the next section.
    #[inline(never)] // `benches/bench.py` finds the function by its name.
    fn count_section(&mut self, time: u64) {
        let Self { context, network, stepper, counted, counts, .. } = self;
        stepper.collect_active(network);
        let mut active = std::mem::take(&mut network.links.active);
        let channels = Counts::new(stepper, network, context);
        // A port at rest is not counted again until it sends a flit.
        counted.words.fill(0);
        active.retain(|port| {
            counted.insert(context.layout.channel(port).index());
            !channels.is_at_rest(port, time)
        });
        counts.clear();
        counts.extend(counted.iter().map(|channel| {
            let channel = ChannelId::new(channel);
            (channel, channels.of(channel, (time, time)))
        }));
        network.links.active = active;
        context.endpoints.end_section(counts);
        debug_assert!(
            self.context
                .endpoints
                .collector()
                .section_end()
                .is_none_or(|end| end > Time::from_ps(time)),
            "sections go on"
        );
    }

    fn waits(&self) -> Waits<'_> {
        let Self { stepper, network, hosts, context, .. } = self;
        Waits { view: stepper, network, hosts, context }
    }
}
