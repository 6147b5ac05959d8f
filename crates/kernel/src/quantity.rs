//! Rates and lengths as integers, and how they become picoseconds.
//!
//! A rate turns into the time of one flit once, rounded to the nearest picosecond;
//! [`FlitTime`] keeps the error of that rounding so that a result can report it.

use crate::Span;

/// A data rate in bytes per second, payload of the line code (after 8b/10b and the like).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

/// The length of a cable, in millimetres.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Length(u64);

/// The time that one flit takes on a link, and what rounding did to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlitTime {
    /// The rounded time, at least one picosecond.
    pub span: Span,
    /// Relative error of the rounded time: (rounded - exact) / exact.
    pub relative_error: f64,
}

impl Rate {
    /// A rate of `bytes` per second. Panics on zero: the edges refuse it.
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        assert!(bytes > 0, "a link has a rate");
        Self(bytes)
    }

    /// Bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// The time of one flit of `flit_bytes` at this rate.
    pub fn flit_time(self, flit_bytes: u64) -> FlitTime {
        const PS_PER_SECOND: u128 = 1_000_000_000_000;
        let rate = u128::from(self.0);
        let numerator = u128::from(flit_bytes) * PS_PER_SECOND;
        let rounded = ((numerator + rate / 2) / rate).max(1);
        let ps = u64::try_from(rounded).expect("a flit time fits 64 bits");
        #[expect(clippy::cast_precision_loss, reason = "a reported error needs few digits")]
        let exact_ps = numerator as f64 / self.0 as f64;
        #[expect(clippy::cast_precision_loss, reason = "a reported error needs few digits")]
        let relative_error = (ps as f64 - exact_ps) / exact_ps;
        FlitTime { span: Span::from_ps(ps), relative_error }
    }
}

impl Length {
    /// A cable of `mm` millimetres.
    pub const fn from_mm(mm: u64) -> Self {
        Self(mm)
    }

    /// Millimetres.
    pub const fn as_mm(self) -> u64 {
        self.0
    }

    /// The time light and copper need for this length at `delay_per_metre`, rounded to
    /// the nearest picosecond.
    pub fn propagation(self, delay_per_metre: Span) -> Span {
        let product = u128::from(self.0) * u128::from(delay_per_metre.as_ps());
        Span::from_ps(u64::try_from((product + 500) / 1_000).expect("a delay fits 64 bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn myrinet_and_ndr_flit_times_are_exact() {
        for (bytes_per_second, ps) in
            [(160_000_000, 6_250), (80_000_000, 12_500), (50_000_000_000, 20)]
        {
            let time = Rate::from_bytes_per_second(bytes_per_second).flit_time(1);
            assert_eq!(time.span, Span::from_ps(ps));
            assert!(time.relative_error.abs() < 1e-12);
        }
    }

    #[test]
    fn a_rate_that_does_not_divide_reports_its_rounding() {
        // 4xFDR carries 54.5454 Gbit/s: 146.67 ps a byte becomes 147 ps.
        let time = Rate::from_bytes_per_second(6_818_181_818).flit_time(1);
        assert_eq!(time.span, Span::from_ps(147));
        assert!((time.relative_error - 0.002_272).abs() < 1e-5);
    }

    #[test]
    fn ten_metres_of_myrinet_cable_take_49_2_ns() {
        let delay = Length::from_mm(10_000).propagation(Span::from_ps(4_920));
        assert_eq!(delay, Span::from_ps(49_200));
    }
}
