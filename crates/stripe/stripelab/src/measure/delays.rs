//! Packet delays from the source to the reader.
//!
//! The confidence interval of the mean is computed from sums per section of the measurement window.

use gingham_results::{Estimate, Ratio, real};
use hdrhistogram::Histogram;

/// Significant digits of the histogram, whose bins are narrower than 1 % of their value.
const DIGITS: u8 = 2;

#[derive(Debug)]
pub(crate) struct Delays {
    histogram: Histogram<u64>,
    sections: Vec<Ratio>,
    longest_ns: u64,
}

impl Delays {
    pub(crate) fn new(sections: usize) -> Self {
        let histogram = Histogram::new(DIGITS).expect("two digits are possible");
        Self { histogram, sections: vec![Ratio::default(); sections], longest_ns: 0 }
    }

    pub(crate) fn record(&mut self, section: usize, delay_ns: u64) {
        self.histogram.record(delay_ns).expect("the histogram grows with what it counts");
        self.longest_ns = self.longest_ns.max(delay_ns);
        let sums = &mut self.sections[section];
        sums.sum += real(u128::from(delay_ns));
        sums.over += 1.0;
    }

    pub(crate) fn clear(&mut self) {
        self.histogram.reset();
        self.sections.fill(Ratio::default());
        self.longest_ns = 0;
    }

    pub(crate) fn mean(&self) -> Option<Estimate> {
        Estimate::of_sections(&self.sections)
    }

    pub(crate) fn longest_ns(&self) -> Option<u64> {
        (!self.histogram.is_empty()).then_some(self.longest_ns)
    }

    /// Returns a percentile p of the delay; `None` with fewer than 100 / (100 - p) packets.
    pub(crate) fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        let packets = real(u128::from(self.histogram.len()));
        let is_known = packets * (100.0 - percentile) >= 100.0 - 1e-4;
        let value = || self.histogram.value_at_quantile(percentile / 100.0).min(self.longest_ns);
        is_known.then(value)
    }
}
