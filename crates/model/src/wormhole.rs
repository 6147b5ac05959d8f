//! Parameters of the wormhole network and its presets.

use crate::{InTransitParameters, PathLength, Priority, SlackBuffer};
use gingham_kernel::{Bytes, Length, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that travel with the payload of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Whether the packet carries one route byte a switch, consumed there.
    pub route_bytes: bool,
    /// Type bytes before the payload.
    pub type_bytes: Bytes,
    /// Trailer bytes (checksum) after the payload.
    pub trailer_bytes: Bytes,
    /// Bytes before the rest of the route of each in-transit host, which tell it that the packet goes on and how much of
    /// it is left; dropped there.
    #[serde(default = "default_mark_bytes")]
    pub mark_bytes: Bytes,
}

const fn default_mark_bytes() -> Bytes {
    Bytes(2)
}

/// A named set of figures for a wormhole network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Myrinet at 640 Mbit/s as Kwan et al. 1996 model it: 80 MB/s, cables of 25 m, 150 ns a
    /// switch that hide behind the worm in front, no header bytes.
    #[serde(rename = "myrinet-640")]
    Myrinet640,
    /// Myrinet at 1.28 Gbit/s as Flich et al. 2001 model it: 160 MB/s, cables of 10 m, 150 ns
    /// from the grant to the first flit, route bytes that switches consume.
    #[serde(rename = "myrinet-1280")]
    Myrinet1280,
}

/// Everything that a wormhole network needs to know beyond its fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct WormholeParameters {
    /// Rate of cables whose speed the fabric does not tell.
    pub link_rate: Rate,
    /// Length of cables whose length the fabric does not tell.
    pub cable_length: Length,
    /// Propagation delay of one metre of cable.
    pub delay_per_metre: Span,
    /// From reading a header to the request for its output.
    pub routing_delay: Span,
    /// From the grant of an output to its first flit.
    pub setup_delay: Span,
    /// The smallest input buffer; cables that hold more flits get more.
    pub slack: SlackBuffer,
    /// Bytes beside the payload.
    pub header: Header,
    /// How a switch chooses among packets for the same output.
    pub arbitration: Arbitration,
    /// What hosts do with packets that are to go on.
    pub in_transit: InTransitParameters,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 2] = [Self::Myrinet640, Self::Myrinet1280];

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Myrinet640 => "myrinet-640",
            Self::Myrinet1280 => "myrinet-1280",
        }
    }

    /// The figures.
    ///
    /// Sources: Kwan et al. 1996, section 2 (80-byte slack buffer, 25 m); Flich et al. 2001,
    /// section IV-A (160 MB/s, 10 m, 4.92 ns/m, 150 ns, first flit consumed, in-transit hosts). The marks 56 and
    /// 40, two type bytes, one checksum byte and two bytes before an in-transit host are ours, from memory of Myrinet's
    /// documents.
    pub fn parameters(self) -> WormholeParameters {
        let slack = SlackBuffer { capacity: 80, stop: 56, go: 40 };
        let delay_per_metre = Span::from_ps(4_920);
        let first_flit_delay = Span::from_ns(150);
        match self {
            Self::Myrinet640 => WormholeParameters {
                link_rate: Rate::from_bytes_per_second(80_000_000),
                cable_length: Length::from_mm(25_000),
                delay_per_metre,
                routing_delay: first_flit_delay,
                setup_delay: Span::ZERO,
                slack,
                header: Header {
                    route_bytes: false,
                    type_bytes: Bytes(0),
                    trailer_bytes: Bytes(0),
                    mark_bytes: Bytes(0),
                },
                arbitration: Arbitration::RoundRobin,
                in_transit: InTransitParameters::default(),
            },
            Self::Myrinet1280 => WormholeParameters {
                link_rate: Rate::from_bytes_per_second(160_000_000),
                cable_length: Length::from_mm(10_000),
                delay_per_metre,
                routing_delay: Span::ZERO,
                setup_delay: first_flit_delay,
                slack,
                header: Header {
                    route_bytes: true,
                    type_bytes: Bytes(2),
                    trailer_bytes: Bytes(1),
                    mark_bytes: default_mark_bytes(),
                },
                arbitration: Arbitration::RoundRobin,
                in_transit: InTransitParameters::default(),
            },
        }
    }
}

/// How a switch chooses among inputs that request the same output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// In turn, from the port after the last winner on.
    #[default]
    RoundRobin,
    /// A packet of a higher priority first, and in turn among those of the same; a packet that is being sent
    /// is never interrupted.
    StrictPriority,
}

impl Arbitration {
    /// The level at which a packet of a priority competes: only a higher one goes before it.
    pub const fn level(self, priority: Priority) -> usize {
        match self {
            Self::RoundRobin => 0,
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
