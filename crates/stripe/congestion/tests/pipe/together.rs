//! Two flows through one queue, the second starting a second after the first; measured over 30 s.

use gingham_congestion::Control;

use crate::sim::{Pipe, SECOND, Sim};
use crate::{bbr, cubic, share};

/// Simulates two flows; rate in Mbit/s and one-way delay in ms, with a queue of `contents` BDPs.
fn together((megabits, delay_ms): (u64, u64), contents: u64, controls: [Control; 2]) -> Sim {
    let mut pipe = Pipe::new(megabits, delay_ms, 0);
    pipe.queue_bytes = contents * pipe.content_bytes();
    let [first, second] = controls;
    let mut sim = Sim::new(pipe).with(first, 0).with(second, SECOND);
    sim.run(45 * SECOND);
    sim
}

/// Returns the first flow's share of the throughput of both in the 30 s from `after` seconds on,
/// and the utilisation of the pipe.
fn shares(sim: &Sim, after: u64) -> (f64, f64) {
    let (from_ns, to_ns) = (after * SECOND, (after + 30) * SECOND);
    let both = [0, 1].map(|flow| share(sim, flow, from_ns, to_ns));
    (both[0] / (both[0] + both[1]), both[0] + both[1])
}

/// The second flow gains with each probe, and is measured from the fifteenth second on. Null: the
/// first flow keeps its share of the first five seconds, .8.
#[test]
fn two_bbr_flows_share_fairly() {
    for (place, contents) in [((20, 10), 1), ((20, 25), 4), ((50, 25), 1), ((100, 25), 1)] {
        for seed in 1..=2 {
            let sim = together(place, contents, [bbr(seed), bbr(seed + 50)]);
            let (first, both) = shares(&sim, 15);
            assert!((0.333..=0.667).contains(&first), "{place:?}, {contents}: {first}");
            assert!(both > 0.95, "{place:?}, {contents}: {both}");
        }
    }
}

/// Null: the first flow keeps the whole pipe.
#[test]
fn two_cubic_flows_share_fairly() {
    for (place, contents) in [((20, 10), 1), ((20, 25), 4), ((50, 25), 1), ((100, 25), 1)] {
        let (first, both) = shares(&together(place, contents, [cubic(), cubic()]), 5);
        assert!((0.333..=0.667).contains(&first), "{place:?}, {contents}: {first}");
        assert!(both > 0.95, "{place:?}, {contents}: {both}");
    }
}

/// If the BDP is at most 63 packets, or the queue is deep, BBR and CUBIC share (draft, "Bandwidth
/// Probing and Coexistence with Reno/CUBIC"). In between, a probe every 2 to 3 s overflows the
/// queue before CUBIC has grown back, which leaves most of the pipe to BBR, as Zeynali et al.
/// measured on Linux ("Promises and Potential of BBRv3", PAM 2024). Null: everything for one of
/// them.
#[test]
fn bbr_and_cubic_share_within_bounds() {
    for (place, contents, least, most) in [
        ((20, 10), 1, 0.40, 0.75),
        ((20, 25), 1, 0.5, 0.85),
        ((100, 10), 1, 0.5, 0.85),
        ((20, 25), 4, 0.2, 0.7),
        ((100, 25), 4, 0.2, 0.7),
        ((100, 25), 1, 0.8, 0.96),
    ] {
        let (first, _) = shares(&together(place, contents, [bbr(1), cubic()]), 5);
        assert!((least..=most).contains(&first), "{place:?}, {contents}: BBR first, {first}");
        let (first, _) = shares(&together(place, contents, [cubic(), bbr(1)]), 5);
        let second = 1.0 - first;
        assert!((least..=most).contains(&second), "{place:?}, {contents}: BBR second, {second}");
    }
}
