//! Times at which lanes take the next packet, and delays of credits.
//!
//! `C` is the delay of a credit: `D`, as on its cable, unless stated otherwise.

use crate::common::{FLIT, chain, deliveries, row};
use crate::packets::by_message;
use crate::{lane_plan, lanes, packets};
use gingham_kernel::Span;
use gingham_net::{PipelinePlan, Plan, Reallocation};
use proptest::prelude::*;

/// Hosts 0 and 1 of the first switch send four flits each to host 2 of the last, on one lane.
pub(crate) fn two_to_one_plan(switches: usize, change: impl FnOnce(&mut PipelinePlan)) -> Plan {
    let mut plan = lane_plan(row(switches, &[0, 0, switches - 1]), 1);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    packets(&mut plan, 1, 2, &[(0, 4)]);
    lanes(&mut plan, change);
    plan
}

fn two_to_one(
    switches: usize,
    change: impl FnOnce(&mut PipelinePlan),
) -> Vec<(usize, u64, u64, u64)> {
    by_message(two_to_one_plan(switches, change), 2)
}

#[test]
fn tail_reallocation_lets_the_head_cross_one_tick_later() {
    // Both heads request at 6. h0's packet crosses from 7 to 10; h1's is granted the lane at 10, on
    // the link from 12 on: whole at 120 + 35.
    assert_eq!(two_to_one(1, |_| ()), [(0, 0, 115, 145), (1, 0, 155, 185)]);
}

#[test]
fn after_tail_reallocation_delays_the_head_two_ticks() {
    let found = two_to_one(1, |of| of.reallocation = Reallocation::AfterTail);
    assert_eq!(found, [(0, 0, 115, 145), (1, 0, 165, 195)]);
}

#[test]
fn tail_credit_into_a_consuming_host_needs_no_wait() {
    let found = two_to_one(1, |of| of.reallocation = Reallocation::TailCredit);
    assert_eq!(found, [(0, 0, 115, 145), (1, 0, 155, 185)]);
}

#[test]
fn tail_credit_waits_for_the_downstream_buffer() {
    // h0's tail crosses s0 at 10, s1 at 18: its credit counts at 18 + 1 + D = 22. h1's head is then
    // granted the lane, on the last cable at 32.
    let found = two_to_one(2, |of| of.reallocation = Reallocation::TailCredit);
    assert_eq!(found, [(0, 0, 195, 225), (1, 0, 355, 385)]);
}

#[test]
fn credit_delay_may_differ_from_the_cable_delay() {
    // C = 7: the tail's credit counts at 18 + 1 + 7 = 26; C = 0: at 19.
    for (credit_delay, later) in [(7, 40_i64), (0, -30)] {
        let found = two_to_one(2, |of| {
            of.reallocation = Reallocation::TailCredit;
            of.credit_delay_cycles = Some(credit_delay);
        });
        let moved = |ps: u64| ps.checked_add_signed(later).unwrap();
        assert_eq!(found, [(0, 0, 195, 225), (1, 0, moved(355), moved(385))]);
    }
}

#[derive(Clone, Copy, Debug)]
struct Drawn {
    delay_ps: u64,
    pipeline_cycles: u32,
    routing_cycles: u32,
    credit_delay: Option<u32>,
}

impl Drawn {
    fn strategy() -> impl Strategy<Value = Self> {
        let figures = (0_u64..80, 0_u32..4, 0_u32..4, prop::option::of(0_u32..20));
        figures.prop_map(|(delay_ps, pipeline_cycles, routing_cycles, credit_delay)| Self {
            delay_ps,
            pipeline_cycles,
            routing_cycles,
            credit_delay,
        })
    }

    fn delay_cycles(self) -> u64 {
        self.delay_ps.div_ceil(FLIT)
    }

    /// `C`.
    fn credit_cycles(self) -> u64 {
        self.credit_delay.map_or_else(|| self.delay_cycles(), u64::from)
    }

    /// `R + P + D + C`.
    fn cycles(self) -> u64 {
        let [routing, pipeline] = [self.routing_cycles, self.pipeline_cycles].map(u64::from);
        routing + pipeline + self.delay_cycles() + self.credit_cycles()
    }

    /// Packets of the given `lengths` over a row of these switches, all created at 0.
    fn plan(self, switches: usize, lengths: &[u32]) -> Plan {
        let mut plan = lane_plan(chain(switches), 1);
        for cable in &mut plan.channels {
            cable.delay = Span::from_ps(self.delay_ps);
        }
        lanes(&mut plan, |lanes| {
            lanes.pipeline_cycles = self.pipeline_cycles;
            lanes.routing_cycles = self.routing_cycles;
            lanes.credit_delay_cycles = self.credit_delay;
        });
        let lengths: Vec<_> = lengths.iter().map(|flits| (0, *flits)).collect();
        packets(&mut plan, 0, 1, &lengths);
        plan
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A place of a lane is used again after `D + P + C + 3` cycles, in which a lane carries its
    /// depth.
    #[test]
    fn lane_carries_its_depth_per_turnaround(
        drawn in Drawn::strategy(),
        depth in 1_u32..40,
        flits in 1_u32..100,
    ) {
        let mut plan = drawn.plan(1, &[flits]);
        lanes(&mut plan, |lanes| lanes.depths_flits = [depth; 16]);
        let turnaround = drawn.cycles() - u64::from(drawn.routing_cycles) + 3;
        let (depth, last) = (u64::from(depth), u64::from(flits) - 1);
        let late = if depth < turnaround {
            last / depth * turnaround + last % depth
        } else {
            last
        };
        // The head crosses at D + P + R + 3, and is on the last cable a tick later.
        let head = drawn.cycles() - drawn.credit_cycles() + 4;
        let delivered = (head + late + 1) * FLIT + drawn.delay_ps;
        prop_assert_eq!(deliveries(plan, 1)[0].delivered.as_ps(), delivered);
    }

    /// Periods of packets of one lane, with the tail, after it, or with its credit.
    #[test]
    fn single_lane_packet_period_matches_the_closed_form(
        drawn in Drawn::strategy(),
        flits in 1_u32..12,
        switches in 1_usize..5,
        way in 0_usize..3,
    ) {
        let mut plan = drawn.plan(switches, &[flits; 5]);
        lanes(&mut plan, |lanes| {
            lanes.depths_flits = [200; 16];
            lanes.output_depths_flits = [200; 16];
            lanes.reallocation =
                [Reallocation::Tail, Reallocation::AfterTail, Reallocation::TailCredit][way];
        });
        let (flits, cycles) = (u64::from(flits), drawn.cycles());
        let period = match way {
            0 | 1 => flits + 1 + u64::from(drawn.routing_cycles),
            // Between switches; from a host the lane is not allocated first.
            2 if switches > 1 => flits + 5 + cycles,
            _ => flits + 3 + cycles,
        };
        let found = deliveries(plan, 5);
        let last: Vec<u64> = found.iter().map(|of| of.delivered.as_ps()).collect();
        for pair in last.windows(2) {
            prop_assert_eq!(pair[1] - pair[0], period * FLIT);
        }
    }

    /// If flits take credits as they cross, a lane between switches carries its depth in `D + P + C
    /// + 4` cycles.
    #[test]
    fn unbuffered_outputs_lengthen_turnaround_by_a_cycle(
        drawn in Drawn::strategy(),
        depth in 1_usize..30,
        flits in 1_usize..80,
    ) {
        let mut plan = drawn.plan(2, &[u32::try_from(flits).unwrap()]);
        lanes(&mut plan, |lanes| {
            lanes.depths_flits = [u32::try_from(depth).unwrap(); 16];
            lanes.output_depths_flits = [0; 16];
        });
        // Times after the flits before, and after the credit of the flit `depth` before.
        let (routing, credit) = (u64::from(drawn.routing_cycles), 1 + drawn.credit_cycles());
        let cable = 1 + drawn.cycles() - routing - drawn.credit_cycles();
        let mut crosses: [Vec<u64>; 2] = Default::default();
        let mut sent = 0;
        for flit in 0..flits {
            let free = |at: &[u64]| flit.checked_sub(depth).map_or(0, |other| at[other] + credit);
            let next = |at: &[u64]| at.last().map_or(0, |last| last + 1);
            let stages = if flit == 0 { 2 + routing } else { 1 };
            sent = sent.max(free(&crosses[0]));
            let first = sent + cable + stages;
            let first = first.max(next(&crosses[0])).max(free(&crosses[1]));
            crosses[0].push(first);
            let second = (first + 1 + cable + stages).max(next(&crosses[1]));
            crosses[1].push(second);
            sent += 1;
        }
        let delivered = (crosses[1][flits - 1] + 2) * FLIT + drawn.delay_ps;
        prop_assert_eq!(deliveries(plan, 1)[0].delivered.as_ps(), delivered);
        // In the long run.
        let turnaround = cable + credit + 2;
        if depth as u64 <= turnaround && flits > 2 * depth {
            let last = &crosses[1][depth..];
            prop_assert_eq!(last[depth] - last[0], turnaround.max(depth as u64));
        }
    }
}
