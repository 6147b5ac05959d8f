//! Integer data rates and lengths, and the times derived from them.

use crate::Span;

/// Data rate in bytes per second, net of line coding such as 8b/10b.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

/// Length in millimetres.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Length(u64);

/// Serialisation time of a flit, with its rounding error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlitTime {
    /// Time rounded to the picosecond, at least 1 ps.
    pub span: Span,
    /// Relative rounding error: (rounded - exact) / exact.
    pub relative_error: f64,
}

/// Serialisation time of any number of bytes, derived from the time for 64 KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteTime {
    many_ps: u64,
}

const MANY_BYTES: u64 = 1 << 16;

impl ByteTime {
    /// Creates a byte time from the serialisation time of 64 KiB. Panics if `span` is zero.
    pub const fn from_64_kib(span: Span) -> Self {
        assert!(span.as_ps() > 0, "bytes take time");
        Self { many_ps: span.as_ps() }
    }

    /// Returns the serialisation time of `bytes` bytes to the nearest picosecond; halves round up.
    #[inline]
    pub fn of(self, bytes: u64) -> Span {
        let parts = match bytes.checked_mul(self.many_ps) {
            Some(parts) if parts < u64::MAX - MANY_BYTES => (parts + MANY_BYTES / 2) / MANY_BYTES,
            _ => {
                let parts = u128::from(bytes) * u128::from(self.many_ps);
                let ps = (parts + u128::from(MANY_BYTES / 2)) / u128::from(MANY_BYTES);
                u64::try_from(ps).expect("a packet passes a link within a run")
            }
        };
        Span::from_ps(parts)
    }

    /// Returns the number of bytes whose transmission starts before the end of `span`. Byte `k`
    /// (0-based) starts at `self.of(k)`.
    pub fn started(self, span: Span) -> u64 {
        if span == Span::ZERO {
            return 0;
        }
        // For `k` bytes, of(k) < span is equivalent to k x `many_ps` / 64 KiB < span - 1/2.
        let odd = 2 * span.as_ps() - 1;
        if let (Some(halves), Some(many)) =
            (odd.checked_mul(MANY_BYTES), self.many_ps.checked_mul(2))
        {
            return halves.div_ceil(many);
        }
        let halves = u128::from(odd) * u128::from(MANY_BYTES);
        let bytes = halves.div_ceil(2 * u128::from(self.many_ps));
        u64::try_from(bytes).expect("no more bytes than picoseconds times 64 Ki")
    }

    /// Returns whether a byte takes a whole number of picoseconds, so that all times are exact.
    pub const fn is_whole(self) -> bool {
        self.many_ps.is_multiple_of(MANY_BYTES)
    }

    /// Returns the serialisation time of one byte in picoseconds.
    #[expect(clippy::cast_precision_loss, reason = "times are small")]
    pub fn byte_ps(self) -> f64 {
        self.many_ps as f64 / MANY_BYTES as f64
    }
}

impl Rate {
    /// Creates a rate from bytes per second. Panics if `bytes` is zero.
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        assert!(bytes > 0, "a link has a rate");
        Self(bytes)
    }

    /// Returns the rate in bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// Returns the serialisation time per byte.
    pub fn byte_time(self) -> ByteTime {
        ByteTime::from_64_kib(self.flit_time(MANY_BYTES).span)
    }

    /// Returns the serialisation time of a flit.
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
    /// Creates a length from millimetres.
    pub const fn from_mm(mm: u64) -> Self {
        Self(mm)
    }

    /// Returns the length in millimetres.
    pub const fn as_mm(self) -> u64 {
        self.0
    }

    /// Returns the propagation delay to the nearest picosecond.
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
    fn inexact_flit_time_reports_its_rounding_error() {
        // 4xFDR carries 54.5454 Gbit/s: 146.67 ps per byte is rounded to 147 ps.
        let time = Rate::from_bytes_per_second(6_818_181_818).flit_time(1);
        assert_eq!(time.span, Span::from_ps(147));
        assert!((time.relative_error - 0.002_272).abs() < 1e-5);
    }

    #[test]
    fn byte_times_are_exact_to_half_a_picosecond() {
        let fdr = Rate::from_bytes_per_second(6_818_181_818).byte_time();
        // At 146.666... ps per byte, 64 KiB take 9,611,947 ps, 5 bytes 733.33 ps and 4,096 bytes
        // 600,746.69 ps.
        assert_eq!([0, 1, 5, 4_096].map(|bytes| fdr.of(bytes).as_ps()), [0, 147, 733, 600_747]);
        let ndr = Rate::from_bytes_per_second(50_000_000_000).byte_time();
        assert_eq!(ndr.of(4_122), Span::from_ps(82_440));
        // The product of 2^32 bytes and their time at 1 kB/s exceeds 64 bits.
        let slow = Rate::from_bytes_per_second(1_000).byte_time();
        assert_eq!(slow.of(1 << 32), Span::from_ps((1 << 32) * 1_000_000_000));
        assert!((fdr.byte_ps() - 146.667).abs() < 1e-3);
    }

    #[test]
    fn started_byte_counts_as_transmitted() {
        for rate in [1_000, 999_999_937, 6_818_181_818, 50_000_000_000, 3_000_000_000_000] {
            let bytes = Rate::from_bytes_per_second(rate).byte_time();
            let counted = |span: u64| {
                (0..u64::from(u32::MAX)).take_while(|k| bytes.of(*k).as_ps() < span).count()
            };
            for span in [0, 1, 2, 3, 146, 147, 148, 293, 294, 1_467, 2_000] {
                let started = bytes.started(Span::from_ps(span));
                assert_eq!(started, counted(span) as u64, "{rate} B/s, {span} ps");
            }
        }
    }

    #[test]
    fn ten_metres_of_myrinet_cable_take_49_2_ns() {
        let delay = Length::from_mm(10_000).propagation(Span::from_ps(4_920));
        assert_eq!(delay, Span::from_ps(49_200));
    }
}
