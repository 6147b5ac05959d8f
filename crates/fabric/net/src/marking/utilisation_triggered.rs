//! Marks packets for an output that was recently busy for too large a share of the time.
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
    /// If an output is busy for more than this fraction of the time, packets that wait for it are
    /// marked; from 0 to below 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub above: f64,
    /// Averaging time of the fraction.
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
