//! Lanes of any network, and the five-stage switch that moves flits over them, in integers.

use crate::{Allocator, Arbitration, ChannelPlan, Reallocation, Scheduler, VcAllocator};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use gingham_topology::routing::{LANES_MAX, LaneSet, Lanes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sharing of a switch's crossbar among lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// The lanes of a port share one crossbar input and one output, each one flit per cycle.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; matching until nothing is left is ours"))]
    Multiplexed,
    /// Every lane has its own crossbar input and output.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    Full,
}

/// Number of packets that a host may be sending at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Injection {
    /// One on each lane: a host starts another packet when those it has started cannot continue.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    OneALane,
    /// One on all lanes together: a host starts another packet after the last flit of the one
    /// before.
    #[schemars(extend("x-source" = "BookSim 2, src/trafficmanager.cpp: the packets of a class leave its node in turn"))]
    OneAtATime,
}

/// Lanes of the channels; undivided channels have one lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanePlan {
    /// Lanes that a packet may take at each hop.
    pub allowed: Lanes,
    /// Number of lanes of every channel, from 1 to 16.
    pub count: u8,
    /// Scheduler of the lanes at an output port of a switch.
    pub link_output: Scheduler,
    /// Scheduler of the lanes at an adapter.
    pub adapter_port: Scheduler,
}

impl LanePlan {
    /// Plan with `count` lanes, which any packet may take and which are served by round robin.
    pub fn free(count: u8) -> Self {
        Self {
            allowed: Lanes::free(&[LaneSet::first_n(count)]),
            count,
            link_output: Scheduler::default(),
            adapter_port: Scheduler::default(),
        }
    }

    /// Lanes that a scheduler ever serves.
    pub fn served(&self, scheduler: &Scheduler) -> LaneSet {
        let served = scheduler.served(self.count);
        if scheduler.chooses_among_vls() {
            return LaneSet::of_vls(served, self.allowed.lanes_per_vl());
        }
        served
    }

    /// For each VC class: lanes that a packet may take first from a host.
    pub fn first_lanes(&self, host: EndpointId) -> Vec<LaneSet> {
        self.allowed.vc_classes().map(|vc_class| self.allowed.first(host, vc_class)).collect()
    }
}

/// Five-stage switch and its adapters, with lane buffers and credits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelinePlan {
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Type and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// Cycle time: the shortest flit time of any channel.
    pub cycle: Span,
    /// Capacity of the buffer of each lane.
    pub depths_flits: [u32; LANES_MAX as usize],
    /// Capacity of each output lane; 0 for all if flits take their credits when they cross the
    /// switch.
    pub output_depths_flits: [u32; LANES_MAX as usize],
    /// Lanes with virtual cut-through; the others are wormhole.
    pub cut_through: LaneSet,
    /// Cycles from arrival at a switch to the lane buffer; each cycle, another flit may follow.
    pub pipeline_cycles: u32,
    /// Cycles that routing takes (stage 2).
    pub routing_cycles: u32,
    /// Cycles until a credit reaches its sender; `None` uses the cable's delay.
    pub credit_delay_cycles: Option<u32>,
    /// Earliest time at which an output lane is granted again.
    pub reallocation: Reallocation,
    /// Matching of heads with the lanes of an output.
    pub vc_allocator: VcAllocator,
    /// Sharing of the crossbar among lanes.
    pub crossbar: Crossbar,
    /// Matching of inputs and outputs of a multiplexed crossbar.
    pub allocator: Allocator,
    /// Number of paths from an input port into a multiplexed crossbar, one flit per cycle each:
    /// lane `l` uses path `l mod input_speedup`.
    pub input_speedup: u8,
    /// Number of paths from a multiplexed crossbar to an output port: lane `l` uses path
    /// `l mod output_speedup`.
    pub output_speedup: u8,
    /// Priority among the heads that request an output.
    pub arbitration: Arbitration,
    /// Scheduler of an input port's lanes at a multiplexed crossbar (stage 4).
    pub crossbar_input: Scheduler,
    /// Scheduler of an output port among its lanes whose holders can send; `None` grants input
    /// ports by round robin.
    pub crossbar_output: Option<Scheduler>,
    /// Number of packets that a host may send at once.
    pub injection: Injection,
}

impl PipelinePlan {
    /// Number of flits of a packet with `payload_bytes` of payload.
    pub const fn packet_flits(&self, payload_bytes: u32) -> u64 {
        (payload_bytes as u64 + self.overhead_bytes as u64).div_ceil(self.flit_bytes as u64)
    }

    /// Cycles from the departure of a flit from a lane buffer until its credit can be used.
    pub fn credit_cycles(&self, channel: &ChannelPlan) -> u64 {
        let delay_cycles = channel.delay.div_ceil(self.cycle);
        1 + self.credit_delay_cycles.map_or(delay_cycles, u64::from)
    }

    /// Credits that must be available before a lane is granted to a packet of `flits` flits; 0 if
    /// none.
    pub const fn credits_to_be_given(&self, lane: u8, flits: u64) -> u64 {
        match self.reallocation {
            Reallocation::TailCredit => self.depth_flits(lane),
            _ if self.cut_through.contains(lane) => flits,
            _ => 0,
        }
    }

    /// Credits that must be available before a packet starts at an adapter; 0 if the one for its
    /// first flit is enough.
    pub const fn credits_to_begin(&self, lane: u8, flits: u64, is_by_packet: bool) -> u64 {
        if matches!(self.reallocation, Reallocation::TailCredit) {
            self.depth_flits(lane)
        } else if is_by_packet || self.cut_through.contains(lane) {
            flits
        } else {
            0
        }
    }

    /// Whether flits take their credits when they cross the switch, and go on the link in the next
    /// cycle.
    pub const fn pays_at_crossing(&self) -> bool {
        self.output_depths_flits[0] == 0
    }

    /// Whether crossbar paths are chosen by round robin regardless of arbiters: with several paths
    /// per port, or any allocator but the maximal one.
    pub fn takes_turns(&self) -> bool {
        self.allocator != Allocator::Maximal || self.input_speedup > 1 || self.output_speedup > 1
    }

    /// Whether any packet must wait for more than one credit of a lane.
    pub fn counts_credits(&self) -> bool {
        !self.cut_through.is_empty() || self.reallocation == Reallocation::TailCredit
    }

    /// Whether a free output lane can be granted to any head.
    pub fn gives_at_once(&self) -> bool {
        self.cut_through.is_empty() && self.reallocation == Reallocation::Tail
    }

    const fn depth_flits(&self, lane: u8) -> u64 {
        self.depths_flits[lane as usize] as u64
    }

    /// Bytes that `flits` flits take on a cable.
    pub const fn wire_bytes(&self, flits: u64) -> u64 {
        flits * self.flit_bytes as u64
    }
}
