//! Crossbar outputs that choose among their lanes, each by an arbiter: the allocator of
//! [`super::crossbar`], where an output grants the holder of an output lane instead of the next
//! input port.
//!
//! ```text
//!   output 4   lane 0   held by input 1, lane 2, which can send    ┐
//!              lane 1   held by input 3, lane 2, whose flit is not there
//!              lane 2   held by input 3, lane 0, which can send    ┴► arbiter ─► lane 2: input 3, lane 0 is granted
//! ```
//!
//! An arbiter is looked at when its output grants, and served when the grant is taken, among the
//! same lanes. By the packet it keeps to an output lane until a tail has crossed into it.
//!
//! Source: Yum et al. 2002, section 3.3, for what is arbitrated; the allocator is ours
//! (`docs/concepts/timing.md`). Switches of any number of ports are matched the same way: who asks
//! for weights here does not ask for speed.

use crate::lanes::arbiters::Arbiters;
use crate::lanes::layout::{LANES, Layout, SHIFT, bit_of, lanes_of, number_of};
use crate::lanes::matching::{LaneMatching, OutputLanes};
use crate::lanes::network::Network;
use gingham_fairq::Head;
use gingham_model::{PipelinePlan, Plan};

/// The arbiters of all crossbar outputs.
#[derive(Clone, Debug)]
pub(crate) struct OutputArbiters {
    pub(crate) arbiters: Arbiters,
    /// By port: output lanes into which may be sent: all, or that of the packet that is passing.
    open: Vec<u16>,
}

impl OutputArbiters {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Option<Self> {
        let of = lanes.crossbar_output.as_ref()?;
        let arbiters = Arbiters::of(of, plan, lanes, ports);
        Some(Self { arbiters, open: vec![u16::MAX; ports] })
    }

    /// The lane that a port would grant, of some.
    fn peek(&self, port: usize, lanes: u16, heads: &[Head; LANES]) -> Option<usize> {
        if self.open[port] == u16::MAX {
            return self.arbiters.peek(port, lanes, heads);
        }
        // It is in the middle of a packet.
        Some(lanes.trailing_zeros() as usize)
    }

    /// A grant is taken: a flit crosses into that lane, which was chosen among some.
    fn take(&mut self, to: usize, among: u16, heads: &[Head; LANES], is_tail: bool) {
        let port = to >> SHIFT;
        if self.open[port] == u16::MAX {
            let lane = self.arbiters.serve(port, among, heads);
            debug_assert_eq!(lane, Some(number_of(to)), "an arbiter serves what it granted");
        }
        if self.arbiters.are_by_packet {
            self.open[port] = if is_tail { u16::MAX } else { bit_of(to) };
        }
    }
}

impl Network {
    /// The multiplexed crossbars of all switches where a lane may be able to cross, whose outputs
    /// choose among their lanes.
    pub(crate) fn allocate_by_lane(&mut self, layout: &Layout, tick: u64) {
        let narrow = |network: &mut Self, first: usize, inputs: u64, tick: u64| {
            network.matching.by_lane.inputs.extend(ports_of(first, inputs));
            network.match_lanes(first, tick);
        };
        let wide = |network: &mut Self, word: usize, span: usize, tick: u64| {
            for place in word..word + span.div_ceil(64) {
                let ports = network.switches.crossing.take(place);
                network.matching.by_lane.inputs.extend(ports_of(place * 64, ports));
            }
            network.match_lanes(word * 64, tick);
        };
        self.each_switch(layout, tick, narrow, wide);
    }

    /// The switch whose first port is given, of whose input ports some were gathered.
    fn match_lanes(&mut self, first: usize, tick: u64) {
        let mut matching = std::mem::take(&mut self.matching.by_lane);
        matching.inputs.retain(|port| self.switches.port(*port).can_cross() != 0);
        self.gather_lanes(first, &mut matching);
        while self.grant_lanes(first, &mut matching) {
            let mut inputs = std::mem::take(&mut matching.inputs);
            inputs.retain(|port| match std::mem::take(&mut matching.granted[port - first]) {
                0 => true,
                granted => {
                    self.accept_lane(first, *port, granted, &mut matching, tick);
                    false
                }
            });
            matching.inputs = inputs;
        }
        matching.inputs.clear();
        for output in matching.requested.drain(..) {
            matching.outputs[output] = OutputLanes::default();
        }
        self.matching.by_lane = matching;
    }

    /// Turns round which input lanes can send to which output lanes.
    fn gather_lanes(&mut self, first: usize, matching: &mut LaneMatching) {
        for &port in &matching.inputs {
            // Who is not matched is there again in the next tick.
            self.switches.crossing.insert(port);
            for lane in lanes_of(self.switches.port(port).can_cross()) {
                let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
                let output = &mut matching.outputs[to >> SHIFT];
                if output.able == 0 {
                    matching.requested.push(to >> SHIFT);
                }
                output.able |= bit_of(to);
            }
        }
        let outputs = self.switches.outputs.as_ref().expect("outputs choose among lanes");
        for &output in &matching.requested {
            matching.outputs[output].able &= outputs.open[first + output];
        }
    }

    /// Every output that is not matched grants an input lane. Returns whether any does.
    fn grant_lanes(&self, first: usize, matching: &mut LaneMatching) -> bool {
        let outputs = self.switches.outputs.as_ref().expect("outputs choose among lanes");
        let mut any = false;
        for &output in &matching.requested {
            let able = matching.outputs[output].able;
            if able == 0 {
                continue;
            }
            let heads = self.heads_for(first, output, able);
            let Some(lane) = outputs.peek(first + output, able, &heads) else { continue };
            matching.outputs[output].among = able;
            let from = self.holder(first, (first + output) << SHIFT | lane);
            matching.granted[(from >> SHIFT) - first] |= bit_of(from);
            any = true;
        }
        any
    }

    /// An input port sends one of its lanes that were granted.
    fn accept_lane(
        &mut self,
        first: usize,
        port: usize,
        granted: u16,
        matching: &mut LaneMatching,
        tick: u64,
    ) {
        // It is matched, so that no output chooses any other lane of it.
        for lane in lanes_of(self.switches.port(port).can_cross()) {
            let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
            matching.outputs[to >> SHIFT].able &= !bit_of(to);
        }
        let Some(lane) = self.switches.serve(port, granted, &self.buffers) else { return };
        let input = self.buffers.lane(port << SHIFT | lane);
        let (to, is_tail) = (usize::from(input.out), input.left == 1);
        let output = &mut matching.outputs[to >> SHIFT];
        output.able = 0;
        let heads = self.heads_for(first, to >> SHIFT, output.among);
        let outputs = self.switches.outputs.as_mut().expect("outputs choose among lanes");
        outputs.take((first << SHIFT) + to, output.among, &heads, is_tail);
        self.traverse_switch(port, lane, tick);
    }

    /// What the arbiter of an output sees of what stands first in the holders of some of its lanes.
    fn heads_for(&self, first: usize, output: usize, lanes: u16) -> [Head; LANES] {
        let arbiters =
            &self.switches.outputs.as_ref().expect("outputs choose among lanes").arbiters;
        let mut heads = [Head::default(); LANES];
        for lane in lanes_of(lanes) {
            let from = self.holder(first, (first + output) << SHIFT | lane);
            let flits = self.buffers.lane(from).left;
            heads[lane] = arbiters.head(flits, arbiters.arrival_ps(from));
        }
        heads
    }

    /// The input lane that holds an output lane.
    fn holder(&self, first: usize, lane: usize) -> usize {
        (first << SHIFT) + usize::from(self.links.lane(lane).holder)
    }
}

/// The ports of a set, the first of which has this number.
fn ports_of(first: usize, ports: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |port| ports >> port & 1 == 1).map(move |port| first + port)
}
