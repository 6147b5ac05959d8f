//! What channels did, by section.

use super::grid::SECTIONS_MAX;
use super::{ChannelCount, Estimate};
use crate::ChannelPlan;
use gingham_results::{Ratio, real};
use gingham_topology::ChannelId;

/// What one channel did in the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChannelReport {
    /// Counts of the window.
    pub count: ChannelCount,
    /// Share of the window in which flits kept it busy.
    pub utilisation: Estimate,
    /// Share of the window for which its sender was stopped.
    pub stopped_share: Estimate,
    /// Flits in the input buffer at its end, on average over time; `None` where a host consumes.
    pub occupancy_flits: Option<Estimate>,
}

/// Cumulative counts of every channel at every section end.
#[derive(Clone, Debug)]
pub(super) struct ChannelCollector {
    plans: Vec<ChannelPlan>,
    /// By channel: whether there is a buffer at its end.
    has_buffers: Vec<bool>,
    /// By section, then by channel.
    ends: Vec<ChannelCount>,
}

impl ChannelCollector {
    /// `has_buffer` says whether there is a buffer at the end of a channel.
    pub(super) fn new(plans: &[ChannelPlan], has_buffer: impl Fn(ChannelId) -> bool) -> Self {
        let channels = ChannelId::first(plans.len());
        let has_buffers = channels.map(has_buffer).collect();
        Self { plans: plans.to_vec(), has_buffers, ends: Vec::new() }
    }

    /// A section has ended with these counts.
    pub(super) fn end_section(&mut self, counts: &[ChannelCount]) {
        assert_eq!(counts.len(), self.channels(), "a count a channel");
        self.ends.extend_from_slice(counts);
        debug_assert!(self.ends.len() <= SECTIONS_MAX * self.channels(), "sections are few");
    }

    /// Neighbours merge: what was counted at the end of the second of each two is left.
    pub(super) fn double(&mut self) {
        let channels = self.channels();
        let pairs = self.ends.len() / (2 * channels).max(1);
        for pair in 0..pairs {
            let from = (2 * pair + 1) * channels;
            self.ends.copy_within(from..from + channels, pair * channels);
        }
        self.ends.truncate(pairs * channels);
    }

    /// What a channel did in the sections from `first` on, which are so long, in picoseconds;
    /// `None` if there is none.
    pub(super) fn report(
        &self,
        channel: usize,
        first: usize,
        sections_ps: &[f64],
    ) -> Option<ChannelReport> {
        let plan = &self.plans[channel];
        let until = |boundary| self.until(boundary, channel);
        let estimate = |of: &dyn Fn(&ChannelCount) -> u128| {
            let section = |(index, over): (usize, &f64)| {
                let count = until(index + 1).since(&until(index));
                Ratio { sum: real(of(&count)), over: *over }
            };
            let sections: Vec<Ratio> = (first..).zip(sections_ps).map(section).collect();
            Estimate::of_sections(&sections)
        };
        let busy_ps = |count: &ChannelCount| {
            u128::from(count.data_flits + count.control_flits) * u128::from(plan.flit.as_ps())
        };
        let has_buffer = self.has_buffers[channel];
        Some(ChannelReport {
            count: until(first + sections_ps.len()).since(&until(first)),
            utilisation: estimate(&busy_ps)?,
            stopped_share: estimate(&|count| u128::from(count.stopped_ps))?,
            occupancy_flits: has_buffer
                .then(|| estimate(&|count| count.occupancy_flit_ps))
                .flatten(),
        })
    }

    /// Counts of a channel before the `boundary`-th section.
    fn until(&self, boundary: usize, channel: usize) -> ChannelCount {
        match boundary.checked_sub(1) {
            None => ChannelCount::default(),
            Some(section) => self.ends[section * self.channels() + channel],
        }
    }

    fn channels(&self) -> usize {
        self.plans.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Span;

    fn flits(data_flits: u64) -> ChannelCount {
        ChannelCount { data_flits, ..ChannelCount::default() }
    }

    /// A channel of 10 ps a flit.
    const PLAN: ChannelPlan =
        ChannelPlan { flit: Span::from_ps(10), delay: Span::ZERO, slack: None };

    #[test]
    fn merging_keeps_the_counts_at_every_second_end() {
        let mut collector = ChannelCollector::new(&[PLAN; 2], |_| false);
        for end in 1..=4 {
            collector.end_section(&[flits(10 * end), flits(end)]);
        }
        assert_eq!(collector.until(0, 1), ChannelCount::default());
        assert_eq!((collector.until(3, 0), collector.until(4, 1)), (flits(30), flits(4)));
        collector.double();
        assert_eq!((collector.until(1, 0), collector.until(2, 1)), (flits(20), flits(4)));
        assert_eq!(collector.until(2, 0).since(&collector.until(1, 0)), flits(20));
    }

    #[test]
    fn shares_and_fill_are_over_the_time_of_the_window() {
        let mut collector = ChannelCollector::new(&[PLAN; 2], |channel| channel.index() == 0);
        for end in 1..=3 {
            let one = ChannelCount {
                data_flits: 3 * end,
                control_flits: end,
                stops: 1,
                stopped_ps: 25 * end,
                occupancy_flit_ps: u128::from(300 * end),
            };
            collector.end_section(&[one, flits(end)]);
        }
        // Two sections of 100 ps: 8 flits of 10 ps, stopped for 50 ps, 600 flit-picoseconds.
        let measured = collector.report(0, 1, &[100.0, 100.0]).unwrap();
        assert_eq!((measured.count.data_flits, measured.count.stops), (6, 0));
        assert!((measured.utilisation.mean - 0.4).abs() < 1e-12);
        assert!((measured.stopped_share.mean - 0.25).abs() < 1e-12);
        assert!((measured.occupancy_flits.unwrap().mean - 3.0).abs() < 1e-12);
        assert_eq!(collector.report(1, 1, &[100.0]).unwrap().occupancy_flits, None);
        assert_eq!(collector.report(0, 3, &[]), None);
    }
}
