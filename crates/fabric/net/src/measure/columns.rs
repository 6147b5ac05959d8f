//! Channel counts of one section, stored by column.
//!
//! A column uses the fewest bits per count (0, 32, 64 or 128) that fit all its counts. All counts
//! are therefore exact, and columns are built and merged without a branch per channel.

use super::ChannelCount;
use std::ops::BitOr;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    data_flits: Column,
    control_flits: Column,
    stops: Column,
    stopped_ps: Column,
    occupancy_flit_ps: Column,
}

impl Columns {
    pub(super) fn new<'a>(counts: impl Iterator<Item = &'a ChannelCount> + Clone) -> Self {
        Self {
            data_flits: Column::of(counts.clone().map(|count| count.data_flits)),
            control_flits: Column::of(counts.clone().map(|count| count.control_flits)),
            stops: Column::of(counts.clone().map(|count| count.stops)),
            stopped_ps: Column::of(counts.clone().map(|count| count.stopped_ps)),
            occupancy_flit_ps: Column::of(counts.map(|count| count.occupancy_flit_ps)),
        }
    }

    pub(super) fn sum(&self, other: &Self) -> Self {
        Self {
            data_flits: self.data_flits.sum(&other.data_flits),
            control_flits: self.control_flits.sum(&other.control_flits),
            stops: self.stops.sum(&other.stops),
            stopped_ps: self.stopped_ps.sum(&other.stopped_ps),
            occupancy_flit_ps: self.occupancy_flit_ps.sum(&other.occupancy_flit_ps),
        }
    }

    pub(super) fn count(&self, row: usize) -> ChannelCount {
        ChannelCount {
            data_flits: self.data_flits.word(row),
            control_flits: self.control_flits.word(row),
            stops: self.stops.word(row),
            stopped_ps: self.stopped_ps.word(row),
            occupancy_flit_ps: self.occupancy_flit_ps.get(row),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Column {
    Zero,
    Narrow(Box<[u32]>),
    Word(Box<[u64]>),
    Wide(Box<[u128]>),
}

impl Column {
    pub(super) fn of<N: Number>(values: impl Iterator<Item = N> + Clone) -> Self {
        let all = values.clone().fold(N::default(), |all, value| all | value);
        match u128::BITS - all.into().leading_zeros() {
            0 => Self::Zero,
            1..=u32::BITS => Self::Narrow(values.map(N::low).collect()),
            33..=u64::BITS => Self::Word(values.map(N::word).collect()),
            _ => Self::Wide(values.map(N::into).collect()),
        }
    }

    pub(super) fn sum(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Zero, column) | (column, Self::Zero) => column.clone(),
            (Self::Narrow(first), Self::Narrow(second)) => Self::of_sums(first, second),
            (Self::Narrow(first), Self::Word(second)) => Self::of_sums(first, second),
            (Self::Word(first), Self::Narrow(second)) => Self::of_sums(first, second),
            (Self::Word(first), Self::Word(second)) => Self::of_sums(first, second),
            (Self::Wide(sums), other) | (other, Self::Wide(sums)) => {
                let sums = sums.iter().enumerate();
                Self::of(sums.map(|(row, sum)| sum + other.get(row)))
            }
        }
    }

    fn of_sums(first: &[impl Number], second: &[impl Number]) -> Self {
        let pairs = first.iter().zip(second);
        let all = pairs.clone().fold(0, |all, (first, second)| all | first.word() | second.word());
        if all >> (u64::BITS - 1) == 0 {
            Self::of(pairs.map(|(first, second)| first.word() + second.word()))
        } else {
            Self::of(pairs.map(|(first, second)| (*first).into() + (*second).into()))
        }
    }

    fn get(&self, row: usize) -> u128 {
        match self {
            Self::Zero => 0,
            Self::Narrow(values) => values[row].into(),
            Self::Word(values) => values[row].into(),
            Self::Wide(values) => values[row],
        }
    }

    /// Returns the count at index `row`, which must fit into 64 bits.
    pub(super) fn word(&self, row: usize) -> u64 {
        self.get(row).word()
    }
}

pub(super) trait Number: Copy + Default + Into<u128> + BitOr<Output = Self> {
    fn low(self) -> u32;
    fn word(self) -> u64;
}

macro_rules! number {
    ($($number:ty)*) => {$(
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_lossless,
            clippy::unnecessary_cast,
            trivial_numeric_casts,
            reason = "what is cut off is zero; each type needs some of them"
        )]
        impl Number for $number {
            fn low(self) -> u32 {
                self as u32
            }

            fn word(self) -> u64 {
                self as u64
            }
        }
    )*};
}

number! { u32 u64 u128 }

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_count() -> impl Strategy<Value = ChannelCount> {
        let number =
            || prop_oneof![Just(0), 0..1_000_u64, Just(u64::from(u32::MAX)), 0..u64::MAX / 2];
        let wide =
            prop_oneof![Just(0), 0..1_000_u128, Just(u128::from(u64::MAX)), 0..u128::MAX / 2];
        (number(), number(), number(), number(), wide).prop_map(
            |(data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps)| ChannelCount {
                data_flits,
                control_flits,
                stops,
                stopped_ps,
                occupancy_flit_ps,
            },
        )
    }

    #[test]
    fn column_uses_the_narrowest_sufficient_type() {
        let column = |values: [u128; 2]| Column::of(values.into_iter());
        let narrow = column([0, u32::MAX.into()]);
        assert_eq!(narrow, Column::Narrow([0, u32::MAX].into()));
        assert_eq!(column([0, 1 << 32]), Column::Word([0, 1 << 32].into()));
        assert_eq!(column([1 << 64, 0]), Column::Wide([1 << 64, 0].into()));
        assert_eq!(column([0, 0]), Column::Zero);
        assert_eq!(narrow.sum(&column([5, 1])), Column::Word([5, 1 << 32].into()));
        let word = column([u64::MAX.into(), 7]);
        assert_eq!(word.sum(&narrow), column([u64::MAX.into(), u128::from(u32::MAX) + 7]));
        assert_eq!(word.sum(&column([1, 0])), Column::Wide([1 << 64, 7].into()));
        assert_eq!(Column::Zero.sum(&word), word);
    }

    proptest! {
        #[test]
        fn columns_store_and_add_counts(
            pairs in proptest::collection::vec((any_count(), any_count()), 0..50)
        ) {
            let first = Columns::new(pairs.iter().map(|pair| &pair.0));
            let second = Columns::new(pairs.iter().map(|pair| &pair.1));
            let sum = first.sum(&second);
            for (row, pair) in pairs.iter().enumerate() {
                prop_assert_eq!(first.count(row), pair.0);
                prop_assert_eq!(second.count(row), pair.1);
                prop_assert_eq!(sum.count(row), pair.0 + pair.1);
            }
        }
    }
}
