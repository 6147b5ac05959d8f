//! CUBIC: the window is a cubic function of the time since the start of congestion avoidance.
//!
//! ```text
//!    W_max ┤ · · · · · · · .─────' · ·      W_cubic(t) = C (t - K)^3 + W_max
//!          │           .─'
//!          │       .─'                      K = cube root of (W_max - cwnd_epoch) / C
//!   .7     ┤ |──'
//!          └─┴────────────┴───────► t       and at least W_est, the window of Reno
//!          t_epoch        K
//! ```
//!
//! Source: RFC 9438, section 4, with its names; windows are in segments, times in seconds.
//! `FlightSize` (RFC 5681) is limited to the window (section 4.6).
//!
//! Simplifications: only a loss ends slow start (no `HyStart++`, section 4.10), and no reduction is
//! undone (section 4.9). An active sender always has data, so the epoch time never pauses (section
//! 5.8).
//!
//! Invariants: an acknowledgement never shrinks the window, and adds at most half a segment per
//! acknowledged segment unless Reno would add more; fractions of a byte carry over to the next
//! acknowledgement.

use super::Outstanding;
use gingham_kernel::{Span, Time};
use gingham_results::real;

/// Constant C of the RFC, in segments per cubed second.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// Additive increase (`alpha_cubic`, section 4.3); with the reduction to `beta_cubic`, it gives the
/// average window of Reno.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
const SEGMENTS_MIN: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
struct Avoidance {
    t_epoch: Time,
    k: f64,
    w_max: f64,
    w_est: f64,
}

#[derive(Debug)]
pub(super) struct Cubic {
    segment_bytes: f64,
    /// Window before the last loss, after fast convergence; `None` after a timeout and before any
    /// loss.
    w_max: Option<f64>,
    cwnd_prior: f64,
    avoidance: Option<Avoidance>,
    /// Fraction of a byte still to be added to the window.
    rest_bytes: f64,
}

impl Avoidance {
    /// Starts an epoch. If `w_max` is `None`, the epoch starts on the plateau: `K` is 0 and `W_max`
    /// is the window (sections 4.8 and 4.10).
    fn new(t_epoch: Time, cwnd_epoch: f64, w_max: Option<f64>) -> Self {
        let w_max = w_max.unwrap_or(cwnd_epoch).max(cwnd_epoch);
        let k = libm::cbrt((w_max - cwnd_epoch) / C);
        Self { t_epoch, k, w_max, w_est: cwnd_epoch }
    }

    /// Returns the window `t` seconds after the start of the epoch (equation 1).
    fn w_cubic(&self, t: f64) -> f64 {
        let since = t - self.k;
        C * since * since * since + self.w_max
    }

    /// Returns the window growth in segments for `acked` acknowledged segments (sections 4.2 to
    /// 4.5).
    fn growth(&mut self, now: Time, cwnd: f64, acked: f64, rtt: f64, cwnd_prior: f64) -> f64 {
        // The window grows like Reno's once `W_est` has regained its size before the reduction.
        let alpha = if self.w_est >= cwnd_prior { 1.0 } else { ALPHA };
        self.w_est += alpha * acked / cwnd;
        let t = seconds(now.since(self.t_epoch));
        if self.w_cubic(t) < self.w_est {
            return (self.w_est - cwnd).max(0.0);
        }
        let target = self.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        (target - cwnd) / cwnd
    }
}

impl Cubic {
    pub(super) fn new(segment_bytes: u64) -> Self {
        let segment_bytes = real(u128::from(segment_bytes));
        Self { segment_bytes, w_max: None, cwnd_prior: 0.0, avoidance: None, rest_bytes: 0.0 }
    }

    pub(super) fn growth_bytes(
        &mut self,
        now: Time,
        window_bytes: u64,
        acknowledged_bytes: u64,
        round_trip: Span,
    ) -> u64 {
        let cwnd = self.segments(window_bytes) + self.rest_bytes / self.segment_bytes;
        let (acked, rtt) = (self.segments(acknowledged_bytes), seconds(round_trip));
        let w_max = self.w_max;
        let avoidance = self.avoidance.get_or_insert_with(|| Avoidance::new(now, cwnd, w_max));
        let growth = avoidance.growth(now, cwnd, acked, rtt, self.cwnd_prior);
        let more_bytes = growth * self.segment_bytes + self.rest_bytes;
        let whole_bytes = whole(more_bytes);
        self.rest_bytes = more_bytes - real(u128::from(whole_bytes));
        whole_bytes
    }

    /// Reduces the window after a loss; returns `ssthresh` (sections 4.6 and 4.7).
    pub(super) fn lose(&mut self, window_bytes: u64, outstanding: Outstanding) -> u64 {
        let cwnd = self.segments(window_bytes);
        let is_below = self.w_max.is_some_and(|w_max| cwnd < w_max);
        // Fast convergence: a flow whose window had not recovered releases bandwidth to others.
        self.w_max = Some(if is_below { cwnd * f64::midpoint(1.0, BETA) } else { cwnd });
        self.reduce(window_bytes, outstanding)
    }

    /// Returns `ssthresh` after a timeout, as after a loss. The next epoch has no `W_max` (section
    /// 4.8).
    pub(super) fn time_out(&mut self, window_bytes: u64, outstanding: Outstanding) -> u64 {
        self.w_max = None;
        self.reduce(window_bytes, outstanding)
    }

    fn reduce(&mut self, window_bytes: u64, outstanding: Outstanding) -> u64 {
        let flight_bytes = outstanding.unacknowledged_bytes.min(window_bytes);
        self.cwnd_prior = self.segments(window_bytes);
        (self.avoidance, self.rest_bytes) = (None, 0.0);
        let ssthresh = (self.segments(flight_bytes) * BETA).max(SEGMENTS_MIN);
        // Rounds to the nearest byte, since products with 0.7 are not exact.
        whole(ssthresh * self.segment_bytes + 0.5)
    }

    fn segments(&self, bytes: u64) -> f64 {
        real(u128::from(bytes)) / self.segment_bytes
    }
}

fn seconds(span: Span) -> f64 {
    real(u128::from(span.as_ps())) / 1e12
}

fn whole(bytes: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and far below the end of the range"
    )]
    let whole = bytes as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1_000;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * 1_000_000_000)
    }

    fn full(window_bytes: u64) -> Outstanding {
        Outstanding { in_flight_bytes: 0, unacknowledged_bytes: window_bytes }
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    /// K = (30 / 0.4)^(1/3) = 75^(1/3) = 4.217163 s. W_cubic in segments is 70 at 0 s, 100 at K,
    /// 100.4 a second later and 130 at 2 K.
    #[test]
    fn window_function_matches_the_rfc() {
        let avoidance = Avoidance::new(at(0), 70.0, Some(100.0));
        assert_near(avoidance.k, 4.217_163_326_508_746);
        assert_near(avoidance.w_cubic(0.0), 70.0);
        assert_near(avoidance.w_cubic(avoidance.k), 100.0);
        assert_near(avoidance.w_cubic(avoidance.k + 1.0), 100.4);
        assert_near(avoidance.w_cubic(2.0 * avoidance.k), 130.0);
    }

    /// Checks that the window grows by 9 / 17 of a segment per window until it regains 100
    /// segments.
    #[test]
    fn growth_is_that_of_reno_in_the_reno_friendly_region() {
        let mut avoidance = Avoidance::new(at(0), 70.0, Some(100.0));
        // At 1 ms W_cubic is 70.02, which is below W_est.
        assert_near(avoidance.growth(at(1), 70.0, 70.0, 0.001, 100.0), 9.0 / 17.0);
        avoidance.w_est = 100.0;
        assert_near(avoidance.growth(at(1), 100.0, 50.0, 0.001, 100.0), 0.5);
    }

    /// At 2 s, W_cubic is 100 - 0.4 x 2.217163^3 segments. One round-trip time of 100 ms later, it
    /// is 100 - 0.4 x 2.117163^3 = 96.204027 segments, 6.204027 segments above a window of 90
    /// segments.
    #[test]
    fn growth_targets_the_window_one_rtt_ahead() {
        let mut avoidance = Avoidance::new(at(0), 70.0, Some(100.0));
        assert_near(avoidance.w_cubic(2.0), 95.640_335_686_6);
        let growth = avoidance.growth(at(2_000), 90.0, 1.0, 0.1, 100.0);
        assert_near(growth * 90.0, 6.204_027_312_7);
        assert_near(avoidance.growth(at(2_000), 10.0, 1.0, 0.1, 100.0), 0.5);
        assert_near(avoidance.growth(at(2_000), 97.0, 1.0, 0.1, 100.0), 0.0);
    }

    /// The window of 70 is below W_max = 100, so W_max becomes 0.85 x 70 = 59.5. The next window,
    /// 60, is above 59.5, so W_max becomes 60.
    #[test]
    fn loss_reduces_to_70_percent_with_fast_convergence() {
        let mut cubic = Cubic::new(SEGMENT);
        assert_eq!(cubic.lose(100_000, full(100_000)), 70_000);
        assert_eq!((cubic.w_max, cubic.cwnd_prior), (Some(100.0), 100.0));
        assert_eq!(cubic.lose(70_000, full(70_000)), 49_000);
        assert_eq!(cubic.w_max, Some(59.5));
        assert_eq!(cubic.lose(60_000, full(60_000)), 42_000);
        assert_eq!(cubic.w_max, Some(60.0));
        // The new window depends on the data in flight, up to the window, and is at least two
        // segments.
        assert_eq!(cubic.lose(60_000, full(30_000)), 21_000);
        assert_eq!(cubic.lose(60_000, full(90_000)), 42_000);
        assert_eq!(cubic.lose(1_000, full(1_000)), 2_000);
    }

    /// After a timeout, the window starts again at 50 segments: W_cubic(t) = 0.4 t^3 + 50, which is
    /// 60.8 segments after 3 s.
    #[test]
    fn growth_after_a_timeout_starts_from_the_current_window() {
        let mut cubic = Cubic::new(SEGMENT);
        cubic.lose(100_000, full(100_000));
        assert_eq!(cubic.time_out(70_000, full(70_000)), 49_000);
        cubic.growth_bytes(at(1_000), 50_000, SEGMENT, Span::ZERO);
        let avoidance = cubic.avoidance.expect("it has begun");
        assert_near(avoidance.k, 0.0);
        assert_near(avoidance.w_cubic(3.0), 60.8);
    }

    #[test]
    fn fractions_of_bytes_are_kept() {
        let mut cubic = Cubic::new(SEGMENT);
        cubic.lose(100_000, full(100_000));
        let mut window_bytes = 70_000;
        for _ in 0..70 {
            window_bytes += cubic.growth_bytes(at(1), window_bytes, SEGMENT, Span::ZERO);
        }
        // Growth by 9 / 17 segments per window, integrated from 70 segments over 70
        // acknowledgements, gives sqrt(70^2 + 2 x 70 x 9 / 17) = 70.5274 segments; without the
        // fractions of 7.56 bytes, the growth is only 70 x 7 = 490 bytes.
        assert!((70_526..=70_529).contains(&window_bytes), "{window_bytes}");
    }
}
