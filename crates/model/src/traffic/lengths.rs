//! How long messages are.

use super::Weighted;
use gingham_kernel::{Bytes, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The length distribution of a class, as a scenario names it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lengths {
    /// Every message has this many payload bytes.
    Fixed(Bytes),
    /// Geometric on 1, 2, 3, ... bytes with this mean: the exponential distribution in whole
    /// bytes.
    Exponential(Bytes),
    /// Every whole number of bytes between two limits, with equal probability.
    Uniform(Uniform),
    /// Short messages and long ones.
    Bimodal(Bimodal),
    /// As a CSV file counts them, with the columns `payload_bytes` and `weight`; the path is
    /// relative to the scenario.
    Empirical(String),
}

/// Parameters of `uniform`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// The shortest, included.
    pub from: Bytes,
    /// The longest, included.
    pub to: Bytes,
}

/// Parameters of `bimodal`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bimodal {
    /// Payload of a short message.
    pub short: Bytes,
    /// Payload of a long message.
    pub long: Bytes,
    /// The share of messages (not of bytes) that are long, from 0 to 1.
    pub long_share: f64,
}

/// The length distribution of a source, in payload bytes, all at least 1.
#[derive(Clone, PartialEq, Debug)]
pub enum LengthPlan {
    /// Always the same.
    Fixed(u32),
    /// Geometric with this mean.
    Exponential(f64),
    /// Uniform on whole numbers, both ends included.
    Uniform {
        /// The least.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// One of two.
    Bimodal {
        /// The one.
        short: u32,
        /// The other.
        long: u32,
        /// Probability of the other.
        long_share: f64,
    },
    /// By weight.
    Empirical(Arc<Weighted<u32>>),
}

impl LengthPlan {
    /// Mean payload in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => f64::from(*bytes),
            Self::Exponential(mean) => *mean,
            Self::Uniform { from, to } => f64::midpoint(f64::from(*from), f64::from(*to)),
            Self::Bimodal { short, long, long_share } => {
                f64::from(*short) * (1.0 - long_share) + f64::from(*long) * long_share
            }
            Self::Empirical(lengths) => {
                lengths.shares().map(|(bytes, share)| f64::from(bytes) * share).sum()
            }
        }
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Exponential(mean) => u32::try_from(stream.geometric(*mean)).unwrap_or(u32::MAX),
            Self::Uniform { from, to } => {
                let drawn = stream.below(u64::from(to - from) + 1);
                from + u32::try_from(drawn).expect("below a 32-bit length")
            }
            Self::Bimodal { short, long, long_share } => {
                if stream.unit() < *long_share {
                    *long
                } else {
                    *short
                }
            }
            Self::Empirical(lengths) => lengths.draw(stream),
        }
    }
}
