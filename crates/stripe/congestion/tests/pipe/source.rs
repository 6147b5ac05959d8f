//! Sources that limit sending (app-limited).

use gingham_congestion::Control;

use crate::sim::{PACKET, Pipe, SECOND, Sim};
use crate::{alone, bbr, cubic};

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

/// Null: if app-limited samples counted, the estimate would be 10 Mbit/s.
#[test]
fn app_limited_source_lowers_no_estimate() {
    for control in [bbr(1), cubic()] {
        let sim = story(control);
        let flow = &sim.flows[0];
        let limited = flow.between(6 * SECOND, 35 * SECOND);
        let least = limited.map(|bucket| bucket.estimate).min().unwrap();
        assert!(least >= 95_000_000, "{least}");
    }
}

/// The minimum RTT is by then older than ten seconds. Null: ProbeRTT would halve the data carried
/// in this time.
#[test]
fn bbr_resumes_at_full_rate_after_app_limited_period() {
    let sim = story(bbr(1));
    let carried = sim.flows[0].goodput(47 * SECOND + SECOND / 10, 47 * SECOND + 3 * SECOND / 10);
    assert!(carried >= 90e6, "{carried}");
}

/// Null: a window that follows the cubic function for thirty seconds grows by .4 * 30^3 = 10,800
/// packets.
#[test]
fn cubic_does_not_grow_an_unused_window() {
    let mut sim = alone(Pipe::new(100, 25, 625_000), cubic(), 5 * SECOND);
    let before = sim.flows[0].path.window_bytes();
    sim.limit(0, Some(10));
    sim.run(35 * SECOND);
    let after = sim.flows[0].path.window_bytes();
    assert!(after <= before + 10 * PACKET, "{before}, then {after}");
}
