//! Permutations: every host sends to exactly one host, and receives from exactly one.
//!
//! ```text
//!   source index, N = 16            d3 d2 d1 d0
//!     transpose       halves exchanged             d1 d0 d3 d2
//!     bit complement  every bit inverted           /d3 /d2 /d1 /d0
//!     bit reversal    bits in reverse order        d0 d1 d2 d3
//!     shuffle         rotated left by one          d2 d1 d0 d3
//!     bit rotation    rotated right by one         d0 d3 d2 d1
//!   position on a grid, in each dimension of size k
//!     tornado         x + ceil(k / 2) - 1          the longest shift with a unique shortest path
//!     neighbour       x + 1
//! ```
//!
//! Source: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, section
//! 3.2 and table 3.1. There, transpose rotates the address by half of its bits. On a square of m x
//! m hosts this exchanges row and column, which is possible for any square number.
//!
//! Invariant: each function is a bijection for every accepted number of hosts.

use gingham_kernel::{Purpose, Stream};

/// Permutation of indices 0, 1, ..., N - 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permutation {
    /// Exchange of row and column of a square.
    Transpose,
    /// Inversion of every bit.
    BitComplement,
    /// Reversal of the order of bits.
    BitReversal,
    /// Rotation of the bits left by one, a perfect shuffle.
    Shuffle,
    /// Rotation of the bits right by one.
    BitRotation,
}

/// Error for an unsupported number of hosts, with the nearest valid numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("needs {kind} hosts, such as {below} or {above}, not {places}")]
pub struct PlacesError {
    kind: &'static str,
    below: usize,
    above: usize,
    places: usize,
}

impl Permutation {
    /// Checks that the permutation exists for `places` indices, at least 1.
    pub fn check(self, places: usize) -> Result<(), PlacesError> {
        let (kind, below, above) = match self {
            Self::Transpose => {
                let side = places.isqrt();
                ("a square number of", side * side, (side + 1) * (side + 1))
            }
            Self::BitComplement | Self::BitReversal | Self::Shuffle | Self::BitRotation => {
                let below = 1 << places.ilog2();
                ("a power of two as the number of", below, 2 * below)
            }
        };
        if below == places { Ok(()) } else { Err(PlacesError { kind, below, above, places }) }
    }

    /// Returns the destination of index `place`. Panics if [`Self::check`] fails, or if `place` is
    /// not below `places`.
    pub fn apply(self, place: usize, places: usize) -> usize {
        assert!(place < places && self.check(places).is_ok(), "{self:?} on {places} places");
        let bits = places.ilog2();
        match self {
            Self::Transpose => {
                let side = places.isqrt();
                place % side * side + place / side
            }
            Self::BitComplement => places - 1 - place,
            Self::BitReversal => (0..bits).fold(0, |turned, bit| turned << 1 | (place >> bit & 1)),
            Self::Shuffle | Self::BitRotation if bits == 0 => place,
            Self::Shuffle => place << 1 & (places - 1) | place >> (bits - 1),
            Self::BitRotation => place >> 1 | (place & 1) << (bits - 1),
        }
    }
}

/// Permutation of grid cells: a shift with wrap-around in every dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GridShift {
    /// Shift by ceil(k / 2) - 1 in a dimension of size k: nearly halfway around.
    Tornado,
    /// Shift by one.
    Neighbour,
}

impl GridShift {
    fn step(self, size: usize) -> usize {
        match self {
            Self::Tornado => size.div_ceil(2) - 1,
            Self::Neighbour => 1,
        }
    }

    /// Returns the destination of the cell at `coordinates`.
    pub fn apply_to(self, coordinates: &[usize], dimensions: &[usize]) -> Vec<usize> {
        let along = coordinates.iter().zip(dimensions);
        along.map(|(at, size)| (at + self.step(*size)) % size).collect()
    }

    /// Returns the destination of a cell; the last dimension varies fastest.
    pub fn apply(self, cell: usize, dimensions: &[usize]) -> usize {
        cell_at(&self.apply_to(&coordinates_of(cell, dimensions), dimensions), dimensions)
    }
}

fn coordinates_of(cell: usize, dimensions: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; dimensions.len()];
    let mut rest = cell;
    for (at, size) in coordinates.iter_mut().zip(dimensions).rev() {
        (*at, rest) = (rest % size, rest / size);
    }
    assert_eq!(rest, 0, "the cell lies on the grid");
    coordinates
}

fn cell_at(coordinates: &[usize], dimensions: &[usize]) -> usize {
    coordinates.iter().zip(dimensions).fold(0, |cell, (at, size)| cell * size + at)
}

/// Neighbourhoods of grid cells.
///
/// ```text
///   without diagonals      with diagonals
///          .                  .   .   .
///        . x .                .   x   .
///          .                  .   .   .
///        2 d                   3^d - 1
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stencil {
    /// Sizes of the dimensions; the last dimension varies fastest.
    pub dimensions: Vec<usize>,
    /// Whether each dimension wraps around.
    pub wraps: Vec<bool>,
    /// Whether steps in several dimensions at once also lead to neighbours.
    pub diagonals: bool,
}

impl Stencil {
    /// Returns the neighbours of a cell, ascending, each once and never the cell itself. Time and
    /// memory are proportional to the number of neighbours.
    pub fn neighbours(&self, cell: usize) -> Vec<usize> {
        let here = coordinates_of(cell, &self.dimensions);
        // Cells reached by steps in the dimensions so far; the flag is true after any step.
        let mut reached = vec![(0, false)];
        for (dimension, at) in here.iter().enumerate() {
            let size = self.dimensions[dimension];
            let near = self.within_a_step(dimension, *at);
            let onward = |(cell, has_stepped): (usize, bool)| {
                let may_step = !has_stepped || self.diagonals;
                let ends = near.iter().filter(move |to| may_step || *to == at);
                ends.map(move |to| (cell * size + to, has_stepped || to != at))
            };
            reached = reached.into_iter().flat_map(onward).collect();
        }
        reached.into_iter().map(|(other, _)| other).filter(|other| *other != cell).collect()
    }

    /// Returns the number of neighbours of a cell without listing them.
    pub fn neighbour_count(&self, cell: usize) -> usize {
        let here = coordinates_of(cell, &self.dimensions);
        let along = here.iter().enumerate();
        let near = along.map(|(dimension, at)| self.within_a_step(dimension, *at).len());
        if self.diagonals {
            near.fold(1, usize::saturating_mul) - 1
        } else {
            near.map(|count| count - 1).sum()
        }
    }

    fn within_a_step(&self, dimension: usize, at: usize) -> Vec<usize> {
        let steps = [-1, 0, 1].into_iter();
        let mut near: Vec<usize> =
            steps.filter_map(|step| self.step(dimension, at, step)).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    fn step(&self, dimension: usize, at: usize, step: i8) -> Option<usize> {
        let (size, wraps) = (self.dimensions[dimension], self.wraps[dimension]);
        match step {
            1 if at + 1 < size => Some(at + 1),
            1 => wraps.then_some(0),
            -1 if at > 0 => Some(at - 1),
            -1 => wraps.then_some(size - 1),
            _ => Some(at),
        }
    }
}

/// Returns the group `by` groups after `group`, modulo the number of groups.
pub fn group_target(group: usize, by: i64, groups: usize) -> usize {
    let sum = i128::try_from(group).expect("groups are few") + i128::from(by);
    let modulus = i128::try_from(groups).expect("groups are few");
    usize::try_from(sum.rem_euclid(modulus)).expect("below the number of groups")
}

/// Returns a random permutation without fixed points, drawn uniformly. It depends only on the
/// arguments. A single index stays fixed.
pub fn derangement(seed: u64, class: &str, places: usize) -> Vec<usize> {
    let mut stream = Stream::new(seed, class, Purpose::Permutation);
    let mut targets: Vec<usize> = (0..places).collect();
    // On average, one shuffle in e = 2.7 moves every index.
    while places > 1 && targets.iter().enumerate().any(|(place, target)| place == *target) {
        stream.shuffle(&mut targets);
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(permutation: Permutation, places: usize) -> Vec<usize> {
        (0..places).map(|place| permutation.apply(place, places)).collect()
    }

    #[test]
    fn permutations_of_16_match_hand_computed_tables() {
        assert_eq!(
            table(Permutation::Transpose, 16),
            [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
        );
        assert_eq!(
            table(Permutation::BitComplement, 16),
            [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        );
        assert_eq!(
            table(Permutation::BitReversal, 16),
            [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]
        );
        assert_eq!(
            table(Permutation::Shuffle, 16),
            [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]
        );
        assert_eq!(
            table(Permutation::BitRotation, 16),
            [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
        );
    }

    #[test]
    fn transpose_accepts_squares_that_are_no_powers_of_two() {
        assert_eq!(table(Permutation::Transpose, 9), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
    }

    #[test]
    fn grid_shifts_match_hand_computed_targets() {
        let ring = |shift: GridShift, size| -> Vec<usize> {
            (0..size).map(|cell| shift.apply(cell, &[size])).collect()
        };
        assert_eq!(ring(GridShift::Tornado, 8), [3, 4, 5, 6, 7, 0, 1, 2]);
        assert_eq!(ring(GridShift::Tornado, 5), [2, 3, 4, 0, 1]);
        assert_eq!(ring(GridShift::Tornado, 2), [0, 1]);
        assert_eq!(ring(GridShift::Neighbour, 4), [1, 2, 3, 0]);
        // Tornado: (0, 0) to (3, 3), (6, 7) to (1, 2). Neighbour: (0, 0) to (1, 1), (7, 7) to (0,
        // 0).
        let torus = [8, 8];
        assert_eq!(GridShift::Tornado.apply(0, &torus), 27);
        assert_eq!(GridShift::Tornado.apply(6 * 8 + 7, &torus), 8 + 2);
        assert_eq!(GridShift::Neighbour.apply(0, &torus), 9);
        assert_eq!(GridShift::Neighbour.apply(63, &torus), 0);
        // Cell (1, 2) of a 2 x 3 grid: tornado shifts by (0, 1), to (1, 0); neighbour by (1, 1), to
        // (0, 0).
        assert_eq!(GridShift::Tornado.apply(5, &[2, 3]), 3);
        assert_eq!(GridShift::Neighbour.apply(5, &[2, 3]), 0);
    }

    #[test]
    fn unsuitable_host_count_error_suggests_valid_counts() {
        let refused = |permutation: Permutation, places| {
            permutation.check(places).expect_err("does not exist").to_string()
        };
        assert_eq!(
            refused(Permutation::Transpose, 18),
            "needs a square number of hosts, such as 16 or 25, not 18"
        );
        assert_eq!(
            refused(Permutation::BitReversal, 18),
            "needs a power of two as the number of hosts, such as 16 or 32, not 18"
        );
        assert!(Permutation::Transpose.check(8).is_err() && Permutation::Shuffle.check(8).is_ok());
        assert!(Permutation::Transpose.check(1).is_ok() && Permutation::Shuffle.check(1).is_ok());
    }

    fn is_permutation(mut targets: Vec<usize>) -> bool {
        targets.sort_unstable();
        targets.iter().enumerate().all(|(place, target)| place == *target)
    }

    #[test]
    fn permutations_are_bijective_at_every_valid_size() {
        use Permutation::{BitComplement, BitReversal, BitRotation, Shuffle, Transpose};
        let mut seen = 0;
        for places in 1..=300 {
            for permutation in [Transpose, BitComplement, BitReversal, Shuffle, BitRotation] {
                if permutation.check(places).is_ok() {
                    assert!(is_permutation(table(permutation, places)), "{permutation:?} {places}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 17 + 4 * 9);
    }

    #[test]
    fn transpose_complement_and_reversal_are_involutions() {
        use Permutation::{BitComplement, BitReversal, Transpose};
        for permutation in [Transpose, BitComplement, BitReversal] {
            for place in 0..64 {
                let there = permutation.apply(place, 64);
                assert_eq!(permutation.apply(there, 64), place, "{permutation:?}");
            }
        }
    }

    #[test]
    fn bit_rotation_inverts_shuffle() {
        for place in 0..64 {
            let there = Permutation::Shuffle.apply(place, 64);
            assert_eq!(Permutation::BitRotation.apply(there, 64), place);
        }
    }

    fn stencil(dimensions: &[usize], wraps: bool, diagonals: bool) -> Stencil {
        let dimensions = dimensions.to_vec();
        Stencil { wraps: vec![wraps; dimensions.len()], dimensions, diagonals }
    }

    #[test]
    fn stencil_neighbours_match_hand_computed_sets() {
        // 3 x 4 cells; cells 0 to 3 form the first row.
        assert_eq!(stencil(&[3, 4], false, false).neighbours(0), [1, 4]);
        assert_eq!(stencil(&[3, 4], true, false).neighbours(0), [1, 3, 4, 8]);
        assert_eq!(stencil(&[3, 4], false, true).neighbours(0), [1, 4, 5]);
        assert_eq!(stencil(&[3, 4], true, true).neighbours(0), [1, 3, 4, 5, 7, 8, 9, 11]);
        assert_eq!(stencil(&[2, 1], true, true).neighbours(1), [0]);
        assert!(stencil(&[1], true, false).neighbours(0).is_empty());
    }

    #[test]
    fn stencil_neighbour_counts_match_the_formula() {
        // In three dimensions, a cell has 6 neighbours, or 27 - 1 with diagonals; a corner has 3,
        // or 8 - 1.
        for (wraps, diagonals, expected) in
            [(true, false, 6), (true, true, 26), (false, false, 3), (false, true, 7)]
        {
            let found = stencil(&[4, 3, 5], wraps, diagonals).neighbours(0);
            assert_eq!(found.len(), expected, "{wraps} {diagonals}");
        }
    }

    #[test]
    fn stencil_cost_is_bounded_by_the_neighbour_count() {
        // Dimensions of size 1 add no neighbours.
        let mut sizes = vec![1; 40];
        sizes.push(16);
        let thin = stencil(&sizes, true, true);
        assert_eq!(thin.neighbours(5), [4, 6]);
        assert_eq!(thin.neighbour_count(5), 2);
        // In a hypercube of twelve dimensions, all other cells are neighbours.
        let cube = stencil(&[2; 12], true, true);
        assert_eq!(cube.neighbour_count(0), 4_095);
        assert!((0..4_096).all(|cell| cube.neighbours(cell).len() == 4_095));
    }

    #[test]
    fn group_shift_wraps_around() {
        assert_eq!([0, 1, 2].map(|group| group_target(group, 1, 3)), [1, 2, 0]);
        assert_eq!([0, 1, 2].map(|group| group_target(group, -1, 3)), [2, 0, 1]);
        assert_eq!(group_target(1, i64::MIN, 2), 1);
    }

    proptest::proptest! {
        #[test]
        fn stencil_neighbourhood_is_symmetric(
            sizes in proptest::collection::vec(1_usize..5, 1..4),
            wraps: bool,
            diagonals: bool,
        ) {
            let stencil = stencil(&sizes, wraps, diagonals);
            for cell in 0..sizes.iter().product() {
                let neighbours = stencil.neighbours(cell);
                proptest::prop_assert!(neighbours.is_sorted_by(|a, b| a < b));
                proptest::prop_assert_eq!(neighbours.len(), stencil.neighbour_count(cell));
                for other in neighbours {
                    proptest::prop_assert!(stencil.neighbours(other).contains(&cell));
                }
            }
        }

        #[test]
        fn grid_shifts_are_permutations(
            sizes in proptest::collection::vec(1_usize..7, 1..5)
        ) {
            let cells: usize = sizes.iter().product();
            for shift in [GridShift::Tornado, GridShift::Neighbour] {
                let targets = (0..cells).map(|cell| shift.apply(cell, &sizes)).collect();
                proptest::prop_assert!(is_permutation(targets));
            }
        }

        #[test]
        fn derangement_has_no_fixed_point(seed: u64, places in 2_usize..60) {
            let targets = derangement(seed, "all", places);
            proptest::prop_assert!(targets.iter().enumerate().all(|(place, to)| place != *to));
            proptest::prop_assert!(is_permutation(targets));
        }
    }

    #[test]
    fn derangement_depends_only_on_seed_class_and_size() {
        let reference = derangement(1, "all", 20);
        assert_eq!(reference, derangement(1, "all", 20));
        assert_ne!(reference, derangement(2, "all", 20));
        assert_ne!(reference, derangement(1, "other", 20));
        assert_eq!(derangement(1, "all", 2), [1, 0]);
        assert_eq!(derangement(1, "all", 1), [0]);
    }

    #[test]
    fn derangements_are_uniform() {
        // Three elements have two derangements, (1, 2, 0) and (2, 0, 1). Expected: 2,000 of each
        // (standard deviation 31.6).
        let first = (0..4_000).filter(|seed| derangement(*seed, "all", 3)[0] == 1).count();
        assert!(first.abs_diff(2_000) < 158, "{first}");
    }
}
