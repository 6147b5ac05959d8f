//! Two hosts joined by a chain of switches, for checking latency formulas.
//!
//! ```text
//!   h0 ── s0 ── s1 ── ... ── h1          switches = 0:   h0 ── h1
//! ```
//!
//! Port 1 of a switch leads towards `h0`, port 2 towards `h1`.

use super::draft::{Draft, Size};
use super::{GenerateError, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two hosts with a row of switches between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoHosts {
    /// Number of switches in a row between the two hosts, from 0 (a direct cable) to 999,998.
    #[serde(default = "one")]
    pub switches: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl TwoHosts {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        let size = Size { switches: self.switches.into(), hosts: 2, ports_per_switch: 2 };
        size.check("switches", &self.switches)?;
        let mut draft = Draft::default();
        let mut end = (draft.host("h0"), 1);
        for index in 0..self.switches {
            let switch = draft.switch(&format!("s{index}"), 2);
            draft.cable(end, (switch, 1));
            end = (switch, 2);
        }
        let last = draft.host("h1");
        draft.cable(end, (last, 1));
        Ok(draft.build())
    }
}

impl Default for TwoHosts {
    fn default() -> Self {
        Self { switches: one(), rails: one() }
    }
}
