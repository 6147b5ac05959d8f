//! Clock: ticks, and pending events between ticks.

use crate::lanes::event::Event;
use crate::lanes::worms::WormId;
use crate::packed::Packed;
use gingham_kernel::Wheel;
use gingham_topology::ChannelId;
use std::collections::VecDeque;

const NEVER: (u64, Packed) = (u64::MAX, Packed::LAST);

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    queue: Wheel<Packed>,
    /// Next delivery. The few deliveries that were scheduled out of time order are in `queue`
    /// instead.
    delivery: (u64, Packed),
    deliveries: VecDeque<(u64, Packed)>,
    now: u64,
    cycle_ps: u64,
    tick: u64,
    ticks_done: u64,
    events: u64,
}

impl Clock {
    pub(crate) fn new(cycle_ps: u64) -> Self {
        Self {
            queue: Wheel::new(),
            delivery: NEVER,
            deliveries: VecDeque::new(),
            now: 0,
            cycle_ps,
            tick: 0,
            ticks_done: 0,
            events: 0,
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub(crate) fn cycle_ps(&self) -> u64 {
        self.cycle_ps
    }

    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn ticks_done(&self) -> u64 {
        self.ticks_done
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[inline]
    pub(crate) fn count(&mut self, events: u64) {
        self.events += events;
    }

    #[expect(clippy::inline_always, reason = "who schedules knows what: it packs no other event")]
    #[inline(always)]
    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        self.queue.schedule(time, event.into());
    }

    #[inline]
    pub(crate) fn schedule_delivery(&mut self, time: u64, channel: ChannelId, worm: WormId) {
        let event = Packed::from(Event::Deliver { channel, worm });
        if self.delivery == NEVER {
            self.delivery = (time, event);
        } else if *self.deliveries.back().unwrap_or(&self.delivery) < (time, event) {
            self.deliveries.push_back((time, event));
        } else {
            self.queue.schedule(time, event);
        }
    }

    pub(crate) fn wake(&mut self) {
        if self.tick <= self.ticks_done {
            return;
        }
        self.tick = self.tick.min(self.now.div_ceil(self.cycle_ps).max(self.ticks_done));
    }

    /// Returns the times of the next event and the next tick, in ps; `u64::MAX` if none is
    /// scheduled.
    #[inline]
    pub(crate) fn next(&mut self) -> (u64, u64) {
        let event_ps = self.queue.peek().map_or(u64::MAX, |(time, _)| time);
        (event_ps.min(self.delivery.0), self.tick.saturating_mul(self.cycle_ps))
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Event {
        let (time, event) = if self.delivery < self.queue.peek().unwrap_or(NEVER) {
            std::mem::replace(&mut self.delivery, self.deliveries.pop_front().unwrap_or(NEVER))
        } else {
            self.queue.pop().expect("an event is pending")
        };
        self.now = time;
        self.events += 1;
        event.into()
    }

    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }

    pub(crate) fn end_tick(&mut self) {
        self.tick += 1;
        self.ticks_done = self.tick;
    }

    pub(crate) fn fast_forward(&mut self, tick: u64) {
        self.tick = tick;
    }
}
