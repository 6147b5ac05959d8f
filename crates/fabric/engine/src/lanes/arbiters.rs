//! Lane arbiters of one stage, one per port; unused with the default arbiter, flit-level round
//! robin.
//!
//! With packet-level arbitration, only the lane of the packet in progress is open until its tail
//! has left.

use crate::lanes::layout::{LANES, SHIFT};
use gingham_fairq::Head;
use gingham_net::scheduler::DependsOn;
use gingham_net::{Granularity, LaneArbiter, PipelinePlan, Plan, Scheduler};
use std::collections::VecDeque;
use std::num::NonZeroU16;

#[derive(Clone, Debug)]
pub(crate) struct Arbiters {
    pub(crate) are_default: bool,
    pub(crate) are_by_packet: bool,
    flit_bytes: u32,
    cycle_ps: u64,
    ports: Vec<LaneArbiter>,
    /// Arrival ticks of the flits in each lane; empty unless an arbiter uses arrival times.
    arrivals: Vec<VecDeque<u64>>,
}

impl Arbiters {
    pub(crate) fn new(of: &Scheduler, plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Self {
        let are_default = *of == Scheduler::default();
        Self { are_default, ..Self::of(of, plan, lanes, if are_default { 0 } else { ports }) }
    }

    pub(crate) fn of(of: &Scheduler, plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Self {
        let arbiter = LaneArbiter::over(of, &plan.lanes);
        let tracked = if of.facts().depends_on == DependsOn::Arrivals { ports << SHIFT } else { 0 };
        Self {
            are_default: false,
            are_by_packet: of.facts().by == Granularity::Packet,
            flit_bytes: lanes.flit_bytes,
            cycle_ps: lanes.cycle.as_ps(),
            ports: vec![arbiter; ports],
            arrivals: vec![VecDeque::new(); tracked],
        }
    }

    pub(crate) fn track_arrival(&mut self, lane: usize, tick: u64) {
        if let Some(arrivals) = self.arrivals.get_mut(lane) {
            arrivals.push_back(tick);
        }
    }

    pub(crate) fn track_departure(&mut self, lane: usize) {
        if let Some(arrivals) = self.arrivals.get_mut(lane) {
            arrivals.pop_front();
        }
    }

    /// Returns the arrival time of a lane's first flit, in ps; 0 if arrivals are not tracked.
    pub(crate) fn arrival_ps(&self, lane: usize) -> u64 {
        let arrival = self.arrivals.get(lane).and_then(VecDeque::front);
        arrival.map_or(0, |tick| tick * self.cycle_ps)
    }

    /// Returns the arbiter's view of a packet, or of one of its flits, that arrived at
    /// `arrival_ps`.
    pub(crate) fn head(&self, flits: u32, arrival_ps: u64) -> Head {
        let flits = if self.are_by_packet { flits } else { 1 };
        Head { length_bytes: flits * self.flit_bytes, arrival_ps }
    }

    pub(crate) fn serve(
        &mut self,
        port: usize,
        lanes: u16,
        heads: &[Head; LANES],
    ) -> Option<usize> {
        self.ports[port].serve(lanes, heads).map(usize::from)
    }

    pub(crate) fn weigh(&mut self, port: usize, lane: u8, weight: NonZeroU16) {
        self.ports[port].weigh(lane, weight);
    }

    pub(crate) fn peek(&self, port: usize, lanes: u16, heads: &[Head; LANES]) -> Option<usize> {
        self.ports[port].peek(lanes, heads).map(usize::from)
    }
}
