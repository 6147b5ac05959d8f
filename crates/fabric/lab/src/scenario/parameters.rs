//! Network parameters in effect.

use super::{
    HeaderParameters, LinkParameters, PacketsParameters, PipelineParameters, WormholeParameters,
};
use gingham_kernel::{Length, Span};
use gingham_net::{Arbitration, InTransitParameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switching technique.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchingName {
    /// Flit by flit through small slack buffers, with STOP and GO flow control.
    Wormhole,
    /// Flit by flit over up to 16 lanes with credits for each lane.
    VirtualLanes,
    /// Whole packets, stored in one buffer per input and lane.
    Packets,
}

impl SwitchingName {
    /// Returns the name in scenarios.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wormhole => "wormhole",
            Self::VirtualLanes => "virtual-lanes",
            Self::Packets => "packets",
        }
    }
}

/// Network parameters, apart from the fabric.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Parameters {
    /// Link parameters, and the limit on packet payload.
    #[serde(flatten)]
    pub links: LinkParameters,
    /// Header and trailer bytes of every packet.
    #[serde(flatten)]
    pub header: HeaderParameters,
    /// How a switch chooses among packets for the same output.
    pub arbitration: Arbitration,
    /// Handling of in-transit packets at hosts.
    pub in_transit: InTransitParameters,
    /// Parameters of the switching kind.
    pub switching: SwitchingParameters,
}

/// Switching kind and its parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchingParameters {
    /// Wormhole switching with slack buffers, STOP and GO.
    Wormhole(WormholeParameters),
    /// Virtual lanes with credits.
    VirtualLanes(Box<PipelineParameters>),
    /// Whole packets in input buffers.
    Packets(Box<PacketsParameters>),
}

impl Parameters {
    pub(crate) fn cable_delay(&self, length: Length) -> Span {
        length.propagation(self.links.delay_per_metre) + self.links.fec_delay
    }
}

impl SwitchingParameters {
    /// Returns the switching kind.
    pub const fn name(&self) -> SwitchingName {
        match self {
            Self::Wormhole(_) => SwitchingName::Wormhole,
            Self::VirtualLanes(_) => SwitchingName::VirtualLanes,
            Self::Packets(_) => SwitchingName::Packets,
        }
    }

    /// Returns the name of the switching kind in scenarios.
    pub const fn kind(&self) -> &'static str {
        self.name().as_str()
    }
}
