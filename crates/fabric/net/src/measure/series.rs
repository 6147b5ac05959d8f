//! Time series of a class, from time zero to the end of the window.

use super::Count;
use super::slices::Slice;
use gingham_kernel::Time;

/// Step of a time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Messages created.
    pub created: Count,
    /// Messages delivered.
    pub delivered: Count,
    /// Mean latency of messages created in the step and delivered.
    pub latency_mean_ps: Option<f64>,
}

impl Step {
    pub(super) fn new(from: Time, to: Time, slice: &Slice) -> Self {
        Self {
            from,
            to,
            created: slice.created,
            delivered: slice.delivered,
            latency_mean_ps: slice.latency_mean_ps(),
        }
    }
}
