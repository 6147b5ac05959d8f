//! The clock: nanoseconds that only grow, and when the kernel took a datagram in by that clock.
//!
//! ```text
//!   realtime    ------|stamp--------|now       the kernel stamps by the clock that people set
//!   monotonic   ------|now - age----|now       age = now - stamp, both realtime
//! ```
//!
//! Invariant: no datagram came later than now, or before its socket was last found empty, whatever
//! was done to the realtime clock meanwhile.

use std::time::Duration;

use gingham_stripe::Instant;
use nix::time::{ClockId, clock_gettime};

/// Clocks that are read within this are read at one moment: a hundred times what it takes.
const TOGETHER: Duration = Duration::from_micros(10);
/// Nobody is interrupted so often in a row but where it is of no use.
const TRIES_MAX: u32 = 4;

/// The monotonic clock, whose origin all processes of a machine share.
pub fn now() -> Instant {
    Instant::from_nanoseconds(nanoseconds(read(ClockId::CLOCK_MONOTONIC)))
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    realtime: Duration,
}

impl Moment {
    /// One of a clock that is told, by which datagrams have their stamps as well.
    pub(crate) const fn told(now: Instant) -> Self {
        Self { now, realtime: Duration::from_nanos(now.nanoseconds()) }
    }

    /// This one. If we are interrupted between the two, they are read again.
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

    /// When something came that the kernel stamped, if it did, on a socket that was empty then.
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

/// How much later one instant is than another.
pub(crate) fn since(later: Instant, earlier: Instant) -> Duration {
    Duration::from_nanos(later.nanoseconds().saturating_sub(earlier.nanoseconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read 3 ms after it came, on a socket that was empty 5 ms ago. A realtime clock that was put
    /// forward by an hour, or back, changes nothing but what can be known.
    #[test]
    fn the_age_of_a_datagram_is_taken_from_now() {
        let at = |milliseconds: u64| Instant::from_nanoseconds(milliseconds * 1_000_000);
        let moment = Moment { now: at(100), realtime: Duration::from_secs(7) };
        let came = |stamp_ms| moment.of_stamp(Some(Duration::from_millis(stamp_ms)), at(95));
        assert_eq!(came(6_997), at(97));
        assert_eq!(came(6_000), at(95));
        assert_eq!(came(8_000), at(100));
        assert_eq!(moment.of_stamp(None, at(95)), at(100));
    }
}
