//! Hosts' contention coefficients (their estimates of network load), by step.
//!
//! A merged slice keeps the state at the end of its second half.
//!
//! Invariant: a step depends only on each host's state at the end of the step, not on the order of
//! reports.

use super::grid::Grid;
use crate::{Contention, Decision, PathId, Plan};
use gingham_kernel::{Span, Time};
use gingham_results::real;
use gingham_topology::EndpointId;
use std::collections::BTreeSet;

/// Contention coefficients of all sending hosts at the end of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContentionStep {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Mean coefficient over hosts.
    pub coefficient_mean: f64,
    /// Maximum coefficient over hosts.
    pub coefficient_max: f64,
    /// Fraction of hosts whose packets currently take alternative paths.
    pub alternative_share: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Sample {
    mean: f64,
    highest: f64,
    alternative_share: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ContentionCollector {
    senders: Box<[EndpointId]>,
    now: Vec<Contention>,
    steps: Vec<Sample>,
    width: Option<Span>,
}

impl ContentionCollector {
    pub(super) fn new(plan: &Plan) -> Self {
        let Decision::ByContention(choice) = &plan.routing.decision else { return Self::default() };
        let sources = plan.classes.iter().flat_map(|class| &class.sources);
        let senders: BTreeSet<EndpointId> = sources.map(|source| source.endpoint).collect();
        Self {
            now: vec![Contention::new(choice); senders.len()],
            senders: senders.into_iter().collect(),
            steps: Vec::new(),
            width: plan.measure.step,
        }
    }

    pub(super) fn note(
        &mut self,
        grid: &Grid,
        host: EndpointId,
        now: Time,
        contention: Contention,
    ) {
        let step = now.as_ps() / self.width(grid).as_ps();
        self.end_steps(usize::try_from(step).expect("64-bit platform"));
        // Hosts that send only acknowledgements are not counted.
        if let Ok(place) = self.senders.binary_search(&host) {
            self.now[place] = contention;
        }
    }

    fn end_steps(&mut self, step: usize) {
        if self.steps.len() < step {
            self.steps.resize(step, self.sample());
        }
    }

    pub(super) fn double(&mut self) {
        if self.width.is_none() {
            let seconds = self.steps.iter().skip(1).step_by(2);
            self.steps = seconds.copied().collect();
        }
    }

    /// Returns the steps from time zero to `end`. The run ends at `last`, which may shorten the
    /// last step.
    pub(super) fn series(&self, grid: &Grid, end: Time, last: Time) -> Vec<ContentionStep> {
        if self.senders.is_empty() {
            return Vec::new();
        }
        let (width, latest) = (self.width(grid), self.sample());
        let step = |index: usize| {
            let [from, to] =
                [index, index + 1].map(|at| (Time::ZERO + width * at as u64).min(last));
            let sample = self.steps.get(index).copied().unwrap_or(latest);
            ContentionStep {
                from,
                to,
                coefficient_mean: sample.mean,
                coefficient_max: sample.highest,
                alternative_share: sample.alternative_share,
            }
        };
        (0..usize::MAX).map(step).take_while(|step| step.from < step.to && step.to <= end).collect()
    }

    fn width(&self, grid: &Grid) -> Span {
        self.width.unwrap_or(grid.slice())
    }

    fn sample(&self) -> Sample {
        let hosts = real(self.now.len() as u128);
        let coefficients = || self.now.iter().map(|now| now.coefficient);
        let alternative = self.now.iter().filter(|now| now.path_id == PathId::ALTERNATIVE).count();
        Sample {
            mean: coefficients().sum::<f64>() / hosts,
            highest: coefficients().fold(1.0, f64::max),
            alternative_share: real(alternative as u128) / hosts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collector(width: Option<u64>) -> ContentionCollector {
        ContentionCollector {
            senders: [0, 1, 5].map(EndpointId::new).into(),
            now: vec![Contention { coefficient: 1.0, path_id: PathId::PRIMARY }; 3],
            steps: Vec::new(),
            width: width.map(Span::from_ps),
        }
    }

    fn note(
        collector: &mut ContentionCollector,
        host: usize,
        now: u64,
        coefficient: f64,
        alternative: bool,
    ) {
        let path_id = if alternative { PathId::ALTERNATIVE } else { PathId::PRIMARY };
        let grid = Grid::new(Time::from_ps(102_400));
        let contention = Contention { coefficient, path_id };
        collector.note(&grid, EndpointId::new(host), Time::from_ps(now), contention);
    }

    fn series(collector: &ContentionCollector, end: u64) -> Vec<(u64, f64, f64, f64)> {
        let grid = Grid::new(Time::from_ps(102_400));
        let steps = collector.series(&grid, Time::from_ps(end), Time::from_ps(1_050));
        let row = |step: ContentionStep| {
            let ContentionStep {
                from, coefficient_mean, coefficient_max, alternative_share, ..
            } = step;
            (from.as_ps(), coefficient_mean, coefficient_max, alternative_share)
        };
        steps.into_iter().map(row).collect()
    }

    #[test]
    fn step_records_the_state_at_its_end() {
        let mut collector = collector(Some(100));
        note(&mut collector, 1, 99, 1.6, true);
        note(&mut collector, 5, 100, 2.2, true);
        note(&mut collector, 5, 150, 1.0, false);
        note(&mut collector, 0, 410, 4.0, true);
        let mean = |sum: f64| sum / 3.0;
        let third = 1.0 / 3.0;
        let expected = [
            (0, mean(1.0 + 1.6 + 1.0), 1.6, third),
            (100, mean(1.0 + 1.6 + 1.0), 1.6, third),
            (200, mean(1.0 + 1.6 + 1.0), 1.6, third),
            (300, mean(1.0 + 1.6 + 1.0), 1.6, third),
            (400, mean(4.0 + 1.6 + 1.0), 4.0, 2.0 * third),
            (500, mean(4.0 + 1.6 + 1.0), 4.0, 2.0 * third),
        ];
        assert_eq!(series(&collector, 600), expected);
        assert_eq!(
            series(&collector, 599),
            expected[..5],
            "a step that reaches beyond is left out"
        );
        assert_eq!(series(&collector, 1_050).len(), 11);
    }

    #[test]
    fn merged_slice_has_the_state_at_its_end() {
        let mut collector = collector(None);
        for (slice, coefficient) in [(0, 2.0), (1, 3.0), (2, 4.0), (3, 5.0), (4, 6.0)] {
            note(&mut collector, 0, 100 * slice + 50, coefficient, false);
        }
        // Slice 4 is incomplete, so its state is the current one.
        collector.double();
        let highest: Vec<f64> = collector.steps.iter().map(|step| step.highest).collect();
        assert_eq!(highest, [3.0, 5.0]);
        assert!((collector.sample().highest - 6.0).abs() < 1e-12, "nobody else is higher");
    }

    #[test]
    fn no_contention_series_without_contention_choice() {
        let none = ContentionCollector::default();
        assert_eq!(series(&none, 1_050), []);
    }
}
