//! Statistics of one traffic class.

use super::grid::{Grid, SLICES_PER_SECTION};
use super::latencies::LatencySections;
use super::served::ServedCollector;
use super::slices::{Slice, Slices};
use crate::{Delivery, Message};
use gingham_kernel::{Span, Time};
use std::ops::Range;

/// Number of slices averaged for each latency passed to MSER-5: five, as in its batches *(ours)*.
pub(super) const SLICES_PER_VALUE: usize = 5;

#[derive(Clone, Debug)]
pub(super) struct ClassCollector {
    pub(super) active: Range<Time>,
    pub(super) slices: Slices,
    pub(super) latencies: LatencySections,
    /// Sums for each step of the time series; `None` if slices serve as steps.
    pub(super) steps: Option<Steps>,
    pub(super) served: ServedCollector,
}

#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) width: Span,
    pub(super) slices: Slices,
}

impl ClassCollector {
    pub(super) fn new(active: Range<Time>, step: Option<Span>, endpoints: usize) -> Self {
        let steps = step.map(|width| Steps { width, slices: Slices::new() });
        let served = ServedCollector::new(endpoints);
        Self { active, slices: Slices::new(), latencies: LatencySections::new(), steps, served }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_created(&mut self, grid: &Grid, message: &Message) {
        self.each_at(grid, message.created, |slice| slice.created.add(message));
        self.served.count_created(message);
    }

    pub(super) fn count_dropped(&mut self, grid: &Grid, message: &Message) {
        self.each_at(grid, message.created, |slice| slice.dropped.add(message));
        self.served.take_back(message);
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_accepted(&mut self, grid: &Grid, delivery: &Delivery) {
        self.each_at(grid, delivery.delivered, |slice| {
            slice.delivered.add(&delivery.message);
            slice.delivered_wire_bytes += delivery.wire_bytes;
        });
        self.served.count_delivered(&delivery.message);
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_journey(&mut self, grid: &Grid, delivery: &Delivery) {
        let created = delivery.message.created;
        let slice = self.each_at(grid, created, |slice| slice.count_journey(delivery));
        self.latencies.at(Grid::section_of(slice)).record(delivery.latency());
    }

    pub(super) fn double(&mut self) {
        self.slices.double();
        self.latencies.double();
        self.served.double();
    }

    /// Returns the mean latency in ps of each group of `SLICES_PER_VALUE` consecutive slices, and
    /// the exclusive end of each group as a slice index. Omits groups without latencies.
    pub(super) fn latency_series(&self, sections: usize) -> (Vec<f64>, Vec<usize>) {
        let slices = self.slices.range(0, sections * SLICES_PER_SECTION);
        let means = slices.chunks_exact(SLICES_PER_VALUE).map(|group| {
            let group: Slice = group.iter().sum();
            group.latency_mean_ps()
        });
        let ends = (SLICES_PER_VALUE..).step_by(SLICES_PER_VALUE);
        means.zip(ends).filter_map(|(mean, end)| Some((mean?, end))).unzip()
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn each_at(&mut self, grid: &Grid, time: Time, count: impl Fn(&mut Slice)) -> usize {
        let slice = grid.slice_at(time);
        count(self.slices.at(slice));
        if let Some(Steps { width, slices }) = &mut self.steps {
            let index = time.as_ps() / width.as_ps();
            count(slices.at(usize::try_from(index).expect("64-bit platform")));
        }
        slice
    }
}
