//! Acknowledgements return marks of switches.

use crate::common::lanes::lane_plan;
use crate::common::packets::packets_plan;
use crate::common::{along, chain, in_transit, quiet_plan, row, scheduled, stop_at, wormhole};
use crate::support::{run, window};
use gingham_kernel::{Bytes, Span};
use gingham_net::{Marking, Periodic, Plan, Threshold};
use std::num::NonZeroU64;

/// Returns the marks acknowledged to a flow with a window of one, if a switch marks every
/// `every`-th packet that it reads.
fn marks(plan: &Plan, [from, to]: [usize; 2], packets: usize, every: u64) -> Vec<bool> {
    let mut plan = plan.clone();
    scheduled(&mut plan, from, to, &vec![(0, 32); packets]);
    plan.classes[0].window = Some(window(1, 16));
    plan.marking = NonZeroU64::new(every).map(|every| Marking::Periodic(Periodic { every }));
    plan.stop = stop_at(20_000);
    run(&plan).marks(from)
}

#[test]
fn ack_reports_marks_of_switches() {
    let kinds = [quiet_plan, |fabric| lane_plan(fabric, 2), |fabric| packets_plan(fabric, 2)];
    for plan in kinds {
        assert_eq!(marks(&plan(chain(1)), [0, 1], 3, 1), [true; 3]);
        // Data and acknowledgements are read alternately: the second and fourth are
        // acknowledgements, which do not report their own marks.
        assert_eq!(marks(&plan(chain(1)), [0, 1], 3, 2), [false; 3]);
        assert_eq!(marks(&plan(chain(1)), [0, 1], 3, 3), [false, true, false]);
        // Each switch counts separately: the fifth packet that it reads is the third data.
        assert_eq!(marks(&plan(chain(2)), [0, 1], 3, 5), [false, false, true]);
        assert_eq!(marks(&plan(chain(0)), [0, 1], 3, 1), [false; 3]);
    }
}

#[test]
fn mark_is_kept_across_an_in_transit_host() {
    for plan in [quiet_plan, |fabric| lane_plan(fabric, 2)] {
        let mut plan = plan(row(1, &[0, 0, 0]));
        along(&mut plan, &[&["s0", "h1", "s0", "h2"]]);
        in_transit(&mut plan, [60, 40, 1_000]);
        // The switch reads data before and after h1, and its acknowledgement once: the second data
        // is fourth before h1 and fifth after it.
        assert_eq!(marks(&plan, [0, 2], 2, 4), [false, true]);
        assert_eq!(marks(&plan, [0, 2], 2, 5), [false, true]);
        assert_eq!(marks(&plan, [0, 2], 2, 3), [false, false]);
        assert_eq!(marks(&plan, [0, 2], 2, 1), [true, true]);
    }
}

#[test]
fn packet_is_marked_above_the_buffer_threshold() {
    let is_marked = |mut plan: Plan, above: u64| {
        scheduled(&mut plan, 0, 1, &[(0, 64)]);
        plan.classes[0].window = Some(window(1, 16));
        plan.marking = Some(Marking::Threshold(Threshold { above: Bytes(above) }));
        plan.stop = stop_at(20_000);
        run(&plan).marks(0) == [true]
    };
    // A byte arrives each 10 ps; the head is read 20 after it arrived, with the third.
    let mut worms = quiet_plan(chain(1));
    wormhole(&mut worms, |wormhole| wormhole.routing_delay = Span::from_ps(20));
    assert_eq!([0, 2, 3].map(|above| is_marked(worms.clone(), above)), [true, true, false]);
    // A flit of 16 bytes arrives each tick, the third at the tick at which the head is read.
    let packets = lane_plan(chain(1), 2);
    assert_eq!([0, 47, 48].map(|above| is_marked(packets.clone(), above)), [true, true, false]);
    // A whole packet counts fully from its first byte on.
    let whole = packets_plan(chain(1), 2);
    assert_eq!([0, 63, 64].map(|above| is_marked(whole.clone(), above)), [true, true, false]);
}
