//! Presets: the figures that a network starts from, which also say of which switching kind it is.
//!
//! ```text
//!   Parameters   every kind: links, bytes beside the payload, arbitration, in-transit hosts
//!     └ switching: Wormhole       routing and set-up delay, slack buffers, route bytes and marks
//!                  VirtualLanes   lanes, credits, crossbar, schedulers
//!                  Packets        lanes, credits, buffers of whole packets
//! ```
//!
//! Sources: Kwan et al. 1996, section 2 (80-byte slack buffer, 25 m); Flich et al. 2001, section
//! IV-A (160 MB/s, 10 m, 4.92 ns/m, 150 ns, first flit consumed, in-transit hosts); Yum et al.
//! 2002, sections 3.1 and 4 (1.6 Gbit/s, flits of 128 bits, 16 lanes of 10 flits); Santos et al.
//! 2002, table I (1 GB/s, 20 B beside the payload, 40 ns, 4 packets a port). The marks 56 and 40,
//! two type bytes, one checksum byte and two bytes before an in-transit host are ours, from memory
//! of Myrinet's documents; cables of 10 m under Yum et al. and Santos et al. are ours.

use super::{Network, PacketsParameters, PipelineParameters};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_model::{Arbitration, InTransitParameters, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named set of figures for a network, which also decides on its switching kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Myrinet at 640 Mbit/s as Kwan et al. 1996 model it: 80 MB/s, cables of 25 m, 150 ns a
    /// switch that hide behind the worm in front, no header bytes.
    #[serde(rename = "myrinet-640")]
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 2"))]
    Myrinet640,
    /// Myrinet at 1.28 Gbit/s as Flich et al. 2001 model it: 160 MB/s, cables of 10 m, 150 ns
    /// from the grant to the first flit, route bytes that switches consume.
    #[serde(rename = "myrinet-1280")]
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A"))]
    Myrinet1280,
    /// Virtual lanes at 1.6 Gbit/s as Yum et al. 2002 model them: 200 MB/s, cables of 10 m, 16
    /// lanes of 10 flits of 16 B, five stages of 80 ns, a multiplexed crossbar, round robin
    /// everywhere.
    #[serde(rename = "yum-1600")]
    #[schemars(extend("x-source" = "Yum et al. 2002, sections 3.1 and 4; cables of 10 m are ours"))]
    Yum1600,
    /// InfiniBand of four lines as Santos et al. 2002 model it: 1 GB/s, cables of 10 m, whole
    /// packets with 20 B beside the payload, 40 ns a switch, a buffer of four packets of 2,068 B an
    /// input, the oldest packet first.
    #[serde(rename = "santos-4x")]
    #[schemars(extend("x-source" = "Santos et al. 2002, table I; one lane and cables of 10 m are ours"))]
    Santos4x,
}

/// Everything that a network needs to know beyond its fabric.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Parameters {
    /// Rate of cables whose speed the fabric does not tell.
    pub link_rate: Rate,
    /// Length of cables whose length the fabric does not tell.
    pub cable_length: Length,
    /// Propagation delay of one metre of cable.
    pub delay_per_metre: Span,
    /// Type bytes before the payload.
    pub type_bytes: Bytes,
    /// Trailer bytes (checksum) after the payload.
    pub trailer_bytes: Bytes,
    /// How a switch chooses among packets for the same output.
    pub arbitration: Arbitration,
    /// What hosts do with packets that are to go on.
    pub in_transit: InTransitParameters,
    /// What only networks of its kind have.
    pub switching: SwitchingParameters,
}

/// A switching kind with its figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchingParameters {
    /// Wormhole with slack buffers, STOP and GO.
    Wormhole(WormholeParameters),
    /// Virtual lanes with credits.
    VirtualLanes(Box<PipelineParameters>),
    /// Whole packets in input buffers.
    Packets(Box<PacketsParameters>),
}

/// What only wormhole networks have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct WormholeParameters {
    /// From reading a header to the request for its output.
    pub routing_delay: Span,
    /// From the grant of an output to its first flit.
    pub setup_delay: Span,
    /// The smallest input buffer; cables that hold more flits get more.
    pub slack: SlackBuffer,
    /// Whether a packet carries one route byte a switch, consumed there.
    pub route_bytes: bool,
    /// Bytes before the rest of the route of each in-transit host.
    pub mark_bytes: Bytes,
}

impl SwitchingParameters {
    /// The name of the kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Wormhole(_) => "wormhole",
            Self::VirtualLanes(_) => "virtual-lanes",
            Self::Packets(_) => "packets",
        }
    }

    /// These figures of a preset with the departures of a network applied.
    pub(super) fn under(&self, network: &Network) -> Self {
        match self {
            Self::Wormhole(preset) => Self::Wormhole(preset.under(network)),
            Self::VirtualLanes(preset) => {
                Self::VirtualLanes(Box::new(network.lanes.pipeline_over(preset)))
            }
            Self::Packets(preset) => {
                Self::Packets(Box::new(network.packets.over(&network.lanes, preset)))
            }
        }
    }
}

impl WormholeParameters {
    fn under(&self, network: &Network) -> Self {
        let header = network.header.unwrap_or_default();
        Self {
            routing_delay: network.routing_delay.unwrap_or(self.routing_delay),
            setup_delay: network.setup_delay.unwrap_or(self.setup_delay),
            slack: network.slack.unwrap_or(self.slack),
            route_bytes: header.route_bytes.unwrap_or(self.route_bytes),
            mark_bytes: header.mark_bytes.unwrap_or(self.mark_bytes),
        }
    }
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 4] = [Self::Myrinet640, Self::Myrinet1280, Self::Yum1600, Self::Santos4x];

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Myrinet640 => "myrinet-640",
            Self::Myrinet1280 => "myrinet-1280",
            Self::Yum1600 => "yum-1600",
            Self::Santos4x => "santos-4x",
        }
    }

    /// The figures.
    pub fn parameters(self) -> Parameters {
        let (bytes_per_second, metres) = match self {
            Self::Myrinet640 => (80_000_000, 25),
            Self::Myrinet1280 => (160_000_000, 10),
            Self::Yum1600 => (200_000_000, 10),
            Self::Santos4x => (1_000_000_000, 10),
        };
        let [type_bytes, trailer_bytes] = match self {
            Self::Myrinet1280 => [2, 1],
            Self::Santos4x => [20, 0],
            Self::Myrinet640 | Self::Yum1600 => [0, 0],
        };
        Parameters {
            link_rate: Rate::from_bytes_per_second(bytes_per_second),
            cable_length: Length::from_mm(1_000 * metres),
            delay_per_metre: Span::from_ps(4_920),
            type_bytes: Bytes(type_bytes),
            trailer_bytes: Bytes(trailer_bytes),
            arbitration: self.arbitration(),
            in_transit: InTransitParameters::default(),
            switching: self.switching(),
        }
    }

    const fn arbitration(self) -> Arbitration {
        match self {
            Self::Myrinet640 | Self::Myrinet1280 | Self::Yum1600 => Arbitration::RoundRobin,
            Self::Santos4x => Arbitration::OldestFirst,
        }
    }

    fn switching(self) -> SwitchingParameters {
        let first_flit_delay = Span::from_ns(150);
        let slack = SlackBuffer { capacity: 80, stop: 56, go: 40 };
        match self {
            Self::Myrinet640 => SwitchingParameters::Wormhole(WormholeParameters {
                routing_delay: first_flit_delay,
                setup_delay: Span::ZERO,
                slack,
                route_bytes: false,
                mark_bytes: Bytes(0),
            }),
            Self::Myrinet1280 => SwitchingParameters::Wormhole(WormholeParameters {
                routing_delay: Span::ZERO,
                setup_delay: first_flit_delay,
                slack,
                route_bytes: true,
                mark_bytes: Bytes(2),
            }),
            Self::Yum1600 => SwitchingParameters::VirtualLanes(Box::default()),
            Self::Santos4x => SwitchingParameters::Packets(Box::default()),
        }
    }
}
