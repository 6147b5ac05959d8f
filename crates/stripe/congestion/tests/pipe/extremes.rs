//! Arbitrary inputs cause no overflow, and there is always a window and a pacing rate.

use gingham_congestion::{
    Acknowledged, Acknowledgement, BbrParameters, Control, Controller, FixedRate, Path, PathPlan,
    RateSample, Sent,
};

struct Numbers(u64);

impl Numbers {
    fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn any(&mut self) -> u64 {
        match self.draw() % 8 {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => u64::MAX - 1,
            4 => u64::MAX / 2,
            kind => self.draw() >> (8 * (kind - 4)),
        }
    }

    fn some(&mut self) -> bool {
        self.draw().is_multiple_of(2)
    }

    fn sample(&mut self) -> RateSample {
        RateSample {
            delivered_bytes: self.any(),
            interval_ns: self.any(),
            prior_delivered_bytes: self.any(),
            tx_in_flight_bytes: self.any(),
            lost_bytes: self.any(),
            is_app_limited: self.some(),
        }
    }

    fn acknowledged(&mut self, now_ns: u64) -> Acknowledged {
        Acknowledged {
            now_ns,
            acknowledged_bytes: self.any(),
            lost_bytes: self.any(),
            prior_in_flight_bytes: self.any(),
            in_flight_bytes: self.any(),
            delivered_bytes: self.any(),
            round_trip_ns: self.some().then(|| self.any()),
            least_round_trip_ns: self.any(),
            smoothed_round_trip_ns: self.any(),
            rate: self.some().then(|| self.sample()),
        }
    }
}

fn controls(longest_bytes: u64, seed: u64) -> [Control; 3] {
    let parameters = BbrParameters { seed, ..BbrParameters::default() };
    [
        Control::bbr(parameters, longest_bytes),
        Control::cubic(longest_bytes),
        Control::FixedRate(FixedRate::new(u64::MAX, longest_bytes)),
    ]
}

#[test]
fn arbitrary_input_leaves_a_positive_window_and_pace() {
    let mut numbers = Numbers(7);
    for seed in 0..200 {
        let longest_bytes = [0, 1, 1_250, u64::MAX][usize::try_from(seed % 4).unwrap()];
        for mut control in controls(longest_bytes, seed) {
            let mut now_ns = if numbers.some() { 0 } else { u64::MAX - 1_000_000 };
            for _ in 0..200 {
                now_ns = now_ns.saturating_add(numbers.draw() % 1_000_000_000);
                let sent = Sent {
                    now_ns,
                    bytes: numbers.any(),
                    in_flight_bytes: numbers.any(),
                    delivered_bytes: numbers.any(),
                    was_idle: numbers.some(),
                };
                control.sent(&sent);
                control.acknowledged(&numbers.acknowledged(now_ns));
                assert!(control.window_bytes() > 0 || longest_bytes == 0);
                assert!(control.pacing_rate_bytes_per_second().is_none_or(|pace| pace > 0));
            }
        }
    }
}

#[test]
fn zero_rtt_does_not_divide_by_zero() {
    for mut control in controls(1_250, 1) {
        for step in 1..1_000_u64 {
            control.acknowledged(&Acknowledged {
                now_ns: step,
                acknowledged_bytes: 1_250,
                delivered_bytes: 1_250 * step,
                round_trip_ns: Some(0),
                rate: Some(RateSample {
                    delivered_bytes: 1_250,
                    prior_delivered_bytes: 1_250 * (step - 1),
                    ..RateSample::default()
                }),
                ..Acknowledged::default()
            });
        }
        assert!(control.window_bytes() >= 2 * 1_250);
    }
}

#[test]
fn arbitrary_acks_are_counted_or_rejected() {
    let mut numbers = Numbers(9);
    for control in controls(1_250, 1) {
        let mut path = Path::new(PathPlan::new(1_250), control);
        let mut now_ns = u64::MAX - 2_000_000_000;
        let mut accounted = 0;
        for step in 0..2_000 {
            now_ns += numbers.draw() % 1_000_000;
            path.sent(now_ns, 1_250);
            path.timed(now_ns, numbers.any());
            let before = path.in_flight_bytes();
            let anything = Acknowledgement {
                accounted_packets: numbers.any(),
                accounted_bytes: numbers.any() | 1 << 40,
                received_bytes: numbers.any(),
                received_at_ns: numbers.any(),
                held_ns: numbers.some().then(|| numbers.any()),
            };
            assert!(!path.acknowledged(now_ns, &anything), "more than was sent");
            assert_eq!(path.in_flight_bytes(), before);
            if step % 3 == 0 {
                accounted += 1;
                let can_be = Acknowledgement {
                    accounted_packets: accounted,
                    accounted_bytes: accounted * 1_250,
                    received_bytes: accounted / 2 * 1_250,
                    ..anything
                };
                assert!(path.acknowledged(now_ns, &can_be));
            }
            assert!(path.window_bytes() >= 1_250);
        }
    }
}

#[test]
fn impossible_counts_are_rejected() {
    let mut path = Path::new(PathPlan::new(1_000), Control::cubic(1_000));
    (0..4).for_each(|_| path.sent(5, 1_000));
    assert!(path.acknowledged(9, &acknowledgement(2, 2_000, 1_000)));
    for (packets, bytes) in [(5, 4_000), (4, 4_001), (1, 2_000)] {
        assert!(
            !path.acknowledged(9, &acknowledgement(packets, bytes, 1_000)),
            "{packets} {bytes}"
        );
    }
    assert_eq!((path.in_flight_bytes(), path.lost_bytes()), (2_000, 1_000));
    assert!(path.acknowledged(9, &acknowledgement(4, 4_000, 3_000)));
}

/// If the count of received bytes is impossible, everything accounted for counts as received.
#[test]
fn impossible_received_count_becomes_the_new_base() {
    let mut path = Path::new(PathPlan::new(1_000), Control::cubic(1_000));
    (0..4).for_each(|_| path.sent(5, 1_000));
    assert!(path.acknowledged(9, &acknowledgement(2, 2_000, u64::MAX - 500)));
    assert_eq!((path.in_flight_bytes(), path.lost_bytes()), (2_000, 0));
    assert!(path.acknowledged(9, &acknowledgement(3, 3_000, 7_000)));
    assert!(path.acknowledged(9, &acknowledgement(4, 4_000, 7_000)));
    assert_eq!((path.in_flight_bytes(), path.lost_bytes()), (0, 1_000));
}

const fn acknowledgement(
    accounted_packets: u64,
    accounted_bytes: u64,
    received: u64,
) -> Acknowledgement {
    Acknowledgement {
        accounted_packets,
        accounted_bytes,
        received_bytes: received,
        received_at_ns: 6,
        held_ns: None,
    }
}
