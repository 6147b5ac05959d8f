//! Families of decisions that the audit of the oracle compares.

use crate::agreement::tree_step;
use crate::case::Case;
use crate::{admission, closed, packets, posting, throttled};
use gingham_lab::compile;
use gingham_net::{MeasurePlan, Plan};
use gingham_oracle::Audited;
use std::collections::BTreeMap;
use std::sync::Arc;

const CASES: u64 = 20;

fn compiled(case: &Case) -> Plan {
    (*compile(&case.source(), true).unwrap().plan).clone()
}

fn looped(case: &Case, seed: u64) -> Plan {
    closed::with_closed_loops(&compiled(case), seed)
}

fn add(plan: Plan, audited: &mut BTreeMap<Audited, u64>) {
    let measure = MeasurePlan { tree_step: tree_step(&plan), ..plan.measure };
    let mut simulation = gingham_oracle::start(Arc::new(Plan { measure, ..plan }));
    simulation.advance(u64::MAX);
    for family in Audited::ALL {
        *audited.entry(family).or_default() += simulation.audited(family);
    }
}

/// A kind of case, and the families to be found in its first cases.
type Kind = (fn(u64) -> Option<Plan>, &'static [Audited]);

const KINDS: [Kind; 6] = [
    (
        |seed| Some(looped(&Case::random(seed), seed)),
        &[Audited::Turn, Audited::Order, Audited::Reply, Audited::Waiting, Audited::Read],
    ),
    (
        |seed| Some(looped(&Case::lanes(seed), seed)),
        &[Audited::Turn, Audited::Groups, Audited::Candidate],
    ),
    (|seed| Some(compiled(&Case::adaptive(seed))), &[Audited::Output]),
    (
        |seed| Some(looped(&Case::lanes_in_transit(seed), seed)),
        &[Audited::InTransitHost, Audited::SentOn],
    ),
    (
        |seed| {
            let plan = packets::with_whole_packets(&looped(&Case::lanes(seed), seed), seed);
            Some(throttled::with_throttle(&plan, seed))
        },
        &[Audited::Turn, Audited::Forwarded, Audited::Woken],
    ),
    (
        |seed| {
            let plan = posting::with_adapters(&compiled(&Case::lanes(seed)), seed);
            admission::with_admission(&plan, seed)
        },
        &[Audited::Admission, Audited::Read],
    ),
];

#[test]
fn every_family_of_decisions_is_audited() {
    let mut all: BTreeMap<Audited, u64> = BTreeMap::new();
    for (place, (draw, families)) in KINDS.into_iter().enumerate() {
        let mut audited: BTreeMap<Audited, u64> = BTreeMap::new();
        for plan in (0..CASES).filter_map(draw) {
            add(plan, &mut audited);
            if families.iter().all(|family| audited[family] > 0) {
                break;
            }
        }
        assert!(families.iter().all(|family| audited[family] > 0), "kind {place}: {audited:?}");
        for (family, count) in audited {
            *all.entry(family).or_default() += count;
        }
    }
    assert!(Audited::ALL.iter().all(|family| all[family] > 0), "{all:?}");
}
