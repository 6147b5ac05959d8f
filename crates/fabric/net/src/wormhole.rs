//! Parameters of wormhole networks.

use crate::{PathLength, Priority};
use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arbitration of a switch among packets that request the same output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Round robin over the input ports, starting after the last winner.
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
    /// The packet that arrived first at the switch, on any input port.
    #[schemars(extend("x-source" = "Santos et al. 2002, table I: \"FIFO\"", "x-needs" = "ages"))]
    OldestFirst,
}

impl Arbitration {
    /// Returns whether arbitration depends on priorities.
    #[inline]
    pub const fn has_levels(self) -> bool {
        matches!(self, Self::StrictPriority)
    }

    /// Returns the level of a priority in arbitration; higher levels are served first.
    #[inline]
    pub const fn level(self, priority: Priority) -> usize {
        if self.has_levels() { priority.level() } else { 0 }
    }
}

/// Parameters of all switches and worms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WormholePlan {
    /// Time from reading a header to requesting its output.
    pub routing_delay: Span,
    /// Time from the grant of an output to the first flit on it.
    pub setup_delay: Span,
    /// Whether a packet carries one route byte per switch.
    pub route_bytes: bool,
    /// Type and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// Length in bytes of the mark for each in-transit host, which removes it.
    pub mark_bytes: u32,
    /// Arbitration of the switches.
    pub arbitration: Arbitration,
}

impl WormholePlan {
    /// Returns the number of flits (bytes) of a worm at its source.
    pub fn worm_flits(&self, payload_bytes: u32, length: PathLength) -> u64 {
        let route = if self.route_bytes { length.switches as u64 } else { 0 };
        let marks = length.in_transit_hosts as u64 * u64::from(self.mark_bytes);
        route + marks + u64::from(self.overhead_bytes) + u64::from(payload_bytes)
    }
}
