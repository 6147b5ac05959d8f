//! Random scenarios with channel adapters and congestion control at hosts.

use crate::agreement::difference;
use crate::case::Case;
use crate::{closed, number, packets, posting, tables};
use gingham_kernel::{Purpose, Span, Stream};
use gingham_lab::compile;
use gingham_net::{Plan, SelfTunedPlan, ThrottlePlan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds congestion control if adapters fit.
pub(crate) fn with_throttle(plan: &Plan, seed: u64) -> Plan {
    let mut plan = posting::with_adapters(plan, seed);
    let mut draw = Stream::new(seed, "throttle", Purpose::Shuffle);
    let flit_ps = plan.channels[0].bytes.of(1).as_ps().max(1);
    let Some(adapters) = &mut plan.adapters else { return plan };
    // Long enough for more than posts.
    adapters.send_buffer += small(&mut draw, 6);
    let tuning_gathers = 1 + small(&mut draw, 4);
    let gather = Span::from_ps(flit_ps * (20 + draw.below(700)));
    let side_band = Span::from_ps(draw.below(1 + gather.as_ps() * u64::from(tuning_gathers)));
    let fraction = |draw: &mut Stream, most: u64| small(draw, most + 1);
    adapters.throttle = Some(if seed.is_multiple_of(2) {
        ThrottlePlan::AtLeastOne
    } else {
        ThrottlePlan::SelfTuned(SelfTunedPlan {
            gather,
            side_band: if draw.below(3) == 0 { gather } else { side_band },
            tuning_gathers,
            threshold_millionths: fraction(&mut draw, 300_000),
            increase_millionths: fraction(&mut draw, 100_000),
            decrease_millionths: fraction(&mut draw, 200_000),
            drop_millionths: fraction(&mut draw, 1_000_000),
            patience: 1 + small(&mut draw, 5),
        })
    });
    plan
}

fn small(draw: &mut Stream, below: u64) -> u32 {
    u32::try_from(draw.below(below)).unwrap()
}

fn worms(seed: u64) -> Plan {
    let case = if seed.is_multiple_of(5) { Case::in_transit(seed) } else { Case::random(seed) };
    laid_over(&case, seed)
}

fn over_lanes(seed: u64) -> Plan {
    let case =
        if seed.is_multiple_of(5) { Case::lanes_in_transit(seed) } else { Case::lanes(seed) };
    let plan = laid_over(&case, seed);
    if seed.is_multiple_of(7) { tables::with_random_tables(&plan, seed) } else { plan }
}

fn whole_packets(seed: u64) -> Plan {
    packets::with_whole_packets(&laid_over(&Case::lanes(seed), seed), seed)
}

fn laid_over(case: &Case, seed: u64) -> Plan {
    let plan = compile(&case.source(), true).unwrap().plan;
    if seed.is_multiple_of(3) {
        with_throttle(&closed::with_closed_loops(&plan, seed), seed)
    } else {
        with_throttle(&plan, seed)
    }
}

#[test]
fn engine_and_oracle_agree_on_throttled_worms() {
    agree_on(worms);
}

#[test]
fn engine_and_oracle_agree_on_throttled_virtual_lanes() {
    agree_on(over_lanes);
}

#[test]
fn engine_and_oracle_agree_on_throttled_whole_packets() {
    agree_on(whole_packets);
}

/// Seed with which a class once waited for the tokens of a flow that was held meanwhile.
const SHORT_OF_TOKENS: u64 = 5_242;

fn agree_on(draw: fn(u64) -> Plan) {
    let (cases, first) = (number("CASES", 100), number("FIRST", 0));
    for seed in (first..first + cases).chain([SHORT_OF_TOKENS]) {
        let plan = draw(seed);
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}: {:?}", plan.throttle());
    }
}

#[test]
fn random_throttled_hosts_are_held_and_woken() {
    type Draw = fn(u64) -> Plan;
    let mut reached: BTreeMap<&str, u32> = BTreeMap::new();
    let kinds: [(_, Draw); 3] =
        [("worms", worms), ("lanes", over_lanes), ("packets", whole_packets)];
    for (kind, draw) in kinds {
        for seed in 0..150 {
            let plan = Arc::new(draw(seed));
            let mut simulation = gingham_engine::start(Arc::clone(&plan));
            simulation.advance(u64::MAX);
            let delivered = simulation.collector().delivered_messages();
            let is_met = simulation.endpoints().throttled() > 5 && delivered > 5;
            let control = match plan.throttle() {
                None => continue,
                Some(ThrottlePlan::AtLeastOne) => "at least one",
                Some(ThrottlePlan::SelfTuned(_)) => "self-tuned",
            };
            *reached.entry(kind).or_default() += u32::from(is_met);
            *reached.entry(control).or_default() += u32::from(is_met);
        }
    }
    assert_eq!(reached.len(), 5, "{reached:#?}");
    assert!(reached.values().all(|cases| *cases >= 15), "{reached:#?}");
}
