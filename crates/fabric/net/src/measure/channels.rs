//! Flit, stop and occupancy statistics of channels, by section.

use super::grid::SECTIONS_MAX;
use super::section::{Row, Section};
use super::{ChannelCount, Estimate};
use gingham_results::{Ratio, real};
use gingham_topology::ChannelId;

/// Results of one channel over the measurement window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChannelReport {
    /// Flits, stops and buffer occupancy counted in the window.
    pub count: ChannelCount,
    /// Fraction of the window during which the channel carried flits.
    pub utilisation: Estimate,
    /// Fraction of the window during which flow control stopped the sender.
    pub stopped_share: Estimate,
    /// Mean number of flits in the receiver's input buffer; `None` without a buffer.
    pub occupancy_flits: Option<Estimate>,
}

#[derive(Clone, Debug)]
pub(super) struct ChannelCollector {
    flits_ps: Vec<f64>,
    has_buffers: Vec<bool>,
    last: Vec<ChannelCount>,
    sections: Vec<Section>,
    changes: Vec<Row>,
}

impl ChannelCollector {
    pub(super) fn new(flits_ps: Vec<f64>, has_buffer: impl Fn(ChannelId) -> bool) -> Self {
        let channels = ChannelId::first(flits_ps.len());
        let has_buffers = channels.map(has_buffer).collect();
        let last = vec![ChannelCount::default(); flits_ps.len()];
        Self { flits_ps, has_buffers, last, sections: Vec::new(), changes: Vec::new() }
    }

    pub(super) fn end_section(&mut self, counts: &[Row]) {
        self.changes.clear();
        for (channel, count) in counts {
            let last = &mut self.last[channel.index()];
            if count != last {
                self.changes.push((*channel, count.since(last)));
                *last = *count;
            }
        }
        self.sections.push(Section::new(&self.changes));
        debug_assert!(self.sections.len() <= SECTIONS_MAX, "sections are few");
    }

    pub(super) fn double(&mut self) {
        let merge = |pair: &[Section]| pair[0].sum(&pair[1]);
        self.sections = self.sections.chunks_exact(2).map(merge).collect();
    }

    /// Returns the results of each channel over the sections from `first` on, whose lengths are
    /// `sections_ps`; `None` without sections.
    pub(super) fn reports(
        &self,
        first: usize,
        sections_ps: Vec<f64>,
    ) -> impl Iterator<Item = Option<ChannelReport>> {
        let sections = &self.sections[first..first + sections_ps.len()];
        let mut rows: Vec<_> = sections.iter().map(|section| section.rows().peekable()).collect();
        let mut counts = Vec::new();
        let channels = ChannelId::first(self.flits_ps.len()).zip(&self.flits_ps);
        channels.zip(&self.has_buffers).map(move |((channel, flit_ps), has_buffer)| {
            counts.clear();
            counts.extend(rows.iter_mut().map(|rows| {
                let row = rows.next_if(|row| row.0 == channel);
                row.map_or_else(ChannelCount::default, |row| row.1)
            }));
            report(*flit_ps, *has_buffer, &counts, &sections_ps)
        })
    }
}

fn report(
    flit_ps: f64,
    has_buffer: bool,
    counts: &[ChannelCount],
    sections_ps: &[f64],
) -> Option<ChannelReport> {
    let estimate = |of: &dyn Fn(&ChannelCount) -> f64| {
        let section = |(count, over): (&ChannelCount, &f64)| Ratio { sum: of(count), over: *over };
        let sections: Vec<Ratio> = counts.iter().zip(sections_ps).map(section).collect();
        Estimate::of_sections(&sections)
    };
    let busy_ps =
        |count: &ChannelCount| real((count.data_flits + count.control_flits).into()) * flit_ps;
    Some(ChannelReport {
        count: counts.iter().fold(ChannelCount::default(), |sum, count| sum + *count),
        utilisation: estimate(&busy_ps)?,
        stopped_share: estimate(&|count| real(count.stopped_ps.into()))?,
        occupancy_flits: has_buffer
            .then(|| estimate(&|count| real(count.occupancy_flit_ps)))
            .flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows<const N: usize>(counts: [ChannelCount; N]) -> Vec<Row> {
        ChannelId::first(N).zip(counts).collect()
    }

    fn flits(data_flits: u64) -> ChannelCount {
        ChannelCount { data_flits, ..ChannelCount::default() }
    }

    const FLIT_PS: f64 = 10.0;

    fn data_flits(collector: &ChannelCollector, first: usize, channel: usize) -> Vec<u64> {
        let sections = collector.sections.len() - first;
        let each = |section| {
            let report = collector.reports(first + section, vec![1.0]).nth(channel);
            report.unwrap().unwrap().count.data_flits
        };
        (0..sections).map(each).collect()
    }

    #[test]
    fn merging_adds_counts_of_adjacent_sections() {
        let mut collector = ChannelCollector::new(vec![FLIT_PS; 2], |_| false);
        for end in 1..=4 {
            collector.end_section(&rows([flits(10 * end), flits(end * end)]));
        }
        assert_eq!(data_flits(&collector, 0, 0), [10, 10, 10, 10]);
        assert_eq!(data_flits(&collector, 1, 1), [3, 5, 7]);
        collector.double();
        assert_eq!(data_flits(&collector, 0, 0), [20, 20]);
        assert_eq!(data_flits(&collector, 0, 1), [4, 12]);
        collector.end_section(&rows([flits(41), flits(16)])[..1]);
        assert_eq!(data_flits(&collector, 1, 0), [20, 1]);
        assert_eq!(data_flits(&collector, 1, 1), [12, 0]);
    }

    #[test]
    fn shares_and_occupancy_are_relative_to_window_time() {
        let mut collector = ChannelCollector::new(vec![FLIT_PS; 2], |channel| channel.index() == 0);
        for end in 1..=3 {
            let one = ChannelCount {
                data_flits: 3 * end,
                control_flits: end,
                stops: 1,
                stopped_ps: 25 * end,
                occupancy_flit_ps: u128::from(300 * end),
            };
            collector.end_section(&rows([one, flits(end)]));
        }
        // The last two sections, 100 ps each, contain 8 flits of 10 ps, 50 ps of stopped time and
        // 600 flit-picoseconds of buffer occupancy.
        let measured = collector.reports(1, vec![100.0, 100.0]).next().unwrap().unwrap();
        assert_eq!((measured.count.data_flits, measured.count.stops), (6, 0));
        assert!((measured.utilisation.mean - 0.4).abs() < 1e-12);
        assert!((measured.stopped_share.mean - 0.25).abs() < 1e-12);
        assert!((measured.occupancy_flits.unwrap().mean - 3.0).abs() < 1e-12);
        let without_buffer = collector.reports(1, vec![100.0]).nth(1).unwrap().unwrap();
        assert_eq!(without_buffer.occupancy_flits, None);
        assert_eq!(collector.reports(3, Vec::new()).next().unwrap(), None);
    }

    proptest! {
        #[test]
        fn section_counts_are_differences_of_totals(
            steps in proptest::collection::vec(
                proptest::array::uniform3((prop_oneof![Just(0), 1..1_u64 << 40], any::<bool>())), 8)
        ) {
            let mut collector = ChannelCollector::new(vec![FLIT_PS; 3], |_| true);
            let mut totals = [0; 3];
            for step in &steps {
                let mut reported = Vec::new();
                for (channel, (grows, is_reported)) in step.iter().enumerate() {
                    totals[channel] += grows;
                    if *grows > 0 || *is_reported {
                        reported.push((ChannelId::new(channel), flits(totals[channel])));
                    }
                }
                collector.end_section(&reported);
            }
            let grown = |steps: &[[(u64, bool); 3]], channel: usize| -> u64 {
                steps.iter().map(|step| step[channel].0).sum()
            };
            for width in [1, 2, 4] {
                for channel in 0..3 {
                    let expected: Vec<_> =
                        steps.chunks(width).map(|steps| grown(steps, channel)).collect();
                    prop_assert_eq!(data_flits(&collector, 0, channel), expected);
                }
                collector.double();
            }
        }
    }
}
