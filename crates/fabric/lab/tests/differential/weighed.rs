//! Lane weights that change during a run, at every place with weights.

use crate::agreement::difference;
use crate::case::Case;
use crate::number;
use crate::packets::with_whole_packets;
use gingham_kernel::Bytes;
use gingham_lab::compile;
use gingham_net::scheduler::{PriorityWeightedRoundRobin, SurplusRoundRobin, WeightedRoundRobin};
use gingham_net::{ArbiterPlace, Crossbar, Plan, ProbePlan, Scheduler, Switching};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Draws a plan in which every first or third received packet changes a weight.
fn weighed(seed: u64) -> Plan {
    let mut plan = Plan::clone(&compile(&Case::lanes(seed).source(), true).unwrap().plan);
    if seed.is_multiple_of(3) {
        plan = with_whole_packets(&plan, seed);
    }
    let lanes = plan.lanes.count;
    give_weights(&mut plan.lanes.link_output, lanes, seed);
    give_weights(&mut plan.lanes.adapter_port, lanes, seed / 2);
    if let Switching::VirtualLanes(pipeline) = &mut plan.switching
        && pipeline.crossbar == Crossbar::Multiplexed
        && !pipeline.takes_turns()
    {
        let pipeline = Arc::make_mut(pipeline);
        give_weights(&mut pipeline.crossbar_input, lanes, seed / 3);
        if let Some(output) = &mut pipeline.crossbar_output {
            give_weights(output, lanes, seed / 4);
        }
    }
    let weigh_every = if seed.is_multiple_of(2) { 1 } else { 3 };
    plan.probe =
        Some(ProbePlan { control_every: 0, control_bytes: 1, divert_every: 0, weigh_every });
    plan
}

fn give_weights(of: &mut Scheduler, lanes: u8, which: u64) {
    let (by, count) = (of.facts().by, usize::from(lanes));
    if of.can_change() {
        return;
    }
    *of = match which % 3 {
        0 => Scheduler::WeightedRoundRobin(WeightedRoundRobin { weights: vec![2; count], by }),
        1 => {
            let quanta = vec![Bytes(128); count];
            Scheduler::SurplusRoundRobin(SurplusRoundRobin { quanta, by })
        }
        _ => Scheduler::PriorityWeightedRoundRobin(PriorityWeightedRoundRobin {
            levels: (0..lanes).map(|lane| lane % 2).collect(),
            weights: vec![2; count],
            yield_after: NonZeroU32::new(2),
            by,
        }),
    };
}

#[test]
fn engine_and_oracle_agree_while_weights_change() {
    let (cases, first) = (number("CASES", 100), number("FIRST", 0));
    let mut reached = [0; 4];
    for seed in first..first + cases {
        let plan = weighed(seed);
        let places = ArbiterPlace::ALL.map(|place| plan.can_weigh(place));
        for (reached, can_weigh) in reached.iter_mut().zip(places) {
            *reached += u32::from(can_weigh);
        }
        assert_eq!(difference(&plan), None, "seed {seed}");
    }
    assert!(cases < 100 || reached.iter().all(|cases| *cases >= 10), "{reached:?}");
}

/// Without an effect of the weights the comparison would be worthless.
#[test]
fn weights_change_the_deliveries() {
    let changed = (0..30).filter(|seed| {
        let plan = weighed(*seed);
        let still = Plan {
            probe: plan.probe.map(|probe| ProbePlan { weigh_every: 0, ..probe }),
            ..plan.clone()
        };
        let [weighed, still] = [plan, still].map(|plan| {
            let mut run = gingham_engine::start(Arc::new(plan));
            run.advance(u64::MAX);
            format!("{:?}", run.endpoints().noted())
        });
        weighed != still
    });
    assert!(changed.count() >= 3);
}
