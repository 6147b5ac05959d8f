//! Monotonic clock, and conversion of kernel timestamps to it.
//!
//! ```text
//!   realtime    ------|stamp--------|now       kernel timestamps use the adjustable clock
//!   monotonic   ------|now - age----|now       age = now - stamp, both realtime
//! ```
//!
//! Invariant: an arrival time is never in the future, and never before the socket was last empty,
//! even if the realtime clock is adjusted.

use std::time::Duration;

use gingham_stripe::Instant;
use nix::time::{ClockId, clock_gettime};

/// Maximum time between two clock readings that count as simultaneous: a hundred times the duration
/// of a reading.
const TOGETHER: Duration = Duration::from_micros(10);
const TRIES_MAX: u32 = 4;

/// Returns the monotonic time, whose origin is common to all processes of a machine.
pub fn now() -> Instant {
    Instant::from_nanoseconds(nanoseconds(read(ClockId::CLOCK_MONOTONIC)))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    realtime: Duration,
}

impl Moment {
    pub(crate) const fn at(now: Instant) -> Self {
        Self { now, realtime: Duration::from_nanos(now.nanoseconds()) }
    }

    pub(crate) fn read() -> Self {
        let mut tries = 1..=TRIES_MAX;
        loop {
            let before = now();
            let moment = Self { realtime: read(ClockId::CLOCK_REALTIME), now: now() };
            if since(moment.now, before) <= TOGETHER || tries.next().is_none() {
                return moment;
            }
        }
    }

    /// Converts a kernel timestamp to an arrival time, no earlier than `empty_at`, when the socket
    /// was last empty.
    pub(crate) fn of_stamp(&self, stamp: Option<Duration>, empty_at: Instant) -> Instant {
        let age = stamp.map_or(Duration::ZERO, |stamp| self.realtime.saturating_sub(stamp));
        let at = self.now.nanoseconds().saturating_sub(nanoseconds(age));
        Instant::from_nanoseconds(at).max(empty_at).min(self.now)
    }
}

fn read(clock: ClockId) -> Duration {
    clock_gettime(clock).expect("every Linux has these clocks").into()
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("no machine runs for centuries")
}

pub(crate) fn since(later: Instant, earlier: Instant) -> Duration {
    Duration::from_nanos(later.nanoseconds().saturating_sub(earlier.nanoseconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagram_age_is_bounded_despite_clock_steps() {
        let at = |milliseconds: u64| Instant::from_nanoseconds(milliseconds * 1_000_000);
        let moment = Moment { now: at(100), realtime: Duration::from_secs(7) };
        let came = |stamp_ms| moment.of_stamp(Some(Duration::from_millis(stamp_ms)), at(95));
        assert_eq!(came(6_997), at(97));
        assert_eq!(came(6_000), at(95));
        assert_eq!(came(8_000), at(100));
        assert_eq!(moment.of_stamp(None, at(95)), at(100));
    }
}
