//! The window: the part of a run that its numbers describe.

use super::class::{ClassCollector, SLICES_PER_VALUE};
use super::grid::{Grid, SLICES_PER_SECTION};
use super::warm_up::{VALUES_MIN, truncation};
use gingham_kernel::{Span, Time};

/// How the beginning of the window was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// It was given.
    Given,
    /// MSER-5 found it.
    Found,
    /// MSER-5 would cut more than half: the run is too short. The window is the second half.
    TooShort,
}

/// The part of a run that its numbers describe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// It begins here, at a section boundary.
    pub start: Time,
    /// It ends here.
    pub end: Time,
    /// How its beginning was found.
    pub warm_up: WarmUp,
}

impl Window {
    /// Its length.
    pub fn span(&self) -> Span {
        self.end.since(self.start)
    }
}

/// The section after the warm-up of a run of so many sections, and how it was found: that of the
/// class which takes longest, and not before every class has started.
pub(super) fn after_warm_up(
    given: Option<Time>,
    grid: &Grid,
    classes: &[ClassCollector],
    sections: usize,
) -> (usize, WarmUp) {
    if let Some(given) = given {
        return (grid.section_from(given).min(sections), WarmUp::Given);
    }
    let started = classes.iter().map(|class| grid.section_from(class.active.start)).max();
    let (steady, warm_up) = match steady_section(grid, classes, sections) {
        Some(section) => (section, WarmUp::Found),
        None => (sections.div_ceil(2), WarmUp::TooShort),
    };
    (steady.max(started.unwrap_or(0)).min(sections), warm_up)
}

/// The section from which on every class is steady; `None` if there are too few sections to tell.
///
/// A class that stops before them is never steady, and one with few messages tells nothing: neither
/// has a say.
fn steady_section(grid: &Grid, classes: &[ClassCollector], sections: usize) -> Option<usize> {
    if sections * SLICES_PER_SECTION < VALUES_MIN * SLICES_PER_VALUE {
        return None;
    }
    let lasting = classes.iter().filter(|class| class.active.end >= grid.boundary(sections));
    let series = lasting.map(|class| class.latency_series(sections));
    let firsts: Option<Vec<usize>> = series
        .filter(|(latencies, _)| latencies.len() >= VALUES_MIN)
        .map(|(latencies, ends)| {
            let cut = truncation(&latencies)?;
            Some(cut.checked_sub(1).map_or(0, |last| ends[last]))
        })
        .collect();
    Some(Grid::section_from_slice(firsts?.into_iter().max().unwrap_or(0)))
}
