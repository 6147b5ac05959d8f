//! Switching kinds, and the mechanisms that each kind supports.
//!
//! ```text
//!                      wormhole            virtual-lanes   packets
//!   poisson            works               works           works
//!   a crossbar         refused (reason)    works           refused (reason)
//!   a paper's preset   works               meaningless     meaningless
//! ```

use crate::scenario::{Network, SwitchingParameters};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Switching technique.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchingKind {
    /// Name in scenarios.
    pub name: &'static str,
    /// Description in one or two sentences.
    pub summary: &'static str,
    /// Papers and sections that describe the switching kind.
    pub source: &'static str,
    /// Keys of an example scenario, as TOML.
    pub example: &'static str,
    #[serde(skip)]
    pub(super) called: &'static str,
    #[serde(skip)]
    pub(super) features: &'static [Feature],
}

impl SwitchingKind {
    pub(super) fn of(switching: &SwitchingParameters) -> &'static Self {
        let kind = KINDS.iter().find(|kind| kind.name == switching.kind());
        kind.expect("every kind stands in the catalogue")
    }

    pub(super) fn under(&self, network: &Network) -> String {
        let by = match network.switching {
            Some(_) => "network.switching".to_owned(),
            None => format!("the preset {}", network.preset().name()),
        };
        format!("{} ({by})", self.called)
    }

    pub(super) fn support(&self, needs: &[Feature]) -> Support {
        match needs.iter().find(|feature| !self.has(**feature)) {
            None => Support::Works,
            Some(feature) => Support::Refused { reason: feature.reason() },
        }
    }

    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

/// Network feature that only some switching kinds have. Keys and mechanisms declare the feature
/// that they need in the schema extension `x-needs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Feature {
    /// Slack buffers with STOP and GO, and a route in front of the packet.
    SlackBuffers,
    Lanes,
    FiveStages,
    InTransitHosts,
    WholePackets,
    Cycles,
    Ages,
    OutputQueues,
    InTransitRoutes,
    Halts,
    PartialForwarding,
}

impl Feature {
    pub(super) fn needed_by(schema: &Value) -> Option<Self> {
        let name = schema.get("x-needs")?.clone();
        Some(serde_json::from_value(name).expect("`x-needs` names a feature"))
    }

    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::SlackBuffers => "belongs to wormhole networks",
            Self::Lanes => "belongs to networks of virtual lanes and of whole packets",
            Self::FiveStages => "belongs to networks of virtual lanes",
            Self::InTransitHosts => "belongs to wormhole networks and those of virtual lanes",
            Self::WholePackets => "belongs to networks of whole packets",
            Self::Cycles => "only switches of five stages have cycles; poisson goes with all",
            Self::Ages => "only switches that keep whole packets at their inputs go by their ages",
            Self::OutputQueues => {
                "only switches of whole packets count the packets waiting for their outputs. `periodic` and \
                 `threshold` go with all kinds"
            }
            Self::InTransitRoutes => "whole packets go through no in-transit hosts",
            Self::Halts => {
                "a whole packet leaves its host without a halt, and halts are all that a host sees of contention"
            }
            Self::PartialForwarding => {
                "a whole packet goes on only where there is room for all of it"
            }
        }
    }
}

/// Switching kinds, in the order of support tables.
pub const KINDS: [SwitchingKind; 3] = [
    SwitchingKind {
        name: "wormhole",
        summary: "A packet moves flit by flit and may stretch over several switches. Small slack \
                  buffers hold back its sender with STOP and GO.",
        source: "Kwan et al. 1996, section 2; Flich et al. 2001, section IV-A",
        example: "network.switching = \"wormhole\"\nnetwork.preset = \"myrinet-1280\"",
        called: "a wormhole network",
        features: &[
            Feature::SlackBuffers,
            Feature::InTransitHosts,
            Feature::InTransitRoutes,
            Feature::Halts,
            Feature::PartialForwarding,
        ],
    },
    SwitchingKind {
        name: "virtual-lanes",
        summary: "A channel has up to 16 lanes (virtual channels), each with a buffer under credit flow control. \
                  Packets on different lanes share the channel flit by flit, and the lanes of a switch share its \
                  crossbar.",
        source: "Yum et al. 2002, section 3.1",
        example: "network.switching = \"virtual-lanes\"\nnetwork.preset = \"yum-1600\"",
        called: "a network of virtual lanes",
        features: &[
            Feature::Lanes,
            Feature::FiveStages,
            Feature::InTransitHosts,
            Feature::Cycles,
            Feature::InTransitRoutes,
            Feature::Halts,
            Feature::PartialForwarding,
        ],
    },
    SwitchingKind {
        name: "packets",
        summary: "A switch keeps whole packets in a buffer of each input and lane, under credit flow control. It \
                  forwards them by virtual cut-through, oldest first.",
        source: "Santos, Turner and Janakiraman 2002, section III and table I; InfiniBand Architecture Specification, \
                 Volume 1, section 7.9",
        example: "network.switching = \"packets\"\nnetwork.preset = \"santos-4x\"",
        called: "a network of whole packets",
        features: &[Feature::Lanes, Feature::WholePackets, Feature::Ages, Feature::OutputQueues],
    },
];

/// Support of a mechanism under a switching kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "support", rename_all = "lowercase")]
pub enum Support {
    /// Supported combination.
    Works,
    /// Refused combination, with the reason.
    Refused {
        /// Reason for the refusal.
        reason: &'static str,
    },
    /// Combination that has no meaning.
    Meaningless,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::KindSupport;
    use serde_json::json;

    #[test]
    fn refused_support_serializes_kind_and_reason() {
        let with = |support| serde_json::to_value(KindSupport { kind: "any", support }).unwrap();
        let refused = Support::Refused { reason: "no lanes" };
        assert_eq!(
            with(refused),
            json!({ "kind": "any", "support": "refused", "reason": "no lanes" })
        );
        assert_eq!(with(Support::Meaningless), json!({ "kind": "any", "support": "meaningless" }));
    }
}
