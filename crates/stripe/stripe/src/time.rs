//! Instants: whole nanoseconds from an origin of the caller's.
//!
//! Virtual time of the laboratory and the clock of a daemon are both such numbers. 2^64 of them
//! are 584 years.

use core::time::Duration;

/// Nanoseconds since an origin that both of a program's ends of the protocol need not share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The origin.
    pub const ORIGIN: Self = Self(0);

    /// So many nanoseconds after the origin.
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the origin.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// So much later, or the end of time.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let nanoseconds = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }
}

/// Resets a time that is more than `span_max` ahead to now.
pub(crate) fn not_after(at: &mut Instant, now: Instant, span_max: Duration) {
    if *at > now.after(span_max) {
        *at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ends_and_does_not_wrap() {
        assert_eq!(
            Instant::from_nanoseconds(7).after(Duration::from_micros(1)).nanoseconds(),
            1_007
        );
        assert_eq!(Instant::from_nanoseconds(7).after(Duration::MAX).nanoseconds(), u64::MAX);
    }
}
