//! Pool of credits, and the messages that wait for a credit.
//!
//! A message created at `t` with retry interval `r` makes attempts at `t + r`, `t + 2 r`, ... Only
//! attempts that may succeed are simulated: while a credit is free, the next attempt is computed
//! from the phases (creation times modulo `r`). Messages that wait take precedence over messages
//! that retry.
//!
//! Invariant: while a credit is free, the queue of waiting messages is empty.

use crate::MessageSlot;
use crate::messages::{Messages, Queue};
use gingham_kernel::{Span, Time};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(super) struct Pool {
    free: u32,
    waiting: Queue,
    retries: Vec<Retries>,
    attempt: Option<Time>,
}

#[derive(Clone, Debug)]
struct Retries {
    period: Span,
    /// Messages by phase within the period in ps, then by order of arrival.
    messages: BTreeMap<(u64, u64), MessageSlot>,
}

impl Pool {
    pub(super) const fn new(credits: u32) -> Self {
        Self { free: credits, waiting: Queue::EMPTY, retries: Vec::new(), attempt: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free == 0
    }

    pub(super) fn take(&mut self) -> bool {
        let is_free = self.free > 0;
        self.free -= u32::from(is_free);
        is_free
    }

    pub(super) fn wait(&mut self, messages: &mut Messages, slot: MessageSlot) {
        self.waiting.push_back(messages, slot);
    }

    pub(super) fn retry(&mut self, slot: MessageSlot, number: u64, period: Span, now: Time) {
        let known = self.retries.iter().position(|other| other.period == period);
        let place = known.unwrap_or_else(|| {
            self.retries.push(Retries { period, messages: BTreeMap::new() });
            self.retries.len() - 1
        });
        let phase = now.as_ps() % period.as_ps();
        self.retries[place].messages.insert((phase, number), slot);
    }

    /// Puts a credit back into the pool, or gives it to the first waiting message and returns that
    /// message.
    pub(super) fn give_back(&mut self, messages: &Messages) -> Option<MessageSlot> {
        let next = self.waiting.pop_front(messages);
        self.free += u32::from(next.is_none());
        next
    }

    /// Returns the time of the next attempt after `now` that may succeed, unless already scheduled.
    pub(super) fn next_attempt(&mut self, now: Time) -> Option<Time> {
        if self.free == 0 {
            return None;
        }
        let next = self.retries.iter().filter_map(|of| of.next_after(now)).min()?;
        if self.attempt.is_some_and(|awaited| awaited <= next) {
            return None;
        }
        self.attempt = Some(next);
        Some(next)
    }

    pub(super) fn attempt(&mut self, now: Time) -> Vec<MessageSlot> {
        if self.attempt == Some(now) {
            self.attempt = None;
        }
        let mut due: Vec<(u64, usize, u64)> = Vec::new();
        for (place, of) in self.retries.iter().enumerate() {
            let phase = now.as_ps() % of.period.as_ps();
            let at_phase = of.messages.range((phase, 0)..=(phase, u64::MAX));
            due.extend(at_phase.map(|((_, number), _)| (*number, place, phase)));
        }
        due.sort_unstable();
        due.truncate(self.free as usize);
        self.free -= u32::try_from(due.len()).expect("no more than are free");
        let taken = due.into_iter().map(|(number, place, phase)| {
            self.retries[place].messages.remove(&(phase, number)).expect("it was found")
        });
        taken.collect()
    }
}

impl Retries {
    fn next_after(&self, now: Time) -> Option<Time> {
        let (now, period) = (now.as_ps(), self.period.as_ps());
        let (begin, phase) = (now - now % period, now % period);
        let later = self.messages.range((phase + 1, 0)..).next();
        let (begin, ((phase, _), _)) = match later {
            Some(found) => (begin, found),
            None => (begin + period, self.messages.first_key_value()?),
        };
        Some(Time::from_ps(begin + phase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: usize) -> MessageSlot {
        MessageSlot::new(number)
    }

    fn ps(time: u64) -> Time {
        Time::from_ps(time)
    }

    /// m0 holds the only credit until 4 ps. m1 arrives at 3 ps and retries every 10 ps; m2 arrives
    /// at 5 ps and takes the credit before m1 retries at 13 ps.
    #[test]
    fn retries_keep_their_phase() {
        let mut pool = Pool::new(1);
        assert!(pool.take() && !pool.take());
        pool.retry(slot(1), 1, Span::from_ps(10), ps(3));
        assert_eq!(pool.next_attempt(ps(3)), None, "no credit is free");
        assert_eq!(pool.give_back(&Messages::default()), None);
        assert_eq!(pool.next_attempt(ps(4)), Some(ps(13)));
        assert_eq!(pool.next_attempt(ps(4)), None, "it is awaited");
        assert!(pool.take(), "m2 comes at 5 and finds the credit");
        assert_eq!(pool.attempt(ps(13)), []);
        assert_eq!(pool.next_attempt(ps(13)), None);
        pool.retry(slot(3), 3, Span::from_ps(10), ps(17));
        pool.give_back(&Messages::default());
        // After 23 ps, m3 next retries at 27 ps, and m1 at 33 ps.
        assert_eq!(pool.next_attempt(ps(23)), Some(ps(27)));
        assert_eq!(pool.attempt(ps(27)), [slot(3)]);
        pool.give_back(&Messages::default());
        assert_eq!(pool.next_attempt(ps(33)), Some(ps(43)), "what comes back at 33 is late for 33");
        assert_eq!(pool.attempt(ps(43)), [slot(1)]);
    }

    #[test]
    fn simultaneous_retries_are_served_in_fifo_order() {
        let mut pool = Pool::new(2);
        assert!(pool.take() && pool.take());
        pool.retry(slot(5), 5, Span::from_ps(10), ps(8));
        pool.retry(slot(6), 6, Span::from_ps(4), ps(10));
        pool.retry(slot(7), 7, Span::from_ps(10), ps(18));
        pool.give_back(&Messages::default());
        pool.give_back(&Messages::default());
        // Attempts: m6 at 22, 26, 30, ... ps; m5 and m7 at 28 ps; all three at 38 ps.
        assert_eq!(pool.next_attempt(ps(36)), Some(ps(38)));
        assert_eq!(pool.attempt(ps(38)), [slot(5), slot(6)]);
        pool.give_back(&Messages::default());
        assert_eq!(pool.next_attempt(ps(38)), Some(ps(48)));
    }

    #[test]
    fn returned_credit_goes_to_the_first_waiter() {
        let mut messages = crate::messages::of_a_test(2);
        let mut pool = Pool::new(1);
        assert!(pool.take());
        pool.wait(&mut messages, slot(0));
        pool.wait(&mut messages, slot(1));
        pool.retry(slot(9), 9, Span::from_ps(10), ps(1));
        assert_eq!(pool.give_back(&messages), Some(slot(0)));
        assert_eq!(pool.give_back(&messages), Some(slot(1)));
        assert_eq!(pool.next_attempt(ps(2)), None);
        assert_eq!(pool.give_back(&messages), None);
        assert_eq!(pool.next_attempt(ps(2)), Some(ps(11)));
    }
}
