//! CUBIC: the window is a cubic function of the time since the last loss.
//!
//! ```text
//!   W_max  - - - - - - - - - -.-----'       W(t) = C (t - K)^3 + W_max
//!                        .-'                 K = cube root of ((W_max - cwnd_epoch) / C)
//!   .7 W_max  loss  |-'                      never less than Reno's window
//! ```
//!
//! Packets are paced at 1.25 times the window per smoothed RTT (RFC 9002, section 7.7), or twice
//! the window in slow start, as in Linux. HyStart++ or a loss ends slow start.
//!
//! Source of algorithm and names: RFC 9438, sections 4 and 5.
//!
//! Differences from the RFC: one reduction per round trip, without retransmission during recovery;
//! reductions are never undone, because no loss is spurious; an epoch's clock stops while the
//! window does not limit sending (section 5.8).
//!
//! Invariant: integer arithmetic only; remainders are carried forward.

use crate::bbr::MaxFilter;
use crate::controller::{Acknowledged, Controller, Sent};
use crate::hystart::Hystart;
use crate::units::{percent_of, rate};

/// Percentage of the window kept after a loss (`beta_cubic`).
const BETA_PERCENT: u64 = 70;
/// Percentage of `W_max` kept in fast convergence: (1 + beta) / 2.
const FAST_CONVERGENCE_PERCENT: u64 = 85;
/// Growth in packets per RTT in the Reno-friendly region: `alpha_cubic` = 3 (1 - beta) / (1 + beta)
/// = 9 / 17.
const ALPHA: (u64, u64) = (9, 17);
const INITIAL_PACKETS: u64 = 10;
const PACKETS_MIN: u64 = 2;
const NOMINAL_ROUND_TRIP_NS: u64 = 1_000_000;
const EPOCH_US_MAX: u64 = 10_000_000_000;
const WINDOW_BYTES_MAX: u64 = 1 << 40;
/// Number of round trips covered by the delivery rate filter; each of its two slots covers half.
const RATE_ROUNDS: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Epoch {
    start_ns: u64,
    /// Time from the start of the epoch until the window is back at `w_max` (`K`).
    k_us: u64,
    w_max: u64,
    w_est: u64,
    /// Remainders of the divisions for cubic growth and for Reno growth.
    rests: (u128, u128),
}

/// CUBIC controller with HyStart++.
#[derive(Clone, Debug)]
pub struct Cubic {
    longest_bytes: u64,
    cwnd: u64,
    ssthresh: u64,
    cwnd_prior: u64,
    w_max: u64,
    epoch: Option<Epoch>,
    hystart: Hystart,
    smoothed_round_trip_ns: u64,
    /// Delivered-byte count at the start of recovery. Recovery ends once a packet sent later is
    /// accounted for; until then, losses cause no further reduction.
    recovery_until_delivered: Option<u64>,
    /// Delivered-byte count until which sending counts as limited by the window.
    limited_until_delivered: Option<u64>,
    limited_ns: u64,
    next_round_delivered: u64,
    round_count: u64,
    rates: MaxFilter,
}

fn cube_root(of: u128) -> u128 {
    let (mut low, mut high) = (0_u128, 1 << 42);
    while high - low > 1 {
        let middle = u128::midpoint(low, high);
        if middle * middle * middle <= of { low = middle } else { high = middle }
    }
    low
}

impl Epoch {
    fn new(start_ns: u64, cwnd: u64, w_max: u64, longest_bytes: u64) -> Self {
        let w_max = w_max.max(cwnd);
        // Divides by C, 0.4 packets/s^3; the result is in cubic microseconds.
        let cube = u128::from(w_max - cwnd) * 2_500_000_000_000_000_000 / u128::from(longest_bytes);
        let k_us = u64::try_from(cube_root(cube)).unwrap_or(EPOCH_US_MAX).min(EPOCH_US_MAX);
        Self { start_ns, k_us, w_max, w_est: cwnd, rests: (0, 0) }
    }

    fn w_cubic(&self, at_ns: u64, longest_bytes: u64) -> u64 {
        let t_us = (at_ns.saturating_sub(self.start_ns) / 1_000).min(EPOCH_US_MAX);
        let distance = u128::from(t_us.abs_diff(self.k_us));
        let cube = distance * distance * distance / 1_000_000;
        let grown = cube.saturating_mul(u128::from(longest_bytes)) / 2_500_000_000_000;
        let grown = u64::try_from(grown).unwrap_or(u64::MAX);
        if t_us >= self.k_us {
            self.w_max.saturating_add(grown)
        } else {
            self.w_max.saturating_sub(grown)
        }
    }
}

fn share(numerator: u128, denominator: u128, rest: &mut u128) -> u64 {
    let all = numerator.saturating_add(*rest);
    *rest = all % denominator;
    u64::try_from(all / denominator).unwrap_or(u64::MAX)
}

impl Cubic {
    /// Creates a controller for packets of at most `longest_bytes` bytes.
    pub fn new(longest_bytes: u64) -> Self {
        let longest_bytes = longest_bytes.clamp(1, WINDOW_BYTES_MAX / INITIAL_PACKETS);
        Self {
            longest_bytes,
            cwnd: INITIAL_PACKETS * longest_bytes,
            ssthresh: u64::MAX,
            cwnd_prior: 0,
            w_max: 0,
            epoch: None,
            hystart: Hystart::default(),
            smoothed_round_trip_ns: 0,
            recovery_until_delivered: None,
            limited_until_delivered: None,
            limited_ns: 0,
            next_round_delivered: 0,
            round_count: 0,
            rates: MaxFilter::default(),
        }
    }

    const fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn count_rounds(&mut self, acknowledged: &Acknowledged) {
        let Some(sample) = acknowledged.rate else { return };
        if sample.prior_delivered_bytes >= self.next_round_delivered {
            self.next_round_delivered = acknowledged.delivered_bytes;
            self.round_count += 1;
            if self.round_count.is_multiple_of(RATE_ROUNDS / 2) {
                self.rates.advance();
            }
            if self.is_slow_start() && self.hystart.start_round() {
                self.ssthresh = self.cwnd;
            }
        }
        if let Some(rate) = sample.bytes_per_second()
            && (!sample.is_app_limited || rate > self.rates.get())
        {
            self.rates.take(rate);
        }
    }

    /// Reduces the window: multiplicative decrease (section 4.6) with fast convergence (section
    /// 4.7).
    fn reduce(&mut self, acknowledged: &Acknowledged) {
        self.recovery_until_delivered = Some(acknowledged.delivered_bytes);
        self.w_max = if self.cwnd < self.w_max {
            percent_of(self.cwnd, FAST_CONVERGENCE_PERCENT)
        } else {
            self.cwnd
        };
        self.cwnd_prior = self.cwnd;
        let flight_size = acknowledged.prior_in_flight_bytes.min(self.cwnd);
        let least = PACKETS_MIN * self.longest_bytes;
        self.ssthresh = percent_of(flight_size, BETA_PERCENT).max(least);
        self.cwnd = self.ssthresh;
        self.epoch = None;
    }

    fn grow(&mut self, acknowledged: &Acknowledged) {
        let acked_bytes = acknowledged.acknowledged_bytes;
        if self.is_slow_start() {
            let grown = self.cwnd.saturating_add(self.hystart.growth(acked_bytes));
            self.cwnd = grown.min(self.ssthresh.max(self.cwnd)).min(WINDOW_BYTES_MAX);
            return;
        }
        let (cwnd, longest_bytes, now_ns) = (self.cwnd, self.longest_bytes, acknowledged.now_ns);
        let w_max = self.w_max;
        let epoch =
            self.epoch.get_or_insert_with(|| Epoch::new(now_ns, cwnd, w_max, longest_bytes));
        // Section 4.3: Reno growth, at the full rate once the window is as large as before the
        // loss.
        let alpha = if epoch.w_est >= self.cwnd_prior { (1, 1) } else { ALPHA };
        let came = u128::from(acked_bytes) * u128::from(longest_bytes) * u128::from(alpha.0);
        let reno = share(came, u128::from(cwnd) * u128::from(alpha.1), &mut epoch.rests.1);
        epoch.w_est = epoch.w_est.saturating_add(reno).min(WINDOW_BYTES_MAX);
        if epoch.w_cubic(now_ns, longest_bytes) < epoch.w_est {
            self.cwnd = epoch.w_est.max(cwnd);
            return;
        }
        // Sections 4.4 and 4.5: the target is the window of the cubic function one RTT later, at
        // most 1.5 times the present window.
        let then_ns = now_ns.saturating_add(self.smoothed_round_trip_ns);
        let target =
            epoch.w_cubic(then_ns, longest_bytes).clamp(cwnd, cwnd.saturating_add(cwnd / 2));
        let toward = u128::from(target - cwnd) * u128::from(acked_bytes);
        let growth = share(toward, u128::from(cwnd), &mut epoch.rests.0);
        self.cwnd = cwnd.saturating_add(growth).min(WINDOW_BYTES_MAX);
    }

    /// Returns whether the window limited sending within the last round trip; otherwise, stops the
    /// epoch's clock.
    fn is_limited(&mut self, acknowledged: &Acknowledged) -> bool {
        // In slow start, pacing may leave half of the window unused (as in Linux, not in RFC 9438).
        let is_half_used = acknowledged.prior_in_flight_bytes.saturating_mul(2) > self.cwnd;
        let is_limited =
            self.limited_until_delivered.is_some_and(|until| acknowledged.delivered_bytes <= until)
                || self.is_slow_start() && is_half_used;
        if let Some(epoch) = self.epoch.as_mut().filter(|_| !is_limited) {
            let stood_ns = acknowledged.now_ns.saturating_sub(self.limited_ns);
            epoch.start_ns = epoch.start_ns.saturating_add(stood_ns);
        }
        self.limited_ns = acknowledged.now_ns;
        is_limited
    }
}

impl Controller for Cubic {
    fn sent(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight_bytes.saturating_add(sent.bytes);
        if in_flight.saturating_add(self.longest_bytes) > self.cwnd {
            self.limited_until_delivered = Some(sent.delivered_bytes.saturating_add(in_flight));
        }
    }

    fn acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.smoothed_round_trip_ns = acknowledged.smoothed_round_trip_ns;
        self.count_rounds(acknowledged);
        if let Some(round_trip_ns) = acknowledged.round_trip_ns.filter(|_| self.is_slow_start()) {
            self.hystart.timed(round_trip_ns);
        }
        if let Some(sample) = acknowledged.rate
            && self
                .recovery_until_delivered
                .is_some_and(|until| sample.prior_delivered_bytes >= until)
        {
            self.recovery_until_delivered = None;
        }
        let is_limited = self.is_limited(acknowledged);
        if self.recovery_until_delivered.is_some() {
            return;
        }
        if acknowledged.lost_bytes > 0 {
            self.reduce(acknowledged);
        } else if is_limited {
            self.grow(acknowledged);
        }
    }

    fn window_bytes(&self) -> u64 {
        self.cwnd
    }

    fn pacing_rate_bytes_per_second(&self) -> Option<u64> {
        let percent = if self.is_slow_start() { 200 } else { 125 };
        let span_ns = match self.smoothed_round_trip_ns {
            0 => NOMINAL_ROUND_TRIP_NS,
            smoothed_ns => smoothed_ns,
        };
        Some(percent_of(rate(self.cwnd, span_ns), percent).max(1))
    }

    fn bytes_per_second(&self) -> Option<u64> {
        Some(self.rates.get()).filter(|rate| *rate > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::RateSample;

    const PACKET: u64 = 1_000;
    const SECOND: u64 = 1_000_000_000;

    /// From 70 to 100 packets, K is the cube root of (100 - 70) / 0.4 = 75 s^3, or 4.217163 s. The
    /// window W is 70 packets at the start, 100 after K, 130 after 2 K, and 100 + 0.4 * 1^3 = 100.4
    /// one second after K.
    #[test]
    fn window_is_the_cubic_function() {
        let epoch = Epoch::new(5 * SECOND, 70 * PACKET, 100 * PACKET, PACKET);
        assert_eq!(epoch.k_us, 4_217_163);
        let at = |t_us: u64| epoch.w_cubic(5 * SECOND + t_us * 1_000, PACKET);
        assert_eq!(Epoch::new(0, 70 * 1_500, 100 * 1_500, 1_500).k_us, 4_217_163);
        let k_us = epoch.k_us;
        let windows = [at(0), at(k_us), at(2 * k_us), at(k_us + 1_000_000)];
        assert_eq!(
            windows.map(|bytes| bytes.next_multiple_of(10)),
            [70_010, 100_000, 130_000, 100_400]
        );
    }

    #[test]
    fn cube_roots_are_integers() {
        assert_eq!([0, 1, 7, 8, 26, 27, 1 << 120].map(cube_root), [0, 1, 1, 2, 2, 3, 1 << 40]);
    }

    fn acknowledgement(
        now_ns: u64,
        acked: u64,
        lost: u64,
        delivered: u64,
        prior: u64,
    ) -> Acknowledged {
        Acknowledged {
            now_ns,
            acknowledged_bytes: acked,
            lost_bytes: lost,
            prior_in_flight_bytes: u64::MAX,
            delivered_bytes: delivered,
            rate: Some(RateSample { prior_delivered_bytes: prior, ..RateSample::default() }),
            ..Acknowledged::default()
        }
    }

    fn avoiding() -> Cubic {
        let mut cubic = Cubic::new(PACKET);
        (cubic.cwnd, cubic.ssthresh) = (100 * PACKET, 100 * PACKET);
        cubic
    }

    /// Fast convergence applies to the second reduction: W_max is 0.85 * 70 = 59.5 packets.
    #[test]
    fn losses_of_one_rtt_cause_one_reduction() {
        let mut cubic = avoiding();
        cubic.acknowledged(&acknowledgement(1, 0, PACKET, 500_000, 400_000));
        assert_eq!((cubic.cwnd, cubic.w_max), (70 * PACKET, 100 * PACKET));
        cubic.acknowledged(&acknowledgement(2, 0, PACKET, 500_000, 499_999));
        assert_eq!(cubic.cwnd, 70 * PACKET);
        cubic.acknowledged(&acknowledgement(3, 0, PACKET, 570_000, 500_000));
        assert_eq!((cubic.cwnd, cubic.w_max), (49 * PACKET, 59_500));
    }

    /// The window grows by 9/17 of a packet per RTT, like Reno's with beta = 0.7. After 17 RTTs of
    /// 5 ms, the cubic function has hardly grown.
    #[test]
    fn window_grows_like_reno_in_the_reno_friendly_region() {
        let mut cubic = avoiding();
        cubic.acknowledged(&acknowledgement(1, 0, PACKET, 500_000, 400_000));
        cubic.limited_until_delivered = Some(u64::MAX);
        let mut now_ns = 1;
        for round in 0..17 {
            now_ns += 5_000_000;
            let delivered = 570_000 + round * 70_000;
            cubic.acknowledged(&acknowledgement(
                now_ns,
                cubic.cwnd,
                0,
                delivered,
                delivered - 70_000,
            ));
        }
        assert!((78_999..=79_000).contains(&cubic.cwnd), "{}", cubic.cwnd);
    }

    /// If the clock did not stop, the cubic window after 3.1 s would be 99.4 packets.
    #[test]
    fn unused_window_does_not_grow() {
        let mut cubic = avoiding();
        cubic.acknowledged(&acknowledgement(1, 0, PACKET, 500_000, 400_000));
        cubic.limited_until_delivered = Some(u64::MAX);
        cubic.acknowledged(&acknowledgement(SECOND / 10, PACKET, 0, 500_000, 500_000));
        let begun = cubic.cwnd;
        cubic.limited_until_delivered = None;
        for tenth in 2..=31 {
            let delivered = 500_000 + tenth * PACKET;
            let mut little =
                acknowledgement(tenth * SECOND / 10, PACKET, 0, delivered, delivered - PACKET);
            little.prior_in_flight_bytes = PACKET;
            cubic.acknowledged(&little);
        }
        assert_eq!(cubic.cwnd, begun);
        cubic.limited_until_delivered = Some(u64::MAX);
        cubic.acknowledged(&acknowledgement(31 * SECOND / 10, 70 * PACKET, 0, 700_000, 600_000));
        assert!(cubic.cwnd < 71 * PACKET, "{}", cubic.cwnd);
    }
}
