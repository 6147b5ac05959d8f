//! How long it takes to hear of a packet: least, smoothed, and how much it varies.
//!
//! Source: RFC 6298 for the smoothed time and its variation, but that the variation is the mean
//! difference from one sample to the next (as in RFC 3550, section 6.4.1): a queue that stands
//! keeps its length, jitter does not.

use crate::units::smooth;

/// No time there and back is longer than a day.
const SAMPLE_NS_MAX: u64 = 24 * 60 * 60 * 1_000_000_000;

/// What is known of the time there and back.
#[expect(clippy::struct_field_names, reason = "a plain number's name ends in its unit")]
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    least_ns: u64,
    last_ns: u64,
    smoothed_ns: u64,
    variation_ns: u64,
}

impl RoundTrip {
    /// The least there has been; 0 before there has been a sample.
    pub const fn least_ns(&self) -> u64 {
        self.least_ns
    }

    /// The last sample; 0 before there has been one.
    pub const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// The smoothed time; 0 before there has been a sample.
    pub const fn smoothed_ns(&self) -> u64 {
        self.smoothed_ns
    }

    /// The mean difference between a sample and the next.
    pub const fn variation_ns(&self) -> u64 {
        self.variation_ns
    }

    pub(crate) fn take(&mut self, sample_ns: u64) {
        // None is told from no sample.
        let sample_ns = sample_ns.clamp(1, SAMPLE_NS_MAX);
        if self.last_ns == 0 {
            (self.smoothed_ns, self.least_ns) = (sample_ns, sample_ns);
        } else {
            self.smoothed_ns = smooth(self.smoothed_ns, sample_ns, 8);
            self.variation_ns = smooth(self.variation_ns, sample_ns.abs_diff(self.last_ns), 16);
        }
        self.least_ns = self.least_ns.min(sample_ns);
        self.last_ns = sample_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: impl IntoIterator<Item = u64>) -> RoundTrip {
        let mut trip = RoundTrip::default();
        samples.into_iter().for_each(|sample| trip.take(sample));
        trip
    }

    /// 80, then 160: a smoothed 90, a difference of 80 of which a sixteenth counts.
    #[test]
    fn samples_are_smoothed_and_their_differences_too() {
        let trip = after([80, 160]);
        assert_eq!((trip.least_ns(), trip.smoothed_ns(), trip.variation_ns()), (80, 90, 5));
        assert_eq!(after([]).least_ns(), 0);
    }

    /// A queue that stands makes no difference from sample to sample.
    #[test]
    fn a_standing_queue_is_no_variation() {
        assert_eq!(after([500; 200]).variation_ns(), 0);
    }
}
