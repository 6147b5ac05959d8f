//! Marks what waits in a buffer that has become full, whatever its output.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV.A.

use super::Policy;
use super::congestion::{Concerns, Congestion, Scan, Triggers};
use crate::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `naive` takes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Naive {}

impl Policy for Naive {
    type Memory = Congestion;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn start(&self, plan: &Plan) -> Congestion {
        let triggers = Triggers {
            full: Some(Concerns::Buffer),
            threshold: None,
            scan: Scan::Direct,
            counts_leaving: true,
        };
        Congestion::new(plan, triggers)
    }
}
