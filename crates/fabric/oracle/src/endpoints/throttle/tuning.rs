//! Threshold of the self-tuned rule after some tuning periods (`timing.md`, "Tuning" and "Best").

use gingham_net::SelfTunedPlan;

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Period {
    pub(super) bytes: u64,
    pub(super) full: u64,
    /// Whether the estimate was above the threshold at the start or end of any interval in the
    /// period.
    pub(super) has_throttled: bool,
}

#[derive(Clone, Copy)]
struct Best {
    period: Period,
    threshold: u64,
}

pub(super) fn threshold_after(plan: &SelfTunedPlan, buffers: u64, periods: &[Period]) -> u64 {
    let share = |millionths: u32| buffers * u64::from(millionths);
    let is_far_below = |bytes: u64, other: u64| {
        let kept = 1_000_000 - u128::from(plan.drop_millionths);
        u128::from(bytes) * 1_000_000 < u128::from(other) * kept
    };
    let mut threshold = share(plan.threshold_millionths);
    let (mut best, mut in_a_row): (Option<Best>, u32) = (None, 0);
    for (place, period) in periods.iter().enumerate() {
        let in_force = threshold;
        let fell = place > 0 && is_far_below(period.bytes, periods[place - 1].bytes);
        if fell {
            threshold = in_force.saturating_sub(share(plan.decrease_millionths));
        } else if period.has_throttled {
            threshold = (in_force + share(plan.increase_millionths)).min(share(1_000_000));
        }
        let is_far = best.is_some_and(|best| is_far_below(period.bytes, best.period.bytes));
        in_a_row = if is_far { in_a_row + 1 } else { 0 };
        if let Some(known) = best.filter(|_| is_far) {
            threshold = known.threshold.min(known.period.full * 1_000_000);
            if in_a_row >= plan.patience {
                (best, in_a_row) = (None, 0);
            }
        } else if best.is_none_or(|best| period.bytes > best.period.bytes) {
            best = Some(Best { period: *period, threshold: in_force });
        }
    }
    threshold
}
