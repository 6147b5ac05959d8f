//! How many pairs have how much of something.

/// Pairs by a small number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    pairs: Vec<u64>,
}

impl Distribution {
    /// Counts pairs that have this many.
    pub(crate) fn add(&mut self, number: usize, pairs: u64) {
        if self.pairs.len() <= number {
            self.pairs.resize(number + 1, 0);
        }
        self.pairs[number] += pairs;
    }

    /// Pairs by how many they have, from none to the most that any pair has.
    pub fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// Pairs that have this many.
    pub fn of(&self, number: usize) -> u64 {
        self.pairs.get(number).copied().unwrap_or(0)
    }

    /// All pairs.
    pub fn total(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// Mean over all pairs; `None` without pairs.
    pub fn mean(&self) -> Option<f64> {
        ratio((0..).zip(&self.pairs).map(|(number, pairs)| number * pairs).sum(), self.total())
    }

    /// The most that any pair has; `None` without pairs.
    pub fn max(&self) -> Option<usize> {
        self.pairs.len().checked_sub(1)
    }
}

/// `None` if there is nothing to divide by.
pub(super) fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| real(numerator) / real(denominator))
}

/// A count as a number of the reals.
#[expect(clippy::cast_precision_loss, reason = "statistics need few digits")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}
