//! A source that gives less than the path would take.

use gingham_congestion::Control;

use crate::sim::{PACKET, Pipe, SECOND, Sim};
use crate::{alone, bbr, cubic};

/// 100 Mbit/s for 5 s, then 10 Mbit/s for 30 s, then nothing for 12 s, then all again.
fn story(control: Control) -> Sim {
    let mut sim = alone(Pipe::new(100, 25, 625_000), control, 5 * SECOND);
    sim.limit(0, Some(10));
    sim.run(35 * SECOND);
    sim.limit(0, Some(0));
    sim.run(47 * SECOND);
    sim.limit(0, None);
    sim.run(51 * SECOND);
    sim
}

/// What the source limits says nothing of the path. Null: samples that count give 10 Mbit/s.
#[test]
fn a_source_that_gives_little_lowers_no_estimate() {
    for control in [bbr(1), cubic()] {
        let sim = story(control);
        let flow = &sim.flows[0];
        let limited = flow.between(6 * SECOND, 35 * SECOND);
        let least = limited.map(|bucket| bucket.estimate).min().unwrap();
        assert!(least >= 95_000_000, "{least}");
    }
}

/// And after it, BBR goes at the old rate from the first round trip on, though the least time there
/// and back is older than ten seconds by then. Null: a probe for that carries half in this time.
#[test]
fn bbr_goes_on_as_fast_as_before() {
    let sim = story(bbr(1));
    let carried = sim.flows[0].goodput(47 * SECOND + SECOND / 10, 47 * SECOND + 3 * SECOND / 10);
    assert!(carried >= 90e6, "{carried}");
}

/// The window that CUBIC does not use does not grow: in flight at the end of the limited time is
/// what 10 Mbit/s are, and after it no more than the window was. Null: a window that grows by the
/// cubic function for 30 s is .4 * 30^3 = 10,800 packets more.
#[test]
fn cubic_does_not_grow_what_is_not_used() {
    let mut sim = alone(Pipe::new(100, 25, 625_000), cubic(), 5 * SECOND);
    let before = sim.flows[0].path.window_bytes();
    sim.limit(0, Some(10));
    sim.run(35 * SECOND);
    let after = sim.flows[0].path.window_bytes();
    assert!(after <= before + 10 * PACKET, "{before}, then {after}");
}
