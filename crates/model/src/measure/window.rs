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
/// which takes longest. A class without a message has no say.
pub(super) fn after_warm_up(
    given: Option<Time>,
    grid: &Grid,
    classes: &[ClassLedger],
    sections: usize,
) -> (usize, WarmUp) {
    if let Some(given) = given {
        return (grid.section_from(given).min(sections), WarmUp::Given);
    }
    let talking = classes.iter().filter(|class| class.has_journeys(sections));
    let firsts: Option<Vec<usize>> =
        talking.map(|class| class.first_steady_slice(sections)).collect();
    match firsts {
        Some(slices) => {
            let last = slices.into_iter().max().unwrap_or(0);
            (Grid::section_from_slice(last).min(sections), WarmUp::Found)
        }
        None => (sections.div_ceil(2), WarmUp::TooShort),
    }
}
