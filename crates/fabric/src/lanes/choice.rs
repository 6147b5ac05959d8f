//! Arbiters that are not round robin by the flit, and what they look at.
//!
//! ```text
//!   by the packet    the lane of a packet that has begun is the only one that is open, until its tail has gone
//!   lengths          of packets: those in an output lane, in order
//!   instants         at which each flit of a lane came to its place, in order
//! ```
//!
//! All of it is kept only where an arbiter looks at it: most switches serve in turn, flit by flit, and never come here.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{Port, SHIFT};
use gingham_fairq::Head;
use gingham_model::scheduler::LooksAt;
use gingham_model::{Granularity, LaneArbiter, PipelinePlan, Scheduler};
use std::collections::VecDeque;

/// The arbiters of all ports.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what most switches do without, each by itself")]
pub(crate) struct Choice {
    /// Whether links are shared in turn, flit by flit.
    pub(crate) link_is_plain: bool,
    /// Whether crossbar inputs are.
    pub(crate) input_is_plain: bool,
    /// Whether adapters are, and nothing that waits for tokens or credits for a whole packet has to be asked for.
    pub(crate) host_is_plain: bool,
    pub(crate) adapter_is_by_packet: bool,
    /// Whether any class is policed.
    pub(crate) has_policing: bool,
    link_is_by_packet: bool,
    input_is_by_packet: bool,
    /// Whether anything below is kept.
    pub(crate) tracks: bool,
    flit_bytes: u32,
    cycle_ps: u64,
    /// By port; empty where they are plain.
    links: Vec<LaneArbiter>,
    inputs: Vec<LaneArbiter>,
    /// By port.
    adapters: Vec<LaneArbiter>,
    /// By output lane, if links are not plain: flits of its packets that were not sent, in order.
    packets: Vec<VecDeque<u32>>,
    /// By output lane, if links look at arrivals: ticks at which its flits crossed.
    crossed: Vec<VecDeque<u64>>,
    /// By input lane, if crossbar inputs look at arrivals: ticks at which its flits came.
    came: Vec<VecDeque<u64>>,
}

fn is_plain(scheduler: &Scheduler) -> bool {
    *scheduler == Scheduler::default()
}

impl Choice {
    pub(crate) fn new(
        plan: &gingham_model::Plan,
        lanes: &PipelinePlan,
        ports: &[Port],
        shift: u32,
    ) -> Self {
        let arbiters = |of: &Scheduler| {
            let arbiter = LaneArbiter::new(of, plan.lanes.count);
            vec![arbiter; if is_plain(of) { 0 } else { ports.len() }]
        };
        let (link, input, adapter) =
            (&plan.lanes.link_output, &lanes.crossbar_input, &plan.lanes.adapter_port);
        let has_policing = plan.classes.iter().any(|class| class.policing.is_some());
        let count = |is_kept: bool| if is_kept { ports.len() << shift } else { 0 };
        let by_packet = |of: &Scheduler| of.facts().by == Granularity::Packet;
        let looks_at_arrivals = |of: &Scheduler| of.facts().looks_at == LooksAt::Arrivals;
        Self {
            link_is_plain: is_plain(link),
            input_is_plain: is_plain(input),
            host_is_plain: is_plain(adapter) && !has_policing && lanes.cut_through.is_empty(),
            adapter_is_by_packet: by_packet(adapter),
            has_policing,
            link_is_by_packet: by_packet(link),
            input_is_by_packet: by_packet(input),
            tracks: !is_plain(link) || !is_plain(input),
            flit_bytes: lanes.flit_bytes,
            cycle_ps: lanes.cycle.as_ps(),
            links: arbiters(link),
            inputs: arbiters(input),
            adapters: arbiters(adapter),
            packets: vec![VecDeque::new(); count(!is_plain(link))],
            crossed: vec![VecDeque::new(); count(looks_at_arrivals(link))],
            came: vec![VecDeque::new(); count(looks_at_arrivals(input))],
        }
    }

    /// A flit came to an input lane.
    pub(crate) fn track_arrival(&mut self, lane: usize, tick: u64) {
        if let Some(came) = self.came.get_mut(lane) {
            came.push_back(tick);
        }
    }

    /// A packet of so many flits will come to an output lane.
    pub(crate) fn track_packet(&mut self, lane: usize, flits: u32) {
        if let Some(packets) = self.packets.get_mut(lane) {
            packets.push_back(flits);
        }
    }

    /// A flit goes from an input lane to an output lane.
    pub(crate) fn track_crossing(&mut self, from: usize, to: usize, tick: u64) {
        if let Some(came) = self.came.get_mut(from) {
            came.pop_front();
        }
        if let Some(crossed) = self.crossed.get_mut(to) {
            crossed.push_back(tick);
        }
    }

    /// What an arbiter sees of a packet of so many flits, or of a flit, that came at an instant.
    fn head(&self, is_by_packet: bool, flits: u32, arrival_ps: u64) -> Head {
        let flits = if is_by_packet { flits } else { 1 };
        Head { length_bytes: flits * self.flit_bytes, arrival_ps }
    }

    /// What the arbiter of an adapter sees of a packet of so many flits, or of one of them.
    pub(crate) fn adapter_head(&self, flits: u32, created_ps: u64) -> Head {
        self.head(self.adapter_is_by_packet, flits, created_ps)
    }

    /// The lane that the adapter at a port sends on, if adapters are not plain.
    pub(crate) fn serve_adapter(
        &mut self,
        port: usize,
        lanes: u16,
        heads: &[Head; 16],
    ) -> Option<usize> {
        serve(&mut self.adapters[port], lanes, heads)
    }

    /// Whether adapters serve their lanes in turn, flit by flit.
    pub(crate) fn adapter_is_in_turn(&self) -> bool {
        self.adapters.is_empty()
    }
}

fn serve(arbiter: &mut LaneArbiter, lanes: u16, heads: &[Head; 16]) -> Option<usize> {
    arbiter.serve(lanes, heads).map(usize::from)
}

impl Simulation {
    /// The lane that an output of a switch sends on, of some that could.
    pub(crate) fn choose_link(&mut self, port: usize, lanes: u16) -> Option<usize> {
        if self.choice.link_is_plain {
            return Some(crate::lanes::state::in_turn(lanes, &mut self.ports[port].link_after));
        }
        let choice = &mut self.choice;
        if choice.link_is_by_packet && self.ports[port].link_open != u16::MAX {
            // It is in the middle of a packet.
            return Some(lanes.trailing_zeros() as usize);
        }
        let mut heads = [Head::default(); 16];
        let mut able = 0;
        for lane in (0..16).filter(|lane| lanes >> lane & 1 == 1) {
            let place = port << SHIFT | lane;
            let flits = *choice.packets[place].front().expect("a flit is of a packet");
            let arrival = choice.crossed.get(place).and_then(|crossed| crossed.front());
            let arrival_ps = arrival.map_or(0, |tick| tick * choice.cycle_ps);
            let credit = u32::from(self.outputs[place].credit);
            let is_short = choice.link_is_by_packet && credit < flits;
            if !is_short || self.ports[port].is(crate::lanes::state::TO_HOST) {
                able |= 1 << lane;
            }
            heads[lane] = choice.head(choice.link_is_by_packet, flits, arrival_ps);
        }
        let lane = serve(&mut choice.links[port], able, &heads)?;
        if choice.link_is_by_packet {
            self.ports[port].link_open = 1 << lane;
        }
        Some(lane)
    }

    /// A flit leaves an output lane.
    pub(crate) fn track_leaving(&mut self, port: usize, lane: usize) {
        let place = port << SHIFT | lane;
        if let Some(crossed) = self.choice.crossed.get_mut(place) {
            crossed.pop_front();
        }
        let Some(packets) = self.choice.packets.get_mut(place) else { return };
        let left = packets.front_mut().expect("a flit is of a packet");
        *left -= 1;
        if *left == 0 {
            packets.pop_front();
            self.ports[port].link_open = u16::MAX;
        }
    }

    /// The lane of an input port that sends through the crossbar, of some that could.
    #[inline(never)]
    pub(crate) fn choose_input_specially(&mut self, port: usize, lanes: u16) -> Option<usize> {
        let choice = &mut self.choice;
        if choice.input_is_by_packet && self.ports[port].input_open != u16::MAX {
            // It is in the middle of a packet.
            return Some(lanes.trailing_zeros() as usize);
        }
        let mut heads = [Head::default(); 16];
        for lane in (0..16).filter(|lane| lanes >> lane & 1 == 1) {
            let place = port << SHIFT | lane;
            let arrival = choice.came.get(place).and_then(|came| came.front());
            let arrival_ps = arrival.map_or(0, |tick| tick * choice.cycle_ps);
            let flits = self.inputs[place].left;
            heads[lane] = choice.head(choice.input_is_by_packet, flits, arrival_ps);
        }
        let lane = serve(&mut choice.inputs[port], lanes, &heads)?;
        if choice.input_is_by_packet {
            self.ports[port].input_open = 1 << lane;
        }
        Some(lane)
    }
}
