//! Swift: the difference between the round-trip time and a target changes the window (Kumar et al.
//! 2020, algorithm 1 and section 3.5).

use super::{Law, Limits, as_f64};
use gingham_kernel::{Span, Time};

pub(super) struct Swift {
    of: gingham_net::Swift,
    cwnd: f64,
    highest: f64,
    last_decrease: Option<Time>,
}

impl Swift {
    pub(super) fn new(of: gingham_net::Swift, limits: &Limits) -> Self {
        let window = f64::from(limits.window_packets);
        Self { of, cwnd: window, highest: window, last_decrease: None }
    }

    /// Returns the target delay in ps: `base_target + clamp(fs_range (1/sqrt(cwnd) -
    /// 1/sqrt(fs_max)) / (1/sqrt(fs_min) - 1/sqrt(fs_max)), 0, fs_range)`.
    fn target_ps(&self) -> f64 {
        let base = as_f64(self.of.base_target);
        let range = self.of.fs_range.map_or(base * 5.0, as_f64);
        let root = |window: f64| 1.0 / libm::sqrt(window);
        let (least, most) = (root(self.of.fs_max_cwnd), root(self.of.fs_min_cwnd));
        let scaled = range * (root(self.cwnd) - least) / (most - least);
        base + scaled.max(0.0).min(range)
    }
}

impl Law for Swift {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "windows and times are positive and bounded"
    )]
    fn round_trip(&mut self, trip: Span, packets: u32, limits: &mut Limits, now: Time) {
        let gingham_net::Swift { ai, beta, max_mdf, min_cwnd, .. } = self.of;
        let (rtt, target) = (as_f64(trip), self.target_ps());
        let may_decrease = self.last_decrease.is_none_or(|last| last + trip <= now);
        if rtt < target {
            self.cwnd += ai * f64::from(packets) / self.cwnd.max(1.0);
        } else if may_decrease {
            self.cwnd *= (1.0 - beta * (rtt - target) / rtt).max(1.0 - max_mdf);
            self.last_decrease = Some(now);
        }
        self.cwnd = self.cwnd.max(min_cwnd).min(self.highest);
        limits.window_packets = if self.cwnd < 1.0 { 1 } else { self.cwnd as u32 };
        // The gap is at most 1e18 ps, the length of the longest run.
        let gap_ps = if self.cwnd < 1.0 { (rtt / self.cwnd).min(1e18) } else { 0.0 };
        limits.gap = Span::from_ps(gap_ps as u64);
    }
}
