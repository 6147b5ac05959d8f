//! Message lengths.

use super::Weighted;
use gingham_kernel::{Bytes, FileName, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Length distribution of a class, as named in scenarios.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lengths {
    /// A constant number of payload bytes.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A", "x-example" = r#"{ fixed = "64 B" }"#))]
    Fixed(Bytes),
    /// Geometric distribution on 1, 2, 3, ... bytes with this mean: the exponential distribution in
    /// whole bytes.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 2; whole bytes are ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { exponential = "512 B" }
segmentation = { fixed = "2 KiB" }"#))]
    Exponential(Bytes),
    /// Every whole number of bytes between two limits, with equal probability.
    #[schemars(extend("x-source" = "textbook", "x-example" = r#"{ uniform = { from = "64 B", to = "1 KiB" } }"#))]
    Uniform(Uniform),
    /// One of two lengths, short or long.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"{ bimodal = { short = "16 B", long = "1 KiB", long_share = 0.2 } }"#))]
    Bimodal(Bimodal),
    /// Weighted lengths from a CSV file with the columns `payload_bytes` and `weight`. The path is
    /// relative to the scenario.
    #[schemars(extend("x-source" = "textbook", "x-example" = r#"{ empirical = "lengths.csv" }"#))]
    Empirical(FileName),
}

/// Parameters of `uniform`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Shortest length, inclusive.
    pub from: Bytes,
    /// Longest length, inclusive.
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
    /// Fraction of messages (not of bytes) that are long, from 0 to 1.
    pub long_share: f64,
}

/// Length distribution in payload bytes; all lengths are at least 1.
#[derive(Clone, PartialEq, Debug)]
pub enum LengthPlan {
    /// Constant length.
    Fixed(u32),
    /// Geometric distribution with this mean.
    Exponential(f64),
    /// Uniform distribution on whole numbers, with inclusive bounds.
    Uniform {
        /// Shortest length.
        from: u32,
        /// Longest length.
        to: u32,
    },
    /// One of two lengths.
    Bimodal {
        /// Short length.
        short: u32,
        /// Long length.
        long: u32,
        /// Probability of the long length.
        long_share: f64,
    },
    /// Weighted lengths.
    Empirical(Arc<Weighted<u32>>),
}

impl LengthPlan {
    /// Returns the mean payload in bytes.
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

    /// Returns the range of possible lengths.
    pub fn range_bytes(&self) -> RangeInclusive<u32> {
        match self {
            Self::Fixed(bytes) => *bytes..=*bytes,
            Self::Exponential(_) => 1..=u32::MAX,
            Self::Uniform { from, to } => *from..=*to,
            Self::Bimodal { short, long, .. } => *short.min(long)..=*short.max(long),
            Self::Empirical(lengths) => {
                let bytes = || lengths.things().iter().copied();
                bytes().min().unwrap_or(1)..=bytes().max().unwrap_or(1)
            }
        }
    }

    #[inline]
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

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Purpose;

    const DRAWS: u32 = 100_000;

    fn drawn(plan: &LengthPlan) -> Vec<u32> {
        let mut stream = Stream::new(1, "lengths", Purpose::Length);
        (0..DRAWS).map(|_| plan.draw(&mut stream)).collect()
    }

    fn assert_moments(plan: &LengthPlan, mean: f64, variance: f64) {
        assert!((plan.mean_bytes() - mean).abs() < 1e-9 * mean, "{plan:?}");
        let sample: f64 = drawn(plan).into_iter().map(f64::from).sum::<f64>() / f64::from(DRAWS);
        let bound = 5.0 * (variance / f64::from(DRAWS)).sqrt();
        assert!((sample - mean).abs() <= bound, "{plan:?}: {sample}, expected {mean} +- {bound}");
    }

    #[test]
    fn length_distributions_have_their_moments() {
        assert_moments(&LengthPlan::Fixed(512), 512.0, 0.0);
        // Geometric distribution with mean m: variance m (m - 1).
        assert_moments(&LengthPlan::Exponential(90.0), 90.0, 90.0 * 89.0);
        // Uniform from 64 to 1024: 961 lengths, variance (961^2 - 1) / 12.
        let uniform = LengthPlan::Uniform { from: 64, to: 1_024 };
        assert_moments(&uniform, 544.0, (961.0 * 961.0 - 1.0) / 12.0);
        // Bimodal: mean 16 + 0.2 x 1008 = 217.6, variance 1008^2 x 0.2 x 0.8.
        let bimodal = LengthPlan::Bimodal { short: 16, long: 1_024, long_share: 0.2 };
        assert_moments(&bimodal, 217.6, 1_008.0 * 1_008.0 * 0.16);
        // Empirical: mean (64 x 7 + 512 x 2 + 4096 x 1) / 10 = 556.8, mean square 64^2 x 0.7 +
        // 512^2 x 0.2 + 4096^2 x 0.1.
        let weighted = Weighted::new([(64, 7.0), (512, 2.0), (4_096, 1.0)]).unwrap();
        let square = 4_096.0 * 0.7 + 262_144.0 * 0.2 + 16_777_216.0 * 0.1;
        let empirical = LengthPlan::Empirical(Arc::new(weighted));
        assert_moments(&empirical, 556.8, square - 556.8 * 556.8);
    }

    #[test]
    fn uniform_lengths_include_both_bounds() {
        let lengths = drawn(&LengthPlan::Uniform { from: 3, to: 6 });
        for bytes in 3..=6 {
            // Expected: 25,000 messages (standard deviation 137).
            let count = lengths.iter().filter(|length| **length == bytes).count();
            assert!(count.abs_diff(25_000) < 685, "{count} of {bytes} bytes");
        }
        assert!(lengths.iter().all(|length| (3..=6).contains(length)));
    }

    #[test]
    fn bimodal_share_of_0_or_1_leaves_one_length() {
        let plan = |long_share| LengthPlan::Bimodal { short: 1, long: 2, long_share };
        assert!(drawn(&plan(0.0)).iter().all(|length| *length == 1));
        assert!(drawn(&plan(1.0)).iter().all(|length| *length == 2));
    }
}
