//! Star: one switch with its hosts, the smallest fabric with contention.
//!
//! ```text
//!   h0   h1   h2
//!     \  |   /
//!      \ |  /
//!        s0 ── h3
//! ```
//!
//! Port k + 1 leads to host `hk`.

use super::draft::{Draft, Size};
use super::error::at_least;
use super::{GenerateError, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One switch with all hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts on the switch, from 1 to 65,535.
    #[schemars(range(min = 1, max = 65_535))]
    pub hosts: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl Star {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        at_least("hosts", self.hosts, 1)?;
        let hosts = u128::from(self.hosts);
        Size { switches: 1, hosts, ports_per_switch: hosts }.check("hosts", &self.hosts)?;
        let mut draft = Draft::default();
        let switch = draft.switch("s0", self.hosts);
        draft.numbered_hosts(switch, self.hosts);
        Ok(draft.build())
    }
}
