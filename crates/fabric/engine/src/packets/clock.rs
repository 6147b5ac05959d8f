//! The present instant, what is to happen, and which channels may start something at its end.

use crate::packed::Packed;
use crate::packets::event::Event;
use gingham_kernel::{Time, Wheel};
use gingham_topology::ChannelId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens when. Times in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: u64,
    queue: Wheel<Packed>,
    /// Channels that may start a packet once all else of this instant has happened; the lowest
    /// first. One may be here more than once.
    starts: BinaryHeap<Reverse<ChannelId>>,
    events: u64,
}

impl Clock {
    /// Time zero, with nothing to come.
    pub(crate) fn new() -> Self {
        Self { now: 0, queue: Wheel::new(), starts: BinaryHeap::new(), events: 0 }
    }

    /// The present instant.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The present instant, as endpoints take it.
    #[inline]
    pub(crate) fn time(&self) -> Time {
        Time::from_ps(self.now)
    }

    /// Events handled so far. What starts at the end of an instant is none: nothing is scheduled for it.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[expect(clippy::inline_always, reason = "who schedules knows the kind: nothing is left of it")]
    #[inline(always)]
    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.schedule(time, event.into());
    }

    /// A channel may start a packet at the end of this instant.
    #[inline]
    pub(crate) fn start(&mut self, channel: ChannelId) {
        self.starts.push(Reverse(channel));
    }

    /// Goes on to the next event, if it comes before an instant; else when it does, if there is one.
    #[inline]
    pub(crate) fn next_event(&mut self, before: u64) -> Result<Packed, Option<u64>> {
        let (time, event) = self.queue.pop_before(before)?;
        self.now = time;
        self.events += 1;
        Ok(event)
    }

    /// Whether nothing else happens at this instant but for one more start.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.starts.is_empty() && !self.queue.is_any_at(self.now)
    }

    /// The channel that may start a packet next, once all else of this instant has happened.
    #[inline]
    pub(crate) fn next_start(&mut self) -> Option<ChannelId> {
        if self.starts.is_empty() || self.queue.is_any_at(self.now) {
            return None;
        }
        self.starts.pop().map(|Reverse(channel)| channel)
    }

    /// Nothing more happens before `time`.
    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }
}
