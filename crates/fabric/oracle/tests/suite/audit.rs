//! Number of decisions that the audit compares.

use crate::common::{quiet_plan, row, scheduled};
use gingham_oracle::{Audited, start};
use std::sync::Arc;

#[test]
fn every_turn_and_order_of_a_run_is_audited() {
    let mut plan = quiet_plan(row(2, &[0, 1]));
    scheduled(&mut plan, 0, 1, &[(0, 5), (1_000, 5), (2_000, 5)]);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    assert_eq!(simulation.collector().delivered_messages(), 3);
    // Each message needs a turn, and an order for its creation.
    for family in [Audited::Turn, Audited::Order] {
        assert!(simulation.audited(family) >= 3, "{family:?}: {}", simulation.audited(family));
    }
    for family in [Audited::Output, Audited::Admission, Audited::Woken] {
        assert_eq!(simulation.audited(family), 0, "{family:?}");
    }
}
