//! Hand-traced scenarios: the draft's (appendix "BBR Example Test Cases") and ours.
//!
//! The RTT is 20 ms, and packets are 1,000 bytes long. Each round has one acknowledgement, for
//! packets sent after the previous round.

use super::*;

const PACKET: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const ROUND_TRIP: u64 = 20 * MILLISECOND;

const FULL: Step = Step {
    came: 100_000,
    bytes_per_second: 5_000_000,
    lost: 0,
    tx_in_flight: 100_000,
    in_flight: 100_000,
    is_app_limited: false,
};

pub(super) struct Trace {
    pub(super) bbr: Bbr,
    now_ns: u64,
    delivered: u64,
    queued_ns: u64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Step {
    pub(super) came: u64,
    pub(super) bytes_per_second: u64,
    pub(super) lost: u64,
    pub(super) tx_in_flight: u64,
    pub(super) in_flight: u64,
    pub(super) is_app_limited: bool,
}

impl Trace {
    fn new() -> Self {
        let bbr = Bbr::new(BbrParameters::default(), PACKET);
        Self { bbr, now_ns: MILLISECOND, delivered: 0, queued_ns: 0 }
    }

    fn acknowledge(&mut self, prior_delivered_bytes: u64, step: Step) {
        self.delivered += step.came;
        self.bbr.acknowledged(&Acknowledged {
            now_ns: self.now_ns,
            acknowledged_bytes: step.came,
            lost_bytes: step.lost,
            prior_in_flight_bytes: step.in_flight + step.came + step.lost,
            in_flight_bytes: step.in_flight,
            delivered_bytes: self.delivered,
            round_trip_ns: Some(ROUND_TRIP + self.queued_ns),
            least_round_trip_ns: ROUND_TRIP,
            smoothed_round_trip_ns: ROUND_TRIP,
            rate: Some(RateSample {
                delivered_bytes: step.bytes_per_second / 50,
                interval_ns: ROUND_TRIP,
                prior_delivered_bytes,
                tx_in_flight_bytes: step.tx_in_flight,
                lost_bytes: step.lost,
                is_app_limited: step.is_app_limited,
            }),
        });
    }

    pub(super) fn round(&mut self, step: Step) {
        self.now_ns += ROUND_TRIP;
        self.acknowledge(self.delivered, step);
    }

    fn rounds(&mut self, count: u32, bytes_per_second: u64) {
        let came = bytes_per_second / 50;
        let full =
            Step { came, bytes_per_second, tx_in_flight: came, in_flight: came, ..Step::default() };
        (0..count).for_each(|_| self.round(full));
    }

    /// Returns a path in CRUISE at 5 MB/s, with a BDP of 100 packets.
    pub(super) fn cruising() -> Self {
        let mut trace = Self::new();
        trace.rounds(4, 5_000_000);
        assert_eq!(trace.bbr.state, State::ProbeBwCruise);
        trace
    }

    fn rounds_while(&mut self, step: Step, goes_on: impl Fn(State) -> bool) {
        let rounds = (0..1_000).take_while(|_| {
            let goes_on = goes_on(self.bbr.state);
            if goes_on {
                self.round(step);
            }
            goes_on
        });
        assert!(rounds.count() < 1_000, "{:?}", self.bbr.state);
    }

    fn probing() -> Self {
        let mut trace = Self::cruising();
        trace.rounds_while(FULL, |state| state != State::ProbeBwUp);
        trace
    }
}

#[test]
fn initial_pace_is_initial_window_per_millisecond() {
    let mut trace = Trace::new();
    assert_eq!((trace.bbr.window_bytes(), trace.bbr.bytes_per_second()), (10 * PACKET, None));
    assert_eq!(trace.bbr.pacing_rate_bytes_per_second(), Some(27_700_000));
    trace.round(Step { came: 4_000, bytes_per_second: 100_000, ..Step::default() });
    assert_eq!(
        trace.bbr.pacing_rate_bytes_per_second(),
        Some(1_385_000),
        "10,000 bytes in 20 ms, 2.77 times"
    );
}

#[test]
fn startup_ends_after_three_rounds_without_25_percent_growth() {
    let mut trace = Trace::new();
    for bytes_per_second in [1_000_000, 2_000_000, 4_000_000, 5_000_000, 6_200_000, 6_000_000] {
        trace.rounds(1, bytes_per_second);
        assert_eq!(trace.bbr.state, State::Startup);
    }
    assert!(!trace.bbr.full_pipe.full_bw_now);
    trace.rounds(1, 6_249_999);
    assert_eq!(trace.bbr.state, State::Drain);
    assert!(trace.bbr.full_pipe.full_bw_now && trace.bbr.full_pipe.full_bw_reached);
    let pace = trace.bbr.pacing_rate_bytes_per_second();
    assert_eq!(pace, Some(6_249_950 / 2 * 99 / 100));
}

#[test]
fn app_limited_rounds_do_not_end_startup() {
    let mut trace = Trace::new();
    for _ in 0..50 {
        let little = Step { came: 20_000, bytes_per_second: 1_000_000, ..Step::default() };
        trace.round(Step { is_app_limited: true, ..little });
    }
    assert_eq!(trace.bbr.state, State::Startup);
}

#[test]
fn losses_in_six_acks_of_a_round_end_startup() {
    for (reports, expected) in [(5, State::Startup), (6, State::Drain)] {
        let mut trace = Trace::new();
        trace.rounds(2, 5_000_000);
        let begun = trace.delivered;
        let losing = Step {
            came: 10_000,
            bytes_per_second: 5_000_000,
            lost: 3 * PACKET,
            tx_in_flight: 100_000,
            in_flight: 250_000,
            is_app_limited: true,
        };
        for _ in 1..reports {
            trace.acknowledge(begun - 1, losing);
            assert_eq!(trace.bbr.state, State::Startup);
        }
        trace.round(losing);
        assert_eq!(trace.bbr.state, expected, "{reports}");
        if expected == State::Drain {
            assert_eq!(trace.bbr.bounds.inflight_longterm, 100_000, "what a round trip delivered");
        }
    }
}

#[test]
fn drain_ends_with_the_queue_or_after_three_rounds() {
    let queued =
        Step { came: 100_000, bytes_per_second: 5_000_000, in_flight: 200_000, ..Step::default() };
    let mut trace = Trace::new();
    trace.rounds(3, 5_000_000);
    trace.round(queued);
    assert_eq!(trace.bbr.state, State::Drain);
    let begun = trace.bbr.clone();
    trace.round(Step { in_flight: 100_001, ..queued });
    assert_eq!(trace.bbr.state, State::Drain);
    trace.round(Step { in_flight: 100_000, ..queued });
    assert_eq!(trace.bbr.state, State::ProbeBwCruise, "by way of DOWN");
    trace.bbr = begun;
    for _ in 0..3 {
        trace.round(queued);
        assert_eq!(trace.bbr.state, State::Drain);
    }
    trace.round(queued);
    assert_eq!(trace.bbr.state, State::ProbeBwDown);
}

/// At an RTT of 20 ms, the limit of 63 rounds is reached first: after 1.26 s, less than the minimum
/// wait of 2 s. The count starts at 0 or 1, at random.
#[test]
fn probes_are_63_rounds_apart_or_2_to_3_seconds() {
    let mut trace = Trace::cruising();
    let begun_ns = trace.now_ns;
    trace.rounds_while(FULL, |state| state == State::ProbeBwCruise);
    assert_eq!(trace.bbr.state, State::ProbeBwRefill);
    let rounds = (trace.now_ns - begun_ns) / ROUND_TRIP;
    assert!((62..=63).contains(&rounds), "{rounds}");
    for seed in 0..100 {
        trace.bbr.random = Random(seed);
        trace.bbr.pick_probe_wait();
        let wait_ms = trace.bbr.cycle.bw_probe_wait_ns / MILLISECOND;
        assert!((2_000..=3_000).contains(&wait_ms), "{wait_ms}");
    }
}

#[test]
fn lossless_probe_ends_at_the_plateau() {
    let mut trace = Trace::probing();
    assert_eq!(trace.bbr.pacing_rate_bytes_per_second(), Some(5_000_000 * 5 / 4 * 99 / 100));
    // The maximum window is 2.25 times the BDP, plus two packets, plus ACK aggregation.
    let extra = trace.bbr.aggregation.filter.get();
    let queued =
        Step { came: 100_000, bytes_per_second: 5_000_000, in_flight: 150_000, ..Step::default() };
    trace.round(queued);
    assert!(trace.bbr.window_bytes() <= 227_000 + extra, "{}", trace.bbr.window_bytes());
    trace.round(queued);
    assert_eq!(trace.bbr.state, State::ProbeBwUp);
    trace.round(queued);
    assert_eq!(trace.bbr.state, State::ProbeBwDown);
    assert_eq!(trace.bbr.pacing_rate_bytes_per_second(), Some(5_000_000 * 9 / 10 * 99 / 100));
    trace.round(Step { in_flight: 100_000, ..queued });
    assert_eq!(trace.bbr.state, State::ProbeBwCruise);
    assert_eq!(trace.bbr.bounds.inflight_longterm, INFINITY, "nothing was lost");
}

/// The loss rate of 3 / 125 packets exceeds the threshold of 0.02. The bound is the amount in
/// flight before the last lost packet, plus the loss still allowed. CRUISE keeps 0.85 of the bound.
#[test]
fn excessive_loss_in_a_probe_sets_the_long_term_bound() {
    let mut trace = Trace::probing();
    let lossy = Step {
        came: 97_000,
        bytes_per_second: 5_000_000,
        lost: 3 * PACKET,
        tx_in_flight: 125_000,
        in_flight: 125_000,
        ..Step::default()
    };
    trace.round(Step { lost: 2 * PACKET, ..lossy });
    assert_eq!(trace.bbr.state, State::ProbeBwUp, "2 of 125 are below .02");
    trace.round(lossy);
    assert_eq!(trace.bbr.state, State::ProbeBwDown);
    // Of the 124 packets before the third loss, a fraction of 0.02, or 2.48 packets, may be lost.
    // Two are lost already, so that 0.48 / 0.98 = 0.489 of a packet is still allowed.
    assert_eq!(trace.bbr.bounds.inflight_longterm, 124_000 + 489);
    assert_eq!(trace.bbr.inflight_with_headroom(), 124_489 - 18_673);
    trace.round(Step { lost: 0, in_flight: 90_000, tx_in_flight: 90_000, ..lossy });
    assert_eq!(trace.bbr.state, State::ProbeBwCruise);
    assert!(trace.bbr.window_bytes() <= 124_489 - 18_673);
}

#[test]
fn probe_after_a_loss_stops_at_the_long_term_bound() {
    let mut trace = Trace::probing();
    let lossy = Step {
        came: 97_000,
        bytes_per_second: 5_000_000,
        lost: 4 * PACKET,
        tx_in_flight: 125_000,
        in_flight: 125_000,
        ..Step::default()
    };
    trace.round(lossy);
    trace.rounds_while(FULL, |state| state != State::ProbeBwUp);
    let bound = trace.bbr.bounds.inflight_longterm;
    let reached = Step {
        came: 100_000,
        bytes_per_second: 5_000_000,
        in_flight: bound - 100_000,
        tx_in_flight: bound,
        ..Step::default()
    };
    trace.acknowledge(0, reached);
    assert_eq!(trace.bbr.state, State::ProbeBwDown);
    trace.round(reached);
    assert_eq!(trace.bbr.state, State::ProbeBwRefill);
}

#[test]
fn losses_between_probes_set_the_short_term_bounds() {
    let mut trace = Trace::cruising();
    let lossy = Step {
        came: 50_000,
        bytes_per_second: 4_000_000,
        lost: 5_000,
        tx_in_flight: 100_000,
        in_flight: 100_000,
        ..Step::default()
    };
    // The first loss round still includes the old rate. A new loss round starts every other round
    // trip.
    (0..4).for_each(|_| trace.round(lossy));
    assert_eq!(trace.bbr.bounds.bw_shortterm, 4_000_000);
    assert_eq!(trace.bbr.bytes_per_second(), Some(4_000_000));
    (0..4).for_each(|_| trace.round(Step { bytes_per_second: 1_000_000, ..lossy }));
    assert_eq!(trace.bbr.bounds.bw_shortterm, 2_800_000, "no less than .7 of it");
    let slow = Step { came: 40_000, bytes_per_second: 2_000_000, ..FULL };
    trace.rounds_while(slow, |state| state == State::ProbeBwCruise);
    assert_eq!(trace.bbr.bytes_per_second(), Some(5_000_000));
}

#[test]
fn rtt_is_not_probed_while_the_minimum_is_observed() {
    let mut trace = Trace::cruising();
    trace.queued_ns = 199_999;
    for _ in 0..1_000 {
        trace.round(FULL);
        assert_ne!(trace.bbr.state, State::ProbeRtt);
    }
}

/// The minimum RTT is last measured at 81 ms; the probe starts 10 s later. It ends 200 ms after the
/// data in flight have fallen to half of the BDP.
#[test]
fn rtt_is_probed_after_ten_seconds_of_standing_queue() {
    let mut trace = Trace::cruising();
    trace.queued_ns = 200_000;
    trace.rounds_while(FULL, |state| state != State::ProbeRtt);
    let began_ms = trace.now_ns / MILLISECOND;
    assert!((10_081..=10_101).contains(&began_ms), "{began_ms}");
    assert_eq!(trace.bbr.window_bytes(), 50_000);
    let half = Step { in_flight: 50_000, came: 50_000, bytes_per_second: 2_500_000, ..FULL };
    trace.round(half);
    let waits_ns = trace.now_ns;
    trace.rounds_while(half, |state| state == State::ProbeRtt);
    assert_eq!((trace.now_ns - waits_ns) / MILLISECOND, 220, "more than 200 ms, in round trips");
    assert_eq!(trace.bbr.state, State::ProbeBwCruise);
    assert!(trace.bbr.window_bytes() >= 200_000, "as it was");
    assert_eq!(trace.bbr.bytes_per_second(), Some(5_000_000), "low on purpose, so no sample");
}

#[test]
fn idle_path_resumes_at_its_rate_without_a_probe() {
    let mut trace = Trace::probing();
    trace.now_ns += 11 * 1_000 * MILLISECOND;
    trace.bbr.sent(&Sent {
        now_ns: trace.now_ns,
        bytes: PACKET,
        in_flight_bytes: 0,
        delivered_bytes: trace.delivered,
        was_idle: true,
    });
    assert_eq!(trace.bbr.pacing_rate_bytes_per_second(), Some(4_950_000));
    trace.rounds(1, 5_000_000);
    assert_ne!(trace.bbr.state, State::ProbeRtt);
}

#[test]
fn app_limited_samples_lower_no_estimate_and_end_no_cycle() {
    let little = Step {
        came: 20_000,
        bytes_per_second: 1_000_000,
        tx_in_flight: 20_000,
        in_flight: 20_000,
        is_app_limited: true,
        ..Step::default()
    };
    let mut trace = Trace::probing();
    let cycles = trace.bbr.cycle.count;
    let queued = Step { came: 100_000, bytes_per_second: 5_000_000, ..little };
    (0..3).for_each(|_| trace.round(Step { is_app_limited: false, in_flight: 150_000, ..queued }));
    assert_eq!(trace.bbr.state, State::ProbeBwDown);
    (0..3).for_each(|_| trace.round(little));
    assert_eq!(trace.bbr.cycle.count, cycles);
    for _ in 0..2 {
        trace.bbr.max_bw_filter.advance();
        trace.round(little);
    }
    assert_eq!(trace.bbr.bytes_per_second(), Some(5_000_000));
    trace.round(Step { bytes_per_second: 6_000_000, ..little });
    assert_eq!(trace.bbr.bytes_per_second(), Some(6_000_000));
}

/// In three successive round trips, the bound grows by 1, 2 and 4 packets: by one packet for every
/// 118,000, 59,000 and 29,750 bytes acknowledged.
#[test]
fn probe_raises_the_long_term_bound_exponentially() {
    let mut trace = Trace::cruising();
    trace.bbr.bounds.inflight_longterm = 118_000;
    trace.rounds_while(FULL, |state| state != State::ProbeBwUp);
    trace.bbr.window.limited_until_delivered = Some(u64::MAX);
    let mut bounds = Vec::new();
    for _ in 0..3 {
        let came = trace.bbr.window_bytes();
        trace.round(Step { came, bytes_per_second: 5_000_000, ..Step::default() });
        bounds.push(trace.bbr.bounds.inflight_longterm);
    }
    assert_eq!(bounds, [119_000, 121_000, 125_000]);
}

#[test]
fn four_packets_may_always_be_in_flight() {
    let mut trace = Trace::cruising();
    trace.bbr.bounds.inflight_shortterm = 1;
    trace.rounds(1, 5_000_000);
    assert_eq!(trace.bbr.window_bytes(), 4 * PACKET);
}
