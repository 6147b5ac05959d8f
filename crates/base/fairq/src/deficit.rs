//! Deficit round robin: each turn adds a quantum of bytes to a queue's deficit, and packets are
//! sent while the deficit covers them.
//!
//! ```text
//!   quantum 500, head 300: deficit 500 -> 200      head 300 > 200: on to the next queue
//!   next round: deficit 200 + 500 = 700, head 300: deficit 400
//! ```
//!
//! Source: Shreedhar and Varghese, "Efficient fair queuing using deficit round robin", 1995,
//! section 3.
//!
//! Invariants: between turns, a deficit is less than the maximum packet length, and zero for an
//! idle queue.

use crate::error::check_quanta;
use crate::{Arbiter, Ready, SchedulerError};

/// Deficit round-robin arbiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeficitRoundRobin<const CAPACITY: usize> {
    count: usize,
    current: usize,
    begun: bool,
    queues: [Queue; CAPACITY],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Queue {
    quantum_bytes: u32,
    deficit_bytes: u64,
}

impl<const CAPACITY: usize> DeficitRoundRobin<CAPACITY> {
    /// Creates an arbiter. Each queue's quantum must be at least the maximum packet length.
    pub fn new(longest_bytes: u32, quanta_bytes: &[u32]) -> Result<Self, SchedulerError> {
        check_quanta::<CAPACITY>(longest_bytes, quanta_bytes)?;
        let mut queues = [Queue::default(); CAPACITY];
        for (queue, &quantum_bytes) in queues.iter_mut().zip(quanta_bytes) {
            queue.quantum_bytes = quantum_bytes;
        }
        Ok(Self { count: quanta_bytes.len(), current: 0, begun: false, queues })
    }

    fn move_on(&mut self) {
        self.current = if self.current + 1 == self.count { 0 } else { self.current + 1 };
        self.begun = false;
    }

    fn try_current(&mut self, ready: &Ready<'_>) -> bool {
        let queue = &mut self.queues[self.current];
        if !ready.has(self.current) {
            queue.deficit_bytes = 0;
            return false;
        }
        if !self.begun {
            self.begun = true;
            queue.deficit_bytes += u64::from(queue.quantum_bytes);
        }
        let length_bytes = u64::from(ready.head(self.current).length_bytes);
        let covered = length_bytes <= queue.deficit_bytes;
        if covered {
            queue.deficit_bytes -= length_bytes;
        }
        covered
    }
}

impl<const CAPACITY: usize> Arbiter for DeficitRoundRobin<CAPACITY> {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        if ready.is_empty() {
            return None;
        }
        while !self.try_current(ready) {
            self.move_on();
        }
        Some(self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    #[test]
    fn deficit_is_carried_into_the_next_turn() {
        let mut arbiter = DeficitRoundRobin::<2>::new(500, &[500, 500]).unwrap();
        let heads = [300, 500].map(|length_bytes| Head { length_bytes, arrival_ps: 0 });
        let order: [_; 6] =
            core::array::from_fn(|_| arbiter.serve(&Ready::new(&[0b11], &heads)).unwrap());
        // Queue 0, deficit in bytes by turn: 500 - 300 = 200 | 700 - 300 = 400, 400 - 300 = 100 |
        // 600 - 300 = 300, 300 - 300 = 0.
        assert_eq!(order, [0, 1, 0, 0, 1, 0]);
        assert_eq!(arbiter.queues[0].deficit_bytes, 300);
    }

    #[test]
    fn idle_queue_accumulates_no_deficit() {
        let mut arbiter = DeficitRoundRobin::<2>::new(500, &[500, 500]).unwrap();
        let heads = [300, 500].map(|length_bytes| Head { length_bytes, arrival_ps: 0 });
        assert_eq!(arbiter.serve(&Ready::new(&[0b11], &heads)), Some(0));
        assert_eq!(arbiter.serve(&Ready::new(&[0b10], &heads)), Some(1));
        assert_eq!(arbiter.queues[0].deficit_bytes, 0);
        let before = arbiter.clone();
        assert_eq!(arbiter.serve(&Ready::new(&[0], &heads)), None);
        assert_eq!(arbiter, before);
    }
}
