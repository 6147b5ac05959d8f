//! FQ-CoDel: a CoDel queue for each flow, served round robin.
//!
//! `dequeue` returns the packet of the last `peek`, because the channel scheduler has used that
//! packet's length.
//!
//! Source: RFC 8290, section 4; defaults: section 5.2.

use crate::codel::{CoDelPlan, Popped};
use crate::ecn::Ecn;
use crate::flows::Flows;
use crate::slab::{Slab, Waiting};

/// Maximum packets dropped at once (RFC 8290, section 4.1).
const BATCH_PACKETS_MAX: u32 = 64;

/// FQ-CoDel parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelPlan {
    /// CoDel parameters of each flow.
    pub codel: CoDelPlan,
    /// Number of flow queues.
    pub flows: u32,
    /// Bytes per flow and round; normally the longest packet (RFC 8290, section 5.2.4).
    pub quantum_bytes: u32,
    /// Maximum backlog in bytes.
    pub limit_bytes: u64,
    /// Maximum backlog in packets; memory for all of them is allocated at the start.
    pub limit_packets: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Seed of the flow hash, which prevents deliberate collisions.
    pub seed: u64,
}

impl FqCodelPlan {
    /// Default number of flow queues (RFC 8290, section 5.2.5).
    pub const FLOWS: u32 = 1_024;
    /// Default packet limit (RFC 8290, section 5.2.3).
    pub const LIMIT_PACKETS: u32 = 10_240;

    /// Returns the default parameters for packets of at most `longest_bytes`.
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

/// Packet to enqueue.
#[derive(Clone, Copy, Debug)]
pub struct Offered<P> {
    /// Flow hash.
    pub flow_hash: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// Packet.
    pub packet: P,
}

/// Packet leaving the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dequeued<P> {
    /// Packet.
    pub packet: P,
    /// Length in bytes.
    pub bytes: u32,
    /// Whether ECN must be set to CE.
    pub marked: bool,
    /// Time in the queue until the packet was chosen, in ns.
    pub sojourn_ns: u64,
}

/// Dropped packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<P> {
    /// Packet.
    pub packet: P,
    /// Reason for the drop.
    pub reason: DropReason,
}

/// Reason for a drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The sojourn time exceeded the target for too long.
    Target,
    /// The queue was full, and the packet's flow had the largest backlog.
    Limit,
}

/// Counters of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets offered.
    pub enqueued_packets: u64,
    /// Packets forwarded.
    pub dequeued_packets: u64,
    /// Packets forwarded with a mark.
    pub marked_packets: u64,
    /// Packets dropped for [`DropReason::Target`].
    pub dropped_target_packets: u64,
    /// Packets dropped for [`DropReason::Limit`].
    pub dropped_limit_packets: u64,
    /// Sum of the sojourn times of forwarded packets, in ns.
    pub sojourn_sum_ns: u128,
    /// Longest sojourn time of a forwarded packet, in ns.
    pub sojourn_max_ns: u64,
}

impl Counters {
    /// Returns the sums of both sets of counters, and the larger of the maximum sojourn times.
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

/// FQ-CoDel queue.
#[derive(Debug)]
pub struct FqCodel<P> {
    plan: FqCodelPlan,
    slab: Slab<P>,
    flows: Flows,
    chosen: Option<Dequeued<P>>,
    backlog_bytes: u64,
    backlog_packets: u32,
    counters: Counters,
}

impl<P> FqCodel<P> {
    /// Creates a queue and allocates all its memory.
    ///
    /// # Panics
    /// Panics if the plan has no flows, quantum or space.
    pub fn new(plan: FqCodelPlan) -> Self {
        assert!(plan.flows > 0 && plan.quantum_bytes > 0, "flows take turns");
        assert!(plan.limit_packets > 0, "there is room for a packet");
        Self {
            plan,
            // A new packet is stored before another packet is dropped to make room for it.
            slab: Slab::new(plan.limit_packets + 1),
            flows: Flows::new(plan.flows, plan.quantum_bytes),
            chosen: None,
            backlog_bytes: 0,
            backlog_packets: 0,
            counters: Counters::default(),
        }
    }

    /// Sets CoDel's target, in ns.
    pub const fn set_target(&mut self, target_ns: u64) {
        self.plan.codel.target_ns = target_ns;
    }

    /// Sets CoDel's interval, in ns.
    pub const fn set_interval(&mut self, interval_ns: u64) {
        self.plan.codel.interval_ns = interval_ns;
    }

    /// Returns CoDel's target, in ns.
    pub const fn target_ns(&self) -> u64 {
        self.plan.codel.target_ns
    }

    /// Returns the backlog in bytes.
    pub const fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Returns the backlog in packets.
    pub const fn backlog_packets(&self) -> u32 {
        self.backlog_packets
    }

    /// Returns whether the queue is empty.
    pub const fn is_empty(&self) -> bool {
        self.backlog_packets == 0
    }

    /// Returns the counters.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Enqueues a packet. `dropped` receives the packets dropped from a full queue, possibly
    /// including the new packet.
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

    /// Returns the next packet without removing it. `dropped` receives packets dropped by CoDel.
    pub fn peek(&mut self, now_ns: u64, dropped: impl FnMut(Dropped<P>)) -> Option<&Dequeued<P>> {
        if self.chosen.is_none() {
            self.chosen = self.choose(now_ns, dropped);
        }
        self.chosen.as_ref()
    }

    /// Removes the next packet. `dropped` receives packets dropped by CoDel.
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

    fn flow_of(&self, flow_hash: u64) -> u32 {
        let mixed = mix(flow_hash ^ mix(self.plan.seed));
        let scaled = (u128::from(mixed) * u128::from(self.plan.flows)) >> 64;
        u32::try_from(scaled).expect("below the number of flows")
    }

    fn is_over_limit(&self) -> bool {
        self.backlog_bytes > self.plan.limit_bytes || self.backlog_packets > self.plan.limit_packets
    }

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

/// Mixes bits with `mix64`, variant 13 of Stafford (Steele, Lea and Flood 2014, "SplitMix").
const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
