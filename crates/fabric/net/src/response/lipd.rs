//! Linear inter-packet delay: each mark adds one packet time to the delay between packets.
//!
//! ```text
//!   marked       r / (1 + r)            T + T_0: one packet time more between starts
//!   not marked   r / (1 - R_min)        T (1 - R_min)
//! ```
//!
//! r is the rate, T the time between packet starts, and T_0 its minimum.
//!
//! Source: Santos, Turner and Janakiraman, INFOCOM 2003, as in `rate`; the limits are ours.

use super::rate::LOWEST;
use super::{Adapt, Limits, Rate, Respond};
use gingham_kernel::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameter of `lipd`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lipd {
    /// Lowest rate, above 0 and at most 1, as a fraction of the highest rate (the class's rate
    /// limit, or the full link rate). Default: 1/256.
    pub lowest: f64,
}

impl Default for Lipd {
    fn default() -> Self {
        Self { lowest: LOWEST }
    }
}

impl Respond for Lipd {
    type Memory = Linear;

    fn lowest(&self) -> Option<f64> {
        Some(self.lowest)
    }

    fn start(&self, limits: &Limits) -> Linear {
        Linear(Rate::new(self.lowest, limits))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear(Rate);

impl Adapt for Linear {
    fn down(&mut self, limits: &mut Limits, _now: Time) {
        let share = self.0.share();
        self.0.set(share / (1.0 + share), limits);
    }

    fn up(&mut self, limits: &mut Limits, _now: Time) {
        // A lowest rate of 1 permits no other rate.
        let rest = 1.0 - self.0.lowest();
        self.0.set(if rest > 0.0 { self.0.share() / rest } else { 1.0 }, limits);
    }
}
