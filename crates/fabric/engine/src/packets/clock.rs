//! Current time, pending events, and channels that may start a packet after all simultaneous
//! events.

use crate::packed::Packed;
use crate::packets::event::Event;
use gingham_kernel::{Time, Wheel};
use gingham_topology::ChannelId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: u64,
    queue: Wheel<Packed>,
    /// Channels, possibly duplicated, that may start a packet after all other events at the current
    /// time.
    starts: BinaryHeap<Reverse<ChannelId>>,
    events: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { now: 0, queue: Wheel::new(), starts: BinaryHeap::new(), events: 0 }
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub(crate) fn time(&self) -> Time {
        Time::from_ps(self.now)
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[expect(clippy::inline_always, reason = "who schedules knows the kind: nothing is left of it")]
    #[inline(always)]
    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.schedule(time, event.into());
    }

    #[inline]
    pub(crate) fn start(&mut self, channel: ChannelId) {
        self.starts.push(Reverse(channel));
    }

    /// Removes and returns the next event if it is earlier than `before`; otherwise returns its
    /// time.
    #[inline]
    pub(crate) fn next_event(&mut self, before: u64) -> Result<Packed, Option<u64>> {
        let (time, event) = self.queue.pop_before(before)?;
        self.now = time;
        self.events += 1;
        Ok(event)
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.starts.is_empty() && !self.queue.is_any_at(self.now)
    }

    #[inline]
    pub(crate) fn next_start(&mut self) -> Option<ChannelId> {
        if self.starts.is_empty() || self.queue.is_any_at(self.now) {
            return None;
        }
        self.starts.pop().map(|Reverse(channel)| channel)
    }

    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }
}
