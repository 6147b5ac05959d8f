//! Timing wheel: the event queue for runs of millions of events.
//!
//! ```text
//!   time >> shift    current │ next slots: ring of 4,096 and occupancy bits │ far
//!                    sorted  │ unsorted lists                                 │ heap
//! ```
//!
//! Source: Varghese and Lauck, IEEE/ACM ToN 5(6), 1997. The slot width depends only on event
//! counts. Events are removed in the same order as from [`crate::EventQueue`].
//!
//! Invariant: no event is scheduled earlier than the last removed event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SLOTS: usize = 4_096;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;
/// Number of slots after which the slot width is reviewed; [`REVIEW_EVENTS`] events also cause a
/// review.
const REVIEW_SLOTS: u32 = 4_096;
const REVIEW_EVENTS: u32 = 8 * REVIEW_SLOTS;

/// Queue of pending events, earliest first, with times in picoseconds.
#[derive(Clone, Debug)]
pub struct Wheel<E> {
    /// log2 of the slot width in picoseconds.
    shift: u32,
    /// Number of the current slot: its start time >> `shift`.
    slot: u64,
    /// Events in the current and earlier slots, latest first.
    current: Vec<(u64, E)>,
    heads: Box<[u32; SLOTS]>,
    occupied: [u64; WORDS],
    nodes: Vec<Node<E>>,
    free: u32,
    far: BinaryHeap<Reverse<(u64, E)>>,
    len: usize,
    turned_slots: u32,
    turned_events: u32,
    turned_far: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    time: u64,
    event: E,
    next: u32,
}

impl<E: Ord + Copy> Wheel<E> {
    /// Creates an empty wheel.
    pub fn new() -> Self {
        Self {
            shift: 14,
            slot: 0,
            current: Vec::with_capacity(64),
            heads: Box::new([NONE; SLOTS]),
            occupied: [0; WORDS],
            nodes: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            len: 0,
            turned_slots: 0,
            turned_events: 0,
            turned_far: 0,
        }
    }

    /// Returns the number of pending events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event at `time`, in picoseconds.
    #[inline]
    pub fn schedule(&mut self, time: u64, event: E) {
        self.len += 1;
        let slot = time >> self.shift;
        if slot.wrapping_sub(self.slot + 1) < SLOTS as u64 - 1 {
            self.link(slot, time, event);
        } else {
            self.schedule_apart(slot, time, event);
        }
    }

    #[inline(never)] // Keeps `schedule` small for the frequent case.
    fn schedule_apart(&mut self, slot: u64, time: u64, event: E) {
        if slot <= self.slot {
            let place = self.current.partition_point(|other| *other > (time, event));
            self.current.insert(place, (time, event));
        } else {
            self.far.push(Reverse((time, event)));
        }
    }

    /// Returns the earliest event and its time.
    pub fn peek(&mut self) -> Option<(u64, E)> {
        if self.current.is_empty() {
            self.turn()?;
        }
        self.current.last().copied()
    }

    /// Returns a lower bound of the times of all events, without moving to the next slot;
    /// `u64::MAX` if no event is pending.
    pub fn earliest(&self) -> u64 {
        if let Some((time, _)) = self.current.last() {
            return *time;
        }
        let near = self.next_occupied().map(|slot| slot << self.shift);
        let far = self.far.peek().map(|Reverse((time, _))| *time);
        near.into_iter().chain(far).min().unwrap_or(u64::MAX)
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, E)> {
        if self.current.is_empty() {
            self.turn()?;
        }
        self.len -= 1;
        self.current.pop()
    }

    /// Removes the earliest event if its time is before `end`; otherwise returns its time.
    #[inline]
    pub fn pop_before(&mut self, end: u64) -> Result<(u64, E), Option<u64>> {
        if self.current.is_empty() {
            self.turn().ok_or(None)?;
        }
        match self.current.pop() {
            Some(event) if event.0 < end => {
                self.len -= 1;
                Ok(event)
            }
            Some(event) => {
                self.current.push(event);
                Err(Some(event.0))
            }
            None => Err(None),
        }
    }

    /// Returns whether an event is pending at `now`, the time of the last removed event.
    #[inline]
    pub fn is_any_at(&self, now: u64) -> bool {
        self.current.last().is_some_and(|(time, _)| *time == now)
    }

    #[inline]
    fn link(&mut self, slot: u64, time: u64, event: E) {
        let place = usize::try_from(slot % SLOTS as u64).expect("below the number of slots");
        if self.free == NONE {
            self.add_node(time, event);
        }
        let index = self.free;
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        *node = Node { time, event, next: self.heads[place] };
        self.heads[place] = index;
        self.occupied[place / 64] |= 1 << (place % 64);
    }

    #[cold]
    fn add_node(&mut self, time: u64, event: E) {
        self.free = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events are pending");
        self.nodes.push(Node { time, event, next: NONE });
    }

    fn turn(&mut self) -> Option<()> {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse((time, _))| time >> self.shift);
        let slot = near.into_iter().chain(far).min()?;
        self.slot = slot;
        self.unlink(slot);
        if far == Some(slot) {
            self.take_far();
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.turned_slots += 1;
        self.turned_events += u32::try_from(self.current.len()).unwrap_or(u32::MAX / 2);
        if self.turned_slots >= REVIEW_SLOTS || self.turned_events >= REVIEW_EVENTS {
            self.review();
        }
        Some(())
    }

    #[inline(never)]
    fn take_far(&mut self) {
        let is_current = |time: u64| time >> self.shift == self.slot;
        while self.far.peek().is_some_and(|Reverse((time, _))| is_current(*time)) {
            self.current.extend(self.far.pop().map(|Reverse(event)| event));
            self.turned_far += 1;
        }
    }

    fn next_occupied(&self) -> Option<u64> {
        let start = usize::try_from((self.slot + 1) % SLOTS as u64).expect("below the slots");
        let (word, bit) = (start / 64, start % 64);
        let found = |word: usize, bits: u64| {
            let place = word * 64 + bits.trailing_zeros() as usize;
            let ahead = (place + SLOTS - start) % SLOTS;
            self.slot + 1 + ahead as u64
        };
        let first = self.occupied[word] & (u64::MAX << bit);
        if first != 0 {
            return Some(found(word, first));
        }
        (1..=WORDS)
            .map(|step| (word + step) % WORDS)
            .find(|word| self.occupied[*word] != 0)
            .map(|word| found(word, self.occupied[word]))
    }

    fn unlink(&mut self, slot: u64) {
        let place = usize::try_from(slot % SLOTS as u64).expect("below the number of slots");
        let first = std::mem::replace(&mut self.heads[place], NONE);
        let mut index = first;
        while index != NONE {
            let node = &mut self.nodes[index as usize];
            self.current.push((node.time, node.event));
            index = node.next;
            if index == NONE {
                node.next = std::mem::replace(&mut self.free, first);
            }
        }
        self.occupied[place / 64] &= !(1 << (place % 64));
    }

    /// Widens sparse slots; narrows crowded slots unless many events come from the heap.
    #[inline(never)]
    fn review(&mut self) {
        let mean = self.turned_events / self.turned_slots;
        let is_far = self.turned_far > self.turned_events / 8;
        (self.turned_slots, self.turned_events, self.turned_far) = (0, 0, 0);
        let shift = match mean {
            0..=1 if self.shift < 40 && self.len > 64 => self.shift + 1,
            // Aims at 4 to 8 events per slot on average.
            8.. if !is_far => self.shift.saturating_sub(mean.ilog2() - 2).max(4),
            _ => return,
        };
        if shift == self.shift {
            return;
        }
        let now = self.slot << self.shift;
        let mut all: Vec<(u64, E)> = std::mem::take(&mut self.current);
        while let Some(slot) = self.next_occupied() {
            self.unlink(slot);
            all.append(&mut self.current);
        }
        all.extend(self.far.drain().map(|Reverse(event)| event));
        let earliest = all.iter().map(|(time, _)| *time).min().unwrap_or(now);
        self.shift = shift;
        self.slot = earliest >> shift;
        self.len = 0;
        for (time, event) in all {
            self.schedule(time, event);
        }
    }
}

impl<E: Ord + Copy> Default for Wheel<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventQueue, Purpose, Stream, Time};

    #[test]
    fn timing_wheel_order_matches_the_heap() {
        for (seed, spread) in [(1, 3_u64), (2, 2_000), (3, 500_000), (4, 1 << 33)] {
            let mut draw = Stream::new(seed, "wheel", Purpose::Shuffle);
            let (mut wheel, mut heap) = (Wheel::new(), EventQueue::new());
            let mut now = 0;
            for round in 0..60_000_u32 {
                for _ in 0..draw.below(3) {
                    let far = if draw.below(50) == 0 { 1 << 30 } else { 1 };
                    let (time, event) = (now + draw.below(spread) * far, draw.below(5));
                    wheel.schedule(time, event);
                    heap.schedule(Time::from_ps(time), event);
                }
                assert_eq!(wheel.len(), heap.len());
                if round % 7 == 0 || round > 40_000 {
                    let expected = heap.pop().map(|(time, event)| (time.as_ps(), event));
                    assert_eq!(wheel.peek(), expected);
                    assert_eq!(wheel.pop(), expected);
                    now = expected.map_or(now, |(time, _)| time);
                }
            }
            while let Some((time, event)) = heap.pop() {
                assert_eq!(wheel.pop(), Some((time.as_ps(), event)));
            }
            assert!(wheel.is_empty());
        }
    }
}
