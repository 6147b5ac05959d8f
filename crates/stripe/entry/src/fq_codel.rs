//! Flow queueing with CoDel: a queue for each flow, in turn, each held short by itself.
//!
//! ```text
//!   enqueue ──► full? ──► half of the longest queue, 64 packets at most, is dropped from its head
//!   peek, dequeue ──► the first flow with credits ──► CoDel ──► a packet; it stays chosen until
//!                                                               it is dequeued
//! ```
//!
//! What `peek` tells the next `dequeue` gives, whatever comes in between: a scheduler that is told a
//! length decides on it.
//!
//! Source: RFC 8290, section 4, and section 5.2 for the defaults.

use crate::codel::{CoDelPlan, Popped};
use crate::ecn::Ecn;
use crate::flows::Flows;
use crate::slab::{Slab, Waiting};

/// Packets that are dropped at once at the most where there is no room (RFC 8290, section 4.1).
const BATCH_PACKETS_MAX: u32 = 64;

/// Parameters of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelPlan {
    /// When packets are marked or dropped.
    pub codel: CoDelPlan,
    /// Queues, among which flows are spread by their hashes.
    pub flows: u32,
    /// What a flow sends in its turn; the longest packet unless there is a reason (RFC 8290, section
    /// 5.2.4).
    pub quantum_bytes: u32,
    /// Bytes that wait at the most.
    pub limit_bytes: u64,
    /// Packets that wait at the most; there is a place for each from the beginning on.
    pub limit_packets: u32,
    /// Whether packets that can be marked are, instead of being dropped.
    pub ecn: bool,
    /// What hashes are perturbed by, so that nobody can choose flows that meet.
    pub seed: u64,
}

impl FqCodelPlan {
    /// RFC 8290, section 5.2.5.
    pub const FLOWS: u32 = 1_024;
    /// RFC 8290, section 5.2.3.
    pub const LIMIT_PACKETS: u32 = 10_240;

    /// Returns the default parameters for packets of at most `longest_bytes` bytes.
    pub fn of_packets(longest_bytes: u32) -> Self {
        Self {
            codel: CoDelPlan { longest_bytes, ..CoDelPlan::default() },
            flows: Self::FLOWS,
            quantum_bytes: longest_bytes,
            limit_bytes: u64::from(Self::LIMIT_PACKETS) * u64::from(longest_bytes),
            limit_packets: Self::LIMIT_PACKETS,
            ecn: true,
            seed: 0,
        }
    }
}

impl Default for FqCodelPlan {
    fn default() -> Self {
        Self::of_packets(CoDelPlan::default().longest_bytes)
    }
}

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
pub struct Offered<P> {
    /// A hash of what tells its flow from others.
    pub flow_hash: u64,
    /// Its length.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The packet.
    pub packet: P,
}

/// A packet that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dequeued<P> {
    /// The packet.
    pub packet: P,
    /// Its length.
    pub bytes: u32,
    /// Whether its ECN field is to say that there was congestion.
    pub marked: bool,
    /// How long it was here until it was chosen.
    pub sojourn_ns: u64,
}

/// A packet that does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: DropReason,
}

/// Why a packet is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// Its flow's queue stood above the target for too long.
    Target,
    /// There was no room, and its flow's queue was the longest.
    Limit,
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that came.
    pub enqueued_packets: u64,
    /// Packets that went on.
    pub dequeued_packets: u64,
    /// Of these, marked.
    pub marked_packets: u64,
    /// Packets dropped for [`DropReason::Target`].
    pub dropped_target_packets: u64,
    /// Packets dropped for [`DropReason::Limit`].
    pub dropped_limit_packets: u64,
    /// The sojourns of those that went on, together.
    pub sojourn_sum_ns: u128,
    /// The longest of them.
    pub sojourn_max_ns: u64,
}

impl Counters {
    /// What two queues counted together, one after the other.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self {
            enqueued_packets: self.enqueued_packets + others.enqueued_packets,
            dequeued_packets: self.dequeued_packets + others.dequeued_packets,
            marked_packets: self.marked_packets + others.marked_packets,
            dropped_target_packets: self.dropped_target_packets + others.dropped_target_packets,
            dropped_limit_packets: self.dropped_limit_packets + others.dropped_limit_packets,
            sojourn_sum_ns: self.sojourn_sum_ns + others.sojourn_sum_ns,
            sojourn_max_ns: self.sojourn_max_ns.max(others.sojourn_max_ns),
        }
    }
}

/// The queue.
#[derive(Debug)]
pub struct FqCodel<P> {
    plan: FqCodelPlan,
    slab: Slab<P>,
    flows: Flows,
    /// The packet that goes next, since somebody has looked at it.
    chosen: Option<Dequeued<P>>,
    backlog_bytes: u64,
    backlog_packets: u32,
    counters: Counters,
}

impl<P> FqCodel<P> {
    /// An empty queue, with all the memory that it will ever have.
    ///
    /// # Panics
    /// Without a flow, a quantum, or room for a packet.
    pub fn new(plan: FqCodelPlan) -> Self {
        assert!(plan.flows > 0 && plan.quantum_bytes > 0, "flows take turns");
        assert!(plan.limit_packets > 0, "there is room for a packet");
        Self {
            plan,
            // One that comes has a place before another is dropped for it.
            slab: Slab::new(plan.limit_packets + 1),
            flows: Flows::new(plan.flows, plan.quantum_bytes),
            chosen: None,
            backlog_bytes: 0,
            backlog_packets: 0,
            counters: Counters::default(),
        }
    }

    /// From now on a standing queue may take so long.
    pub const fn set_target(&mut self, target_ns: u64) {
        self.plan.codel.target_ns = target_ns;
    }

    /// From now on it has stood once it did so for so long.
    pub const fn set_interval(&mut self, interval_ns: u64) {
        self.plan.codel.interval_ns = interval_ns;
    }

    /// What a standing queue may take now.
    pub const fn target_ns(&self) -> u64 {
        self.plan.codel.target_ns
    }

    /// Bytes that wait.
    pub const fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Packets that wait.
    pub const fn backlog_packets(&self) -> u32 {
        self.backlog_packets
    }

    /// Whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.backlog_packets == 0
    }

    /// What was counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A packet comes; what is dropped to make room, which may be this one, goes to `dropped`.
    pub fn enqueue(
        &mut self,
        now_ns: u64,
        offered: Offered<P>,
        mut dropped: impl FnMut(Dropped<P>),
    ) {
        let Offered { flow_hash, bytes, ecn, packet } = offered;
        let index = self.flow_of(flow_hash);
        let markable = self.plan.ecn && ecn.is_capable();
        let flow = self.flows.flow(index);
        self.slab.push(&mut flow.queue, Waiting { packet, bytes, markable, came_ns: now_ns });
        flow.bytes += u64::from(bytes);
        flow.packets += 1;
        self.flows.activate(index);
        self.backlog_bytes += u64::from(bytes);
        self.backlog_packets += 1;
        self.counters.enqueued_packets += 1;
        while self.is_over_limit() && self.drop_batch(&mut dropped) {}
    }

    /// What the next `dequeue` gives, with its length.
    pub fn peek(&mut self, now_ns: u64, dropped: impl FnMut(Dropped<P>)) -> Option<&Dequeued<P>> {
        if self.chosen.is_none() {
            self.chosen = self.choose(now_ns, dropped);
        }
        self.chosen.as_ref()
    }

    /// The next packet; what is dropped before it goes to `dropped`.
    pub fn dequeue(&mut self, now_ns: u64, dropped: impl FnMut(Dropped<P>)) -> Option<Dequeued<P>> {
        self.peek(now_ns, dropped)?;
        let next = self.chosen.take()?;
        self.backlog_bytes -= u64::from(next.bytes);
        self.backlog_packets -= 1;
        self.counters.dequeued_packets += 1;
        self.counters.marked_packets += u64::from(next.marked);
        self.counters.sojourn_sum_ns += u128::from(next.sojourn_ns);
        self.counters.sojourn_max_ns = self.counters.sojourn_max_ns.max(next.sojourn_ns);
        Some(next)
    }

    /// The queue of a flow.
    fn flow_of(&self, flow_hash: u64) -> u32 {
        let mixed = mix(flow_hash ^ mix(self.plan.seed));
        let scaled = (u128::from(mixed) * u128::from(self.plan.flows)) >> 64;
        u32::try_from(scaled).expect("below the number of flows")
    }

    fn is_over_limit(&self) -> bool {
        self.backlog_bytes > self.plan.limit_bytes || self.backlog_packets > self.plan.limit_packets
    }

    /// Half of the packets of the flow with the most bytes are dropped; tells whether there was any.
    fn drop_batch(&mut self, dropped: &mut impl FnMut(Dropped<P>)) -> bool {
        let Some(index) = self.flows.fattest() else { return false };
        let flow = self.flows.flow(index);
        for _ in 0..flow.packets.div_ceil(2).min(BATCH_PACKETS_MAX) {
            let waiting = self.slab.pop(&mut flow.queue).expect("as many as were counted");
            flow.bytes -= u64::from(waiting.bytes);
            flow.packets -= 1;
            self.backlog_bytes -= u64::from(waiting.bytes);
            self.backlog_packets -= 1;
            self.counters.dropped_limit_packets += 1;
            dropped(Dropped { packet: waiting.packet, reason: DropReason::Limit });
        }
        true
    }

    /// The packet that goes next by deficit round robin and CoDel.
    fn choose(&mut self, now_ns: u64, mut dropped: impl FnMut(Dropped<P>)) -> Option<Dequeued<P>> {
        loop {
            let index = self.flows.current()?;
            let Some(next) = self.choose_of(index, now_ns, &mut dropped) else {
                self.flows.retire(index);
                continue;
            };
            self.flows.charge(index, next.bytes);
            return Some(next);
        }
    }

    /// The packet of a flow that CoDel lets go on.
    fn choose_of(
        &mut self,
        index: u32,
        now_ns: u64,
        dropped: &mut impl FnMut(Dropped<P>),
    ) -> Option<Dequeued<P>> {
        let Self { slab, flows, backlog_bytes, backlog_packets, counters, plan, .. } = self;
        let flow = flows.flow(index);
        let (mut queue, mut bytes, mut packets) = (flow.queue, flow.bytes, flow.packets);
        let pop = || {
            let waiting = slab.pop(&mut queue)?;
            bytes -= u64::from(waiting.bytes);
            packets -= 1;
            let sojourn_ns = now_ns.saturating_sub(waiting.came_ns);
            let markable = waiting.markable;
            Some(Popped { packet: waiting, sojourn_ns, left_bytes: bytes, markable })
        };
        let judged = flow.codel.dequeue(now_ns, &plan.codel, pop, |waiting| {
            *backlog_bytes -= u64::from(waiting.bytes);
            *backlog_packets -= 1;
            counters.dropped_target_packets += 1;
            dropped(Dropped { packet: waiting.packet, reason: DropReason::Target });
        });
        (flow.queue, flow.bytes, flow.packets) = (queue, bytes, packets);
        let judged = judged?;
        let waiting = judged.popped.packet;
        let (packet, bytes) = (waiting.packet, waiting.bytes);
        let sojourn_ns = judged.popped.sojourn_ns;
        Some(Dequeued { packet, bytes, marked: judged.marked, sojourn_ns })
    }
}

/// A permutation of 64 bits in which each bit depends on all (Steele, Lea and Flood 2014,
/// "SplitMix": `mix64`, variant 13 of Stafford).
const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
