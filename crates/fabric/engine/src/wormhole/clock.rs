//! The current instant, and the events to come.

use crate::packed::Packed;
use crate::wormhole::event::Event;
use gingham_kernel::{Time, Wheel};

/// Where a run has come, and what is to happen. Times in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: u64,
    queue: Wheel<Packed>,
}

impl Clock {
    /// Time zero, with nothing to come.
    pub(crate) fn new() -> Self {
        Self { now: 0, queue: Wheel::new() }
    }

    /// The current instant.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The current instant, as endpoints take it.
    pub(crate) fn time(&self) -> Time {
        Time::from_ps(self.now)
    }

    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    /// The next event and its time.
    pub(crate) fn peek(&mut self) -> Option<(u64, Packed)> {
        self.queue.peek()
    }

    /// Goes on to the next event, which there is.
    pub(crate) fn next_event(&mut self) -> Event {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        event.into()
    }

    /// Goes on to a time before which nothing happens.
    pub(crate) fn set(&mut self, time: u64) {
        self.now = time;
    }

    /// Whether no other event of this instant is pending, so that what belongs to a later phase of
    /// it may be done at once.
    pub(crate) fn instant_is_over(&mut self) -> bool {
        self.queue.peek().is_none_or(|(time, _)| time > self.now)
    }
}
