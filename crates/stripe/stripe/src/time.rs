//! Time stamps.

use core::time::Duration;

/// Time stamp in nanoseconds since an origin that the caller chooses; the origins of the two ends
/// may differ. The range is 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// Origin of time stamps.
    pub const ORIGIN: Self = Self(0);

    /// Creates a time stamp from the nanoseconds since the origin.
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Returns the nanoseconds since the origin.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// Returns the time stamp advanced by a span; saturates.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let nanoseconds = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }
}

/// Sets `at` to `now` if it is more than `span_max` in the future.
pub(crate) fn not_after(at: &mut Instant, now: Instant, span_max: Duration) {
    if *at > now.after(span_max) {
        *at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(
            Instant::from_nanoseconds(7).after(Duration::from_micros(1)).nanoseconds(),
            1_007
        );
        assert_eq!(Instant::from_nanoseconds(7).after(Duration::MAX).nanoseconds(), u64::MAX);
    }
}
