//! Properties of every queue, tested with random steps.

use crate::support::{MS, Packet, offer};
use gingham_entry::{CoDelPlan, Ecn, FqCodel, FqCodelPlan};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Enqueue { flow: u64, bytes: u32, ecn: Ecn },
    Dequeue,
    Peek,
    Wait { ns: u64 },
    SetTarget { ns: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    prop_oneof![
        5 => (0_u64..6, 1_u32..1_500, ecn)
            .prop_map(|(flow, bytes, ecn)| Step::Enqueue { flow, bytes, ecn }),
        3 => Just(Step::Dequeue),
        1 => Just(Step::Peek),
        2 => (0..20 * MS).prop_map(|ns| Step::Wait { ns }),
        1 => (0..50 * MS).prop_map(|ns| Step::SetTarget { ns }),
    ]
}

struct Watched {
    queue: FqCodel<Packet>,
    plan: FqCodelPlan,
    now_ns: u64,
    waiting: BTreeMap<Packet, u32>,
    numbers: BTreeMap<u64, u64>,
    dropped: u64,
}

impl Watched {
    fn new(plan: FqCodelPlan) -> Self {
        let queue = FqCodel::new(plan);
        let (waiting, numbers) = (BTreeMap::new(), BTreeMap::new());
        Self { queue, plan, now_ns: 0, waiting, numbers, dropped: 0 }
    }

    fn take(&mut self, step: &Step) {
        let mut gone = Vec::new();
        match *step {
            Step::Enqueue { flow, bytes, ecn } => {
                let number = self.numbers.entry(flow).or_default();
                let offered = offer(flow, *number, bytes, ecn);
                self.waiting.insert((flow, *number), bytes);
                *number += 1;
                self.queue.enqueue(self.now_ns, offered, |one| gone.push(one.packet));
            }
            Step::Dequeue => {
                let peeked = self.queue.peek(self.now_ns, |one| gone.push(one.packet)).copied();
                let next = self.queue.dequeue(self.now_ns, |_| panic!("it was chosen before"));
                assert_eq!(peeked, next);
                if let Some(next) = next {
                    assert_eq!(self.waiting.remove(&next.packet), Some(next.bytes));
                }
            }
            Step::Peek => {
                self.queue.peek(self.now_ns, |one| gone.push(one.packet));
            }
            Step::Wait { ns } => self.now_ns += ns,
            Step::SetTarget { ns } => self.queue.set_target(ns),
        }
        for packet in gone {
            assert!(self.waiting.remove(&packet).is_some(), "dropped once: {packet:?}");
            self.dropped += 1;
        }
        self.check_counts();
    }

    fn check_counts(&self) {
        let queue = &self.queue;
        let bytes: u64 = self.waiting.values().map(|bytes| u64::from(*bytes)).sum();
        assert_eq!(u64::from(queue.backlog_packets()), self.waiting.len() as u64);
        assert_eq!(queue.backlog_bytes(), bytes);
        assert!(bytes <= self.plan.limit_bytes, "{bytes}");
        assert!(queue.backlog_packets() <= self.plan.limit_packets);
        let counters = queue.counters();
        assert_eq!(counters.dropped_limit_packets + counters.dropped_target_packets, self.dropped);
        let left = counters.dequeued_packets + self.dropped + u64::from(queue.backlog_packets());
        assert_eq!(counters.enqueued_packets, left);
    }
}

fn plans() -> impl Strategy<Value = FqCodelPlan> {
    let ecn = any::<bool>();
    (1_u32..5, 1_500_u64..20_000, 1_u32..20, any::<u64>(), ecn).prop_map(
        |(flows, limit_bytes, limit_packets, seed, ecn)| FqCodelPlan {
            codel: CoDelPlan { interval_ns: 20 * MS, ..CoDelPlan::default() },
            flows,
            quantum_bytes: 300 * flows,
            limit_bytes,
            limit_packets,
            ecn,
            seed,
        },
    )
}

proptest! {
    /// Each packet waits, left once, or was dropped once and counted; no limit is exceeded;
    /// `dequeue` returns the peeked packet.
    #[test]
    fn no_packet_is_lost_or_duplicated(
        plan in plans(),
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let mut watched = Watched::new(plan);
        for step in &steps {
            watched.take(step);
        }
        while !watched.queue.is_empty() {
            watched.take(&Step::Dequeue);
        }
        prop_assert!(watched.waiting.is_empty());
    }

    /// The packets of a flow leave in order of arrival.
    #[test]
    fn flow_order_is_kept(
        plan in plans(),
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let (mut queue, mut now_ns, mut numbers) = (FqCodel::new(plan), 0, 0);
        let mut last = BTreeMap::new();
        for step in steps {
            match step {
                Step::Enqueue { flow, bytes, ecn } => {
                    numbers += 1;
                    queue.enqueue(now_ns, offer(flow, numbers, bytes, ecn), |_| ());
                }
                Step::Wait { ns } => now_ns += ns,
                _ => {
                    if let Some(next) = queue.dequeue(now_ns, |_| ()) {
                        let (flow, number) = next.packet;
                        prop_assert!(last.insert(flow, number).is_none_or(|last| last < number));
                    }
                }
            }
        }
    }

    /// Shreedhar and Varghese 1995, theorem 3: while two flows are backlogged, the bytes they have
    /// sent differ by at most a quantum and two longest packets. The seed avoids a collision of
    /// their hashes.
    #[test]
    fn backlogged_flows_share_equally(
        quantum_bytes in 100_u32..3_000,
        lengths in prop::collection::vec(1_u32..1_500, 600),
    ) {
        let mut queue = FqCodel::new(FqCodelPlan { quantum_bytes, ..FqCodelPlan::default() });
        for (number, bytes) in (0_u64..).zip(&lengths) {
            queue.enqueue(0, offer(number % 2, number, *bytes, Ecn::NotEct), |_| panic!("room"));
        }
        let (mut sent, mut left) = ([0_u64; 2], [300; 2]);
        while left[0] > 0 && left[1] > 0 {
            let next = queue.dequeue(0, |_| panic!("no time went by")).expect("both have some");
            let flow = usize::from(next.packet.0 == 1);
            sent[flow] += u64::from(next.bytes);
            left[flow] -= 1;
            let bound = u64::from(quantum_bytes) + 2 * 1_500;
            prop_assert!(sent[0].abs_diff(sent[1]) <= bound, "{sent:?}");
        }
    }
}
