//! The arbiters of lanes at one stage, at every port.
//!
//! ```text
//!   by the packet    the lane of a packet that has begun is the only one that is open, until its tail has gone
//!   instants         at which each flit of a lane came to its place, in order
//! ```
//!
//! They are kept only where they are not the default, round robin by the flit: most switches never
//! come here.

use crate::lanes::layout::{LANES, SHIFT};
use gingham_fairq::Head;
use gingham_net::scheduler::LooksAt;
use gingham_net::{Granularity, LaneArbiter, PipelinePlan, Plan, Scheduler};
use std::collections::VecDeque;
use std::num::NonZeroU16;

/// The arbiters of a stage.
#[derive(Clone, Debug)]
pub(crate) struct Arbiters {
    pub(crate) are_default: bool,
    pub(crate) are_by_packet: bool,
    flit_bytes: u32,
    cycle_ps: u64,
    /// By port; empty where they are the default.
    ports: Vec<LaneArbiter>,
    /// By lane, if they look at arrivals: ticks at which its flits came.
    arrivals: Vec<VecDeque<u64>>,
}

impl Arbiters {
    pub(crate) fn new(of: &Scheduler, plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Self {
        let are_default = *of == Scheduler::default();
        Self { are_default, ..Self::of(of, plan, lanes, if are_default { 0 } else { ports }) }
    }

    /// The same where even the default is one by the lane.
    pub(crate) fn of(of: &Scheduler, plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Self {
        let arbiter = LaneArbiter::over(of, &plan.lanes);
        let tracked = if of.facts().looks_at == LooksAt::Arrivals { ports << SHIFT } else { 0 };
        Self {
            are_default: false,
            are_by_packet: of.facts().by == Granularity::Packet,
            flit_bytes: lanes.flit_bytes,
            cycle_ps: lanes.cycle.as_ps(),
            ports: vec![arbiter; ports],
            arrivals: vec![VecDeque::new(); tracked],
        }
    }

    /// A flit comes to a lane at a tick.
    pub(crate) fn track_arrival(&mut self, lane: usize, tick: u64) {
        if let Some(arrivals) = self.arrivals.get_mut(lane) {
            arrivals.push_back(tick);
        }
    }

    /// A flit leaves a lane.
    pub(crate) fn track_departure(&mut self, lane: usize) {
        if let Some(arrivals) = self.arrivals.get_mut(lane) {
            arrivals.pop_front();
        }
    }

    /// When the first flit of a lane came, where they look at that.
    pub(crate) fn arrival_ps(&self, lane: usize) -> u64 {
        let arrival = self.arrivals.get(lane).and_then(VecDeque::front);
        arrival.map_or(0, |tick| tick * self.cycle_ps)
    }

    /// What an arbiter sees of a packet of so many flits, or of one of them, that came at an
    /// instant.
    pub(crate) fn head(&self, flits: u32, arrival_ps: u64) -> Head {
        let flits = if self.are_by_packet { flits } else { 1 };
        Head { length_bytes: flits * self.flit_bytes, arrival_ps }
    }

    /// The lane that a port serves, of some, by what stands first in each.
    pub(crate) fn serve(
        &mut self,
        port: usize,
        lanes: u16,
        heads: &[Head; LANES],
    ) -> Option<usize> {
        self.ports[port].serve(lanes, heads).map(usize::from)
    }

    /// A lane of a port has another weight.
    pub(crate) fn weigh(&mut self, port: usize, lane: u8, weight: NonZeroU16) {
        self.ports[port].weigh(lane, weight);
    }

    /// The lane that [`Self::serve`] would choose; nothing changes.
    pub(crate) fn peek(&self, port: usize, lanes: u16, heads: &[Head; LANES]) -> Option<usize> {
        self.ports[port].peek(lanes, heads).map(usize::from)
    }
}
