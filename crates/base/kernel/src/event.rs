//! Event queue with a total order.
//!
//! Events are ordered by time, then by (phase, component, port, lane): event types declare their
//! variants in phase order and their fields in key order. Events that compare equal are identical,
//! so the scheduling order has no effect.

use crate::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Queue of pending events, earliest first.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<(Time, E)>>,
}

impl<E: Ord> EventQueue<E> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new() }
    }

    /// Adds an event.
    pub fn schedule(&mut self, time: Time, event: E) {
        self.heap.push(Reverse((time, event)));
    }

    /// Removes the earliest event.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|Reverse(next)| next)
    }

    /// Returns the time of the earliest event.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// Iterates over the pending events in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &E> {
        self.heap.iter().map(|Reverse((_, event))| event)
    }

    /// Returns the number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<E: Ord> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Eq, PartialOrd, Ord, Debug, Clone, Copy)]
    enum Event {
        Arrive(u32),
        Transfer(u32),
    }

    #[test]
    fn event_order_is_time_then_phase_then_component() {
        let events = [
            (Time::from_ps(5), Event::Transfer(0)),
            (Time::from_ps(5), Event::Arrive(9)),
            (Time::from_ps(5), Event::Arrive(2)),
            (Time::from_ps(1), Event::Transfer(7)),
        ];
        let expected = [events[3], events[2], events[1], events[0]];
        for rotation in 0..events.len() {
            let mut queue = EventQueue::new();
            for index in 0..events.len() {
                let (time, event) = events[(index + rotation) % events.len()];
                queue.schedule(time, event);
            }
            let drained: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(drained, expected);
        }
    }
}
