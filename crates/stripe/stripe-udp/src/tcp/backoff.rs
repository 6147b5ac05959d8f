//! How long to wait before a connection is begun again.
//!
//! Source: AWS Architecture Blog, "Exponential backoff and jitter", 2015 (half of it by chance).

use std::time::Duration;

use gingham_stripe::Instant;

/// The first pause: as long as a socket of UDP is not opened anew.
const FIRST: Duration = Duration::from_millis(100);
/// The longest: somebody who looks on does not take it for an end.
const LONGEST: Duration = Duration::from_secs(5);

/// Pauses, each twice as long as the one before.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// The next pause, less up to half of it by chance, lest all who lost one router come back at
    /// once. How many nanoseconds it is past anything is chance enough.
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
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..8).map(|_| backoff.next(Instant::ORIGIN).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        let at = Instant::from_nanoseconds;
        let of = |now| Backoff::default().next(now);
        assert_eq!(of(at(49_999_999)), Duration::from_nanos(50_000_001));
        assert_eq!(of(at(50_000_000)), Duration::from_millis(100));
    }
}
