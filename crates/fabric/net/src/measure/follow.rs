//! Steps of time series, and centred means over several steps.
//!
//! ```text
//!   steps     | 0 | 1 | 2 | 3 | 4 | 5 |      equal widths from time zero; the last may be shorter
//!   smoothed          └──── 3 ────┘          mean of steps 2 to 4, centred on step 3
//!             └ 0 ────┘                      mean of steps 0 and 1, at the start
//! ```

use crate::{FollowPlan, Plan};
use gingham_kernel::{Span, Time};
use gingham_results::real;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Steps {
    /// Step width; zero if nothing is followed.
    pub(super) width: Span,
    pub(super) last: Time,
    window: usize,
}

impl Steps {
    pub(super) fn new(plan: &Plan) -> Self {
        let FollowPlan { step, window_steps, .. } = plan.follow;
        Self { width: step, last: plan.stop.time, window: window_steps as usize }
    }

    pub(super) fn every(width: Span, last: Time) -> Self {
        Self { width, last, window: 1 }
    }

    /// Returns the end of a step; `None` after the end of the run, or if nothing is followed.
    pub(super) fn end_of(&self, step: usize) -> Option<Time> {
        let [from, to] = self.bounds(step);
        (from < to).then_some(to)
    }

    /// Returns the start and end of a step. For a step after the run, both are the end of the run.
    pub(super) fn bounds(&self, step: usize) -> [Time; 2] {
        [step, step + 1].map(|at| (Time::ZERO + self.width * at as u64).min(self.last))
    }

    pub(super) fn count(&self, end: Time) -> usize {
        if self.width == Span::ZERO {
            return 0;
        }
        let whole = end.as_ps() / self.width.as_ps();
        let cut = end == self.last && !end.as_ps().is_multiple_of(self.width.as_ps());
        usize::try_from(whole).expect("64-bit platform") + usize::from(cut)
    }

    pub(super) fn over_ps(&self, steps: &Range<usize>) -> f64 {
        let over = self.bounds(steps.end - 1)[1].since(self.bounds(steps.start)[0]);
        real(u128::from(over.as_ps()))
    }

    /// Returns the steps, among the first `count`, that the mean centred on `step` covers.
    pub(super) fn centred(&self, step: usize, count: usize) -> Range<usize> {
        let reach = self.window / 2;
        step.saturating_sub(reach)..(step + reach + 1).min(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(width_ps: u64, window: usize) -> Steps {
        Steps { width: Span::from_ps(width_ps), last: Time::from_ps(1_000), window }
    }

    #[test]
    fn incomplete_step_counts_only_if_cut_by_the_run_end() {
        let thirds = steps(300, 5);
        let counts = [0, 299, 300, 999, 1_000].map(|end| thirds.count(Time::from_ps(end)));
        assert_eq!(counts, [0, 0, 1, 3, 4]);
        assert_eq!(thirds.bounds(3), [900, 1_000].map(Time::from_ps));
        assert_eq!(steps(500, 5).count(Time::from_ps(1_000)), 2);
        assert_eq!(steps(0, 5).count(Time::from_ps(1_000)), 0);
        assert!((thirds.over_ps(&(1..4)) - 700.0).abs() < 1e-12);
    }

    #[test]
    fn smoothing_window_is_centred_and_shrinks_at_the_ends() {
        let of = |step| steps(10, 5).centred(step, 6);
        assert_eq!([of(0), of(1), of(2)], [0..3, 0..4, 0..5]);
        assert_eq!([of(3), of(4), of(5)], [1..6, 2..6, 3..6]);
        assert_eq!(steps(10, 1).centred(4, 6), 4..5);
    }
}
