//! The switching kinds, and the support of a mechanism under each.
//!
//! ```text
//!                   wormhole       virtual-lanes   packets
//!   poisson         works          works           works
//!   a crossbar      refused: why   works           refused: why
//!   a paper's preset works         meaningless     meaningless
//! ```
//!
//! A fabric has one switching kind. A new kind is one entry of [`KINDS`]: its features decide on
//! every cell of its column, and on the keys of a scenario that it has (`keys`).

use crate::scenario::{Network, SwitchingParameters};
use serde::Serialize;

/// A way in which switches pass on packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchingKind {
    /// The name.
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Keys of a scenario, as TOML, that ask for it.
    pub example: &'static str,
    /// What a network of the kind is called.
    #[serde(skip)]
    pub(super) called: &'static str,
    /// What its networks have that not all have.
    #[serde(skip)]
    pub(super) features: &'static [Feature],
}

impl SwitchingKind {
    /// The kind of which a network has the figures.
    pub(super) fn of(switching: &SwitchingParameters) -> &'static Self {
        let kind = KINDS.iter().find(|kind| kind.name == switching.kind());
        kind.expect("every kind stands in the catalogue")
    }

    /// A network of it, with what made it so.
    pub(super) fn under(&self, network: &Network) -> String {
        let by = match network.switching {
            Some(_) => "network.switching".to_owned(),
            None => format!("the preset {}", network.preset().name()),
        };
        format!("{} ({by})", self.called)
    }

    /// Whether its networks have something that not all have.
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

/// What only networks of some kinds have, so that keys and mechanisms belong to these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Feature {
    /// Slack buffers, STOP and GO, and a route in front of the packet.
    SlackBuffers,
    /// Several lanes of a channel, each with credits.
    Lanes,
    /// Switches of five stages that move flits over lanes.
    FiveStages,
    /// Hosts that send packets on.
    InTransitHosts,
    /// Switches that keep whole packets at their inputs.
    WholePackets,
}

/// Every switching kind, in the order in which the cells of a line are given.
pub const KINDS: [SwitchingKind; 3] = [
    SwitchingKind {
        name: "wormhole",
        summary: "A packet moves flit by flit and may stretch over several switches. Small slack \
                  buffers hold back its sender with STOP and GO.",
        source: "Kwan et al. 1996, section 2; Flich et al. 2001, section IV-A",
        example: "network.switching = \"wormhole\"\nnetwork.preset = \"myrinet-1280\"",
        called: "a wormhole network",
        features: &[Feature::SlackBuffers, Feature::InTransitHosts],
    },
    SwitchingKind {
        name: "virtual-lanes",
        summary: "A channel has up to 16 lanes (virtual channels), each with a buffer for which its sender has credits. \
                  Packets on different lanes share the channel flit by flit, and the lanes of a switch share its crossbar.",
        source: "Yum et al. 2002, section 3.1",
        example: "network.switching = \"virtual-lanes\"\nnetwork.preset = \"yum-1600\"",
        called: "a network of virtual lanes",
        features: &[Feature::Lanes, Feature::FiveStages, Feature::InTransitHosts],
    },
    SwitchingKind {
        name: "packets",
        summary: "A switch keeps whole packets in a buffer of each input and lane, for which its sender has credits. It \
                  forwards them by virtual cut-through, oldest first.",
        source: "Santos, Turner and Janakiraman 2002, section III and table I; InfiniBand Architecture Specification, \
                 Volume 1, section 7.9",
        example: "network.switching = \"packets\"\nnetwork.preset = \"santos-4x\"",
        called: "a network of whole packets",
        features: &[Feature::Lanes, Feature::WholePackets],
    },
];

/// The support of a mechanism under a switching kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "support", rename_all = "lowercase")]
pub enum Support {
    /// It may be used together.
    Works,
    /// A scenario that asks for both is refused with a message that holds this reason.
    Refused {
        /// Why.
        reason: &'static str,
    },
    /// The question does not arise.
    Meaningless,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::KindSupport;
    use serde_json::json;

    #[test]
    fn a_refusal_carries_its_reason_beside_the_kind() {
        let with = |support| serde_json::to_value(KindSupport { kind: "any", support }).unwrap();
        let refused = Support::Refused { reason: "no lanes" };
        assert_eq!(
            with(refused),
            json!({ "kind": "any", "support": "refused", "reason": "no lanes" })
        );
        assert_eq!(with(Support::Meaningless), json!({ "kind": "any", "support": "meaningless" }));
    }
}
