//! The order in which packets were delivered.
//!
//! Source: Morton, Ciavattone, Ramachandran, Shalunov and Perser, "Packet Reordering Metrics", RFC
//! 4737, section 3: a packet is reordered if one that was sent later was delivered before it. A gap
//! that nothing fills is a loss and no reordering. Section 4.2.1: its extent is by how many places,
//! in the order of delivery, it comes after the first that was sent later.
//!
//! Invariants: whatever is delivered counts once, as in order, out of order or twice; so many
//! numbers of missing packets are kept at the most, the highest, and one that comes after its own
//! was let go counts as twice.

use std::collections::BTreeMap;

/// Missing packets that are kept: some ten mebibytes of them.
const MISSING_MAX: usize = 1 << 18;

/// What a packet was to the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    InOrder,
    OutOfOrder,
    Twice,
}

/// The order so far.
#[derive(Debug)]
pub(crate) struct Order {
    /// One more than the highest number delivered.
    next: u64,
    /// Packets delivered, repetitions aside.
    given: u64,
    /// Numbers below the next that were not, and the place of the first packet that was sent later.
    missing: BTreeMap<u64, u64>,
    extent_max: u64,
}

impl Order {
    pub(crate) const fn new() -> Self {
        Self { next: 1, given: 0, missing: BTreeMap::new(), extent_max: 0 }
    }

    /// The packet of this number is delivered.
    pub(crate) fn take(&mut self, number: u64) -> Place {
        let place = self.given;
        if number >= self.next {
            self.miss(number, place);
            (self.next, self.given) = (number + 1, place + 1);
            Place::InOrder
        } else if let Some(first_later) = self.missing.remove(&number) {
            self.extent_max = self.extent_max.max(place - first_later);
            self.given = place + 1;
            Place::OutOfOrder
        } else {
            Place::Twice
        }
    }

    /// All from the next to this number, which is delivered at this place, are missing.
    fn miss(&mut self, number: u64, place: u64) {
        let kept_from = number.saturating_sub(MISSING_MAX as u64).max(self.next);
        self.missing.extend((kept_from..number).map(|missing| (missing, place)));
        while self.missing.len() > MISSING_MAX {
            self.missing.pop_first();
        }
    }

    /// By how many places a packet came after the first that was sent later, at the most.
    pub(crate) const fn extent_max(&self) -> u64 {
        self.extent_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{InOrder, OutOfOrder, Twice};

    /// The sequence 1 2 3 7 8 9 10 4 5 6 11 has three reordered packets, which come 4, 5 and 6
    /// places after 7.
    #[test]
    fn packets_after_later_ones_are_out_of_order() {
        let mut order = Order::new();
        let places = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].map(|number| order.take(number));
        let mut expected = [InOrder; 11];
        expected[7..10].fill(OutOfOrder);
        assert_eq!(places, expected);
        assert_eq!(order.extent_max(), 6);
    }

    /// 3 to 8 are lost: 2 comes one place after 9, seven numbers above. A repetition takes no
    /// place.
    #[test]
    fn the_extent_is_counted_in_places_and_not_in_numbers() {
        let mut order = Order::new();
        assert_eq!([1, 9, 9, 2].map(|number| order.take(number))[3], OutOfOrder);
        assert_eq!(order.extent_max(), 1);
    }

    /// Of all that is lost before the last packet, as much is kept as there is room for: the
    /// highest numbers.
    #[test]
    fn what_is_missing_is_kept_in_bounds() {
        let mut order = Order::new();
        let last = 3 * MISSING_MAX as u64;
        assert_eq!([10, last].map(|number| order.take(number)), [InOrder; 2]);
        assert_eq!(order.missing.len(), MISSING_MAX);
        assert_eq!(order.take(last - 1), OutOfOrder);
        assert_eq!(order.take(last - MISSING_MAX as u64), OutOfOrder);
        assert_eq!(order.extent_max(), 2);
    }

    #[test]
    fn a_gap_is_no_reordering_and_a_repetition_none_either() {
        let mut order = Order::new();
        assert_eq!(
            [1, 3, 4, 4, 1].map(|number| order.take(number)),
            [InOrder, InOrder, InOrder, Twice, Twice]
        );
    }
}
