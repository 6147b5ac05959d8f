//! Approximation of rates by a ratio of small integers.
//!
//! ```text
//!   rates 6 and 10 Mbit/s         1 : 2    20 % off
//!                                 2 : 3    10 %
//!                                 3 : 5    exact
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 6.2, "the closest integer ratio of their
//! bandwidths"; the limit on the integers is our addition.

use core::num::NonZeroU8;

const PARTS: u128 = 1_000_000_000;

/// Returns one integer per rate, in proportion to the rates. Rates must be above 0; the lowest rate
/// gets at most `lowest_max`.
///
/// The integers minimise the largest relative error of any rate; among equal errors, the smallest
/// integers win. Fractions are rounded to nearest, halves up.
pub(crate) fn closest<const CAPACITY: usize>(
    rates: &[u64],
    lowest_max: NonZeroU8,
) -> [u32; CAPACITY] {
    let lowest = rates.iter().copied().min().unwrap_or(1);
    let of_lowest = (1..=lowest_max.get())
        .min_by_key(|of_lowest| {
            rates.iter().map(|rate| off(*rate, lowest, *of_lowest)).max().unwrap_or_default()
        })
        .unwrap_or(1);
    let mut numbers = [0; CAPACITY];
    for (number, &rate) in numbers.iter_mut().zip(rates) {
        *number = u32::try_from(whole(rate, lowest, of_lowest)).unwrap_or(u32::MAX);
    }
    numbers
}

fn whole(rate: u64, lowest: u64, of_lowest: u8) -> u128 {
    let (rate, lowest) = (u128::from(rate), u128::from(lowest));
    (2 * u128::from(of_lowest) * rate + lowest) / (2 * lowest)
}

fn off(rate: u64, lowest: u64, of_lowest: u8) -> u128 {
    let share = u128::from(of_lowest) * u128::from(rate);
    (whole(rate, lowest, of_lowest) * u128::from(lowest)).abs_diff(share) * PARTS / share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio<const COUNT: usize>(rates: [u64; COUNT], lowest_max: u8) -> [u32; COUNT] {
        closest(&rates, NonZeroU8::new(lowest_max).unwrap())
    }

    #[test]
    fn ratio_three_to_five_is_found() {
        assert_eq!([1, 2, 3, 8].map(|most| ratio([6, 10], most)), [[1, 2], [2, 3], [3, 5], [3, 5]]);
        assert_eq!(ratio([10, 6], 8), [5, 3]);
    }

    #[test]
    fn equal_errors_select_the_smallest_numbers() {
        assert_eq!([3, 4, 6].map(|most| ratio([6, 11], most)), [[1, 2], [4, 7], [6, 11]]);
        assert_eq!(ratio([7, 7, 7], 8), [1, 1, 1]);
    }

    #[test]
    fn ratio_minimises_the_largest_error() {
        assert_eq!(
            [1, 2, 4, 5].map(|most| ratio([10, 14, 16], most)),
            [[1, 1, 2], [2, 3, 3], [3, 4, 5], [5, 7, 8]]
        );
    }

    #[test]
    fn extreme_ratios_do_not_overflow() {
        assert_eq!(ratio([1, u64::MAX], 255), [1, u32::MAX]);
        assert_eq!(ratio([u64::MAX, u64::MAX - 1], 255), [1, 1]);
    }
}
