//! Checks of the self-tuned control: times, counts and fractions.

use crate::check::{Check, Place, Subject, refuse, when, within};
use crate::compile::cables::DELAY_MAX;
use crate::scenario::{ScenarioSource, SelfTuned};
use gingham_kernel::Span;
use std::ops::{Bound, RangeInclusive};

/// Gathers of a tuning period, and periods until the best is forgotten.
const COUNTS: RangeInclusive<i64> = 1..=1_000;
const COUNT_RULE: &str = "from 1 to 1,000";
const FRACTIONS: RangeInclusive<f64> = 0.0..=1.0;
const FRACTION_RULE: &str = "a fraction from 0 to 1";

/// The control as it is written, with its times in force.
pub(super) struct Written<'a> {
    pub(super) source: &'a ScenarioSource,
    pub(super) of: SelfTuned,
    pub(super) gather: Span,
    pub(super) side_band: Span,
}

impl Subject for Written<'_> {
    fn place(&self) -> Place<'_> {
        Place::of_table(self.source, "network.adapters.congestion_control.self-tuned")
    }
}

/// Rows on the keys.
pub(super) fn of_keys<'a>() -> [Check<Written<'a>>; 8] {
    [
        refuse("gather", |it| {
            let allowed = (Bound::Excluded(Span::ZERO), Bound::Included(DELAY_MAX));
            let rule = "buffers are counted every so often, more than 0 and at most";
            within(it.gather, allowed, format_args!("{rule} {DELAY_MAX}"))
        }),
        refuse("tuning_gathers", |it| within(it.of.tuning_gathers, COUNTS, COUNT_RULE)),
        refuse("side_band", |it| {
            let (side_band, period) =
                (it.side_band, it.gather * it.of.tuning_gathers.unsigned_abs());
            when!(
                side_band > period,
                "a side band slower than its tuning period: counts are {side_band} on their way, and the threshold is tuned every \
                 {period}, before its last change has shown; make it faster, or raise gather or tuning_gathers"
            )
        }),
        refuse("threshold", |it| within(it.of.threshold, FRACTIONS, FRACTION_RULE)),
        refuse("increase", |it| within(it.of.increase, FRACTIONS, FRACTION_RULE)),
        refuse("decrease", |it| within(it.of.decrease, FRACTIONS, FRACTION_RULE)),
        refuse("drop", |it| within(it.of.drop, FRACTIONS, FRACTION_RULE)),
        refuse("patience", |it| within(it.of.patience, COUNTS, COUNT_RULE)),
    ]
}
