//! Random losses of one percent.

use gingham_congestion::{BbrParameters, Control, Thousandths};

use crate::sim::{PACKET, Pipe, SECOND, as_f64};
use crate::{alone, bbr, cubic, share};

fn lossy(megabits: u64, delay_ms: u64, seed: u64) -> Pipe {
    let mut pipe = Pipe::new(megabits, delay_ms, 0);
    pipe.queue_bytes = pipe.content_bytes();
    (pipe.lost_millionths, pipe.seed) = (10_000, seed);
    pipe
}

/// Between probes, each round trip with a loss reduces BBR's rate to (1 - loss) of it (draft,
/// design considerations for choosing constant parameters: after N rounds, (1 - loss)^N). After 62
/// rounds, at the next probe, .99^62 = .54 of the rate is left, with a mean of .74. Null: a `Beta`
/// of one, which keeps .9; and CUBIC, below.
#[test]
fn bbr_throughput_under_loss_matches_the_draft() {
    for (megabits, delay_ms) in [(100, 10), (100, 25)] {
        for seed in 1..=3 {
            let sim = alone(lossy(megabits, delay_ms, seed), bbr(seed), 12 * SECOND);
            let carried = share(&sim, 0, 3 * SECOND, 12 * SECOND);
            assert!((0.65..=0.88).contains(&carried), "{delay_ms} ms, seed {seed}: {carried}");
            let uncut = BbrParameters { beta: Thousandths(1_000), ..BbrParameters::default() };
            let control = Control::bbr(BbrParameters { seed, ..uncut }, PACKET);
            let sim = alone(lossy(megabits, delay_ms, seed), control, 12 * SECOND);
            let carried = share(&sim, 0, 3 * SECOND, 12 * SECOND);
            assert!(carried >= 0.9, "{delay_ms} ms, seed {seed}, uncut: {carried}");
        }
    }
}

/// At a loss of one percent CUBIC is in its Reno-friendly region (RFC 9438, section 5.1: 1.22 /
/// sqrt(p) = 12.2 packets per RTT), within a third, since delayed acknowledgements extend round
/// trips. Null: a full pipe would be 21 times as much at 50 ms and 100 Mbit/s.
#[test]
fn cubic_throughput_under_loss_matches_its_response_function() {
    for (megabits, delay_ms) in [(20, 10), (100, 25)] {
        let sim = alone(lossy(megabits, delay_ms, 1), cubic(), 33 * SECOND);
        let round_trip_ns = as_f64(2 * sim.pipe.delay_ns);
        let expected = 12.2 * as_f64(PACKET) * 8e9 / round_trip_ns;
        let carried = sim.flows[0].goodput(3 * SECOND, 33 * SECOND) / expected;
        assert!((0.66..=1.33).contains(&carried), "{delay_ms} ms: {carried}");
    }
}
