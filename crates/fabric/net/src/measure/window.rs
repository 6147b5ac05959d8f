//! Measurement window of a run.

use super::class::{ClassCollector, SLICES_PER_VALUE};
use super::grid::{Grid, SLICES_PER_SECTION};
use super::warm_up::{VALUES_MIN, truncation};
use gingham_kernel::{Span, Time};

/// Method that determined the start of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// The plan sets the start.
    Given,
    /// MSER-5 found the start.
    Found,
    /// The run is too short: MSER-5 would cut more than half of it, so the window is the second
    /// half. The run as a whole is too short only if this is true of every class with enough data.
    TooShort,
    /// The workload ended within the run, and the window covers the whole run.
    Whole,
}

/// Part of a run that the results describe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Start time, at a section boundary.
    pub start: Time,
    /// End time, exclusive.
    pub end: Time,
    /// Method that determined the start.
    pub warm_up: WarmUp,
}

impl Window {
    /// Returns the length of the window.
    pub fn span(&self) -> Span {
        self.end.since(self.start)
    }
}

/// Start of each measurement window, as a section index. Classes that reach a steady state share
/// the run's window, which starts once they are all steady; other classes use the second half of
/// the run.
#[derive(Clone, Debug)]
pub(super) struct Beginnings {
    pub(super) run: (usize, WarmUp),
    pub(super) classes: Vec<(usize, WarmUp)>,
}

impl Beginnings {
    pub(super) fn of_whole(classes: usize) -> Self {
        let first = (0, WarmUp::Whole);
        Self { run: first, classes: vec![first; classes] }
    }

    pub(super) fn of(
        given: Option<Time>,
        grid: &Grid,
        classes: &[ClassCollector],
        sections: usize,
    ) -> Self {
        if let Some(given) = given {
            let first = (grid.section_from(given).min(sections), WarmUp::Given);
            return Self { run: first, classes: vec![first; classes.len()] };
        }
        let started = classes.iter().map(|class| grid.section_from(class.active.start)).max();
        let begin =
            |section: usize, warm_up| (section.max(started.unwrap_or(0)).min(sections), warm_up);
        let settled: Vec<Settled> =
            classes.iter().map(|class| Settled::of(class, grid, sections)).collect();
        let half = begin(sections.div_ceil(2), WarmUp::TooShort);
        let run = match settled.iter().filter_map(|one| one.section()).max() {
            Some(section) => begin(section, WarmUp::Found),
            None if settled.contains(&Settled::Never) => half,
            None => begin(0, WarmUp::Found),
        };
        let of_class = |one: &Settled| if *one == Settled::Never { half } else { run };
        Self { run, classes: settled.iter().map(of_class).collect() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Settled {
    From(usize),
    /// The class reaches no steady state in the first half of the run, or the run has too few
    /// sections.
    Never,
    /// The class stops before the end of the run, or has too few messages.
    Silent,
}

impl Settled {
    fn of(class: &ClassCollector, grid: &Grid, sections: usize) -> Self {
        if sections * SLICES_PER_SECTION < VALUES_MIN * SLICES_PER_VALUE {
            return Self::Never;
        }
        if class.active.end < grid.boundary(sections) {
            return Self::Silent;
        }
        let (latencies, ends) = class.latency_series(sections);
        if latencies.len() < VALUES_MIN {
            return Self::Silent;
        }
        match truncation(&latencies) {
            Some(0) => Self::From(0),
            Some(cut) => Self::From(Grid::section_from_slice(ends[cut - 1])),
            None => Self::Never,
        }
    }

    fn section(self) -> Option<usize> {
        if let Self::From(section) = self { Some(section) } else { None }
    }
}
