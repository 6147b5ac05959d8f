//! What one class did, as it is counted.

use super::grid::{Grid, SLICES_PER_SECTION};
use super::latencies::LatencySections;
use super::slices::{Slice, Slices};
use super::warm_up::truncation;
use crate::{Delivery, Message};
use gingham_kernel::{Span, Time};

/// Slices whose mean is one value of the series in which the warm-up is looked for.
const SLICES_PER_VALUE: usize = 5;

/// The counts of one class.
#[derive(Clone, Debug)]
pub(super) struct ClassLedger {
    /// It creates no message before.
    pub(super) start: Time,
    /// Sums by slice.
    pub(super) slices: Slices,
    /// Latencies by section of creation.
    pub(super) latencies: LatencySections,
    /// Sums by step of the series, if steps are not slices.
    pub(super) steps: Option<Steps>,
}

/// Sums over steps of a given width.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) width: Span,
    pub(super) slices: Slices,
}

impl ClassLedger {
    pub(super) fn new(start: Time, step: Option<Span>) -> Self {
        let steps = step.map(|width| Steps { width, slices: Slices::new() });
        Self { start, slices: Slices::new(), latencies: LatencySections::new(), steps }
    }

    /// A message was created.
    pub(super) fn count_created(&mut self, grid: &Grid, message: &Message) {
        self.each_at(grid, message.created, |slice| slice.created.add(message));
    }

    /// A message was delivered, so many bytes long on the wire.
    pub(super) fn count_accepted(&mut self, grid: &Grid, delivery: &Delivery, wire_bytes: u64) {
        self.each_at(grid, delivery.delivered, |slice| {
            slice.delivered.add(&delivery.message);
            slice.delivered_wire_bytes += wire_bytes;
        });
    }

    /// A message has come to the end of its journey, which counts when it began.
    pub(super) fn count_journey(&mut self, grid: &Grid, delivery: &Delivery) {
        let created = delivery.message.created;
        self.each_at(grid, created, |slice| slice.count_journey(delivery));
        self.latencies.at(grid.section_at(created)).record(delivery.latency());
    }

    /// Neighbours merge.
    pub(super) fn double(&mut self) {
        self.slices.double();
        self.latencies.double();
    }

    /// Whether a message that was created in the first `sections` sections was delivered.
    pub(super) fn has_journeys(&self, sections: usize) -> bool {
        self.slices.sum(0, sections * SLICES_PER_SECTION).followed_messages > 0
    }

    /// The first slice that MSER-5 keeps of so many sections; none if they are too few to tell.
    pub(super) fn first_steady_slice(&self, sections: usize) -> Option<usize> {
        let slices = self.slices.range(0, sections * SLICES_PER_SECTION);
        let means = slices.chunks_exact(SLICES_PER_VALUE).map(|group| {
            let group: Slice = group.iter().sum();
            group.latency_mean_ps()
        });
        let series = means.zip((0..).step_by(SLICES_PER_VALUE));
        let (values, places): (Vec<f64>, Vec<usize>) =
            series.filter_map(|(mean, place)| Some((mean?, place))).unzip();
        truncation(&values).map(|cut| match cut.checked_sub(1) {
            None => 0,
            Some(last) => places[last] + SLICES_PER_VALUE,
        })
    }

    fn each_at(&mut self, grid: &Grid, time: Time, count: impl Fn(&mut Slice)) {
        count(self.slices.at(grid.slice_at(time)));
        if let Some(Steps { width, slices }) = &mut self.steps {
            let index = time.as_ps() / width.as_ps();
            count(slices.at(usize::try_from(index).expect("64-bit platform")));
        }
    }
}
