//! Marks of packets at a switch, for a full input or for a busy output.

use crate::common::packets::{packets, packets_plan, sends};
use crate::common::{row, stop_at};
use gingham_kernel::{Bytes, Span};
use gingham_net::{
    ClassId, Fecn, InputOutputTriggered, InputTriggered, Marking, Naive, OutputTriggered, Plan,
    Red, Scan, Status, Trigger, UtilisationTriggered,
};
use gingham_oracle::start;
use std::sync::Arc;

/// h1's 128 bytes keep the output to h2 busy from 125 to 1,405. h0's packets of 64 bytes are read
/// at 135 and 775. The third is read at 2,195 if its input holds two: the first has left at 2,045,
/// the second leaves until 2,685. It is read at 1,415 if the input holds more: the first leaves
/// until 2,045. h1's second is read, and starts, at 10,125.
fn plan(held: u32) -> Plan {
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [held; 16]);
    sends(&mut plan, 0, 0, &[(10, 2, 64); 3]);
    sends(&mut plan, 1, 0, &[(0, 2, 128), (10_000, 2, 64)]);
    plan.stop = stop_at(20_000);
    plan
}

/// Packets of h0 and of h1 marked for a full input, and for an output.
fn marked(held: u32, marking: Marking) -> [[u64; 2]; 2] {
    marked_in(plan(held), marking)
}

/// Packets marked for a full input, and for an output, in the first two classes.
fn marked_in(mut plan: Plan, marking: Marking) -> [[u64; 2]; 2] {
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
fn naive_marks_packets_waiting_in_a_full_buffer() {
    // Full at 775: the first and the second; at 2,195: the second, leaving, and the third.
    assert_eq!(marked(2, Marking::Naive(Naive::default())), [[3, 0], NONE]);
    // At 1,415 the first leaves, and cannot be marked.
    assert_eq!(marked(3, Marking::Naive(Naive::default())), [[2, 0], NONE]);
    // Full from two blocks on: at 775 and 1,415.
    let fill = Some(Bytes(65));
    assert_eq!(marked(4, Marking::Naive(Naive { fill, ..Naive::default() })), [[3, 0], NONE]);
    // Three do not fill four.
    assert_eq!(marked(4, Marking::Naive(Naive::default())), [NONE, NONE]);
}

#[test]
fn full_input_marks_the_counted_packets_of_an_output() {
    let with = |scan, counts_leaving| {
        marked(
            2,
            Marking::InputTriggered(InputTriggered {
                scan,
                counts_leaving,
                ..InputTriggered::default()
            }),
        )
    };
    // At 775 two wait and h1's leaves: three. Two are marked; at 2,195 there are two again: h0's
    // third, then h1's second.
    assert_eq!(with(Scan::Counters, true), [[3, 0], [1, 0]]);
    // Two, and one.
    assert_eq!(with(Scan::Counters, false), [[3, 0], NONE]);
    assert_eq!(with(Scan::Direct, true), [[3, 0], NONE]);
    let deep = InputTriggered::default();
    assert_eq!(marked(4, Marking::InputTriggered(deep)), [NONE, NONE]);
}

#[test]
fn output_above_its_threshold_marks_waiting_packets() {
    let with = |threshold, counts_leaving| {
        let output = OutputTriggered { counts_leaving, ..OutputTriggered::new(threshold) };
        marked(2, Marking::OutputTriggered(output))
    };
    // Two at 135, three at 775, two at 2,195, one still there for h1's second.
    assert_eq!(with(1, true), [[0, 3], [0, 1]]);
    // Three at 775.
    assert_eq!(with(2, true), [[0, 3], NONE]);
    assert_eq!(with(3, true), [NONE, NONE]);
    // Two at 775.
    assert_eq!(with(1, false), [[0, 2], NONE]);
    assert_eq!(with(2, false), [NONE, NONE]);
}

#[test]
fn last_of_both_triggers_is_counted() {
    let with = |held, threshold| {
        let both = InputOutputTriggered::new(threshold);
        marked(held, Marking::InputOutputTriggered(both))
    };
    // At 775 the buffer is full, and three are more than two. At 2,195 it is only full.
    assert_eq!(with(2, 2), [[1, 2], [1, 0]]);
    // Never full: three at 775, and three at 1,415.
    assert_eq!(with(4, 2), [[0, 3], [0, 1]]);
    // Never more than three: the threshold has no effect.
    assert_eq!(with(2, 3), [[3, 0], [1, 0]]);
}

#[test]
fn busy_output_marks_waiting_packets() {
    let with = |above| {
        let average = Span::from_ps(1_000);
        marked(4, Marking::UtilisationTriggered(UtilisationTriggered { above, average }))
    };
    // Busy from 125 on: 1 - exp(-.65) = .478 at 775, 1 - exp(-1.29) = .725 at 1,415. The departing
    // packet counts too: h1's second is marked long after.
    assert_eq!(with(0.47), [[0, 3], [0, 1]]);
    assert_eq!(with(0.49), [[0, 2], [0, 1]]);
    assert_eq!(with(0.73), [NONE, NONE]);
}

#[test]
fn threshold_can_apply_to_an_average() {
    let with = |threshold| {
        let average = Some(Span::from_ps(1_000));
        let output = OutputTriggered { average, ..OutputTriggered::new(threshold) };
        marked(4, Marking::OutputTriggered(output))
    };
    // One from 125 on, two from 135, three from 775 to 1,405: .95 at 775, 1.91 at 1,415.
    assert_eq!(with(0), [[0, 3], [0, 1]]);
    assert_eq!(with(1), [[0, 2], [0, 1]]);
    assert_eq!(with(2), [NONE, NONE]);
}

#[test]
fn fecn_marks_packets_started_above_the_threshold() {
    let with = |change: &dyn Fn(&mut Fecn)| {
        let mut fecn = Fecn { packet_size: 0, ..Fecn::default() };
        change(&mut fecn);
        marked(4, Marking::Fecn(fecn))
    };
    // An input holds 256 B. 64 B wait from 135 on, 128 from 775 until 2,045, but for an instant.
    assert_eq!(with(&|_| ()), [[0, 3], NONE]);
    assert_eq!(with(&|of| of.threshold = 10), [[0, 2], NONE]);
    assert_eq!(with(&|of| of.threshold = 8), [NONE, NONE]);
    assert_eq!(with(&|of| of.threshold = 0), [NONE, NONE]);
    // The first and the third.
    assert_eq!(with(&|of| of.marking_rate = 1), [[0, 2], NONE]);
    assert_eq!(with(&|of| of.packet_size = 1), [[0, 3], NONE]);
    assert_eq!(with(&|of| of.packet_size = 2), [NONE, NONE]);
}

#[test]
fn red_inspects_the_queue_behind_a_packet() {
    let with = |k_min, k_max| {
        let (k_min, k_max) = (Some(Bytes(k_min)), Some(Bytes(k_max)));
        marked(4, Marking::Red(Red { k_min, k_max, p_max: 0.0 }))
    };
    // 64 B behind the first and the second, nothing behind the third.
    assert_eq!(with(0, 64), [[0, 2], NONE]);
    assert_eq!(with(64, 64), [NONE, NONE]);
    assert_eq!(with(0, 65), [NONE, NONE]);
}

/// h0, on s0, sends two packets of 64 bytes to h2 and one to h3; h1 keeps the output to h2 busy
/// from 125 to 1,405. Inputs hold two blocks: h0's first two fill that of s1 from 775 on; the third
/// is read at s0 at 1,415 and starts when space is known at 2,070.
fn behind_a_full_input() -> Plan {
    let mut plan = packets_plan(row(2, &[0, 1, 1, 1]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [2; 16]);
    sends(&mut plan, 0, 0, &[(10, 2, 64); 2]);
    sends(&mut plan, 0, 0, &[(11, 3, 64)]);
    sends(&mut plan, 1, 0, &[(0, 2, 128), (10_000, 2, 64)]);
    plan.stop = stop_at(20_000);
    plan
}

#[test]
fn victim_is_marked_only_with_a_victim_mask() {
    let with = |victim_mask| {
        let fecn = Fecn { packet_size: 0, victim_mask, ..Fecn::default() };
        marked_in(behind_a_full_input(), Marking::Fecn(fecn))
    };
    // s1 has space at h2: it is the root, and marks both. s0 has none.
    assert_eq!(with(false), [[0, 2], NONE]);
    assert_eq!(with(true), [[0, 2], [0, 1]]);
}

#[test]
fn recently_blocked_link_is_spared_from_marking() {
    let with = |span: u64| {
        let spare_blocked = (span > 0).then_some(Span::from_ps(span));
        let output =
            OutputTriggered { spare_blocked, counts_leaving: false, ..OutputTriggered::new(0) };
        marked_in(behind_a_full_input(), Marking::OutputTriggered(output))
    };
    // The third waits alone, from 1,415 to 2,070.
    assert_eq!(with(0), [[0, 2], [0, 1]]);
    assert_eq!(with(655), [[0, 2], [0, 1]]);
    assert_eq!(with(656), [[0, 2], NONE]);
}
