//! Entry queue for packets from the interface: one CoDel queue per flow (FQ-CoDel).
//!
//! Invariant: enqueuing a packet only allocates a buffer if the backlog exceeds its previous
//! maximum.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use gingham_entry::{CoDelPlan, Counters, FqCodel, FqCodelPlan, Offered};
use gingham_stripe::{Class, Instant};
use gingham_stripe_udp::{Source, ip_bytes};

use crate::class::Dscp;
use crate::packet::{Flow, ecn, mark};
use crate::policy::Policies;

/// Idle time after which the queue is freed, longer than most gaps within a flow.
const REST_NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct Entry {
    plan: FqCodelPlan,
    queue: Option<Box<FqCodel<Vec<u8>>>>,
    past: Counters,
    used_at_ns: u64,
    spare: Vec<Vec<u8>>,
    hasher: RandomState,
    prefix_bytes: usize,
    dscp: Dscp,
    /// Packets that are not valid IP, or have a wrong length field.
    pub(crate) strange: u64,
    now_ns: u64,
    policies: Policies,
    class: Class,
}

impl Entry {
    /// Creates an entry queue. Its flow hash has a random key, so that senders cannot cause
    /// collisions.
    pub(crate) fn new(longest_bytes: u32, prefix_bytes: usize, dscp: Dscp) -> Self {
        let plan = FqCodelPlan::of_packets(longest_bytes);
        let hasher = RandomState::new();
        Self {
            plan,
            queue: None,
            past: Counters::default(),
            used_at_ns: 0,
            spare: Vec::new(),
            hasher,
            prefix_bytes,
            dscp,
            strange: 0,
            now_ns: 0,
            policies: Policies::default(),
            class: Class::Spread,
        }
    }

    pub(crate) fn set_policies(&mut self, policies: Policies) {
        self.policies = policies;
    }

    pub(crate) const fn advance(&mut self, now: Instant) {
        self.now_ns = now.nanoseconds();
    }

    pub(crate) fn enqueue(&mut self, given: &[u8]) {
        let packet = given.get(self.prefix_bytes..).unwrap_or_default();
        if ip_bytes(packet) != Some(packet.len()) {
            self.strange += 1;
            return;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(given);
        let offered = Offered {
            flow_hash: self.hasher.hash_one(Flow::of(packet)),
            bytes: u32::try_from(packet.len()).expect("a packet is shorter than 64 KiB"),
            ecn: ecn(packet),
            packet: buffer,
        };
        self.used_at_ns = self.now_ns;
        let Self { plan, queue, spare, now_ns, .. } = self;
        let queue = queue.get_or_insert_with(|| Box::new(FqCodel::new(*plan)));
        queue.enqueue(*now_ns, offered, |dropped| spare.push(dropped.packet));
    }

    pub(crate) fn rest(&mut self, now: Instant) {
        self.advance(now);
        let is_at_rest = self.used_at_ns.saturating_add(REST_NS) <= self.now_ns;
        if let Some(queue) = self.queue.take_if(|queue| is_at_rest && queue.is_empty()) {
            self.past = self.past.with(queue.counters());
            self.spare = Vec::new();
        }
    }

    pub(crate) fn set_round_trip(&mut self, round_trip: Duration) {
        let target_ns = CoDelPlan::target_before(round_trip);
        let interval_ns = CoDelPlan::interval_before(round_trip);
        let codel = &mut self.plan.codel;
        (codel.target_ns, codel.interval_ns) = (target_ns, interval_ns);
        if let Some(queue) = &mut self.queue {
            queue.set_target(target_ns);
            queue.set_interval(interval_ns);
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        self.queue.as_ref().map_or(self.past, |queue| self.past.with(queue.counters()))
    }

    pub(crate) fn backlog_packets(&self) -> u32 {
        self.queue.as_ref().map_or(0, |queue| queue.backlog_packets())
    }
}

impl Source for Entry {
    fn next_bytes(&mut self) -> Option<usize> {
        let Self { queue, spare, now_ns, .. } = self;
        let next = queue.as_mut()?.peek(*now_ns, |dropped| spare.push(dropped.packet))?;
        let packet = next.packet.get(self.prefix_bytes..).unwrap_or_default();
        self.class = self.policies.class(packet);
        Some(next.packet.len())
    }

    fn next_class(&self) -> Class {
        self.class
    }

    fn next_traffic_class(&mut self) -> Option<u8> {
        let Self { queue, spare, prefix_bytes, dscp, now_ns, .. } = self;
        let next = queue.as_mut()?.peek(*now_ns, |dropped| spare.push(dropped.packet))?;
        Some(dscp.outside(&next.packet[*prefix_bytes..], next.marked))
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        let Self { queue, spare, now_ns, .. } = self;
        let next = queue
            .as_mut()
            .and_then(|queue| queue.dequeue(*now_ns, |dropped| spare.push(dropped.packet)));
        let mut next = next.expect("it was looked at");
        if next.marked {
            mark(&mut next.packet[self.prefix_bytes..]);
        }
        buffer.extend_from_slice(&next.packet);
        spare.push(next.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_queue_frees_its_memory_but_keeps_its_counters() {
        let at = |milliseconds: u64| Instant::from_nanoseconds(milliseconds * 1_000_000);
        let mut entry = Entry::new(1_400, 0, Dscp::default());
        let mut packet = [0; 100];
        (packet[0], packet[3]) = (0x45, 100);
        for second in 0..3 {
            entry.advance(at(10_000 * second));
            entry.enqueue(&packet);
            entry.rest(at(10_000 * second + 5_000));
            assert!(entry.queue.is_some(), "it holds a packet");
            entry.take(&mut Vec::new());
            entry.enqueue(&packet);
            entry.take(&mut Vec::new());
            entry.rest(at(10_000 * second + 5_999));
            assert!(entry.queue.is_some());
            entry.rest(at(10_000 * second + 6_000));
            assert!(entry.queue.is_none());
            assert_eq!(entry.counters().dequeued_packets, 2 * (second + 1));
        }
    }

    /// Checks the first drop. One packet arrives per millisecond; from 90 ms on, one packet leaves
    /// per millisecond, after a wait of 90 ms. The first drop is due after an interval: 160 ms for
    /// a round-trip time of 80 ms, or the minimum of 100 ms (RFC 8290) for a round-trip time of 20
    /// ms.
    #[test]
    fn first_drop_waits_for_an_interval_above_the_rtt() {
        for (round_trip_ms, first_drop_ms) in [(80, 250), (20, 190)] {
            let mut entry = Entry::new(1_400, 0, Dscp::default());
            entry.set_round_trip(Duration::from_millis(round_trip_ms));
            let mut packet = [0; 100];
            (packet[0], packet[3]) = (0x45, 100);
            let dropped = (0..400).find(|ms| {
                entry.advance(Instant::from_nanoseconds(ms * 1_000_000));
                entry.enqueue(&packet);
                if *ms >= 90 {
                    entry.take(&mut Vec::new());
                }
                entry.counters().dropped_target_packets > 0
            });
            assert_eq!(dropped, Some(first_drop_ms), "{round_trip_ms}");
        }
    }
}
