//! How long messages are.

use gingham_kernel::{Bytes, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The length distribution of a class, as a scenario names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lengths {
    /// Every message has this many payload bytes.
    Fixed(Bytes),
    /// Geometric on 1, 2, 3, ... bytes with this mean: the exponential distribution in whole
    /// bytes.
    Exponential(Bytes),
}

/// The length distribution of a class, in payload bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LengthPlan {
    /// Always the same, at least 1.
    Fixed(u32),
    /// Geometric with this mean, at least 1.
    Exponential(f64),
}

impl LengthPlan {
    /// Mean payload in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => f64::from(*bytes),
            Self::Exponential(mean) => *mean,
        }
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Exponential(mean) => u32::try_from(stream.geometric(*mean)).unwrap_or(u32::MAX),
        }
    }
}
