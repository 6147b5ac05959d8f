//! The switching kinds, and the support of a mechanism under each.
//!
//! ```text
//!                   wormhole       virtual-lanes
//!   poisson         works          works
//!   a crossbar      refused: why   works
//!   a preset        works          meaningless
//! ```
//!
//! A fabric has one switching kind. A new kind is one entry of [`KINDS`]; every rule of support in `concepts` then lacks a
//! cell and does not compile until it has one.

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
}

/// Every switching kind, in the order in which the cells of a line are given.
pub const KINDS: [SwitchingKind; 2] = [
    SwitchingKind {
        name: "wormhole",
        summary: "A packet moves flit by flit and may stretch over several switches; small slack \
                  buffers hold its sender with STOP and GO.",
        source: "Kwan et al. 1996, section 2; Flich et al. 2001, section IV-A",
        example: "network.preset = \"myrinet-1280\"",
    },
    SwitchingKind {
        name: "virtual-lanes",
        summary: "A channel has up to 16 lanes, each with a buffer of its own for which its sender has credits; packets \
                  on different lanes share the channel flit by flit, and the lanes of a switch its crossbar.",
        source: "Yum et al. 2002, section 3.1",
        example: "network.preset = \"yum-1600\"",
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
