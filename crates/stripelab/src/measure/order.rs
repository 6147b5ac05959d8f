//! The order in which packets were given out.
//!
//! Source: Morton, Ciavattone, Ramachandran, Shalunov and Perser, "Packet Reordering Metrics", RFC
//! 4737, section 3: a packet is reordered if one that was sent later was given out before it. A gap
//! that nothing fills is a loss and no reordering.
//!
//! Invariant: whatever is given out counts once, as in order, out of order or twice.

use std::collections::BTreeSet;

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
    /// One more than the highest number given out.
    next: u64,
    /// Numbers below that were not.
    missing: BTreeSet<u64>,
    /// The highest number less the number, at the most, of what was out of order.
    extent_max: u64,
}

impl Order {
    pub(crate) const fn new() -> Self {
        Self { next: 1, missing: BTreeSet::new(), extent_max: 0 }
    }

    /// The packet of this number is given out.
    pub(crate) fn take(&mut self, number: u64) -> Place {
        if number >= self.next {
            self.missing.extend(self.next..number);
            self.next = number + 1;
            Place::InOrder
        } else if self.missing.remove(&number) {
            self.extent_max = self.extent_max.max(self.next - 1 - number);
            Place::OutOfOrder
        } else {
            Place::Twice
        }
    }

    /// By how many numbers a packet came after one that was sent later, at the most.
    pub(crate) const fn extent_max(&self) -> u64 {
        self.extent_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{InOrder, OutOfOrder, Twice};

    /// The example of RFC 4737, section 3.4: the sequence 1 2 3 7 8 9 10 4 5 6 11 has three reordered
    /// packets, of which 4 comes seven places late by number.
    #[test]
    fn packets_after_later_ones_are_out_of_order() {
        let mut order = Order::new();
        let places = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].map(|number| order.take(number));
        let mut expected = [InOrder; 11];
        expected[7..10].fill(OutOfOrder);
        assert_eq!(places, expected);
        assert_eq!(order.extent_max(), 6);
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
