//! Round-trip time: minimum, smoothed, and variation.
//!
//! ```text
//!   sender     a packet is sent                        its acknowledgement arrives at now
//!                  \                                    /
//!   receiver        arrives ... held ... acknowledged          sample = now - sent - held
//! ```
//!
//! The recent minimum counts as the RTT without queueing (BBR: Cardwell et al., ACM Queue 14(5),
//! 2016); any excess is queueing or jitter. The mean difference between consecutive samples (RFC
//! 3550, section 6.4.1) distinguishes the two: a queue sustained by a full window keeps its length.
//!
//! Invariant: the minimum is at most the last sample, and not older than its validity period.

use crate::units::smooth;

const SAMPLE_NS_MAX: u64 = 24 * 60 * 60 * 1_000_000_000;

/// RTT statistics of a path, in nanoseconds.
#[expect(clippy::struct_field_names, reason = "a number's name ends in its unit")]
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    span_ns: u64,
    /// Minimum RTT in the current and in the previous half of the validity span.
    least_ns: [u64; 2],
    half_since_ns: u64,
    last_ns: Option<u64>,
    smoothed_ns: u64,
    variation_ns: u64,
}

impl RoundTrip {
    pub(crate) const fn new(span_ns: u64) -> Self {
        Self {
            span_ns,
            least_ns: [u64::MAX; 2],
            half_since_ns: 0,
            last_ns: None,
            smoothed_ns: 0,
            variation_ns: 0,
        }
    }

    /// Returns the recent minimum RTT; 0 before the first sample.
    pub fn least_ns(&self) -> u64 {
        self.last_ns.map_or(0, |_| self.least_ns[0].min(self.least_ns[1]).min(SAMPLE_NS_MAX))
    }

    /// Returns the smoothed RTT; 0 before the first sample.
    pub fn smoothed_ns(&self) -> u64 {
        self.smoothed_ns.min(SAMPLE_NS_MAX)
    }

    /// Returns the mean difference between consecutive RTT samples.
    pub fn variation_ns(&self) -> u64 {
        self.variation_ns.min(SAMPLE_NS_MAX)
    }

    pub(crate) fn take(&mut self, now_ns: u64, sample_ns: u64) {
        let sample_ns = sample_ns.min(SAMPLE_NS_MAX);
        self.half_since_ns = self.half_since_ns.min(now_ns);
        if let Some(last_ns) = self.last_ns {
            self.smoothed_ns = smooth(self.smoothed_ns, sample_ns, 8);
            self.variation_ns = smooth(self.variation_ns, sample_ns.abs_diff(last_ns), 16);
        } else {
            (self.smoothed_ns, self.half_since_ns) = (sample_ns, now_ns);
        }
        self.last_ns = Some(sample_ns);
        if now_ns.saturating_sub(self.half_since_ns) >= self.span_ns / 2 {
            self.least_ns = [sample_ns, self.least_ns[0]];
            self.half_since_ns = now_ns;
        }
        self.least_ns[0] = self.least_ns[0].min(sample_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: &[(u64, u64)]) -> RoundTrip {
        let mut trip = RoundTrip::new(1_000);
        for &(now_ns, sample_ns) in samples {
            trip.take(now_ns, sample_ns);
        }
        trip
    }

    #[test]
    fn rtt_samples_and_their_variation_are_smoothed() {
        let trip = after(&[(0, 80), (10, 160)]);
        assert_eq!((trip.least_ns(), trip.smoothed_ns(), trip.variation_ns()), (80, 90, 5));
        assert_eq!(after(&[]).least_ns(), 0);
    }

    #[test]
    fn standing_queue_causes_no_variation() {
        let samples: Vec<(u64, u64)> = (0..200).map(|now| (now, 500)).collect();
        assert_eq!(after(&samples).variation_ns(), 0);
    }

    /// The minimum of 50 ns stays valid until the end of the next half span; half spans start at 0,
    /// 500 and 1,000 ns.
    #[test]
    fn minimum_rtt_expires() {
        let mut trip = after(&[(0, 50), (400, 70), (500, 80), (999, 90)]);
        assert_eq!(trip.least_ns(), 50);
        trip.take(1_000, 90);
        assert_eq!(trip.least_ns(), 80);
    }
}
