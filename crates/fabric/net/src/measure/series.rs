//! Time series of a traffic class.

use super::Count;
use super::slices::Slice;
use gingham_kernel::Time;

/// Step in the time series of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Messages created in the step.
    pub created: Count,
    /// Messages delivered in the step.
    pub delivered: Count,
    /// Mean latency of messages created in the step and delivered at any time.
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
