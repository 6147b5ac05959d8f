//! Two flows through one queue, the second a second after the first; what they carry in 30 s.

use gingham_congestion::Control;

use crate::sim::{Pipe, SECOND, Sim};
use crate::{bbr, cubic, share};

/// Which share of both the first has, and how much of the pipe both have.
fn shares((megabits, delay_ms): (u64, u64), contents: u64, controls: [Control; 2]) -> (f64, f64) {
    let mut pipe = Pipe::new(megabits, delay_ms, 0);
    pipe.queue_bytes = contents * pipe.content_bytes();
    let [first, second] = controls;
    let mut sim = Sim::new(pipe).with(first, 0).with(second, SECOND);
    sim.run(35 * SECOND);
    let both = [0, 1].map(|flow| share(&sim, flow, 5 * SECOND, 35 * SECOND));
    (both[0] / (both[0] + both[1]), both[0] + both[1])
}

/// Within 2 to 1. Null: who was first keeps all.
#[test]
fn two_of_bbr_share() {
    for (place, contents) in [((20, 10), 1), ((20, 25), 4), ((50, 25), 1)] {
        let (first, both) = shares(place, contents, [bbr(1), bbr(51)]);
        assert!((0.333..=0.667).contains(&first), "{place:?}, {contents}: {first}");
        assert!(both > 0.95, "{place:?}, {contents}: {both}");
    }
}

/// Within 2 to 1. Null: who was first keeps all.
#[test]
fn two_of_cubic_share() {
    for (place, contents) in [((20, 10), 1), ((20, 25), 4), ((50, 25), 1)] {
        let (first, both) = shares(place, contents, [cubic(), cubic()]);
        assert!((0.333..=0.667).contains(&first), "{place:?}, {contents}: {first}");
        assert!(both > 0.95, "{place:?}, {contents}: {both}");
    }
}

/// BBR beside CUBIC: where the pipe holds no more than 63 packets, BBR probes no more often than
/// Reno would grow, and they share (draft, "Bandwidth Probing and Coexistence with Reno/CUBIC").
/// Larger pipes with a queue of what they hold are mostly BBR's, deeper ones are shared, as measured
/// by Zeynali et al., "Promises and Potential of BBRv3" (PAM 2024). Null: BBR's first version had
/// nearly all of the former, a bound of losses alone nothing.
#[test]
fn bbr_beside_cubic_takes_neither_all_nor_nothing() {
    for (place, contents, least, most) in [
        ((20, 10), 1, 0.40, 0.75),
        ((20, 25), 1, 0.5, 0.85),
        ((20, 25), 4, 0.2, 0.7),
        ((100, 10), 1, 0.5, 0.85),
    ] {
        let (first, _) = shares(place, contents, [bbr(1), cubic()]);
        assert!((least..=most).contains(&first), "{place:?}, {contents}: BBR first, {first}");
        let (first, _) = shares(place, contents, [cubic(), bbr(1)]);
        let second = 1.0 - first;
        assert!((least..=most).contains(&second), "{place:?}, {contents}: BBR second, {second}");
    }
}
