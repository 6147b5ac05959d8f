//! HyStart++: ends slow start when the RTT grows, before the queue overflows.
//!
//! ```text
//!   slow start --(RTT grew by an eighth, 4 to 16 ms)--> conservative slow start --5 rounds-->
//!        ^                                                    |            congestion avoidance
//!        '---------------(RTT is lower again)-----------------'
//! ```
//!
//! Source of algorithm and names: RFC 9406, section 4. Since packets are paced, the burst limit `L`
//! is infinite, as section 4.3 permits.

/// Limits of the RTT increase that ends slow start (`MIN_RTT_THRESH`, `MAX_RTT_THRESH`).
const RTT_THRESH_NS: (u64, u64) = (4_000_000, 16_000_000);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
const INFINITY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Conservative { baseline_min_rtt_ns: u64, rounds: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hystart {
    phase: Phase,
    last_round_min_rtt_ns: u64,
    current_round_min_rtt_ns: u64,
    rtt_sample_count: u32,
}

impl Default for Hystart {
    fn default() -> Self {
        Self {
            phase: Phase::SlowStart,
            last_round_min_rtt_ns: INFINITY,
            current_round_min_rtt_ns: INFINITY,
            rtt_sample_count: 0,
        }
    }
}

impl Hystart {
    /// Handles an RTT sample. `RttThresh` is 1/8 of the previous round's minimum RTT, within
    /// `RTT_THRESH_NS`.
    pub(crate) fn timed(&mut self, round_trip_ns: u64) {
        self.current_round_min_rtt_ns = self.current_round_min_rtt_ns.min(round_trip_ns);
        self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        let (current_ns, last_ns) = (self.current_round_min_rtt_ns, self.last_round_min_rtt_ns);
        match self.phase {
            Phase::SlowStart if last_ns != INFINITY => {
                let thresh_ns = (last_ns / MIN_RTT_DIVISOR).clamp(RTT_THRESH_NS.0, RTT_THRESH_NS.1);
                if current_ns >= last_ns.saturating_add(thresh_ns) {
                    self.phase = Phase::Conservative { baseline_min_rtt_ns: current_ns, rounds: 0 };
                }
            }
            Phase::Conservative { baseline_min_rtt_ns, .. } if current_ns < baseline_min_rtt_ns => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    pub(crate) const fn start_round(&mut self) -> bool {
        self.last_round_min_rtt_ns = self.current_round_min_rtt_ns;
        self.current_round_min_rtt_ns = INFINITY;
        self.rtt_sample_count = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            return *rounds >= CSS_ROUNDS;
        }
        false
    }

    pub(crate) const fn growth(&self, acked_bytes: u64) -> u64 {
        match self.phase {
            Phase::SlowStart => acked_bytes,
            Phase::Conservative { .. } => acked_bytes / CSS_GROWTH_DIVISOR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn round(hystart: &mut Hystart, milliseconds: u64, samples: u32) -> bool {
        let is_over = hystart.start_round();
        (0..samples).for_each(|_| hystart.timed(milliseconds * MILLISECOND));
        is_over
    }

    /// The thresholds are 1/8 of 40, 44 and 49 ms: 5, 5.5 and 6.125 ms. The increases by 4 ms to 44
    /// ms and by 5 ms to 49 ms stay below them; the increase by 7 ms to 56 ms starts conservative
    /// slow start.
    #[test]
    fn five_conservative_rounds_end_slow_start() {
        let mut hystart = Hystart::default();
        for milliseconds in [40, 44, 49, 56] {
            assert_eq!(hystart.growth(4_000), 4_000);
            assert!(!round(&mut hystart, milliseconds, 8));
        }
        assert_eq!(hystart.growth(4_000), 1_000);
        let over: Vec<bool> = (0..5).map(|_| round(&mut hystart, 60, 8)).collect();
        assert_eq!(over, [false, false, false, false, true]);
    }

    #[test]
    fn shorter_rtt_ends_conservative_slow_start() {
        let mut hystart = Hystart::default();
        round(&mut hystart, 40, 8);
        round(&mut hystart, 45, 8);
        assert_eq!(hystart.growth(4_000), 1_000);
        round(&mut hystart, 44, 8);
        assert_eq!(hystart.growth(4_000), 4_000);
    }

    /// The threshold is 4 ms after an RTT of 8 ms, and 16 ms after an RTT of 400 ms. Seven samples
    /// in a round are too few.
    #[test]
    fn rtt_threshold_is_4_to_16_ms() {
        for (before, after, samples, is_cautious) in [
            (8, 11, 8, false),
            (8, 12, 8, true),
            (400, 415, 8, false),
            (400, 416, 8, true),
            (400, 416, 7, false),
        ] {
            let mut hystart = Hystart::default();
            round(&mut hystart, before, 8);
            round(&mut hystart, after, samples);
            assert_eq!(hystart.growth(4_000) == 1_000, is_cautious, "{before} {after} {samples}");
        }
    }
}
