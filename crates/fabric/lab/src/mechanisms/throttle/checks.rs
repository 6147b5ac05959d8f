//! Checks of self-tuned throttling.

use crate::check::{Check, refuse, when, within};
use crate::compile::cables::DELAY_MAX;
use crate::scenario::SelfTuned;
use gingham_kernel::Span;
use std::ops::{Bound, RangeInclusive};

const COUNTS: RangeInclusive<i64> = 1..=1_000;
const COUNT_RULE: &str = "from 1 to 1,000";
const FRACTIONS: RangeInclusive<f64> = 0.0..=1.0;
const FRACTION_RULE: &str = "a fraction from 0 to 1";

pub(super) struct Written {
    pub(super) tuned: SelfTuned,
    pub(super) gather: Span,
    pub(super) side_band: Span,
}

pub(super) fn of_keys() -> [Check<Written>; 8] {
    [
        refuse("gather", |it| {
            let allowed = (Bound::Excluded(Span::ZERO), Bound::Included(DELAY_MAX));
            let rule = "the period between counts of buffers is above 0 and at most";
            within!(it.gather, allowed, "{rule} {DELAY_MAX}")
        }),
        refuse("tuning_gathers", |it| within!(it.tuned.tuning_gathers, COUNTS, "{COUNT_RULE}")),
        refuse("side_band", |it| {
            let (side_band, period) =
                (it.side_band, it.gather * it.tuned.tuning_gathers.unsigned_abs());
            when!(
                side_band > period,
                "a side band slower than its tuning period: counts are {side_band} on their way, and the threshold is tuned every \
                 {period}, before its last change has shown; make it faster, or raise gather or tuning_gathers"
            )
        }),
        refuse("threshold", |it| within!(it.tuned.threshold, FRACTIONS, "{FRACTION_RULE}")),
        refuse("increase", |it| within!(it.tuned.increase, FRACTIONS, "{FRACTION_RULE}")),
        refuse("decrease", |it| within!(it.tuned.decrease, FRACTIONS, "{FRACTION_RULE}")),
        refuse("drop", |it| within!(it.tuned.drop, FRACTIONS, "{FRACTION_RULE}")),
        refuse("patience", |it| within!(it.tuned.patience, COUNTS, "{COUNT_RULE}")),
    ]
}
