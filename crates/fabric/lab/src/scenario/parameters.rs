//! The figures in force: what a preset says, or what a switching kind makes of it, with the departures
//! of the network section.
//!
//! ```text
//!   Parameters   every kind: links, bytes beside the payload, arbitration, in-transit hosts
//!     └ switching: Wormhole       routing and set-up delay, slack buffers, route bytes and marks
//!                  VirtualLanes   lanes, credits, crossbar, schedulers
//!                  Packets        lanes, credits, buffers of whole packets
//! ```

use super::{Network, PacketsParameters, PipelineParameters};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_net::{Arbitration, InTransitParameters, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How switches pass on packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchingName {
    /// Flit by flit through small slack buffers, with STOP and GO.
    Wormhole,
    /// Flit by flit over up to 16 lanes, each with credits.
    VirtualLanes,
    /// Whole packets in a buffer of each input and lane.
    Packets,
}

impl SwitchingName {
    /// As scenarios have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wormhole => "wormhole",
            Self::VirtualLanes => "virtual-lanes",
            Self::Packets => "packets",
        }
    }
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
    /// What forward error correction adds to every cable.
    pub fec_delay: Span,
    /// Type bytes before the payload.
    pub type_bytes: Bytes,
    /// Trailer bytes (checksum) after the payload.
    pub trailer_bytes: Bytes,
    /// Largest payload of a packet, if there is a limit.
    pub packet_max: Option<Bytes>,
    /// How a switch chooses among packets for the same output.
    pub arbitration: Arbitration,
    /// What in-transit hosts do with packets that go on.
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

impl Parameters {
    /// What a cable of this length delays.
    pub(crate) fn cable_delay(&self, length: Length) -> Span {
        length.propagation(self.delay_per_metre) + self.fec_delay
    }
}

impl SwitchingParameters {
    /// The kind.
    pub const fn name(&self) -> SwitchingName {
        match self {
            Self::Wormhole(_) => SwitchingName::Wormhole,
            Self::VirtualLanes(_) => SwitchingName::VirtualLanes,
            Self::Packets(_) => SwitchingName::Packets,
        }
    }

    /// The name of the kind, as scenarios have it.
    pub const fn kind(&self) -> &'static str {
        self.name().as_str()
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
