//! Swift: the window of a flow follows the difference between its round-trip time and a target.
//!
//! ```text
//!   target      base_target + clamp(growth, 0, fs_range)
//!   growth      fs_range (s(cwnd) - s(fs_max_cwnd)) / (s(fs_min_cwnd) - s(fs_max_cwnd))
//!                 s(w) = 1 / sqrt(w), evaluated in the order written
//!   rtt below   cwnd + ai packets / max(cwnd, 1)
//!   otherwise   cwnd max(1 - beta (rtt - target) / rtt, 1 - max_mdf)      once per round trip
//!   cwnd < 1    one packet in flight, with rtt / cwnd between starts
//! ```
//!
//! Marks have no effect. Windows are in packets; the window of the class is the initial and the
//! highest window. The target grows for small windows, so that many flows can share a link without
//! starvation. It does not grow with the number of hops, which `base_target` must take into
//! account.
//!
//! Source: Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter, SIGCOMM 2020, algorithm 1 and section 3.5, quoted from memory.

use super::{Adapt, Limits, Respond, RoundTrip};
use gingham_kernel::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `swift`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Swift {
    /// Target round-trip time of a flow with a large window. Default: 25 us.
    pub base_target: Span,
    /// Growth of the window, in packets per round trip, above 0 and at most 1000. Default: 1.
    pub ai: f64,
    /// Multiplier of window decreases, above 0 and at most 1. Default: 0.8.
    pub beta: f64,
    /// Largest single decrease, above 0 and below 1, as a fraction of the window. Default: 0.5.
    pub max_mdf: f64,
    /// Lowest window in packets, above 0 and at most 1. Default: 0.001.
    pub min_cwnd: f64,
    /// Largest growth of the target for small windows. Default: five times `base_target`.
    pub fs_range: Option<Span>,
    /// Largest window, in packets, for which the target has its highest value; above 0. Default:
    /// 0.1.
    pub fs_min_cwnd: f64,
    /// Smallest window, in packets, for which the target equals `base_target`; must be above
    /// `fs_min_cwnd`. Default: 100.
    pub fs_max_cwnd: f64,
}

impl Default for Swift {
    /// Returns the `base_target` of the paper's testbed, quoted from memory. The other values are
    /// those of htsim's Swift (`swift.cpp`), which calls several of them guesses.
    fn default() -> Self {
        Self {
            base_target: Span::from_ps(25_000_000),
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            fs_range: None,
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
        }
    }
}

const FS_RANGE: f64 = 5.0;
const AI_MAX: f64 = 1_000.0;
/// Maximum time between packets: the length of the longest possible run.
const GAP_MAX_PS: f64 = 1e18;

impl Respond for Swift {
    type Memory = Box<Delays>;

    fn marking(&self) -> Option<&'static str> {
        None
    }

    fn needs_round_trips(&self) -> bool {
        true
    }

    fn changes_window(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let Self { ai, beta, max_mdf, min_cwnd, fs_min_cwnd, fs_max_cwnd, .. } = *self;
        if self.base_target == Span::ZERO {
            return Err(("base_target", "a round trip takes some time, not 0 ps".to_owned()));
        }
        if !(ai > 0.0 && ai <= AI_MAX) {
            let message = format!("a window grows by more than 0 and at most {AI_MAX}, not {ai}");
            return Err(("ai", message));
        }
        for (key, share) in [("beta", beta), ("min_cwnd", min_cwnd)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err((key, format!("above 0 and at most 1, not {share}")));
            }
        }
        if !(max_mdf > 0.0 && max_mdf < 1.0) {
            return Err(("max_mdf", format!("above 0 and below 1, not {max_mdf}")));
        }
        if !(fs_min_cwnd > 0.0 && fs_min_cwnd.is_finite()) {
            return Err(("fs_min_cwnd", format!("a window is above 0 packets, not {fs_min_cwnd}")));
        }
        if !(fs_max_cwnd > fs_min_cwnd && fs_max_cwnd.is_finite()) {
            let message = format!("above fs_min_cwnd, {fs_min_cwnd}, not {fs_max_cwnd}");
            return Err(("fs_max_cwnd", message));
        }
        Ok(())
    }

    fn start(&self, limits: &Limits) -> Box<Delays> {
        Box::new(Delays {
            parameters: *self,
            window: limits.window_packets.into(),
            highest: limits.window_packets.into(),
            decreased: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    parameters: Swift,
    window: f64,
    highest: f64,
    decreased: Option<Time>,
}

impl Delays {
    #[expect(clippy::cast_precision_loss, reason = "times of a run")]
    fn target_ps(&self) -> f64 {
        let Swift { base_target, fs_range, fs_min_cwnd, fs_max_cwnd, .. } = self.parameters;
        let base = base_target.as_ps() as f64;
        let range = fs_range.map_or(base * FS_RANGE, |range| range.as_ps() as f64);
        let [low, high, now] =
            [fs_min_cwnd, fs_max_cwnd, self.window].map(|window| 1.0 / libm::sqrt(window));
        let scaled = range * (now - high) / (low - high);
        base + scaled.clamp(0.0, range)
    }
}

impl Adapt for Box<Delays> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "windows and times are positive and bounded"
    )]
    fn measured(&mut self, trip: RoundTrip, limits: &mut Limits, now: Time) {
        let Swift { ai, beta, max_mdf, min_cwnd, .. } = self.parameters;
        let (rtt, target) = (trip.span.as_ps() as f64, self.target_ps());
        if rtt < target {
            self.window += ai * f64::from(trip.packets) / self.window.max(1.0);
        } else if self.decreased.is_none_or(|at| now >= at + trip.span) {
            self.window *= (1.0 - beta * (rtt - target) / rtt).max(1.0 - max_mdf);
            self.decreased = Some(now);
        }
        self.window = self.window.clamp(min_cwnd, self.highest);
        limits.window_packets = self.window.max(1.0) as u32;
        let gap_ps = if self.window < 1.0 { (rtt / self.window).min(GAP_MAX_PS) } else { 0.0 };
        limits.gap = Span::from_ps(gap_ps as u64);
    }
}
