//! What lanes are in any network, and the switch of five stages that moves flits over them, in
//! integers.

use crate::{
    Allocator, Arbitration, ChannelPlan, Reallocation, Reselect, Scheduler, Select, VcAllocator,
};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use gingham_topology::routing::{LANES_MAX, LaneSet, Lanes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How lanes share the crossbar of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// The lanes of a port share one crossbar input and one output: a flit a cycle each.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; matching until nothing is left is ours"))]
    Multiplexed,
    /// Every lane has its own crossbar input and output.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    Full,
}

/// How many packets of its own a host may be in the middle of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Injection {
    /// One on each lane: it begins another packet when those of its queue that it has begun cannot
    /// go on.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    OneALane,
    /// One on all lanes together: it begins another packet when the last flit of the one before has
    /// been sent.
    #[schemars(extend("x-source" = "BookSim 2, src/trafficmanager.cpp: the packets of a class leave its node in turn"))]
    OneAtATime,
}

/// The lanes of every channel: of any switching kind, for where a channel is not divided it has
/// one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanePlan {
    /// Which lanes a packet may take at each hop.
    pub allowed: Lanes,
    /// Lanes of every channel, from 1 to 16.
    pub count: u8,
    /// How an output port of a switch chooses among its lanes.
    pub link_output: Scheduler,
    /// How an adapter chooses among its lanes.
    pub adapter_port: Scheduler,
}

impl LanePlan {
    /// So many lanes, any of which every packet may take, served round robin.
    pub fn free(count: u8) -> Self {
        Self {
            allowed: Lanes::free(&[LaneSet::first_n(count)]),
            count,
            link_output: Scheduler::default(),
            adapter_port: Scheduler::default(),
        }
    }

    /// The lanes that a scheduler ever serves.
    pub fn served(&self, scheduler: &Scheduler) -> LaneSet {
        let served = scheduler.served(self.count);
        if scheduler.chooses_among_vls() {
            return LaneSet::of_vls(served, self.allowed.lanes_per_vl());
        }
        served
    }

    /// By VC class: the lanes on which a packet may leave a host.
    pub fn first_lanes(&self, host: EndpointId) -> Vec<LaneSet> {
        self.allowed.vc_classes().map(|vc_class| self.allowed.first(host, vc_class)).collect()
    }
}

/// The switch of five stages and its adapters: flits of several lanes share links and crossbar, and
/// lane buffers have credits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelinePlan {
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Type and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// The cycle of all switches and adapters: the least flit time of any channel.
    pub cycle: Span,
    /// By lane: what a lane buffer holds.
    pub depths_flits: [u32; LANES_MAX as usize],
    /// By lane: what an output lane holds; nothing on all of them where a flit takes its credit as it
    /// crosses.
    pub output_depths_flits: [u32; LANES_MAX as usize],
    /// Lanes with virtual cut-through; the others are wormhole.
    pub cut_through: LaneSet,
    /// From the arrival of a flit at a switch to its lane buffer: a pipeline, which takes in a flit
    /// a cycle.
    pub pipeline_cycles: u32,
    /// Cycles of routing, stage 2.
    pub routing_cycles: u32,
    /// Cycles that a credit takes to its sender, where they are not those of the cable.
    pub credit_delay_cycles: Option<u32>,
    /// When an output lane can be given again.
    pub reallocation: Reallocation,
    /// Which of several outputs a packet asks for, where it chooses at every switch.
    pub select: Option<Select>,
    /// When a head that waits chooses again.
    pub reselect: Reselect,
    /// How heads are matched with the lanes of an output.
    pub vc_allocator: VcAllocator,
    /// How lanes share the crossbar.
    pub crossbar: Crossbar,
    /// How inputs and outputs of a multiplexed crossbar are matched.
    pub allocator: Allocator,
    /// Ways of an input port into a multiplexed crossbar, each a flit a cycle: lane `l` goes by way
    /// `l mod input_speedup`.
    pub input_speedup: u8,
    /// Ways out of it to an output port, by output lane in the same manner.
    pub output_speedup: u8,
    /// Which heads that ask for an output are given lanes first.
    pub arbitration: Arbitration,
    /// How an input port chooses among its lanes at a multiplexed crossbar: stage 4.
    pub crossbar_input: Scheduler,
    /// How an output port chooses there among its output lanes whose holders can send; it grants
    /// input ports in turn if not given.
    pub crossbar_output: Option<Scheduler>,
    /// How many packets of its own a host may be in the middle of.
    pub injection: Injection,
}

impl PipelinePlan {
    /// Flits of a packet with so much payload.
    pub const fn packet_flits(&self, payload_bytes: u32) -> u64 {
        (payload_bytes as u64 + self.overhead_bytes as u64).div_ceil(self.flit_bytes as u64)
    }

    /// Cycles from that in which a flit leaves a lane buffer to that in which its credit counts at the
    /// start of the channel.
    pub fn credit_cycles(&self, channel: &ChannelPlan) -> u64 {
        let delay_cycles = channel.delay.div_ceil(self.cycle);
        1 + self.credit_delay_cycles.map_or(delay_cycles, u64::from)
    }

    /// The credits that a lane must have to be given to a packet of so many flits; 0 where it needs
    /// none.
    pub const fn credits_to_be_given(&self, lane: u8, flits: u64) -> u64 {
        match self.reallocation {
            Reallocation::TailCredit => self.depth_flits(lane),
            _ if self.cut_through.contains(lane) => flits,
            _ => 0,
        }
    }

    /// The same of a lane of an adapter, for the packet to begin; 0 where one for its first flit is
    /// enough.
    pub const fn credits_to_begin(&self, lane: u8, flits: u64, is_by_packet: bool) -> u64 {
        if matches!(self.reallocation, Reallocation::TailCredit) {
            self.depth_flits(lane)
        } else if is_by_packet || self.cut_through.contains(lane) {
            flits
        } else {
            0
        }
    }

    /// Whether flits take their credits as they cross, and go on the link in the next cycle.
    pub const fn pays_at_crossing(&self) -> bool {
        self.output_depths_flits[0] == 0
    }

    /// Whether ways through a multiplexed crossbar are taken in turn, whatever their arbiters: by
    /// another allocator than the maximal one, or where a port has several.
    pub fn takes_turns(&self) -> bool {
        self.allocator != Allocator::Maximal || self.input_speedup > 1 || self.output_speedup > 1
    }

    /// Whether anything waits for more credits of a lane than one.
    pub fn counts_credits(&self) -> bool {
        !self.cut_through.is_empty() || self.reallocation == Reallocation::TailCredit
    }

    /// Whether an output lane that nobody holds can be given to any head.
    pub fn gives_at_once(&self) -> bool {
        self.cut_through.is_empty() && self.reallocation == Reallocation::Tail
    }

    const fn depth_flits(&self, lane: u8) -> u64 {
        self.depths_flits[lane as usize] as u64
    }

    /// Bytes of so many flits on a cable.
    pub const fn wire_bytes(&self, flits: u64) -> u64 {
        flits * self.flit_bytes as u64
    }
}
