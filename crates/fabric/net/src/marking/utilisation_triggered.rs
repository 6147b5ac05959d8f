//! Marking policy with a trigger for busy outputs.
//!
//! Source: Santos et al. 2002, footnote 5, which does not adopt it.

use super::congestion::Congestion;
use super::{Policy, Triggers};
use crate::Plan;
use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `utilisation-triggered`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UtilisationTriggered {
    /// Busy fraction of an output above which waiting packets are marked, from 0 to below 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub above: f64,
    /// Averaging time of the busy fraction.
    pub average: Span,
}

impl Policy for UtilisationTriggered {
    type Memory = Congestion;

    fn triggers(&self) -> Option<Triggers> {
        let (utilisation, average) = (Some(self.above), Some(self.average));
        Some(Triggers { utilisation, average, ..Triggers::NONE })
    }

    fn start(&self, plan: &Plan) -> Congestion {
        Congestion::of(self, plan)
    }
}
