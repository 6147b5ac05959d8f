//! Time series: what a class did step by step, from time zero to the end of the window.

use super::Count;
use super::slices::Slice;
use gingham_kernel::Time;

/// A step of a time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// It begins here.
    pub from: Time,
    /// It ends here.
    pub to: Time,
    /// Created in it.
    pub created: Count,
    /// Delivered in it.
    pub delivered: Count,
    /// Mean latency of the messages created in it and delivered, in picoseconds.
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
