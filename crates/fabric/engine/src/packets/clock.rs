//! Current time, pending events, and channels that may start a packet after all simultaneous
//! events.

use crate::packed::Packed;
use crate::packets::event::Event;
use gingham_kernel::{DelayQueue, Time};
use gingham_topology::ChannelId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Channels, possibly duplicated, that may start a packet after all other events at the current
/// time. There is seldom more than one.
#[derive(Clone, Debug, Default)]
struct Starts {
    first: Option<ChannelId>,
    /// Channels after `first`; empty without it.
    others: BinaryHeap<Reverse<ChannelId>>,
}

impl Starts {
    #[inline]
    fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    fn push(&mut self, channel: ChannelId) {
        match self.first {
            None => self.first = Some(channel),
            Some(first) => {
                self.first = Some(first.min(channel));
                self.others.push(Reverse(first.max(channel)));
            }
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<ChannelId> {
        let next = if self.others.is_empty() { None } else { self.others.pop() };
        std::mem::replace(&mut self.first, next.map(|Reverse(channel)| channel))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: u64,
    queue: DelayQueue<Packed>,
    starts: Starts,
    events: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { now: 0, queue: DelayQueue::new(), starts: Starts::default(), events: 0 }
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

    /// Schedules an event in FIFO `fifo` of [`DelayQueue`].
    #[expect(clippy::inline_always, reason = "callers know the kind of the event")]
    #[inline(always)]
    pub(crate) fn schedule_after_delay(&mut self, fifo: u8, time: u64, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.schedule_after_delay(fifo, time, event.into());
    }

    #[inline]
    pub(crate) fn start(&mut self, channel: ChannelId) {
        self.starts.push(channel);
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
        self.starts.is_empty() && !self.queue.is_any_now()
    }

    /// Returns whether a channel may start a packet at the current time.
    #[inline]
    pub(crate) fn has_starts(&self) -> bool {
        !self.starts.is_empty()
    }

    #[inline]
    pub(crate) fn next_start(&mut self) -> Option<ChannelId> {
        if self.starts.is_empty() || self.queue.is_any_now() {
            return None;
        }
        self.starts.pop()
    }

    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }
}
