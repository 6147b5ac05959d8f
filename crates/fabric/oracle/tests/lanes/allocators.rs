//! Allocators of the crossbar, and ports with several connections to and from it.
//!
//! In the tables, `a`, `b`, `c` are inputs and `X`, `Y`, `Z` outputs. Every pair has its own lanes:
//! at an input a lane for each output, at an output a lane for each input. Packets outlast the run,
//! and no head waits for a lane.

use crate::common::{backlogged, channel, row, stop_at};
use crate::packets::by_message;
use crate::{lane_plan, lanes, on_lanes, packets, start};
use gingham_net::{Allocator, Islip, PipelinePlan, Plan};
use gingham_topology::routing::{LEVELS, LaneMap, LaneSet, Lanes, ServiceLevels, VcClass};
use std::sync::Arc;

const ONCE: Allocator = Allocator::Islip(Islip { iterations: 1 });
const TWICE: Allocator = Allocator::Islip(Islip { iterations: 2 });

const ALL: [Allocator; 5] = [
    Allocator::Maximal,
    ONCE,
    TWICE,
    Allocator::SeparableInputFirst,
    Allocator::SeparableOutputFirst,
];

/// Switch of `asks.len()` inputs and as many outputs; input `i` sends to the outputs of `asks[i]`
/// without end. Lanes of inputs are in the order of outputs.
pub(crate) fn switch_of(asks: &[&[usize]], change: impl FnOnce(&mut PipelinePlan)) -> Plan {
    let in_order: Vec<usize> = (0..asks.len()).collect();
    switch_on(&in_order, asks, change)
}

/// Such a switch with the flits for output `o` on lane `lane_of[o]` of an input.
fn switch_on(lane_of: &[usize], asks: &[&[usize]], change: impl FnOnce(&mut PipelinePlan)) -> Plan {
    let count = asks.len();
    let lane = |number: usize| u8::try_from(number).unwrap();
    let mut plan = lane_plan(row(1, &vec![0; 2 * count]), lane(count));
    for (input, outputs) in asks.iter().enumerate() {
        for output in *outputs {
            backlogged(&mut plan, input, count + output, 16 * 100_000);
            plan.classes.last_mut().unwrap().vc_class = Some(VcClass(lane(*output)));
        }
    }
    let levels: Vec<u8> = (0..LEVELS).map(|level| lane(lane_of[level % count])).collect();
    let mut map = LaneMap::uniform(&plan.fabric, levels.try_into().unwrap());
    let port = |host: usize| {
        let into = channel(&plan.fabric, &format!("h{host}"), "s0");
        plan.ends(into).target
    };
    for (input, output) in (0..count).flat_map(|input| (0..count).map(move |to| (input, to))) {
        let (from, to) = (port(input), port(count + output));
        map.set_switch(from.node, from.port, to.port, [lane(input); LEVELS]);
    }
    let of_outputs: Vec<VcClass> = (0..count).map(|output| VcClass(lane(output))).collect();
    let zero = ServiceLevels::zero(&plan.fabric);
    plan.lanes.allowed = Lanes::by_tables(&plan.fabric, map, zero, true, &of_outputs);
    lanes(&mut plan, |lanes| {
        lanes.depths_flits = [15; 16];
        change(lanes);
    });
    plan
}

/// Flits on the link of each output before a tick.
fn sent_before(plan: &Plan, tick: u64) -> Vec<u64> {
    let outputs = plan.fabric.endpoints().len() / 2;
    let stop = stop_at(10 * tick - 1);
    let mut simulation = start(Arc::new(Plan { stop, ..plan.clone() }));
    simulation.advance(u64::MAX);
    simulation.assert_invariants();
    let counts = simulation.channel_counts();
    let sent = |output| channel(&plan.fabric, "s0", &format!("h{}", outputs + output));
    (0..outputs).map(|output| counts[sent(output).index()].data_flits).collect()
}

/// a requests X, b Y, c all three. A head crosses from 7 on, the second of c from 8, the third from
/// 9.
///
/// ```text
///   tick           7         8                9          10              11              then as from 9 on
///   iSLIP, once    a-X b-Y   c-X              a-X c-Y    b-Y c-Z         c-X             5 in 3 ticks
///   twice                    c-X, then b-Y               b-Y c-Z, a-X    c-X, then b-Y   7 in 3 ticks
/// ```
///
/// At 8 all outputs grant c, for X and Y have just served a and b; it accepts X. At 9 it is Y's
/// turn, at 10 Z's, while X grants c in vain. At 11 all grant c again.
#[test]
fn second_iteration_matches_remaining_inputs() {
    let asks: [&[usize]; 3] = [&[0], &[1], &[0, 1, 2]];
    for (allocator, by_three, at_8) in [
        (ONCE, [2, 2, 1], [1, 0, 0]),
        (Allocator::SeparableOutputFirst, [2, 2, 1], [1, 0, 0]),
        (TWICE, [3, 3, 1], [1, 1, 0]),
        // At 8 b proposes itself to Y, c to X alone.
        (Allocator::SeparableInputFirst, [3, 3, 1], [1, 1, 0]),
        (Allocator::Maximal, [3, 3, 1], [1, 1, 0]),
    ] {
        let plan = switch_of(&asks, |lanes| lanes.allocator = allocator);
        // On the link a tick after crossing.
        assert_eq!(sent_before(&plan, 9), [1, 1, 0], "{allocator:?}");
        for periods in [0, 1, 2, 30] {
            let expected: Vec<u64> = (0..3)
                .map(|output| [1, 1, 0][output] + at_8[output] + periods * by_three[output])
                .collect();
            let sent = sent_before(&plan, 10 + 3 * periods);
            assert_eq!(sent, expected, "{allocator:?}, {periods} periods");
        }
    }
}

/// If every input requests every output, pointers diverge: no two outputs serve one input. McKeown
/// 1999, section III-B: 100 % of the rate.
#[test]
fn pointers_desynchronize_to_full_throughput() {
    for count in 2..=4 {
        let outputs: Vec<usize> = (0..count).collect();
        let asks: Vec<&[usize]> = vec![&outputs; count];
        for allocator in ALL {
            let plan = switch_of(&asks, |lanes| lanes.allocator = allocator);
            let (before, after) = (sent_before(&plan, 100), sent_before(&plan, 400));
            for (before, after) in before.iter().zip(after) {
                assert_eq!(after - before, 300, "{count} inputs, {allocator:?}");
            }
        }
    }
}

/// Input a alone requests X, Y and Z, on its lanes 0, 2 and 1. Its adapter sends in turn: X can
/// cross from 7 on, Z from 8, Y from 9.
///
/// ```text
///   tick              7   8   9   10   11   12   13
///   outputs in turn   X   Z   X   Y    Z    X    Y      at 8 Y's turn, whose flit is not there; at 9 X's
///   maximal           X   Z   Y   X    Z    Y    X      lanes in turn: 0, 1, 2
/// ```
#[test]
fn input_rotates_over_outputs_or_lanes() {
    for allocator in ALL {
        let plan = switch_on(&[0, 2, 1], &[&[0, 1, 2], &[], &[]], |of| of.allocator = allocator);
        // On the link a tick after crossing.
        let sent = (8..16).map(|tick| sent_before(&plan, tick)).collect::<Vec<_>>();
        let crosses = |pair: &[Vec<u64>]| (0..3).find(|output| pair[1][*output] > pair[0][*output]);
        let found: Vec<_> = sent.windows(2).map(|pair| crosses(pair).unwrap()).collect();
        let (x, y, z) = (0, 1, 2);
        let expected = match allocator {
            Allocator::Maximal => [x, z, y, x, z, y, x],
            _ => [x, z, x, y, z, x, y],
        };
        assert_eq!(found, expected, "{allocator:?}");
    }
}

/// Host 0 sends three flits to host 1 on lane 0 and three to host 2 on lane 1, in turn: there from
/// 4 and 5 on, every other tick. Heads can cross from 7 and 8 on.
fn one_to_two(change: impl FnOnce(&mut PipelinePlan)) -> Vec<(usize, u64, u64, u64)> {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 3)]);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, change);
    by_message(plan, 2)
}

#[test]
fn input_speedup_two_passes_two_lanes_at_once() {
    // By one input they take turns from 7 to 12, on the links from 8 to 12 and 9 to 13.
    assert_eq!(one_to_two(|_| ()), [(0, 0, 115, 155), (0, 10, 125, 165)]);
    // By two: lane 0 at 7, 8, 9, lane 1 at 8, 9, 10; on the links a tick later.
    let found = one_to_two(|of| of.input_speedup = 2);
    assert_eq!(found, [(0, 0, 115, 135), (0, 10, 125, 145)]);
}

#[test]
fn output_speedup_two_accepts_two_flits_at_once() {
    // Hosts 0 and 1 send four flits each to host 2, on lanes 0 and 1. By one output they take turns
    // from 7 to 14; by two both cross from 7 to 10, and take turns on the link as before. Flit k is
    // there at 4 + k, and crosses at 7 + k instead of 7 + 2 k, or 8 + 2 k from host 1.
    let occupancy = |speedup: u8| {
        let mut plan = lane_plan(row(1, &[0, 0, 0]), 2);
        packets(&mut plan, 0, 2, &[(0, 4)]);
        packets(&mut plan, 1, 2, &[(0, 4)]);
        on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
        lanes(&mut plan, |lanes| lanes.output_speedup = speedup);
        let into = [0, 1].map(|host| channel(&plan.fabric, &format!("h{host}"), "s0"));
        let stories = by_message(plan.clone(), 2);
        assert_eq!(stories, [(0, 0, 115, 175), (1, 0, 125, 185)]);
        plan.stop = stop_at(1_000);
        let mut simulation = start(Arc::new(plan));
        simulation.advance(u64::MAX);
        let counts = simulation.channel_counts();
        into.map(|channel| counts[channel.index()].occupancy_flit_ps)
    };
    // Ticks in the buffer: 3 + k and 4 + k by one output, 3 by two.
    assert_eq!(occupancy(1), [10 * (3 + 4 + 5 + 6), 10 * (4 + 5 + 6 + 7)]);
    assert_eq!(occupancy(2), [10 * 12, 10 * 12]);
}
