//! Sixteen flows through one queue that is never empty: with 128 kB at 40 Mbit/s, each has eight
//! packets queued.

use crate::sim::{Bucket, MILLISECOND, Pipe, SECOND, Sim, as_f64};
use crate::{bbr_with_headroom, share};

const FLOWS: usize = 16;

fn crowd(seed: u64) -> Sim {
    let mut pipe = Pipe::new(40, 0, 128_000);
    pipe.delay_ns = MILLISECOND / 10;
    let mut sim = Sim::new(pipe);
    for flow in 0..16 {
        let starts_ns = (7 * flow * seed) % 16 * 60 * MILLISECOND;
        sim = sim.with(bbr_with_headroom(100 * seed + flow, 100), starts_ns);
    }
    sim.run(60 * SECOND);
    sim
}

/// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): 1 if all shares are equal.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (as_f64(shares.len() as u64) * shares.iter().map(|one| one * one).sum::<f64>())
}

/// Losses in a full queue do not cause restarts. In sixteen spans, the index is .979 to .995, and
/// .092 to .096 of the sent bytes are lost. Null: a controller that counts heavy rounds which are
/// not consecutive restarts again and again, with an index of .91 to .97, and .21 lost.
#[test]
fn sixteen_bbr_flows_share_without_restarts() {
    for seed in 1..=4 {
        let sim = crowd(seed);
        for from_s in (20..60).step_by(10) {
            let (from_ns, to_ns) = (from_s * SECOND, (from_s + 10) * SECOND);
            let shares: Vec<f64> =
                (0..FLOWS).map(|flow| share(&sim, flow, from_ns, to_ns)).collect();
            assert!(jain(&shares) >= 0.96, "seed {seed} from {from_s} s: {shares:?}");
        }
        let sum = |of: fn(&Bucket) -> u64| {
            sim.flows.iter().map(|flow| flow.sum(20 * SECOND, 60 * SECOND, of)).sum::<u64>()
        };
        let (came, lost) = (sum(|bucket| bucket.came_bytes), sum(|bucket| bucket.lost_bytes));
        let lost = as_f64(lost) / as_f64(came + lost);
        assert!(lost <= 0.13, "seed {seed}: {lost} was lost");
    }
}
