//! The hand-traced lane scenarios of the oracle (`crates/fabric/oracle/tests/lanes`), run by the
//! engine.
//!
//! A scenario begins its runs by [`start`], which here compares every stepper with the oracle.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

#[path = "../differential/agreement.rs"]
mod agreement;
#[path = "../../../oracle/tests/common/mod.rs"]
mod common;

#[path = "../../../oracle/tests/lanes/adaptive.rs"]
mod adaptive;
#[path = "../../../oracle/tests/lanes/allocators.rs"]
mod allocators;
#[path = "../../../oracle/tests/lanes/credits.rs"]
mod credits;
#[path = "../../../oracle/tests/lanes/deadlock.rs"]
mod deadlock;
#[path = "../../../oracle/tests/lanes/ends.rs"]
mod ends;
#[path = "../../../oracle/tests/lanes/hosts.rs"]
mod hosts;
#[path = "../../../oracle/tests/lanes/in_transit.rs"]
mod in_transit;
#[path = "../../../oracle/tests/lanes/lone.rs"]
mod lone;
#[path = "../../../oracle/tests/lanes/outputs.rs"]
mod outputs;
#[path = "../../../oracle/tests/lanes/packets.rs"]
mod packets;
#[path = "../../../oracle/tests/lanes/reallocation.rs"]
mod reallocation;
#[path = "../../../oracle/tests/lanes/trees.rs"]
mod trees;
#[path = "../../../oracle/tests/lanes/vc_allocators.rs"]
mod vc_allocators;
#[path = "../../../oracle/tests/lanes/vls.rs"]
mod vls;

pub(crate) use common::lanes::{in_turn, lane_plan, lanes, on_lanes, packets, strict};
use gingham_net::{Allocator, Plan, Reallocation, Simulation, SteppedBy};
use gingham_topology::routing::{DatelineRule, LaneSet};
use std::sync::Arc;

fn start(plan: Arc<Plan>) -> Box<dyn Simulation> {
    assert_eq!(agreement::difference(&plan), None);
    gingham_engine::start_by(plan, SteppedBy::Ports).unwrap()
}

/// With few flits and cycles, so that the rules of columns are tested here.
#[test]
fn columns_can_step_the_plans_of_their_rules() {
    for plan in [
        allocators::switch_of(&[&[0], &[0, 1]], |of| of.allocator = Allocator::SeparableInputFirst),
        reallocation::two_to_one_plan(1, |of| of.reallocation = Reallocation::AfterTail),
        trees::past_a_dateline(DatelineRule::ByHop),
    ] {
        gingham_engine::start_by(Arc::new(plan), SteppedBy::Columns).unwrap();
    }
}

/// Two packets a millisecond apart, which is 100,000,000 cycles.
#[test]
fn idle_ticks_are_skipped() {
    for reallocation in [Reallocation::Tail, Reallocation::AfterTail, Reallocation::TailCredit] {
        for cut_through in [LaneSet::EMPTY, LaneSet::one(0)] {
            let mut plan = lane_plan(common::chain(2), 1);
            packets(&mut plan, 0, 1, &[(0, 4), (1_000_000_000, 4)]);
            lanes(&mut plan, |lanes| {
                lanes.reallocation = reallocation;
                lanes.cut_through = cut_through;
            });
            plan.stop = common::stop_at(2_000_000_000);
            let plan = Arc::new(plan);
            for by in [SteppedBy::Ports, SteppedBy::Columns] {
                let mut engine = gingham_engine::start_by(Arc::clone(&plan), by).unwrap();
                // Enough for one event per action, but not for one per idle tick.
                engine.advance(1_000);
                assert_eq!(
                    engine.take_messages().len(),
                    2,
                    "{by:?}, {reallocation:?}, {cut_through:?}"
                );
            }
        }
    }
}
