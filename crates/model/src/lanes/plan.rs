//! Parameters of a network of virtual lanes, in integers.

use crate::{ArbiterPlan, Arbitration};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use gingham_topology::routing::{LANES_MAX, LaneSet, Lanes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How lanes share the crossbar of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// The lanes of a port share one way in and one way out: a flit a cycle each.
    #[default]
    Multiplexed,
    /// Every lane has its own way in and its own way out.
    Full,
}

/// What every switch and adapter of a run over virtual lanes has in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanePlan {
    /// Which lanes a packet may take at each hop.
    pub lanes: Lanes,
    /// Lanes of every channel, from 1 to 16.
    pub count: u8,
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Type and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// The cycle of all switches and adapters: the least flit time of any channel.
    pub cycle: Span,
    /// By lane: what a lane buffer holds.
    pub depths_flits: [u32; LANES_MAX as usize],
    /// By lane: what an output lane holds.
    pub output_depths_flits: [u32; LANES_MAX as usize],
    /// Lanes with virtual cut-through; the others are wormhole.
    pub cut_through: LaneSet,
    /// Cycles of routing, stage 2.
    pub routing_cycles: u32,
    /// How lanes share the crossbar.
    pub crossbar: Crossbar,
    /// Which heads that ask for an output are given lanes first.
    pub arbitration: Arbitration,
    /// How an input port chooses among its lanes at a multiplexed crossbar: stage 4.
    pub crossbar_input: ArbiterPlan,
    /// How an output port of a switch chooses among its lanes: stage 5.
    pub link_output: ArbiterPlan,
    /// How an adapter chooses among its lanes.
    pub adapter_port: ArbiterPlan,
}

impl LanePlan {
    /// By VC class: the lanes on which a packet may leave a host.
    pub fn first_lanes(&self, host: EndpointId) -> Vec<LaneSet> {
        self.lanes.vc_classes().map(|vc_class| self.lanes.first(host, vc_class)).collect()
    }

    /// Flits of a packet with so much payload.
    pub const fn packet_flits(&self, payload_bytes: u32) -> u64 {
        (payload_bytes as u64 + self.overhead_bytes as u64).div_ceil(self.flit_bytes as u64)
    }

    /// Bytes of so many flits on a cable.
    pub const fn wire_bytes(&self, flits: u64) -> u64 {
        flits * self.flit_bytes as u64
    }

    /// The first tick at or after an instant.
    pub const fn tick_from(&self, ps: u64) -> u64 {
        ps.div_ceil(self.cycle.as_ps())
    }
}
