//! The pipe's rate halves at 10 s and doubles at 25 s.

use gingham_congestion::Control;

use crate::sim::{Pipe, SECOND, Sim, as_f64};
use crate::{alone, bbr, cubic};

const FELL: u64 = 10 * SECOND;
const ROSE: u64 = 25 * SECOND;

fn story(queue_contents: u64, control: Control) -> Sim {
    let mut pipe = Pipe::new(100, 25, 0);
    pipe.queue_bytes = queue_contents * pipe.content_bytes();
    let mut sim = alone(pipe, control, FELL);
    sim.set_rate(50);
    sim.run(ROSE);
    sim.set_rate(100);
    sim.run(32 * SECOND);
    sim
}

/// Returns the maximum bytes in flight, as a multiple of the BDP at half the rate.
fn most_in_flight(sim: &Sim, from_ns: u64, to_ns: u64) -> f64 {
    let most = sim.flows[0].between(from_ns, to_ns).map(|bucket| bucket.in_flight_max).max();
    2.0 * as_f64(most.expect("there are buckets")) / as_f64(sim.pipe.content_bytes())
}

/// At most two estimated BDPs (2.25 while probing) and delayed acknowledgements are in flight. The
/// estimate covers two cycles, at most 8 s; until these are over after the rate has fallen, this is
/// four (4.5) times the actual BDP. Null: CUBIC, which fills pipe and queue: 9 times.
#[test]
fn in_flight_follows_the_rate_within_two_cycles() {
    for queue_contents in [1, 4] {
        let sim = story(queue_contents, bbr(1));
        let falling = most_in_flight(&sim, FELL, FELL + 8 * SECOND);
        let fallen = most_in_flight(&sim, FELL + 8 * SECOND, ROSE);
        assert!(falling <= 4.6, "{queue_contents}: {falling} while the estimate is old");
        assert!(fallen <= 2.0, "{queue_contents}: {fallen}");
    }
    let cubic = most_in_flight(&story(4, cubic()), FELL + 8 * SECOND, ROSE);
    assert!(cubic > 6.0, "{cubic}");
}

/// Probes are at most 3 s apart.
#[test]
fn doubled_rate_is_found_by_the_next_probe() {
    for queue_contents in [1, 4] {
        let sim = story(queue_contents, bbr(1));
        let carried = sim.flows[0].goodput(ROSE + 4 * SECOND, 32 * SECOND);
        assert!(carried >= 90e6, "{queue_contents}: {carried}");
    }
}
