//! Marks: which packets a switch marks because an input is full, or because many wait for an output.

use crate::common::packets::{packets, packets_plan, sends};
use crate::common::{row, stop_at};
use gingham_kernel::Bytes;
use gingham_model::{
    ClassId, InputOutputTriggered, InputTriggered, Marking, Naive, OutputTriggered, Plan, Scan,
    Status, Trigger,
};
use gingham_oracle::start;
use std::sync::Arc;

/// h1's 128 bytes keep the output to h2 busy from 125 to 1,405. h0's packets of 64 bytes are read at
/// 135 and 775. The third is read at 2,195 where its input holds two, when the first has left at
/// 2,045 and the second leaves until 2,685; where it holds more at 1,415, when the first leaves until
/// 2,045. h1's second is read, and starts, at 10,125.
fn plan(held: u32) -> Plan {
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [held; 16]);
    sends(&mut plan, 0, 0, &[(10, 2, 64); 3]);
    sends(&mut plan, 1, 0, &[(0, 2, 128), (10_000, 2, 64)]);
    plan.stop = stop_at(20_000);
    plan
}

/// Of h0 and of h1: how many were marked for a full input, and for an output.
fn marked(held: u32, marking: Marking) -> [[u64; 2]; 2] {
    let mut plan = plan(held);
    plan.marking = Some(marking);
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {
        simulation.assert_invariants();
    }
    let collector = simulation.collector();
    assert_eq!(collector.delivered_messages(), 5);
    [0, 1].map(|class| {
        let of = |trigger| collector.marked_packets(ClassId::new(class), trigger);
        [of(Trigger::Input), of(Trigger::Output)]
    })
}

const NONE: [u64; 2] = [0, 0];

#[test]
fn naive_marks_what_waits_in_a_buffer_that_is_full() {
    // At 775 the first and the second fill it, at 2,195 the second, which leaves, and the third.
    assert_eq!(marked(2, Marking::Naive(Naive { fill: None })), [[3, 0], NONE]);
    // At 1,415 the first leaves, and cannot be marked any more.
    assert_eq!(marked(3, Marking::Naive(Naive { fill: None })), [[2, 0], NONE]);
    // From two blocks on: at 775, and at 1,415, where they fill more than that.
    let fill = Some(Bytes(65));
    assert_eq!(marked(4, Marking::Naive(Naive { fill })), [[3, 0], NONE]);
    // Three do not fill four.
    assert_eq!(marked(4, Marking::Naive(Naive { fill: None })), [NONE, NONE]);
}

#[test]
fn a_full_input_marks_as_many_of_an_output_as_were_counted() {
    let with = |scan, counts_leaving| {
        marked(2, Marking::InputTriggered(InputTriggered { fill: None, scan, counts_leaving }))
    };
    // At 775 two wait and h1's leaves: three. Two of them are marked, and at 2,195 there are two
    // again: the third of h0, and what comes next, which is h1's second.
    assert_eq!(with(Scan::Counters, true), [[3, 0], [1, 0]]);
    // Two, and one.
    assert_eq!(with(Scan::Counters, false), [[3, 0], NONE]);
    assert_eq!(with(Scan::Direct, true), [[3, 0], NONE]);
    let deep = InputTriggered { fill: None, scan: Scan::Counters, counts_leaving: true };
    assert_eq!(marked(4, Marking::InputTriggered(deep)), [NONE, NONE]);
}

#[test]
fn more_than_a_threshold_for_an_output_mark_what_waits_for_it() {
    let with = |threshold, counts_leaving| {
        let scan = Scan::Counters;
        marked(2, Marking::OutputTriggered(OutputTriggered { threshold, scan, counts_leaving }))
    };
    // Two at 135, three at 775, two at 2,195, of which one is there when h1's second comes.
    assert_eq!(with(1, true), [[0, 3], [0, 1]]);
    // Three at 775.
    assert_eq!(with(2, true), [[0, 3], NONE]);
    assert_eq!(with(3, true), [NONE, NONE]);
    // Two at 775.
    assert_eq!(with(1, false), [[0, 2], NONE]);
    assert_eq!(with(2, false), [NONE, NONE]);
}

#[test]
fn with_both_triggers_the_last_one_counts() {
    let with = |held, threshold| {
        let (scan, counts_leaving) = (Scan::Counters, true);
        let both = InputOutputTriggered { threshold, fill: None, scan, counts_leaving };
        marked(held, Marking::InputOutputTriggered(both))
    };
    // At 775 the buffer is full, and three are more than two. At 2,195 it is full alone.
    assert_eq!(with(2, 2), [[1, 2], [1, 0]]);
    // Never full: three at 775, and three at 1,415.
    assert_eq!(with(4, 2), [[0, 3], [0, 1]]);
    // Never more than three: as if there were no threshold.
    assert_eq!(with(2, 3), [[3, 0], [1, 0]]);
}
