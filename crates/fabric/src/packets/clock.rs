//! The present instant, what is to happen, and which channels may start something at its end.

use crate::packets::event::{Event, Packed};
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

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// An event, at this instant.
    Event(u64),
    /// A channel may start a packet, now.
    Start,
    /// Nothing at all.
    Nothing,
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

    /// Events handled so far, starts among them.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: u64, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.schedule(time, event.into());
    }

    /// A channel may start a packet at the end of this instant.
    #[inline]
    pub(crate) fn start(&mut self, channel: ChannelId) {
        self.starts.push(Reverse(channel));
    }

    /// What comes next.
    #[inline]
    pub(crate) fn next(&mut self) -> Step {
        let event = self.queue.peek();
        if self.starts.is_empty() {
            return event.map_or(Step::Nothing, |(time, _)| Step::Event(time));
        }
        match event {
            Some((time, _)) if time == self.now => Step::Event(time),
            _ => Step::Start,
        }
    }

    /// Goes on to the next event, which there is.
    #[inline]
    pub(crate) fn next_event(&mut self) -> Event {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        self.events += 1;
        event.unpack()
    }

    /// The channel that may start a packet next, which there is.
    #[inline]
    pub(crate) fn next_start(&mut self) -> ChannelId {
        self.events += 1;
        self.starts.pop().expect("a channel may start something").0
    }

    /// Nothing more happens before `time`.
    pub(crate) fn go_to(&mut self, time: u64) {
        self.now = time;
    }
}
