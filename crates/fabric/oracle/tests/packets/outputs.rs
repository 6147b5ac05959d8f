//! Outputs with buffers: crossing of packets, and their start from there.

use crate::common::lanes::on_lanes;
use crate::common::packets::{cable_byte, packets, packets_plan, pausing, sends};
use crate::common::{along, backlogged, chain, channel, deliveries, row, stop_at, story};
use crate::deadlock::{assert_tied, ends_as, ring};
use crate::last_starts;
use gingham_net::scheduler::StrictPriority;
use gingham_net::{Arbitration, Granularity, Plan, Scheduler, Status};
use gingham_topology::routing::LaneSet;

/// Sets the blocks per lane of inputs and outputs.
fn holding(plan: &mut Plan, input: u32, output: &[u32]) {
    packets(plan, |packets| {
        packets.buffer_blocks = [input; 16];
        let mut blocks = [0; 16];
        blocks[..output.len()].copy_from_slice(output);
        packets.output_blocks = Some(blocks);
    });
}

fn entries(plan: &Plan, count: usize) -> Vec<u64> {
    deliveries(plan.clone(), count).iter().map(|delivery| story(delivery).1).collect()
}

#[test]
fn output_buffer_adds_no_delay_to_a_lone_packet() {
    for switches in 1..4 {
        let mut plan = packets_plan(chain(switches), 1);
        sends(&mut plan, 0, 0, &[(0, 1, 64)]);
        holding(&mut plan, 1, &[1]);
        let stages = u64::try_from(switches).unwrap();
        let expected = (stages + 1) * 25 + stages * 100 + 640;
        assert_eq!(story(&deliveries(plan, 1)[0]).3, expected);
    }
}

/// h0 sends packets of 64 bytes to h1 over a cable four times slower than its own.
fn onto_a_slow_cable() -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 40);
    backlogged(&mut plan, 0, 1, 64);
    plan
}

#[test]
fn input_is_free_after_the_tail_crossed() {
    let mut plan = onto_a_slow_cable();
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    // On the slow cable from 125 to 2,685, known at 2,710.
    assert_eq!(entries(&plan, 2), [0, 2_710]);
    // First: crosses at 125, tail there at 665, known at 690. Second: there at 715, crosses at 815,
    // tail at 1,355. Third: ready at 1,505, crosses when the first has left, at 2,685; its last
    // byte takes 40. Likewise the fourth at 5,245.
    holding(&mut plan, 1, &[2]);
    assert_eq!(entries(&plan, 5), [0, 690, 1_380, 2_750, 5_310]);
}

#[test]
fn input_is_occupied_until_the_tail_crossed() {
    // Occupied from 25 to 665, 715 to 1,355, 1,405 to 2,725, and from 2,775 on.
    let mut plan = onto_a_slow_cable();
    holding(&mut plan, 1, &[2]);
    plan.stop = stop_at(3_000);
    let way = channel(&plan.fabric, "h0", "s0");
    let mut simulation = gingham_oracle::start(plan.into());
    while *simulation.advance(1) == Status::Running {}
    let stays = 640 + 640 + 1_320 + (3_000 - 2_775);
    assert_eq!(simulation.channel_counts()[way.index()].occupancy_flit_ps, 64 * stays);
}

#[test]
fn pauses_count_only_uncrossed_packets() {
    // A mark of one packet. At 675 the first byte of the second comes: the first still waits for
    // its slow cable, or has crossed at 665 if outputs have buffers.
    let mut plan = onto_a_slow_cable();
    pausing(&mut plan, [64, 63]);
    packets(&mut plan, |packets| packets.buffer_blocks = [4; 16]);
    let stops = |plan: &Plan| {
        let way = channel(&plan.fabric, "h0", "s0");
        let mut plan = plan.clone();
        plan.stop = stop_at(64 * 100);
        let mut simulation = gingham_oracle::start(plan.into());
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        simulation.channel_counts()[way.index()].stops
    };
    assert!(stops(&plan) > 0);
    packets(&mut plan, |packets| packets.output_blocks = Some([100; 16]));
    assert_eq!(stops(&plan), 0);
}

#[test]
fn output_starts_by_crossing_order_or_level() {
    // Crossed at 125, 135 and 145; the output is idle again at 765.
    let mut plan = packets_plan(row(1, &[0; 4]), 1);
    holding(&mut plan, 1, &[4]);
    sends(&mut plan, 0, 0, &[(0, 3, 64)]);
    sends(&mut plan, 1, 0, &[(10, 3, 64)]);
    sends(&mut plan, 2, 1, &[(20, 3, 64)]);
    assert_eq!(last_starts(&plan, 3), [(0, 125), (1, 765), (2, 1_405)]);
    packets(&mut plan, |packets| packets.arbitration = Arbitration::StrictPriority);
    assert_eq!(last_starts(&plan, 3), [(0, 125), (2, 765), (1, 1_405)]);
}

#[test]
fn switch_arbitration_decides_the_crossing_order() {
    // The output holds one: h1's is across at 765, before h2's level is seen.
    let mut plan = packets_plan(row(1, &[0; 5]), 1);
    holding(&mut plan, 1, &[1]);
    sends(&mut plan, 0, 0, &[(0, 4, 64)]);
    sends(&mut plan, 1, 0, &[(10, 4, 64)]);
    sends(&mut plan, 2, 1, &[(650, 4, 64)]);
    sends(&mut plan, 3, 0, &[(20, 4, 64)]);
    packets(&mut plan, |packets| packets.arbitration = Arbitration::StrictPriority);
    // h2's is ready at 775 and crosses at 1,405, before h3's.
    assert_eq!(last_starts(&plan, 4), [(0, 125), (1, 765), (2, 1_405), (3, 2_045)]);
}

#[test]
fn lane_with_the_most_output_space_is_chosen() {
    // h3's 100 bytes, on lane 0, keep the output busy from 125 to 1,125, and 2 of 4 blocks. h0's
    // goes to lane 1, with 3 free, h1's to lane 0, of equal ones, h2's to lane 1.
    let mut plan = packets_plan(row(1, &[0; 5]), 2);
    holding(&mut plan, 2, &[4, 3]);
    for (host, at) in [(0, 10), (1, 20), (2, 30)] {
        sends(&mut plan, host, 0, &[(at, 4, 10)]);
    }
    sends(&mut plan, 3, 0, &[(0, 4, 100)]);
    let [any, low] = [LaneSet::first_n(2), LaneSet::one(0)];
    on_lanes(&mut plan, &[any, any, any, low]);
    let by = Granularity::Packet;
    plan.lanes.link_output = Scheduler::StrictPriority(StrictPriority { levels: vec![0, 1], by });
    assert_eq!(last_starts(&plan, 4), [(3, 125), (0, 1_125), (2, 1_225), (1, 1_325)]);
}

#[test]
fn full_output_does_not_block_others() {
    // Older packets of the input wait for h1's full output; that for h2 crosses at once.
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 1);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 100);
    holding(&mut plan, 3, &[1]);
    sends(&mut plan, 0, 0, &[(0, 1, 64), (0, 1, 64), (0, 2, 64)]);
    // It enters at 1,280.
    assert_eq!(last_starts(&plan, 1), [(0, 1_280 + 125)]);
}

/// Hosts on a ring of four send packets of 64 bytes over three of its cables, in one direction.
fn around_four(input: u32, output: u32) -> Plan {
    let mut plan = packets_plan(ring(4), 1);
    along(
        &mut plan,
        &[
            &["s0", "s1", "s2", "s3", "h3"],
            &["s1", "s2", "s3", "s0", "h0"],
            &["s2", "s3", "s0", "s1", "h1"],
            &["s3", "s0", "s1", "s2", "h2"],
        ],
    );
    holding(&mut plan, input, &[output; 1]);
    for host in 0..4 {
        sends(&mut plan, host, 0, &[(0, (host + 3) % 4, 64); 2]);
    }
    plan.stop = stop_at(640_000);
    plan
}

#[test]
fn full_outputs_and_inputs_deadlock_a_ring() {
    // First packets: on the ring at 125, across at 765, start at 830. Second ones: at their
    // switches at 715, across at 1,470 as the older ones; they wait for the inputs of the first,
    // there since 855, which wait for them.
    let ring = [("s0", "s1"), ("s1", "s2"), ("s2", "s3"), ("s3", "s0")];
    assert_tied(around_four(1, 1), &ring);
    assert_eq!(ends_as(around_four(1, 2)), Status::Finished);
    assert_eq!(ends_as(around_four(2, 1)), Status::Finished);
}
