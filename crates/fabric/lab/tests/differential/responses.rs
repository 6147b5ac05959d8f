//! Closed loops with responses for every flow, and frequent marks.

use crate::case::Case;
use crate::{closed, number, tables};
use gingham_kernel::{Bytes, Purpose, Stream};
use gingham_lab::compile;
use gingham_net::{
    AckPlan, Acknowledged, Marking, Periodic, Plan, Priority, Response, Threshold, WindowPlan,
};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

fn with_responses(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "every response", Purpose::Shuffle);
    let mut plan = closed::with_closed_loops(plan, seed);
    for class in &mut plan.classes {
        let packets = 1 + u32::try_from(draw.below(6)).unwrap();
        let vc_class = class.vc_class;
        class.window.get_or_insert_with(|| WindowPlan {
            packets,
            acknowledged: Acknowledged::All,
            ack: AckPlan { payload_bytes: 1, priority: Priority::default(), vc_class },
            response: Response::default(),
        });
    }
    // Seeds with varied parameters.
    closed::add_responses(&mut plan, 5 * seed + 4);
    plan.marking = Some(match NonZeroU64::new(draw.below(5)) {
        Some(every) => Marking::Periodic(Periodic { every }),
        None => Marking::Threshold(Threshold { above: Bytes(draw.below(100)) }),
    });
    plan
}

/// Draws worms or virtual lanes, some with lane tables, so that the level of a pair depends on the
/// direction.
fn plan(seed: u64) -> Plan {
    let case = if seed.is_multiple_of(2) { Case::random(seed) } else { Case::lanes(seed) };
    let plan = compile(&case.source(), true).unwrap().plan;
    if seed % 4 == 3 {
        return with_responses(&tables::with_random_tables(&plan, seed), seed);
    }
    with_responses(&plan, seed)
}

#[test]
fn engine_and_oracle_agree_on_responses() {
    let (cases, first) = (number("CASES", 100), number("FIRST", 0));
    for seed in first..first + cases {
        let plan = plan(seed);
        let found = std::panic::catch_unwind(|| crate::difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}");
    }
}

#[test]
fn random_flows_cover_every_response() {
    let mut reached: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..100 {
        for class in plan(seed).classes {
            let response = format!("{:?}", class.window.unwrap().response);
            let name = response.split(['(', ' ']).next().unwrap().to_owned();
            *reached.entry(name).or_default() += 1;
        }
    }
    assert_eq!(reached.len(), 7, "{reached:?}");
    assert!(reached.values().all(|classes| *classes >= 5), "{reached:?}");
}
