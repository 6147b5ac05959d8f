//! Tests that nothing is allocated after set-up.

use gingham_entry::{Ecn, FqCodel, FqCodelPlan, Offered};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Other threads allocate now and then; therefore the smallest count of ten stretches is used.
#[test]
fn packets_cause_no_allocation() {
    let mut queue = FqCodel::new(FqCodelPlan { limit_packets: 100, ..FqCodelPlan::default() });
    let mut stretch = |from_ms: u64| {
        let region = Region::new(ALLOCATOR);
        for ms in from_ms..from_ms + 500 {
            let now_ns = ms * 1_000_000;
            for flow_hash in 0..3 {
                let offered = Offered { flow_hash, bytes: 1_000, ecn: Ecn::Ect0, packet: ms };
                queue.enqueue(now_ns, offered, |_| ());
            }
            queue.peek(now_ns, |_| ());
            queue.dequeue(now_ns, |_| ());
        }
        let change = region.change();
        change.allocations + change.reallocations
    };
    let counts: [_; 10] = std::array::from_fn(|index| stretch(500 * index as u64));
    assert_eq!(counts.iter().min(), Some(&0), "{counts:?}");
    let counters = queue.counters();
    assert!(counters.dropped_limit_packets > 0 && counters.marked_packets > 0, "{counters:?}");
}
