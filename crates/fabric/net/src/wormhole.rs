//! The wormhole network: what all its switches and worms have in common.

use crate::{PathLength, Priority};
use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a switch chooses among packets that request the same output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Round robin, from the port after the last winner.
    #[default]
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1; Flich et al. 2001, section IV-A"))]
    RoundRobin,
    /// Higher priority first, and round robin within a priority. A packet in transmission is never
    /// interrupted.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 4"))]
    #[schemars(extend("x-example" = r#"network.arbitration = "strict-priority"
[[traffic]]
name = "urgent"
priority = 1
load = 0.05
length = { fixed = "64 B" }
[[traffic]]
load = 0.1
length = { fixed = "64 B" }"#))]
    StrictPriority,
    /// The packet that arrived at the switch first, whatever its input port.
    #[schemars(extend("x-source" = "Santos et al. 2002, table I: \"FIFO\""))]
    OldestFirst,
}

impl Arbitration {
    /// The level at which a packet of a priority competes: only a higher one goes before it.
    pub const fn level(self, priority: Priority) -> usize {
        match self {
            Self::RoundRobin | Self::OldestFirst => 0,
            Self::StrictPriority => priority.level(),
        }
    }
}

/// What every switch and worm of a wormhole run has in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WormholePlan {
    /// From reading a header to the request for its output.
    pub routing_delay: Span,
    /// From the grant of an output to its first flit.
    pub setup_delay: Span,
    /// Whether one route byte a switch leads the packet.
    pub route_bytes: bool,
    /// Type and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// Bytes of the mark before each in-transit host, dropped there.
    pub mark_bytes: u32,
    /// How a switch chooses.
    pub arbitration: Arbitration,
}

impl WormholePlan {
    /// Flits (bytes) of a worm at its source, for a payload over a path of this length.
    pub fn worm_flits(&self, payload_bytes: u32, length: PathLength) -> u64 {
        let route = if self.route_bytes { length.switches as u64 } else { 0 };
        let marks = length.in_transit_hosts as u64 * u64::from(self.mark_bytes);
        route + marks + u64::from(self.overhead_bytes) + u64::from(payload_bytes)
    }
}
