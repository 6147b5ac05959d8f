//! Backoff between connection attempts.
//!
//! Source: AWS Architecture Blog, "Exponential backoff and jitter", 2015 (half of the pause is
//! random).

use std::time::Duration;

use gingham_stripe::Instant;

/// First pause, equal to the pause before reopening a UDP socket.
const FIRST: Duration = Duration::from_millis(100);
/// Longest pause, short enough that an operator does not consider the channel abandoned.
const LONGEST: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// Returns the next pause, randomly shortened by up to half, so that ends behind a failed
    /// router do not reconnect simultaneously. The low digits of the time are sufficiently random.
    pub(super) fn next(&mut self, now: Instant) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        let pause_ns = u64::try_from(pause.as_nanos()).expect("some seconds");
        Duration::from_nanos(pause_ns - now.nanoseconds() % (pause_ns / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..8).map(|_| backoff.next(Instant::ORIGIN).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        let at = Instant::from_nanoseconds;
        let of = |now| Backoff::default().next(now);
        assert_eq!(of(at(49_999_999)), Duration::from_nanos(50_000_001));
        assert_eq!(of(at(50_000_000)), Duration::from_millis(100));
    }
}
