//! Lane configuration of any network, and integer parameters of the five-stage switch.

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
    /// The lanes of a port share one crossbar input and one crossbar output, each with one flit per
    /// cycle.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; matching until nothing is left is ours"))]
    Multiplexed,
    /// Every lane has its own crossbar input and output.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    Full,
}

/// Number of packets that a host may send concurrently.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Injection {
    /// One packet per lane: a host starts another packet when none of its started packets can
    /// continue.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    OneALane,
    /// One packet over all lanes: a host starts a packet only after the last flit of the previous
    /// packet.
    #[schemars(extend("x-source" = "BookSim 2, src/trafficmanager.cpp: the packets of a class leave its node in turn"))]
    OneAtATime,
}

/// Lane configuration of the channels; undivided channels have one lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanePlan {
    /// Lanes that a packet may take at each hop.
    pub allowed: Lanes,
    /// Number of lanes per channel, from 1 to 16.
    pub count: u8,
    /// Scheduler of the lanes at a switch output port.
    pub link_output: Scheduler,
    /// Scheduler of the lanes at an adapter port.
    pub adapter_port: Scheduler,
}

impl LanePlan {
    /// Creates a plan of `count` lanes per channel, open to every packet and served by round robin.
    pub fn free(count: u8) -> Self {
        Self {
            allowed: Lanes::free(&[LaneSet::first_n(count)]),
            count,
            link_output: Scheduler::default(),
            adapter_port: Scheduler::default(),
        }
    }

    /// Returns the lanes that a scheduler can serve.
    pub fn served(&self, scheduler: &Scheduler) -> LaneSet {
        let served = scheduler.served(self.count);
        if scheduler.chooses_among_vls() {
            return LaneSet::of_vls(served, self.allowed.lanes_per_vl());
        }
        served
    }

    /// Returns the lanes that a packet may use on its host's injection channel, by VC class.
    pub fn first_lanes(&self, host: EndpointId) -> Vec<LaneSet> {
        self.allowed.vc_classes().map(|vc_class| self.allowed.first(host, vc_class)).collect()
    }
}

/// Parameters of the five-stage switch and its adapters, with lane buffers and credits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelinePlan {
    /// Bytes per flit.
    pub flit_bytes: u32,
    /// Type and trailer bytes per packet.
    pub overhead_bytes: u32,
    /// Cycle time: the shortest flit time of any channel.
    pub cycle: Span,
    /// Capacity of each lane's input buffer.
    pub depths_flits: [u32; LANES_MAX as usize],
    /// Capacity of each output lane; all 0 if flits consume their credits when they cross the
    /// switch.
    pub output_depths_flits: [u32; LANES_MAX as usize],
    /// Lanes with virtual cut-through; the others use wormhole switching.
    pub cut_through: LaneSet,
    /// Cycles between a flit's arrival at a switch and its entry into a lane buffer, pipelined with
    /// one flit per cycle.
    pub pipeline_cycles: u32,
    /// Routing time in cycles (stage 2).
    pub routing_cycles: u32,
    /// Cycles until a credit reaches the sender; `None` uses the cable's delay.
    pub credit_delay_cycles: Option<u32>,
    /// Earliest time to grant an output lane again.
    pub reallocation: Reallocation,
    /// Allocator of output lanes.
    pub vc_allocator: VcAllocator,
    /// Sharing of the crossbar among lanes.
    pub crossbar: Crossbar,
    /// Allocator of a multiplexed crossbar.
    pub allocator: Allocator,
    /// Number of paths from an input port into a multiplexed crossbar, each with one flit per
    /// cycle. Lane `l` uses path `l mod input_speedup`.
    pub input_speedup: u8,
    /// Number of paths from a multiplexed crossbar to an output port. Lane `l` uses path `l mod
    /// output_speedup`.
    pub output_speedup: u8,
    /// Priority among the heads that request an output.
    pub arbitration: Arbitration,
    /// Scheduler of an input port's lanes at a multiplexed crossbar (stage 4).
    pub crossbar_input: Scheduler,
    /// Scheduler of an output port of a multiplexed crossbar, which chooses among output lanes that
    /// can accept a flit; `None` grants input ports by round robin instead.
    pub crossbar_output: Option<Scheduler>,
    /// Number of packets that a host may send concurrently.
    pub injection: Injection,
}

impl PipelinePlan {
    /// Returns the number of flits in a packet with `payload_bytes` of payload.
    pub const fn packet_flits(&self, payload_bytes: u32) -> u64 {
        (payload_bytes as u64 + self.overhead_bytes as u64).div_ceil(self.flit_bytes as u64)
    }

    /// Returns the cycles from a flit's departure from a lane buffer until its credit can be used.
    pub fn credit_cycles(&self, channel: &ChannelPlan) -> u64 {
        let delay_cycles = channel.delay.div_ceil(self.cycle);
        1 + self.credit_delay_cycles.map_or(delay_cycles, u64::from)
    }

    /// Returns the number of credits required before a lane is granted to a packet of `flits`
    /// flits; 0 if none is required.
    pub const fn credits_to_be_given(&self, lane: u8, flits: u64) -> u64 {
        match self.reallocation {
            Reallocation::TailCredit => self.depth_flits(lane),
            _ if self.cut_through.contains(lane) => flits,
            _ => 0,
        }
    }

    /// Returns the number of credits required before an adapter starts a packet; 0 if the first
    /// flit's credit is enough.
    pub const fn credits_to_begin(&self, lane: u8, flits: u64, is_by_packet: bool) -> u64 {
        if matches!(self.reallocation, Reallocation::TailCredit) {
            self.depth_flits(lane)
        } else if is_by_packet || self.cut_through.contains(lane) {
            flits
        } else {
            0
        }
    }

    /// Returns whether flits consume their credits at the crossbar, and enter the link in the next
    /// cycle.
    pub const fn pays_at_crossing(&self) -> bool {
        self.output_depths_flits[0] == 0
    }

    /// Returns whether crossbar paths are chosen by round robin, not by arbiters. This is the case
    /// with several paths per port, or with a non-maximal allocator.
    pub fn takes_turns(&self) -> bool {
        self.allocator != Allocator::Maximal || self.input_speedup > 1 || self.output_speedup > 1
    }

    /// Returns whether some packets must wait for more than one credit of a lane.
    pub fn counts_credits(&self) -> bool {
        !self.cut_through.is_empty() || self.reallocation == Reallocation::TailCredit
    }

    /// Returns whether a free output lane can be granted to any head without further conditions.
    pub fn gives_at_once(&self) -> bool {
        self.cut_through.is_empty() && self.reallocation == Reallocation::Tail
    }

    const fn depth_flits(&self, lane: u8) -> u64 {
        self.depths_flits[lane as usize] as u64
    }

    /// Returns the number of bytes that `flits` flits occupy on the wire.
    pub const fn wire_bytes(&self, flits: u64) -> u64 {
        flits * self.flit_bytes as u64
    }
}
