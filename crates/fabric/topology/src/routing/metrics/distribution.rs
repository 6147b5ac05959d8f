//! Distribution of pairs of endpoints by a small integer, such as path length.

/// Number of pairs with each value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    pairs: Vec<u64>,
}

impl Distribution {
    pub(crate) fn add(&mut self, number: usize, pairs: u64) {
        if self.pairs.len() <= number {
            self.pairs.resize(number + 1, 0);
        }
        self.pairs[number] += pairs;
    }

    /// Returns the number of pairs with each value, from 0 to the largest.
    pub fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// Returns the number of pairs with a given value.
    pub fn of(&self, number: usize) -> u64 {
        self.pairs.get(number).copied().unwrap_or(0)
    }

    /// Returns the total number of pairs.
    pub fn total(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// Returns the mean value over all pairs; `None` without pairs.
    pub fn mean(&self) -> Option<f64> {
        ratio((0..).zip(&self.pairs).map(|(number, pairs)| number * pairs).sum(), self.total())
    }

    /// Returns the largest value of any pair; `None` without pairs.
    pub fn max(&self) -> Option<usize> {
        self.pairs.len().checked_sub(1)
    }
}

pub(super) fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| real(numerator) / real(denominator))
}

#[expect(clippy::cast_precision_loss, reason = "statistics need few digits")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}
