//! Tuning of the self-tuned threshold by throughput.
//!
//! ```text
//!   throughput of the period       throttled      not throttled
//!     fell by more than `drop`     decrease       decrease
//!     otherwise                    increase       unchanged
//! ```
//!
//! A period far below the best period sets the threshold to the smaller of the best period's
//! threshold and its final number of full buffers, to escape local maxima. After `patience`
//! consecutive periods far below, the best period is forgotten.
//!
//! Source: Thottethodi et al. 2001 (table 1 and the avoidance of local maxima, quoted from memory);
//! defining "far below" by `drop` is ours.
//!
//! Invariant: the threshold is between zero and the number of buffers.

use super::self_tuned::SelfTunedPlan;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Period {
    pub(super) gathers: u32,
    pub(super) bytes: u64,
    pub(super) full: u64,
    pub(super) has_throttled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Best {
    bytes: u64,
    /// Number of full buffers, in millionths of a buffer.
    full: u64,
    threshold: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Tuner {
    buffers: u64,
    threshold: u64,
    last: Option<u64>,
    best: Option<Best>,
    far_below: u32,
}

impl Tuner {
    pub(super) fn new(plan: &SelfTunedPlan, buffers: u64) -> Self {
        let threshold = buffers * u64::from(plan.threshold_millionths);
        Self { buffers, threshold, last: None, best: None, far_below: 0 }
    }

    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    pub(super) fn tune(&mut self, plan: &SelfTunedPlan, period: Period) {
        let held = self.threshold;
        let is_below = |other: u64| {
            let kept = 1_000_000 - u128::from(plan.drop_millionths);
            u128::from(period.bytes) * 1_000_000 < u128::from(other) * kept
        };
        let of_all = |millionths: u32| self.buffers * u64::from(millionths);
        if self.last.is_some_and(is_below) {
            self.threshold = held.saturating_sub(of_all(plan.decrease_millionths));
        } else if period.has_throttled {
            let grown = held + of_all(plan.increase_millionths);
            self.threshold = grown.min(of_all(1_000_000));
        }
        self.last = Some(period.bytes);
        match self.best {
            Some(best) if is_below(best.bytes) => {
                self.threshold = best.full.min(best.threshold);
                self.far_below += 1;
                if self.far_below >= plan.patience {
                    (self.best, self.far_below) = (None, 0);
                }
            }
            Some(best) if period.bytes <= best.bytes => self.far_below = 0,
            _ => {
                let full = period.full * 1_000_000;
                self.best = Some(Best { bytes: period.bytes, full, threshold: held });
                self.far_below = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Span;

    const PLAN: SelfTunedPlan = SelfTunedPlan {
        gather: Span::from_ps(10),
        side_band: Span::from_ps(10),
        tuning_gathers: 3,
        threshold_millionths: 100_000,
        increase_millionths: 10_000,
        decrease_millionths: 40_000,
        drop_millionths: 250_000,
        patience: 2,
    };

    fn period(bytes: u64, full: u64, has_throttled: bool) -> Period {
        Period { gathers: 3, bytes, full, has_throttled }
    }

    /// Checks the module's table for 1,000 buffers, a threshold of 100, an increment of 10 and a
    /// decrement of 40.
    #[test]
    fn tuning_table_sets_the_threshold() {
        let mut tuner = Tuner::new(&PLAN, 1_000);
        let mut tune = |bytes, has_throttled| {
            tuner.best = None;
            tuner.tune(&PLAN, period(bytes, 0, has_throttled));
            tuner.threshold()
        };
        assert_eq!(tune(400, false), 100_000_000, "nothing was before");
        assert_eq!(tune(400, true), 110_000_000, "it throttled and cost nothing");
        assert_eq!(tune(300, true), 120_000_000, "three quarters are no fall");
        assert_eq!(tune(224, true), 80_000_000, "less are");
        assert_eq!(tune(167, false), 40_000_000);
        assert_eq!(tune(100, false), 0);
        assert_eq!(tune(10, true), 0, "it stays at none");
    }

    #[test]
    fn threshold_is_capped_at_all_buffers() {
        let plan = SelfTunedPlan { threshold_millionths: 995_000, ..PLAN };
        let mut tuner = Tuner::new(&plan, 1_000);
        tuner.tune(&plan, period(100, 0, true));
        assert_eq!(tuner.threshold(), 1_000_000_000);
    }

    #[test]
    fn throughput_far_below_best_restores_its_threshold() {
        let mut tuner = Tuner::new(&PLAN, 1_000);
        tuner.tune(&PLAN, period(400, 30, true));
        assert_eq!(tuner.threshold(), 110_000_000);
        tuner.tune(&PLAN, period(310, 60, true));
        assert_eq!(tuner.threshold(), 120_000_000, "that is not far");
        tuner.tune(&PLAN, period(240, 60, true));
        assert_eq!(tuner.threshold(), 30_000_000);
        assert!(tuner.best.is_some());
        tuner.tune(&PLAN, period(240, 20, false));
        assert_eq!(tuner.threshold(), 30_000_000);
        assert!(tuner.best.is_none());
        tuner.tune(&PLAN, period(240, 20, false));
        assert_eq!(tuner.best.map(|best| best.bytes), Some(240));
    }
}
