//! Reordering metrics.
//!
//! Source: RFC 4737, section 3: a packet is reordered if it was delivered after a packet that was
//! sent later; a gap that is never filled is a loss. Section 4.2.1: the extent is the distance in
//! delivery order from the first packet that was sent later.
//!
//! Only the `MISSING_MAX` highest missing numbers are kept; a packet whose number was discarded
//! counts as a duplicate.

use std::collections::BTreeMap;

/// Maximum number of missing packet numbers kept, about 10 MiB.
const MISSING_MAX: usize = 1 << 18;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    InOrder,
    OutOfOrder,
    Twice,
}

#[derive(Debug)]
pub(crate) struct Order {
    next: u64,
    given: u64,
    /// Missing numbers, each with the delivery position of the first later packet.
    missing: BTreeMap<u64, u64>,
    extent_max: u64,
}

impl Order {
    pub(crate) const fn new() -> Self {
        Self { next: 1, given: 0, missing: BTreeMap::new(), extent_max: 0 }
    }

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

    fn miss(&mut self, number: u64, place: u64) {
        let kept_from = number.saturating_sub(MISSING_MAX as u64).max(self.next);
        self.missing.extend((kept_from..number).map(|missing| (missing, place)));
        while self.missing.len() > MISSING_MAX {
            self.missing.pop_first();
        }
    }

    pub(crate) const fn extent_max(&self) -> u64 {
        self.extent_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{InOrder, OutOfOrder, Twice};

    #[test]
    fn packets_after_later_ones_are_out_of_order() {
        let mut order = Order::new();
        let places = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].map(|number| order.take(number));
        let mut expected = [InOrder; 11];
        expected[7..10].fill(OutOfOrder);
        assert_eq!(places, expected);
        assert_eq!(order.extent_max(), 6);
    }

    /// Packet 2 is delivered one position after packet 9, as the duplicate between them is not
    /// counted.
    #[test]
    fn extent_is_counted_in_positions_and_not_in_numbers() {
        let mut order = Order::new();
        assert_eq!([1, 9, 9, 2].map(|number| order.take(number))[3], OutOfOrder);
        assert_eq!(order.extent_max(), 1);
    }

    #[test]
    fn missing_numbers_are_bounded() {
        let mut order = Order::new();
        let last = 3 * MISSING_MAX as u64;
        assert_eq!([10, last].map(|number| order.take(number)), [InOrder; 2]);
        assert_eq!(order.missing.len(), MISSING_MAX);
        assert_eq!(order.take(last - 1), OutOfOrder);
        assert_eq!(order.take(last - MISSING_MAX as u64), OutOfOrder);
        assert_eq!(order.extent_max(), 2);
    }

    #[test]
    fn gaps_and_duplicates_are_not_reordering() {
        let mut order = Order::new();
        assert_eq!(
            [1, 3, 4, 4, 1].map(|number| order.take(number)),
            [InOrder, InOrder, InOrder, Twice, Twice]
        );
    }
}
