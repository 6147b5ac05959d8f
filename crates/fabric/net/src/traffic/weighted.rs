//! Weighted random choice.
//!
//! ```text
//!   weights     2     0     1        a random point on [0, 3) selects
//!   cumulative  2     .     3        the first part that ends above it
//!             ├─────────┼────┤
//! ```
//!
//! Invariant: an item of weight 0 is never drawn.

use gingham_kernel::Stream;

/// Items drawn in proportion to their weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighted<T> {
    things: Vec<T>,
    cumulative: Vec<f64>,
}

impl<T: Copy> Weighted<T> {
    /// Creates a choice among the items with a positive weight. `None` without such items, or if a
    /// weight or the sum is negative or not finite.
    pub fn new(weights: impl IntoIterator<Item = (T, f64)>) -> Option<Self> {
        let (mut things, mut cumulative, mut total) = (Vec::new(), Vec::new(), 0.0);
        for (thing, weight) in weights {
            if !(weight.is_finite() && weight >= 0.0) {
                return None;
            }
            if weight > 0.0 {
                total += weight;
                things.push(thing);
                cumulative.push(total);
            }
        }
        (!things.is_empty() && total.is_finite()).then_some(Self { things, cumulative })
    }

    /// Returns the items with a positive weight.
    pub fn things(&self) -> &[T] {
        &self.things
    }

    /// Returns the sum of the weights.
    pub fn total(&self) -> f64 {
        *self.cumulative.last().expect("there is at least one thing")
    }

    /// Returns the items with their fractions of the total weight.
    pub fn shares(&self) -> impl Iterator<Item = (T, f64)> {
        let begins = std::iter::once(0.0).chain(self.cumulative.iter().copied());
        let parts = self.cumulative.iter().zip(begins).map(|(end, begin)| end - begin);
        self.things.iter().copied().zip(parts.map(|part| part / self.total()))
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> T {
        let point = stream.unit() * self.total();
        let place = self.cumulative.partition_point(|end| *end <= point);
        self.things[place.min(self.things.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Purpose;

    #[test]
    fn weighted_draws_are_proportional_to_weights() {
        let weighted = Weighted::new([('a', 0.0), ('b', 2.0), ('c', 0.0), ('d', 6.0)]).unwrap();
        assert_eq!(weighted.shares().collect::<Vec<_>>(), [('b', 0.25), ('d', 0.75)]);
        let mut stream = Stream::new(1, "weighted", Purpose::Destination);
        let drawn: Vec<char> = (0..40_000).map(|_| weighted.draw(&mut stream)).collect();
        let count = |thing| drawn.iter().filter(|drawn| **drawn == thing).count();
        assert_eq!((count('a'), count('c')), (0, 0));
        // Expected: 10,000 draws (standard deviation 86.6).
        assert!(count('b').abs_diff(10_000) < 433, "{}", count('b'));
    }

    #[test]
    fn invalid_weights_are_refused() {
        let too_much = [('a', f64::MAX), ('b', f64::MAX)];
        for weights in [&[][..], &[('a', 0.0)], &[('a', -1.0)], &[('a', f64::NAN)], &too_much] {
            assert_eq!(Weighted::new(weights.iter().copied()), None, "{weights:?}");
        }
    }
}
