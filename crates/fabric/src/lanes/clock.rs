//! The clock: ticks, and the events between them.

use crate::lanes::event::{Event, Packed};
use gingham_kernel::Wheel;

/// What happens when.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    queue: Wheel<Packed>,
    /// The present instant, in picoseconds.
    now: u64,
    cycle_ps: u64,
    /// The next tick, all before it being over; `u64::MAX` if none is to come.
    tick: u64,
    /// The first tick that is not over.
    ticks_done: u64,
    events: u64,
}

impl Clock {
    pub(crate) fn new(cycle_ps: u64) -> Self {
        Self { queue: Wheel::new(), now: 0, cycle_ps, tick: 0, ticks_done: 0, events: 0 }
    }

    /// The present instant, in picoseconds.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub(crate) fn cycle_ps(&self) -> u64 {
        self.cycle_ps
    }

    /// The next tick.
    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    /// Events handled so far, moves of flits among them.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// So many flits move.
    #[inline]
    pub(crate) fn count(&mut self, events: u64) {
        self.events += events;
    }

    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    /// Something can happen at ticks from now on.
    pub(crate) fn wake(&mut self) {
        if self.tick <= self.ticks_done {
            return;
        }
        self.tick = self.tick.min(self.now.div_ceil(self.cycle_ps).max(self.ticks_done));
    }

    /// When the next event happens, and the next tick; `u64::MAX` if none does.
    #[inline]
    pub(crate) fn next(&mut self) -> (u64, u64) {
        let event_ps = self.queue.peek().map_or(u64::MAX, |(time, _)| time);
        (event_ps, self.tick.saturating_mul(self.cycle_ps))
    }

    /// The next event happens.
    #[inline]
    pub(crate) fn next_event(&mut self) -> Event {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        self.events += 1;
        event.unpack()
    }

    /// Nothing more happens before `time`.
    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }

    /// The next tick is over.
    pub(crate) fn end_tick(&mut self) {
        self.tick += 1;
        self.ticks_done = self.tick;
    }

    /// Nothing happens at ticks before `tick`.
    pub(crate) fn fast_forward(&mut self, tick: u64) {
        self.tick = tick;
    }
}
