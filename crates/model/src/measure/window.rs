//! The window: the part of a run that its numbers describe.

use super::class::ClassLedger;
use super::grid::Grid;
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

/// The section after the warm-up of a run of so many sections, and how it was found: that of the class
/// which takes longest, and not before every class has started. A class without a message has no say.
pub(super) fn after_warm_up(
    given: Option<Time>,
    grid: &Grid,
    classes: &[ClassLedger],
    sections: usize,
) -> (usize, WarmUp) {
    if let Some(given) = given {
        return (grid.section_from(given).min(sections), WarmUp::Given);
    }
    let started = classes.iter().map(|class| grid.section_from(class.start)).max().unwrap_or(0);
    let (steady, warm_up) = match steady_section(classes, sections) {
        Some(section) => (section, WarmUp::Found),
        None => (sections.div_ceil(2), WarmUp::TooShort),
    };
    (steady.max(started).min(sections), warm_up)
}

/// The section from which on every class is steady; `None` if they are too few to tell.
fn steady_section(classes: &[ClassLedger], sections: usize) -> Option<usize> {
    let talking = classes.iter().filter(|class| class.has_journeys(sections));
    let slices: Option<Vec<usize>> =
        talking.map(|class| class.first_steady_slice(sections)).collect();
    Some(Grid::section_from_slice(slices?.into_iter().max().unwrap_or(0)))
}
