//! Current time, and pending events.

use crate::packed::Packed;
use crate::wormhole::event::Event;
use gingham_kernel::{Time, Wheel};

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: u64,
    queue: Wheel<Packed>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { now: 0, queue: Wheel::new() }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn time(&self) -> Time {
        Time::from_ps(self.now)
    }

    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    pub(crate) fn peek(&mut self) -> Option<(u64, Packed)> {
        self.queue.peek()
    }

    /// Removes the next event, which must exist, and advances the clock.
    pub(crate) fn next_event(&mut self) -> Event {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        event.into()
    }

    pub(crate) fn set(&mut self, time: u64) {
        self.now = time;
    }

    /// Returns whether no event is pending for the current time, so that later phases may be
    /// handled at once.
    pub(crate) fn instant_is_over(&mut self) -> bool {
        self.queue.peek().is_none_or(|(time, _)| time > self.now)
    }
}
