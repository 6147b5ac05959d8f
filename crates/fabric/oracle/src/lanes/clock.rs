//! Clock of ticks. Tick `n` occurs `n` cycles after time zero.

use gingham_kernel::{Span, Time};

pub(crate) type Tick = u64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) cycle: Span,
}

impl Clock {
    pub(crate) fn instant(self, tick: Tick) -> Time {
        Time::ZERO + self.cycle * tick
    }

    /// Returns the tick at `time`. Panics if `time` is between ticks.
    pub(crate) fn tick_at(self, time: Time) -> Tick {
        assert_eq!(time.as_ps() % self.cycle.as_ps(), 0, "{time:?} is no tick");
        time.as_ps() / self.cycle.as_ps()
    }

    pub(crate) fn first_from(self, time: Time) -> Tick {
        time.as_ps().div_ceil(self.cycle.as_ps())
    }

    pub(crate) fn last_until(self, time: Time) -> Tick {
        time.as_ps() / self.cycle.as_ps()
    }

    pub(crate) fn first_after(self, time: Time) -> Tick {
        self.last_until(time) + 1
    }
}
