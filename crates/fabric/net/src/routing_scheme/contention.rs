//! Contention coefficient of a host: the host's estimate of the network load.
//!
//! ```text
//!   C_p = time until the packet has left / serialisation time of its flits    1 if uncontended   equation 2
//!
//!   C  := alpha C + (1 - alpha) C_p   if C_p > C      rises fast
//!         beta  C + (1 - beta)  C_p   otherwise       falls slowly                                 figure 1
//!
//!   coefficient    ___                       above  1.5 - - -/- -\- - - - -
//!                 /   \___                                  /     \___
//!            ____/        \___               below  1.1 - -/- - - - - \- -
//!                                            paths  primary│alternative│primary
//! ```
//!
//! Source: Flich et al. 2001, section III-C, equations 1 and 2 and figure 1. The initial
//! coefficient of 1 is ours.
//!
//! Invariant: the coefficient is at least 1.

use super::PathId;
use gingham_kernel::Span;

/// Smoothing parameters and thresholds of the contention coefficient.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContentionPlan {
    /// Weight of the previous coefficient in the average, after a packet with higher contention.
    pub alpha: f64,
    /// Weight of the previous coefficient in the average, after any other packet.
    pub beta: f64,
    /// Threshold above which packets take alternative paths.
    pub above: f64,
    /// Threshold below which packets take primary paths again.
    pub below: f64,
    /// Coefficient before the first packet has left.
    pub start: f64,
}

/// Contention state of a host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contention {
    /// Contention coefficient after the last departure.
    pub coefficient: f64,
    /// Path of the host's next packet.
    pub path_id: PathId,
}

impl Contention {
    /// Returns the state before the first packet.
    pub fn new(plan: &ContentionPlan) -> Self {
        let path_id = if plan.start > plan.above { PathId::ALTERNATIVE } else { PathId::PRIMARY };
        Self { coefficient: plan.start, path_id }
    }

    /// Updates the coefficient. `took` is the time from the packet's start until it has left, and
    /// `flits` the serialisation time of its flits alone.
    pub(super) fn on_left(&mut self, plan: &ContentionPlan, took: Span, flits: Span) {
        debug_assert!(took >= flits, "flits follow each other");
        let of_packet = real(took) / real(flits);
        let past = if of_packet > self.coefficient { plan.alpha } else { plan.beta };
        self.coefficient = past * self.coefficient + (1.0 - past) * of_packet;
        if self.coefficient > plan.above {
            self.path_id = PathId::ALTERNATIVE;
        } else if self.coefficient < plan.below {
            self.path_id = PathId::PRIMARY;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a packet leaves in far less than 2^53 ps")]
fn real(span: Span) -> f64 {
    span.as_ps() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: ContentionPlan =
        ContentionPlan { alpha: 0.7, beta: 0.95, above: 1.5, below: 1.1, start: 1.0 };

    /// Checks a trace; each entry contains a packet's `C_p`, the coefficient after the packet, and
    /// whether later packets take alternative paths.
    fn assert_trace(plan: &ContentionPlan, trace: &[(u64, f64, bool)]) {
        let mut contention = Contention::new(plan);
        for (step, (times, coefficient, uses_alternative)) in trace.iter().enumerate() {
            let flits = Span::from_ps(6_250 * 36);
            contention.on_left(plan, flits * *times, flits);
            let of = contention.coefficient;
            assert!((of - coefficient).abs() < 1e-12, "step {step}: {of}, not {coefficient}");
            assert_eq!(
                contention.path_id == PathId::ALTERNATIVE,
                *uses_alternative,
                "step {step} at {of}"
            );
        }
    }

    #[test]
    fn contention_coefficient_has_hysteresis() {
        assert_trace(
            &PAPER,
            &[
                // C_p = 1 does not exceed C = 1: C = .95 x 1 + .05 x 1 = 1.
                (1, 1.0, false),
                // C = .7 x 1 + .3 x 2 = 1.3, between the thresholds: still primary paths.
                (2, 1.3, false),
                // C = .7 x 1.3 + .3 x 2 = 1.51, above 1.5: alternative paths.
                (2, 1.51, true),
                // C = .95 x 1.51 + .05 x 1 = 1.4845, not below 1.1: still alternative paths.
                (1, 1.4845, true),
                // C = .95 x 1.4845 + .05 x 1 = 1.460275.
                (1, 1.460_275, true),
                // C = .7 x 1.460275 + .3 x 3 = 1.9221925.
                (3, 1.922_192_5, true),
            ],
        );
    }

    #[test]
    fn primary_paths_resume_below_the_lower_threshold() {
        // With both weights at .5, only the fifth coefficient, 1.0625, is below 1.1.
        let plan = ContentionPlan { alpha: 0.5, beta: 0.5, ..PAPER };
        let trace = [(3, 2.0), (1, 1.5), (1, 1.25), (1, 1.125), (1, 1.0625), (1, 1.03125)];
        let alternatives = [true, true, true, true, false, false];
        let trace: Vec<_> = trace
            .iter()
            .zip(alternatives)
            .map(|((times, of), alternative)| (*times, *of, alternative))
            .collect();
        assert_trace(&plan, &trace);
    }

    #[test]
    fn initial_coefficient_selects_the_path() {
        let begun = |start| Contention::new(&ContentionPlan { start, ..PAPER });
        assert_eq!(begun(1.5), Contention { coefficient: 1.5, path_id: PathId::PRIMARY });
        assert_eq!(begun(2.0), Contention { coefficient: 2.0, path_id: PathId::ALTERNATIVE });
        // C = .7 x 1.4 + .3 x 2 = 1.58, above 1.5.
        assert_trace(&ContentionPlan { start: 1.4, ..PAPER }, &[(2, 1.58, true)]);
        assert_trace(&ContentionPlan { start: 2.0, ..PAPER }, &[(1, 1.95, true)]);
    }

    #[test]
    fn coefficient_equal_to_a_threshold_changes_nothing() {
        // With zero weights, the coefficient is the last packet's C_p. A coefficient of 2 is
        // neither above nor below the thresholds of 2.
        let plan = ContentionPlan { alpha: 0.0, beta: 0.0, above: 2.0, below: 2.0, start: 1.0 };
        assert_trace(&plan, &[(2, 2.0, false), (3, 3.0, true), (2, 2.0, true), (1, 1.0, false)]);
    }
}
