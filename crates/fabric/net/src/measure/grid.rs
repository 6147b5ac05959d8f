//! Slice and section boundaries.
//!
//! ```text
//!   64 sections of 16 slices    |-|-|-|-|-|-|-|-| ... |-|
//!   before the 65th section     |---|---|---|---| ... |---|   32 sections of 16 slices twice as wide
//! ```
//!
//! The initial slice width is `ceil(time / (1,024 x 2^k))`, where `time` is the length of the run
//! and `k` the smallest number that keeps the width at or below 2^20 ps (about a microsecond).
//! After `k` doublings, 64 sections cover the run; the last section may be short.

use gingham_kernel::{Span, Time};

pub(super) const SLICES_PER_SECTION: usize = 16;
pub(super) const SECTIONS_MAX: usize = 64;
pub(super) const SLICES_MAX: usize = SLICES_PER_SECTION * SECTIONS_MAX;
const FIRST_WIDTH_MAX_PS: u64 = 1 << 20;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grid {
    slice: Span,
    sections: usize,
    time: Time,
}

impl Grid {
    pub(super) fn new(time: Time) -> Self {
        assert!(time > Time::ZERO, "a run lasts");
        let width = |doublings: u32| time.as_ps().div_ceil((SLICES_MAX as u64) << doublings);
        let doublings = (0..64).find(|doublings| width(*doublings) <= FIRST_WIDTH_MAX_PS);
        let first = width(doublings.expect("some width is small enough"));
        Self { slice: Span::from_ps(first), sections: 0, time }
    }

    pub(super) fn slice_at(&self, time: Time) -> usize {
        index(time.as_ps() / self.slice.as_ps())
    }

    pub(super) fn section_at(&self, time: Time) -> usize {
        Self::section_of(self.slice_at(time))
    }

    pub(super) fn section_of(slice: usize) -> usize {
        slice / SLICES_PER_SECTION
    }

    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    pub(super) fn boundary(&self, index: usize) -> Time {
        (Time::ZERO + self.section() * index as u64).min(self.time)
    }

    /// Returns the end of the section that contains `time`, even beyond the end of the run.
    pub(super) fn end_after(&self, time: Time) -> Time {
        Time::ZERO + self.section() * (self.section_at(time) as u64 + 1)
    }

    pub(super) fn slice(&self) -> Span {
        self.slice
    }

    pub(super) fn section_from_slice(slice: usize) -> usize {
        slice.div_ceil(SLICES_PER_SECTION)
    }

    pub(super) fn section_from(&self, time: Time) -> usize {
        index(time.since(Time::ZERO).div_ceil(self.section()))
    }

    pub(super) fn next_end(&self) -> Time {
        self.boundary(self.sections + 1)
    }

    pub(super) fn end_section(&mut self) {
        self.sections += 1;
        assert!(self.sections <= SECTIONS_MAX, "sections merge when there are too many");
    }

    /// Returns whether the length of the run has doubled since this function last returned true.
    pub(super) fn has_doubled(&self) -> bool {
        self.sections == SECTIONS_MAX / 2 || self.is_full()
    }

    pub(super) fn is_full(&self) -> bool {
        self.sections == SECTIONS_MAX
    }

    pub(super) fn double(&mut self) {
        assert!(self.is_full(), "sections merge in pairs, when there are too many");
        self.slice = self.slice * 2;
        self.sections /= 2;
    }

    pub(super) fn section(&self) -> Span {
        self.slice * SLICES_PER_SECTION as u64
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("64-bit platform")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole_run(time_ps: u64) -> (u64, usize, u32) {
        let mut grid = Grid::new(Time::from_ps(time_ps));
        let mut doublings = 0;
        while grid.sections() == 0 || grid.boundary(grid.sections()) < grid.time {
            if grid.is_full() {
                grid.double();
                doublings += 1;
            }
            let before = grid.boundary(grid.sections());
            assert!(grid.next_end() > before);
            grid.end_section();
        }
        (grid.slice.as_ps(), grid.sections(), doublings)
    }

    #[test]
    fn full_run_has_64_sections() {
        // Final slice widths: 10 ps; 2^20 ps; and, for a run that is one picosecond longer, 2 x
        // ceil((2^30 + 1) / 2,048) ps.
        assert_eq!(whole_run(10_240), (10, 64, 0));
        assert_eq!(whole_run(1 << 30), (1 << 20, 64, 0));
        assert_eq!(whole_run((1 << 30) + 1), (2 * 524_289, 64, 1));
        // A run of one second has ten doublings: the initial slice width is 10^12 / 1,024 / 2^10 =
        // 953,674.3 ps, rounded up.
        assert_eq!(whole_run(1_000_000_000_000), (953_675 << 10, 64, 10));
    }

    #[test]
    fn short_run_has_fewer_sections() {
        assert_eq!(whole_run(100), (1, 7, 0));
        assert_eq!(whole_run(1), (1, 1, 0));
    }

    #[test]
    fn section_boundaries_survive_merging() {
        let mut grid = Grid::new(Time::from_ps(1 << 40));
        for _ in 0..SECTIONS_MAX {
            grid.end_section();
        }
        let (before, end) = (grid.clone(), grid.boundary(SECTIONS_MAX));
        grid.double();
        assert_eq!((grid.sections(), grid.boundary(SECTIONS_MAX / 2)), (32, end));
        for index in 0..=SECTIONS_MAX / 2 {
            assert_eq!(grid.boundary(index), before.boundary(2 * index));
            assert_eq!(grid.section_from(before.boundary(2 * index)), index);
            assert_eq!(
                grid.boundary(index),
                Time::ZERO + before.slice() * (2 * index * SLICES_PER_SECTION) as u64
            );
        }
    }

    #[test]
    fn instants_map_to_slices_and_sections() {
        let grid = Grid::new(Time::from_ps(10_240));
        let places = |ps| (grid.slice_at(Time::from_ps(ps)), grid.section_at(Time::from_ps(ps)));
        assert_eq!([places(0), places(9), places(10)], [(0, 0), (0, 0), (1, 0)]);
        assert_eq!([places(159), places(160)], [(15, 0), (16, 1)]);
        assert_eq!(grid.section_from(Time::from_ps(160)), 1);
        assert_eq!(grid.section_from(Time::from_ps(161)), 2);
    }
}
