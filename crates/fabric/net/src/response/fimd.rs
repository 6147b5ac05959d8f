//! Fast increase, multiplicative decrease: recovery from a mark takes equally long at every rate.
//!
//! ```text
//!   marked       r / m
//!   not marked   r m^(1 / (r / R_min))         in the order written
//! ```
//!
//! r is the rate and m the factor.
//!
//! Source: US patent 7,920,476, claims 1 to 3; m = 2 is quoted from memory of HPL-2002-4.

use super::rate::{FACTOR, LOWEST};
use super::{Adapt, Limits, Rate, Respond};
use gingham_kernel::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `fimd`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fimd {
    /// Lowest rate, above 0 and at most 1, as a fraction of the highest rate (the class's rate
    /// limit, or the full link rate). Default: 1/256.
    pub lowest: f64,
    /// Divisor of the rate at a mark, above 1. Default: 2.
    pub factor: f64,
}

impl Default for Fimd {
    fn default() -> Self {
        Self { lowest: LOWEST, factor: FACTOR }
    }
}

impl Respond for Fimd {
    type Memory = Exponential;

    fn lowest(&self) -> Option<f64> {
        Some(self.lowest)
    }

    fn factor(&self) -> Option<f64> {
        Some(self.factor)
    }

    fn start(&self, limits: &Limits) -> Exponential {
        Exponential { rate: Rate::new(self.lowest, limits), factor: self.factor }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Exponential {
    rate: Rate,
    factor: f64,
}

impl Adapt for Exponential {
    fn down(&mut self, limits: &mut Limits, _now: Time) {
        self.rate.set(self.rate.share() / self.factor, limits);
    }

    fn up(&mut self, limits: &mut Limits, _now: Time) {
        let growth = libm::pow(self.factor, 1.0 / self.rate.over_lowest());
        self.rate.set(self.rate.share() * growth, limits);
    }
}
