//! One in-transit host: its pool, and the order of re-injection.
//!
//! Each group of queues sends packets in the order of their ready times; ties are broken by the
//! order of ejection.
//!
//! Invariant: the fill level of the pool is the sum of its packet sizes and never exceeds the
//! capacity.

use super::{InTransitPlan, WhenFull};
use gingham_kernel::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// State of the first packet in an input buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EjectionHead {
    /// The head has not been read.
    #[default]
    Unread,
    /// The packet's destination is this host.
    Consumed,
    /// The packet is in transit and has been ejected.
    InTransit,
    /// The packet is in transit and waits for pool space.
    Waiting {
        /// Time when the head was read.
        since: Time,
    },
}

/// Record of a packet ejected for re-injection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TakenIn {
    /// Bytes that the packet occupies in the pool or in host memory.
    pub bytes: u64,
    /// Index of the packet's group of queues.
    pub group: usize,
    head: Time,
    number: u64,
    /// Whether the packet was spilled to host memory.
    pub is_spilled: bool,
    /// Earliest re-injection time; `None` until the tail of a spilled packet has arrived.
    pub ready: Option<Time>,
}

/// An in-transit host; `P` identifies a packet in the simulation.
#[derive(Clone, Debug)]
pub struct InTransitHost<P> {
    plan: InTransitPlan,
    pool_bytes: u64,
    taken_in: u64,
    groups: Vec<Group<P>>,
}

#[derive(Clone, Debug)]
struct Group<P> {
    waiting: u32,
    ready: BinaryHeap<Reverse<Ready<P>>>,
}

#[derive(Clone, Copy, Debug)]
struct Ready<P> {
    at: Time,
    packet: P,
    taken: TakenIn,
}

impl<P: Copy> InTransitHost<P> {
    /// Creates a host with an empty pool and `groups` groups of queues.
    pub fn new(plan: InTransitPlan, groups: usize) -> Self {
        let group = || Group { waiting: 0, ready: BinaryHeap::new() };
        let groups = (0..groups).map(|_| group()).collect();
        Self { plan, pool_bytes: 0, taken_in: 0, groups }
    }

    /// Returns the fill level of the pool in bytes.
    pub fn pool_bytes(&self) -> u64 {
        self.pool_bytes
    }

    /// Returns whether a packet of `bytes` bytes fits into the pool.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.pool_bytes + bytes <= self.plan.pool_bytes
    }

    /// Ejects a packet, whose head arrived at `head`, into the pool or, if the pool is full, into
    /// host memory. Returns `None` if the packet must wait in the input, which stops the sender.
    pub fn take_in(
        &mut self,
        packet: P,
        group: usize,
        bytes: u64,
        head: Time,
        now: Time,
    ) -> Option<TakenIn> {
        let is_spilled = !self.has_room(bytes);
        if is_spilled && self.plan.when_full == WhenFull::Stop {
            return None;
        }
        let number = self.taken_in;
        self.taken_in += 1;
        self.groups[group].waiting += 1;
        let mut taken = TakenIn { bytes, group, head, number, is_spilled, ready: None };
        if !is_spilled {
            self.pool_bytes += bytes;
            let recognised = (head + self.plan.detection).max(now);
            self.make_ready(packet, &mut taken, recognised + self.plan.programming);
        }
        Some(taken)
    }

    /// Handles the arrival of a packet's tail. For a spilled packet, returns the time when it is
    /// ready, after crossing the bus twice.
    pub fn tail_received(&mut self, packet: P, taken: &mut TakenIn, tail: Time) -> Option<Time> {
        let (true, WhenFull::Spill { delay, byte }) = (taken.is_spilled, self.plan.when_full)
        else {
            return None;
        };
        let fetched = tail + delay + byte * (2 * taken.bytes);
        let programmed = taken.head + self.plan.detection + self.plan.programming;
        self.make_ready(packet, taken, fetched.max(programmed));
        taken.ready
    }

    fn make_ready(&mut self, packet: P, taken: &mut TakenIn, at: Time) {
        taken.ready = Some(at);
        let ready = Ready { at, packet, taken: *taken };
        self.groups[taken.group].ready.push(Reverse(ready));
    }

    /// Returns the next packet of a group if it may start at `now`, and the time when it became
    /// ready.
    #[inline]
    pub fn next_ready(&self, group: usize, now: Time) -> Option<(P, Time)> {
        let Reverse(first) = self.groups[group].ready.peek()?;
        (first.at <= now).then_some((first.packet, first.at))
    }

    /// Starts the next packet of a group. Returns the packet's record.
    ///
    /// # Panics
    /// If no packet is ready.
    pub fn begin(&mut self, group: usize) -> TakenIn {
        let group = &mut self.groups[group];
        let Reverse(first) = group.ready.pop().expect("what begins is ready");
        group.waiting -= 1;
        first.taken
    }

    /// Returns a bit mask of the groups with packets that have not started to leave.
    #[inline]
    pub fn waiting_groups(&self) -> u32 {
        let waits = |(index, group): (usize, &Group<P>)| u32::from(group.waiting > 0) << index;
        self.groups.iter().enumerate().map(waits).fold(0, |all, bit| all | bit)
    }

    /// Frees the pool space of a packet whose tail has left. Returns false if the packet was
    /// spilled.
    pub fn release(&mut self, taken: &TakenIn) -> bool {
        if !taken.is_spilled {
            self.pool_bytes -= taken.bytes;
        }
        !taken.is_spilled
    }

    /// Selects the longest-waiting head whose packet fits into the pool, in a tie the lowest index.
    /// Returns the index and the start of the wait.
    pub fn next_admitted(
        &self,
        heads: &[EjectionHead],
        bytes: impl Fn(usize) -> u64,
    ) -> Option<(usize, Time)> {
        let waits = |(lane, head): (usize, &EjectionHead)| match *head {
            EjectionHead::Waiting { since } => Some((since, lane)),
            _ => None,
        };
        let waiting = heads.iter().enumerate().filter_map(waits);
        let next = waiting.filter(|(_, lane)| self.has_room(bytes(*lane))).min();
        next.map(|(since, lane)| (lane, since))
    }
}

impl<P> Ready<P> {
    fn key(&self) -> (Time, u64) {
        (self.at, self.taken.number)
    }
}

impl<P> PartialEq for Ready<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<P> Eq for Ready<P> {}

impl<P> PartialOrd for Ready<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Ready<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Span;

    const fn ns(ns: u64) -> Time {
        Time::from_ps(ns * 1_000)
    }

    fn host(when_full: WhenFull) -> InTransitHost<char> {
        let plan = InTransitPlan {
            detection: Span::from_ns(275),
            programming: Span::from_ns(200),
            pool_bytes: 100,
            when_full,
        };
        InTransitHost::new(plan, 2)
    }

    fn spilling() -> InTransitHost<char> {
        host(WhenFull::Spill { delay: Span::from_ns(5_000), byte: Span::from_ns(10) })
    }

    #[test]
    fn pooled_packets_leave_in_order_of_readiness() {
        let mut host = spilling();
        let early = host.take_in('a', 0, 40, ns(0), ns(0)).unwrap();
        // The head of packet b was read at 100 ns, but the pool has no room before 1,000 ns.
        let late = host.take_in('b', 0, 60, ns(100), ns(1_000)).unwrap();
        assert_eq!((early.ready, late.ready), (Some(ns(475)), Some(ns(1_200))));
        assert_eq!((host.pool_bytes(), host.waiting_groups()), (100, 0b01));
        assert_eq!(host.next_ready(0, ns(474)), None);
        assert_eq!(host.next_ready(0, ns(2_000)), Some(('a', ns(475))));
        assert_eq!(host.begin(0), early);
        assert_eq!(host.next_ready(0, ns(2_000)), Some(('b', ns(1_200))));
        assert_eq!(host.begin(0), late);
        assert_eq!(host.waiting_groups(), 0);
        assert!(host.release(&early) && !host.has_room(41) && host.has_room(40));
    }

    #[test]
    fn spilled_packet_crosses_the_bus_twice_after_its_tail() {
        let mut host = spilling();
        host.take_in('a', 0, 90, ns(0), ns(0)).unwrap();
        let mut spilled = host.take_in('b', 0, 20, ns(10), ns(10)).unwrap();
        assert!(spilled.is_spilled && spilled.ready.is_none() && host.pool_bytes() == 90);
        // Tail 300 ns + delay 5,000 ns + two bus crossings of 20 B at 10 ns per byte.
        assert_eq!(host.tail_received('b', &mut spilled, ns(300)), Some(ns(5_700)));
        assert!(!host.release(&spilled));
        assert_eq!(host.pool_bytes(), 90);
    }

    #[test]
    fn equally_ready_packets_leave_in_order_of_admission() {
        let mut host = spilling();
        for packet in ['x', 'y', 'z'] {
            host.take_in(packet, 1, 1, ns(7), ns(7)).unwrap();
        }
        let order: Vec<char> = std::iter::from_fn(|| {
            let next = host.next_ready(1, ns(9_000))?;
            host.begin(1);
            Some(next.0)
        })
        .collect();
        assert_eq!(order, ['x', 'y', 'z']);
    }

    #[test]
    fn stopped_host_admits_the_longest_waiting_head_that_fits() {
        let mut host = host(WhenFull::Stop);
        let first = host.take_in('a', 0, 80, ns(0), ns(0)).unwrap();
        assert_eq!(host.take_in('b', 0, 30, ns(5), ns(5)), None);
        let wait = |since| EjectionHead::Waiting { since: ns(since) };
        let heads = [EjectionHead::Consumed, wait(9), wait(5), wait(5)];
        let needs = [1, 10, 30, 15];
        let next = |host: &InTransitHost<char>| host.next_admitted(&heads, |lane| needs[lane]);
        assert_eq!(next(&host), Some((3, ns(5))));
        assert!(host.release(&first));
        assert_eq!(next(&host), Some((2, ns(5))));
    }
}
