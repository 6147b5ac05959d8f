//! Event queue for simulations in which most events follow after one of a few constant delays.
//!
//! ```text
//!   FIFO 0   7 us ─► 9 us ─► 9 us      events after the same delay are scheduled in time order
//!   FIFO 1   8 us                  ──► earliest time of all ──► events of that instant, sorted
//!   wheel    all other events
//! ```
//!
//! A FIFO takes and returns an event in a few instructions; a timing wheel must sort. An event that
//! would precede the last event of its FIFO goes to the wheel instead. Events are therefore removed
//! in the same order as from [`crate::EventQueue`], whichever FIFO the caller selects.
//!
//! Invariant: no event is scheduled earlier than the last removed event.

use crate::{Fifo, Wheel};

/// Number of FIFOs of a [`DelayQueue`].
pub const FIFOS: usize = 4;

const NEVER: u64 = u64::MAX;

/// Queue of pending events, earliest first, with times in picoseconds.
#[derive(Clone, Debug)]
pub struct DelayQueue<E> {
    now: u64,
    /// Events at `now`, latest first.
    current: Vec<E>,
    /// Time of the first event of each FIFO; `NEVER` if it is empty.
    firsts: [u64; FIFOS],
    /// Time of the last event that each FIFO received.
    lasts: [u64; FIFOS],
    fifos: [Fifo<(u64, E)>; FIFOS],
    wheel: Wheel<E>,
    /// Lower bound of the times of the wheel's events. The wheel advances only if the bound is the
    /// earliest time: ahead of `now`, it would insert each new event into a sorted list.
    wheel_first: u64,
}

impl<E: Ord + Copy> DelayQueue<E> {
    /// Creates an empty queue at time zero.
    pub fn new() -> Self {
        Self {
            now: 0,
            current: Vec::with_capacity(64),
            firsts: [NEVER; FIFOS],
            lasts: [0; FIFOS],
            fifos: std::array::from_fn(|_| Fifo::new()),
            wheel: Wheel::new(),
            wheel_first: NEVER,
        }
    }

    /// Adds an event at `time`, in picoseconds.
    #[inline]
    pub fn schedule(&mut self, time: u64, event: E) {
        if time == self.now {
            return self.schedule_now(event);
        }
        self.wheel_first = self.wheel_first.min(time);
        self.wheel.schedule(time, event);
    }

    /// Adds an event at `time`, in picoseconds, to FIFO `fifo` unless it would precede the last
    /// event there.
    ///
    /// # Panics
    /// If `fifo` is not below [`FIFOS`].
    #[inline]
    pub fn schedule_after_delay(&mut self, fifo: u8, time: u64, event: E) {
        let fifo = usize::from(fifo);
        if time < self.lasts[fifo] || time == self.now {
            return self.schedule_apart(time, event);
        }
        self.lasts[fifo] = time;
        self.firsts[fifo] = self.firsts[fifo].min(time);
        self.fifos[fifo].push((time, event));
    }

    #[inline(never)] // Keeps `schedule_after_delay` small for the frequent case.
    fn schedule_apart(&mut self, time: u64, event: E) {
        self.schedule(time, event);
    }

    #[inline(never)]
    fn schedule_now(&mut self, event: E) {
        let place = self.current.partition_point(|other| *other > event);
        self.current.insert(place, event);
    }

    /// Removes the earliest event if its time is before `end`; otherwise returns its time.
    ///
    /// # Errors
    /// Fails if no event is pending before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: u64) -> Result<(u64, E), Option<u64>> {
        if !self.current.is_empty() {
            return self.pop_current(end);
        }
        let (mut time, mut fifo) = (self.firsts[0], 0);
        for other in 1..FIFOS {
            if self.firsts[other] < time {
                (time, fifo) = (self.firsts[other], other);
            }
        }
        if self.wheel_first <= time {
            return self.pop_with_wheel(time, end);
        }
        if time >= end {
            return Err(Some(time));
        }
        self.now = time;
        let event = self.pop_of_fifo(fifo).ok_or(None)?;
        if self.firsts.contains(&time) {
            self.schedule_now(event);
            self.gather(time);
            return self.pop_current(end);
        }
        Ok((time, event))
    }

    /// Returns whether an event is pending at the time of the last removed event.
    #[inline]
    pub fn is_any_now(&self) -> bool {
        !self.current.is_empty()
    }

    #[inline]
    fn pop_of_fifo(&mut self, fifo: usize) -> Option<E> {
        let (_, event) = self.fifos[fifo].pop()?;
        self.firsts[fifo] = self.fifos[fifo].front().map_or(NEVER, |(time, _)| *time);
        Some(event)
    }

    #[inline(never)]
    fn pop_current(&mut self, end: u64) -> Result<(u64, E), Option<u64>> {
        if self.now >= end {
            return Err(Some(self.now));
        }
        self.current.pop().map(|event| (self.now, event)).ok_or(None)
    }

    /// Removes the earliest event. `fifo_time` is the time of the first event in any FIFO.
    #[inline(never)]
    fn pop_with_wheel(&mut self, fifo_time: u64, end: u64) -> Result<(u64, E), Option<u64>> {
        self.wheel_first = self.wheel.peek().map_or(NEVER, |(time, _)| time);
        let time = self.wheel_first.min(fifo_time);
        if time >= end {
            return Err((time != NEVER).then_some(time));
        }
        self.now = time;
        if time < fifo_time {
            let (_, event) = self.wheel.pop().ok_or(None)?;
            self.wheel_first = self.wheel.earliest();
            if self.wheel_first > time {
                return Ok((time, event));
            }
            self.schedule_now(event);
        }
        self.gather(time);
        self.pop_current(end)
    }

    /// Moves all events at `time` to the current ones.
    #[inline(never)]
    fn gather(&mut self, time: u64) {
        for fifo in 0..FIFOS {
            while self.firsts[fifo] == time {
                let event = self.pop_of_fifo(fifo);
                self.current.extend(event);
            }
        }
        // A bound at `time` is exact: another slot starts later.
        while self.wheel_first == time {
            self.current.extend(self.wheel.pop().map(|(_, event)| event));
            self.wheel_first = self.wheel.earliest();
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

impl<E: Ord + Copy> Default for DelayQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventQueue, Purpose, Stream, Time};

    #[test]
    fn delay_queue_order_matches_the_heap() {
        for (seed, spread) in [(1, 3_u64), (2, 2_000), (3, 500_000)] {
            let mut draw = Stream::new(seed, "delays", Purpose::Shuffle);
            let (mut queue, mut heap) = (DelayQueue::new(), EventQueue::new());
            let (mut now, mut popped) = (0, 0_u32);
            for round in 0..60_000_u32 {
                for _ in 0..draw.below(3) {
                    let event = draw.below(5);
                    let fifo = draw.below(FIFOS as u64 + 1);
                    // Most events of a FIFO follow after its delay, the others earlier.
                    let delay = match fifo {
                        of if of == FIFOS as u64 => draw.below(2 * spread),
                        of if draw.below(20) == 0 => draw.below(of + 1),
                        of => of * spread / 3,
                    };
                    match u8::try_from(fifo).expect("FIFOs are few") {
                        of if usize::from(of) == FIFOS => queue.schedule(now + delay, event),
                        of => queue.schedule_after_delay(of, now + delay, event),
                    }
                    heap.schedule(Time::from_ps(now + delay), event);
                }
                if round % 7 == 0 || round > 40_000 {
                    let expected = heap.pop().map(|(time, event)| (time.as_ps(), event));
                    let Some((time, event)) = expected else {
                        assert_eq!(queue.pop_before(NEVER), Err(None));
                        continue;
                    };
                    assert_eq!(queue.pop_before(time), Err(Some(time)));
                    assert_eq!(queue.pop_before(time + 1), Ok((time, event)));
                    let is_more = heap.next_time() == Some(Time::from_ps(time));
                    assert_eq!(queue.is_any_now(), is_more);
                    (now, popped) = (time, popped + 1);
                }
            }
            assert!(popped > 20_000, "{popped} events");
        }
    }
}
