//! Growing ring buffer for small entries.
//!
//! Positions wrap with a mask because the capacity is a power of two. Adding and removing an entry
//! take fewer instructions than in [`std::collections::VecDeque`].

/// First-in, first-out queue.
#[derive(Clone, Debug, Default)]
pub struct Fifo<T> {
    /// Entries at `head..tail`, modulo the capacity, which is zero or a power of two.
    ring: Box<[T]>,
    head: u32,
    tail: u32,
}

const CAPACITY_MIN: usize = 4;

impl<T: Copy> Fifo<T> {
    /// Creates an empty queue, without an allocation.
    pub fn new() -> Self {
        Self { ring: Box::default(), head: 0, tail: 0 }
    }

    /// Returns the number of entries.
    #[inline]
    pub const fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// Returns whether there are no entries.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Returns the number of entries that fit without another allocation.
    #[inline]
    pub const fn capacity(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the next entry needs an allocation.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.len() == self.ring.len()
    }

    #[inline]
    const fn slot(&self, position: u32) -> usize {
        position as usize & self.ring.len().wrapping_sub(1)
    }

    /// Returns the first entry.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.ring.get(self.slot(self.head)) }
    }

    /// Returns the last entry.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.ring.get(self.slot(self.tail.wrapping_sub(1))) }
    }

    /// Adds an entry at the end.
    #[inline]
    pub fn push(&mut self, entry: T) {
        if self.is_full() {
            self.grow(entry);
        }
        let slot = self.slot(self.tail);
        self.ring[slot] = entry;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Adds an entry before all entries at the end of the queue that `is_later` accepts.
    #[inline]
    pub fn push_before(&mut self, entry: T, is_later: impl Fn(&T) -> bool) {
        self.push(entry);
        let mut position = self.tail.wrapping_sub(1);
        while position != self.head {
            let (before, slot) = (self.slot(position.wrapping_sub(1)), self.slot(position));
            if !is_later(&self.ring[before]) {
                break;
            }
            self.ring.swap(before, slot);
            position = position.wrapping_sub(1);
        }
    }

    /// Removes the first entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.front().copied()?;
        self.head = self.head.wrapping_add(1);
        Some(first)
    }

    /// Doubles the capacity.
    #[cold]
    fn grow(&mut self, fill: T) {
        let capacity = (2 * self.ring.len()).max(CAPACITY_MIN);
        assert!(u32::try_from(capacity).is_ok(), "fewer than 2^32 entries");
        let mut ring = Vec::with_capacity(capacity);
        ring.extend(self.iter().copied());
        self.tail = u32::try_from(ring.len()).expect("fewer than 2^32 entries");
        self.head = 0;
        ring.resize(capacity, fill);
        self.ring = ring.into();
    }

    /// Iterates over the entries, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let slots = (0..self.len()).map(|ahead| {
            self.head.wrapping_add(u32::try_from(ahead).expect("fewer than 2^32 entries"))
        });
        slots.map(|position| &self.ring[self.slot(position)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Stream};
    use std::collections::VecDeque;

    #[test]
    fn fifo_equals_a_deque_with_sorted_insertion() {
        let mut draw = Stream::new(1, "fifo", Purpose::Shuffle);
        let (mut fifo, mut deque) = (Fifo::new(), VecDeque::new());
        // Positions wrap at 2^32 in the middle of the test.
        (fifo.head, fifo.tail) = (u32::MAX - 500, u32::MAX - 500);
        for step in 0..5_000_u64 {
            match draw.below(4) {
                0 | 1 if step % 1_000 < 600 => {
                    let entry = step + draw.below(30);
                    fifo.push_before(entry, |other| *other > entry);
                    let place = deque.partition_point(|other| *other <= entry);
                    deque.insert(place, entry);
                }
                2 => {
                    let entry = step + 40;
                    if deque.back().is_none_or(|last| *last <= entry) {
                        fifo.push(entry);
                        deque.push_back(entry);
                    }
                }
                _ => assert_eq!(fifo.pop(), deque.pop_front()),
            }
            assert!(fifo.iter().eq(deque.iter()), "step {step}");
            assert_eq!((fifo.len(), fifo.front()), (deque.len(), deque.front()));
            assert_eq!(fifo.back(), deque.back());
        }
    }
}
