//! Sets of lanes, and the packet classes that select them.

use std::ops::{BitAnd, BitOr};

/// Maximum number of lanes per channel.
pub const LANES_MAX: u8 = 16;

/// Lanes of a channel as a bit mask, with lane 0 as the lowest bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LaneSet(u16);

/// Packet class: the service level with tables, otherwise an index into sets of lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct VcClass(pub u8);

/// Dateline class in the current dimension; 0 on host cables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DatelineClass(pub u8);

impl LaneSet {
    /// No lane.
    pub const EMPTY: Self = Self(0);

    /// Creates a set from a bit mask.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns the lanes as a bit mask.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Creates a set of one lane, which must be below [`LANES_MAX`].
    pub const fn one(lane: u8) -> Self {
        Self(1 << lane)
    }

    /// Returns the lowest `count` lanes, at most [`LANES_MAX`].
    pub const fn first_n(count: u8) -> Self {
        Self(if count == 0 { 0 } else { u16::MAX >> (LANES_MAX - count) })
    }

    /// Returns the lanes of a VL with `lanes_per_vl` lanes, without lanes from [`LANES_MAX`] on.
    pub const fn of_vl(vl: u8, lanes_per_vl: u8) -> Self {
        let first = vl as u32 * lanes_per_vl as u32;
        if first >= LANES_MAX as u32 {
            return Self::EMPTY;
        }
        Self(Self::first_n(lanes_per_vl).0 << first)
    }

    /// Returns the lanes of several VLs.
    pub fn of_vls(vls: Self, lanes_per_vl: u8) -> Self {
        vls.lanes().fold(Self::EMPTY, |all, vl| all | Self::of_vl(vl, lanes_per_vl))
    }

    /// Returns whether the set contains a lane.
    pub const fn contains(self, lane: u8) -> bool {
        self.0 >> lane & 1 == 1
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the lanes that are not in `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Returns part `index`, counted from 0, of the lanes divided into contiguous parts as evenly
    /// as possible; all lanes if there are fewer than `parts`.
    #[must_use]
    pub fn part(self, index: usize, parts: usize) -> Self {
        let count = self.len() as usize;
        if count < parts {
            return self;
        }
        let [start, end] = [index, index + 1].map(|bound| bound * count / parts);
        self.lanes().skip(start).take(end - start).collect()
    }

    /// Returns the number of lanes.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the highest lane; `None` for the empty set.
    pub fn highest(self) -> Option<u8> {
        self.lanes().last()
    }

    /// Returns the lowest lane; `None` for the empty set.
    pub fn lowest(self) -> Option<u8> {
        self.lanes().next()
    }

    /// Returns the lanes in ascending order.
    #[inline]
    pub fn lanes(self) -> impl Iterator<Item = u8> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lane = u8::try_from(left.trailing_zeros()).expect("lanes are few");
            (left != 0).then(|| {
                left &= left - 1;
                lane
            })
        })
    }
}

impl BitAnd for LaneSet {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for LaneSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<u8> for LaneSet {
    fn from_iter<I: IntoIterator<Item = u8>>(lanes: I) -> Self {
        lanes.into_iter().fold(Self::EMPTY, |all, lane| all | Self::one(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_set_operations_match_bits() {
        let set: LaneSet = [3, 0, 15].into_iter().collect();
        assert_eq!((set.bits(), set.len()), (0b1000_0000_0000_1001, 3));
        assert!(set.lanes().eq([0, 3, 15]));
        assert_eq!(set.lowest(), Some(0));
        assert_eq!(LaneSet::first_n(16).bits(), u16::MAX);
        assert_eq!(LaneSet::first_n(0), LaneSet::EMPTY);
        assert_eq!((set & LaneSet::one(3) | LaneSet::one(1)).bits(), 0b1010);
        assert!(set.without(LaneSet::first_n(2)).lanes().eq([3, 15]));
        assert_eq!(LaneSet::EMPTY.lowest(), None);
    }

    #[test]
    fn parts_are_contiguous_and_even() {
        let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
        let lanes = set(&[0, 2, 3, 7, 9]);
        assert_eq!([0, 1].map(|index| lanes.part(index, 2)), [set(&[0, 2]), set(&[3, 7, 9])]);
        assert_eq!(lanes.part(0, 1), lanes);
        assert_eq!([0, 5].map(|index| lanes.part(index, 6)), [lanes, lanes]);
    }

    #[test]
    fn vls_own_contiguous_lanes() {
        let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
        assert_eq!(LaneSet::of_vl(3, 1), set(&[3]));
        assert_eq!(LaneSet::of_vl(0, 2), set(&[0, 1]));
        assert_eq!(LaneSet::of_vl(1, 5), set(&[5, 6, 7, 8, 9]));
        assert_eq!(LaneSet::of_vl(0, 16), LaneSet::first_n(16));
        assert_eq!(LaneSet::of_vls(set(&[0, 2]), 3), set(&[0, 1, 2, 6, 7, 8]));
        assert_eq!(LaneSet::of_vl(3, 5), set(&[15]));
        assert_eq!(LaneSet::of_vl(14, 16), LaneSet::EMPTY);
    }
}
