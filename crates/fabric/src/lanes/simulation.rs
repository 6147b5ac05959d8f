//! The simulation: events between ticks, and the stages of a tick.

use crate::lanes::bits::Bits;
use crate::lanes::choice::Choice;
use crate::lanes::event::{Event, INDEX_MAX, Packed};
use crate::lanes::hosts::Host;
use crate::lanes::queues::Queues;
use crate::lanes::ring::Ring;
use crate::lanes::state::{InputLane, Layout, NONE, OutputLane, Port, SHIFT, bit_of};
use crate::lanes::transit::Transits;
use crate::lanes::worms::Worms;
use gingham_kernel::{Time, Wheel};
use gingham_model::measure::{ChannelCount, Collector};
use gingham_model::{Crossbar, Delivery, Due, Endpoints, PathChoice, PipelinePlan, Plan, Status};
use std::sync::Arc;

/// A run over virtual lanes, tick by tick.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) lanes: Arc<PipelinePlan>,
    pub(crate) endpoints: Endpoints,
    pub(crate) layout: Layout,
    /// By lane: what an output lane holds.
    pub(crate) output_depths: [u16; 16],
    pub(crate) cycle_ps: u64,
    /// By port.
    pub(crate) ports: Vec<Port>,
    /// By port and lane.
    pub(crate) inputs: Vec<InputLane>,
    /// By port and lane.
    pub(crate) outputs: Vec<OutputLane>,
    /// By port and lane: the worms on their way to this input lane.
    pub(crate) queues: Queues,
    pub(crate) worms: Worms,
    /// Ports that may have something to send on their link.
    pub(crate) leaving: Bits,
    /// Ports that may have something to send through the crossbar.
    pub(crate) crossing: Bits,
    /// Output ports that may give a lane.
    pub(crate) giving: Bits,
    /// Flits on their way to an input lane.
    pub(crate) arrivals: Ring,
    /// Credits on their way to an output lane.
    pub(crate) credits: Ring,
    /// Input lanes whose head is being routed.
    pub(crate) heads: Ring,
    /// Which heads ask for what.
    pub(crate) asks: crate::lanes::allocation::Asks,
    pub(crate) is_full_crossbar: bool,
    pub(crate) matching: crate::lanes::crossbar::Matching,
    pub(crate) choice: Choice,
    /// By host port, from the first on.
    pub(crate) hosts: Vec<Host>,
    pub(crate) transits: Transits,
    /// Whether hosts choose paths by how long their packets took to leave.
    pub(crate) looks_at_contention: bool,
    /// By port, if any channel is slow: when the channel that goes out is free, in picoseconds.
    pub(crate) free_ps: Vec<u64>,
    pub(crate) queue: Wheel<Packed>,
    /// The present instant, in picoseconds.
    pub(crate) now: u64,
    /// The next tick, all before it being over; `u64::MAX` if none is to come.
    pub(crate) tick: u64,
    /// The first tick that is not over.
    pub(crate) ticks_done: u64,
    pub(crate) events: u64,
    pub(crate) counts: Vec<ChannelCount>,
}

impl Simulation {
    /// A run of `plan`, at time zero.
    pub fn new(plan: Arc<Plan>, lanes: Arc<PipelinePlan>) -> Self {
        let layout = Layout::new(&plan);
        let shift = SHIFT;
        let ports = layout.ports(&plan, &lanes, shift);
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let indices = plan.channels.len().max(endpoints.source_count());
        assert!(indices <= INDEX_MAX, "an event holds 28 bits of index");
        let (count, all_lanes) = (ports.len(), ports.len() << shift);
        let ticks_ahead = ticks_ahead(&plan, &lanes);
        let input = InputLane { left: 0, present: 0, out: NONE };
        let slow = plan.channels.iter().any(|channel| channel.flit > lanes.cycle);
        let mut simulation = Self {
            outputs: outputs(&lanes, all_lanes, shift),
            inputs: vec![input; all_lanes],
            queues: Queues::new(all_lanes),
            worms: Worms::default(),
            leaving: Bits::new(count),
            crossing: Bits::new(count),
            giving: Bits::new(count),
            arrivals: Ring::new(ticks_ahead),
            credits: Ring::new(ticks_ahead),
            heads: Ring::new(u64::from(lanes.routing_cycles) + 1),
            asks: crate::lanes::allocation::Asks::new(&plan, &lanes, &ports, shift),
            is_full_crossbar: lanes.crossbar == Crossbar::Full,
            matching: crate::lanes::crossbar::Matching::new(&ports),
            choice: Choice::new(&plan, &lanes, &ports, shift),
            transits: Transits::new(&plan, count - layout.first_host, count, shift, ticks_ahead),
            hosts: Host::all(&plan, &layout, &endpoints, shift),
            looks_at_contention: matches!(plan.path_choice, PathChoice::ByContention(_)),
            free_ps: vec![0; if slow { count } else { 0 }],
            queue: Wheel::new(),
            output_depths: lanes.output_depths_flits.map(narrow),
            cycle_ps: lanes.cycle.as_ps(),
            now: 0,
            tick: 0,
            ticks_done: 0,
            events: 0,
            counts: vec![ChannelCount::default(); plan.channels.len()],
            layout,
            ports,
            endpoints,
            lanes,
            plan,
        };
        for source in 0..simulation.endpoints.source_count() {
            if let Some(next) = simulation.endpoints.await_arrival(source) {
                simulation.schedule(next.as_ps(), Event::Create { source });
            }
        }
        simulation
    }

    /// Simulates at least so many events, if there are; moves of flits are events, and a tick is done as a whole. The size of a
    /// call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> &Status {
        let end = self.events.saturating_add(events_max);
        while self.events < end && self.endpoints.is_running() {
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

    /// Events handled so far, moves of flits among them.
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

    fn step(&mut self) {
        let event_ps = self.queue.peek().map_or(u64::MAX, |(time, _)| time);
        let tick_ps = self.tick.saturating_mul(self.cycle_ps);
        if event_ps.min(tick_ps) >= self.endpoints.checkpoint().as_ps() {
            self.checkpoint(event_ps.min(tick_ps));
        } else if event_ps <= tick_ps {
            let (time, event) = self.queue.pop().expect("an event is pending");
            self.now = time;
            self.events += 1;
            self.handle(event.unpack());
        } else {
            self.now = tick_ps;
            self.step_tick();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Create { source } => self.create(source),
            Event::Reinject { channel: _, worm } => self.reinject(worm.index()),
            Event::Left { channel, worm } => self.left_host(channel, worm),
            Event::Release { channel: _, worm } => self.release(worm.index()),
            Event::Recognise { channel: _, worm } => self.recognise(worm.index()),
            Event::Gather { channel: _, worm } => self.gathered(worm.index()),
            Event::Begin { channel, worm } => self.begun_late(channel, worm),
            Event::Deliver { channel: _, worm } => self.deliver(worm),
            Event::Wake { channel } => self.wake(channel),
        }
    }

    /// One tick, stage by stage.
    fn step_tick(&mut self) {
        let (tick, before) = (self.tick, self.events);
        self.credit(tick);
        if self.transits.exist() {
            self.receive_at_hosts(tick);
        }
        self.send(tick);
        self.cross(tick);
        self.route(tick);
        self.give();
        self.receive(tick);
        self.tick += 1;
        self.ticks_done = self.tick;
        if self.events == before {
            self.events += 1;
            self.skip();
        }
    }

    /// Nothing happened in the last tick: goes on to the next at which something can.
    #[inline(never)]
    fn skip(&mut self) {
        if self.leaving.is_empty() && self.crossing.is_empty() && self.giving.is_empty() {
            let due = |ring: &Ring| ring.next_due(self.tick).unwrap_or(u64::MAX);
            let at_switches = due(&self.arrivals).min(due(&self.credits)).min(due(&self.heads));
            self.tick = at_switches.min(due(&self.transits.due));
        }
    }

    /// The host at the start of a port may have something to send from now on.
    pub(crate) fn rouse(&mut self, port: usize) {
        self.leaving.insert(port);
        self.tick = self.tick.min(self.now.div_ceil(self.cycle_ps).max(self.ticks_done));
    }

    /// Credits that are due count.
    fn credit(&mut self, tick: u64) {
        let due = self.credits.take(tick);
        let has_cut_through = !self.lanes.cut_through.is_empty();
        let (outputs, ports) = (&mut self.outputs[..], &mut self.ports[..]);
        for &lane in &due {
            let lane = lane as usize;
            let output = &mut outputs[lane];
            output.credit += 1;
            if output.credit == 1 {
                ports[lane >> SHIFT].credited |= bit_of(lane);
                self.leaving.insert(lane >> SHIFT);
            }
            if has_cut_through {
                // Whole packets may wait for this one.
                // Nobody promises those of an adapter, nor those of a wormhole lane.
                output.unpromised = output.unpromised.saturating_add(1);
                self.giving.insert(lane >> SHIFT);
                self.leaving.insert(lane >> SHIFT);
            }
        }
        self.credits.give_back(tick, due);
    }

    /// Flits that are due are in their lane buffers; they are seen from the next tick on.
    fn receive(&mut self, tick: u64) {
        let due = self.arrivals.take(tick);
        if self.choice.tracks {
            for lane in &due {
                self.choice.track_arrival(*lane as usize, tick);
            }
        }
        self.events += due.len() as u64;
        let routed = tick + 1 + u64::from(self.lanes.routing_cycles);
        let (inputs, ports) = (&mut self.inputs[..], &mut self.ports[..]);
        let crossing = &mut self.crossing.words[..];
        for &lane in &due {
            let lane = lane as usize;
            let port = lane >> SHIFT;
            let (input, state) = (&mut inputs[lane], &mut ports[port]);
            state.occupancy = state.occupancy.wrapping_sub(tick);
            input.present += 1;
            if input.present > 1 {
                continue;
            }
            if input.out == NONE {
                self.heads.push(routed, lane);
            } else {
                state.sendable |= bit_of(lane);
                crossing[port / 64] |= 1 << (port % 64);
            }
        }
        self.arrivals.give_back(tick, due);
    }

    /// A head stands first in an input lane from `tick` on.
    #[inline]
    pub(crate) fn read(&mut self, lane: usize, tick: u64) {
        self.heads.push(tick + 1 + u64::from(self.lanes.routing_cycles), lane);
    }

    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    /// Nothing more happens before `next`: a section ends, or it is time to look around.
    #[inline(never)]
    fn checkpoint(&mut self, next: u64) {
        let next = (next != u64::MAX).then(|| Time::from_ps(next));
        match self.endpoints.due(next) {
            Due::Event => unreachable!("the checkpoint is over"),
            Due::SectionEnd(time) => self.end_section(time.as_ps()),
            Due::DeadlockCheck(time) => {
                self.now = time.as_ps();
                let cycle = self.find_cycle();
                self.endpoints.check_deadlock(time, cycle, next.is_some());
            }
        }
    }
}

/// The farthest tick at which anything that a tick brings about can be due.
fn ticks_ahead(plan: &Plan, lanes: &PipelinePlan) -> u64 {
    let cycle = lanes.cycle.as_ps();
    let ahead = plan.channels.iter().map(|channel| {
        // A slow channel may begin a flit up to a cycle after the tick.
        2 + (channel.flit.as_ps() + channel.delay.as_ps()).div_ceil(cycle)
    });
    ahead.max().unwrap_or(1)
}

fn outputs(lanes: &PipelinePlan, count: usize, shift: u32) -> Vec<OutputLane> {
    let lane = |index: usize| {
        let credit = narrow(lanes.depths_flits[index & ((1 << shift) - 1)]);
        OutputLane { fill: 0, credit, unpromised: credit, holder: NONE }
    };
    (0..count).map(lane).collect()
}

/// Flits of a lane.
fn narrow(depth_flits: u32) -> u16 {
    u16::try_from(depth_flits).expect("a lane is of fewer than 2^16 flits")
}
