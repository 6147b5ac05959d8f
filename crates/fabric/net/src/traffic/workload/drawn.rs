//! Messages with random times, lengths and destinations.

use super::{Awaited, Start, Workload};
use crate::traffic::arrivals::Clock;
use crate::traffic::{DestinationPlan, Draft, DrawnPlan, LengthPlan};
use gingham_kernel::{Purpose, Stream, Time};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(in crate::traffic) struct Drawn {
    next: Option<Time>,
    clock: Clock,
    is_backlogged: bool,
    lengths: LengthPlan,
    length: Stream,
    destinations: DestinationPlan,
    destination: Stream,
    active: Range<Time>,
}

impl Drawn {
    pub(super) fn new(start: Start<'_>, drawn: &DrawnPlan) -> Self {
        let (plan, source, random) = (start.plan, start.source(), start.random());
        let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
        let payload_mean = drawn.lengths.mean_bytes();
        let interval = drawn.arrivals.interval_mean_ps(payload_mean, byte_ps).unwrap_or(0.0);
        let first = start.class_plan().active.start;
        let begin = first + drawn.later.draw(&mut random(Purpose::Start));
        let active = start.active();
        let mut clock = Clock::new(&drawn.arrivals, interval, begin, &random);
        Self {
            next: clock.next(active.end),
            clock,
            is_backlogged: source.is_backlogged(),
            lengths: drawn.lengths.clone(),
            length: random(Purpose::Length),
            destinations: drawn.destinations.clone(),
            destination: random(Purpose::Destination),
            active,
        }
    }
}

impl Workload for Drawn {
    #[inline]
    fn next_at(&self) -> Option<Time> {
        self.next
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn due(&mut self, now: Time) -> Option<Draft> {
        if self.next != Some(now) {
            return None;
        }
        let draft = Draft {
            destination: self.destinations.draw(&mut self.destination),
            payload_bytes: self.lengths.draw(&mut self.length),
        };
        self.next = self.clock.next(self.active.end);
        Some(draft)
    }

    fn end(&mut self) {
        (self.next, self.active.end) = (None, self.active.start);
    }

    fn awaited(&self) -> Awaited {
        Awaited { starts: self.is_backlogged, ..Awaited::default() }
    }

    /// Makes the next message of a backlogged class due, while the class sends.
    fn started(&mut self, now: Time) -> Option<Time> {
        self.next = self.active.contains(&now).then_some(now);
        self.next
    }
}
