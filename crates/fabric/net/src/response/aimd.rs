//! Additive increase, multiplicative decrease: the rate grows linearly with time.
//!
//! ```text
//!   marked       r / m
//!   not marked   r + (m - 1) R_min / (r / R_min)         in the order written
//! ```
//!
//! r is the rate, m the factor and p the packet length. The increase is the steepest that keeps
//! recovery times at or above p / R_min, the recovery time at the rate m R_min.
//!
//! Source: Chiu and Jain 1989; the increase is derived from this condition in Santos, Turner and
//! Janakiraman, INFOCOM 2003.

use super::rate::{FACTOR, LOWEST};
use super::{Adapt, Limits, Rate, Respond};
use gingham_kernel::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `aimd`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aimd {
    /// Lowest rate, above 0 and at most 1, as a fraction of the highest rate (the class's rate
    /// limit, or the full link rate). Default: 1/256.
    pub lowest: f64,
    /// Divisor of the rate at a mark, above 1. Default: 2.
    pub factor: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { lowest: LOWEST, factor: FACTOR }
    }
}

impl Respond for Aimd {
    type Memory = Additive;

    fn lowest(&self) -> Option<f64> {
        Some(self.lowest)
    }

    fn factor(&self) -> Option<f64> {
        Some(self.factor)
    }

    fn start(&self, limits: &Limits) -> Additive {
        Additive { rate: Rate::new(self.lowest, limits), factor: self.factor }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Additive {
    rate: Rate,
    factor: f64,
}

impl Adapt for Additive {
    fn down(&mut self, limits: &mut Limits, _now: Time) {
        self.rate.set(self.rate.share() / self.factor, limits);
    }

    fn up(&mut self, limits: &mut Limits, _now: Time) {
        let step = (self.factor - 1.0) * self.rate.lowest() / self.rate.over_lowest();
        self.rate.set(self.rate.share() + step, limits);
    }
}
