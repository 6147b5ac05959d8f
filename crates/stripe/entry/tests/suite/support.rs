//! Helpers of the tests.

use gingham_entry::{CoDelPlan, Dropped, Ecn, FqCodel, FqCodelPlan, Offered};

pub(crate) const MS: u64 = 1_000_000;

/// Flow, and number in the flow.
pub(crate) type Packet = (u64, u64);

/// Packets of at most 1,000 bytes.
pub(crate) fn plan() -> FqCodelPlan {
    let codel = CoDelPlan { longest_bytes: 1_000, ..CoDelPlan::default() };
    FqCodelPlan { codel, quantum_bytes: 1_000, ..FqCodelPlan::default() }
}

pub(crate) fn offer(flow: u64, number: u64, bytes: u32, ecn: Ecn) -> Offered<Packet> {
    Offered { flow_hash: flow, bytes, ecn, packet: (flow, number) }
}

pub(crate) fn fill(queue: &mut FqCodel<Packet>, now_ns: u64, flow: u64, lengths: &[u32]) {
    for (number, bytes) in (0..).zip(lengths) {
        queue.enqueue(now_ns, offer(flow, number, *bytes, Ecn::NotEct), refuse_drops);
    }
}

pub(crate) fn refuse_drops(dropped: Dropped<Packet>) {
    panic!("{dropped:?}");
}

pub(crate) fn go(queue: &mut FqCodel<Packet>, now_ns: u64, packets: usize) -> Vec<Packet> {
    let next = || queue.dequeue(now_ns, refuse_drops).map(|next| next.packet);
    std::iter::from_fn(next).take(packets).collect()
}
