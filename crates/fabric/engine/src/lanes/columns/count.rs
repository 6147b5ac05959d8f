//! Counts of 64 switches at once, as bit planes: bit s of plane b is bit b of the count of switch
//! s.
//!
//! ```text
//!   switch      3 2 1 0
//!   plane 0     1 0 1 1      an update increments, decrements or keeps each count:
//!   plane 1     0 1 1 0      carry = more ^ less; each plane p: p ^= carry; the carry propagates
//!   plane 2     1 0 0 0      where p was 1 and the count rises, or p was 0 and it falls
//!   count       5 2 3 1
//! ```
//!
//! If any lane is deep, every lane has the high planes that the deepest lane needs. High planes
//! change only when a count reaches a multiple of 16 or drops below it.
//!
//! Invariant: `beyond` marks the switches with a nonzero high plane.

const LOW: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Count<const L: usize> {
    low: [[u64; L]; LOW],
    beyond: [u64; L],
    high: Vec<[u64; L]>,
}

impl<const L: usize> Count<L> {
    pub(crate) fn up_to(counts: &[u32]) -> Self {
        let most = counts.iter().copied().max().unwrap_or(0);
        let planes = (u32::BITS - most.leading_zeros()) as usize;
        let high = vec![[0; L]; planes.saturating_sub(LOW)];
        Self { low: [[0; L]; LOW], beyond: [0; L], high }
    }

    pub(crate) fn of_lanes(counts: &[u32], switches: u64) -> Self {
        let mut count = Self::up_to(counts);
        for (number, plane) in count.low.iter_mut().chain(&mut count.high).enumerate() {
            for lane in 0..L {
                plane[lane] = if counts[lane] >> number & 1 == 1 { switches } else { 0 };
            }
        }
        count.beyond = any(&count.high);
        count
    }

    pub(crate) fn is_deep(&self) -> bool {
        !self.high.is_empty()
    }

    /// Increments the counts marked in `more` and decrements the counts marked in `less`, but keeps
    /// counts that are marked in both.
    #[inline(always)]
    pub(crate) fn step<const DEEP: bool>(&mut self, more: &[u64; L], less: &[u64; L]) {
        let (mut carry, mut down) = ([0; L], [0; L]);
        for lane in 0..L {
            carry[lane] = more[lane] ^ less[lane];
            down[lane] = less[lane] & !more[lane];
        }
        step(&mut self.low, &mut carry, &down);
        if DEEP && carry != [0; L] {
            step(&mut self.high, &mut carry, &down);
            self.beyond = any(&self.high);
        }
        debug_assert_eq!(carry, [0; L], "no count leaves its range");
    }

    #[inline(always)]
    pub(crate) fn any<const DEEP: bool>(&self) -> [u64; L] {
        let mut any = any(&self.low);
        if DEEP {
            for lane in 0..L {
                any[lane] |= self.beyond[lane];
            }
        }
        any
    }

    #[inline(always)]
    pub(crate) fn equal<const DEEP: bool>(&self, other: &Self) -> [u64; L] {
        debug_assert_eq!(self.high.len(), other.high.len(), "counts are of the same lanes");
        let mut equal = [u64::MAX; L];
        compare(&mut equal, &self.low, &other.low);
        if DEEP {
            compare(&mut equal, &self.high, &other.high);
        }
        equal
    }

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize, bit: usize) -> u16 {
        let mut count = 0;
        for number in 0..LOW {
            count |= u16::from(self.low[number][lane] >> bit & 1 == 1) << number;
        }
        if self.beyond[lane] >> bit & 1 == 1 {
            count |= self.get_high(lane, bit);
        }
        count
    }

    #[inline(never)]
    fn get_high(&self, lane: usize, bit: usize) -> u16 {
        let planes = (LOW..).zip(&self.high);
        planes.fold(0, |count, (number, plane)| {
            count | u16::from(plane[lane] >> bit & 1 == 1) << number
        })
    }
}

/// Adds `carry` to the planes, or subtracts it where `down` is set, and leaves the overflow of the
/// last plane in `carry`.
#[inline(always)]
fn step<const L: usize>(planes: &mut [[u64; L]], carry: &mut [u64; L], down: &[u64; L]) {
    for plane in planes {
        for lane in 0..L {
            let before = plane[lane];
            plane[lane] ^= carry[lane];
            carry[lane] &= before ^ down[lane];
        }
    }
}

#[inline(always)]
fn any<const L: usize>(planes: &[[u64; L]]) -> [u64; L] {
    let mut any = [0; L];
    for plane in planes {
        for lane in 0..L {
            any[lane] |= plane[lane];
        }
    }
    any
}

#[inline(always)]
fn compare<const L: usize>(equal: &mut [u64; L], planes: &[[u64; L]], others: &[[u64; L]]) {
    for (plane, other) in planes.iter().zip(others) {
        for lane in 0..L {
            equal[lane] &= !(plane[lane] ^ other[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    fn assert_counts_match_plain_integers(most: [u32; 2]) {
        let mut draw = Stream::new(1, "counts", Purpose::Shuffle);
        let mut count = Count::<2>::up_to(&most);
        let limit = Count::<2>::of_lanes(&most, u64::MAX);
        let mut plain = [[0_u32; 64]; 2];
        let (mut was_full, mut was_emptied) = ([0; 2], [0; 2]);
        for step in 0..6_000 {
            let chance_up = if step / 1_500 % 2 == 0 { 3 } else { 1 };
            let (mut more, mut less) = ([0; 2], [0; 2]);
            for lane in 0..2 {
                for bit in 0..64 {
                    let (up, down) = (draw.below(4) < chance_up, draw.below(2) > 0);
                    let now = &mut plain[lane][bit];
                    let (up, down) = (up && (*now < most[lane] || down), down && (*now > 0 || up));
                    more[lane] |= u64::from(up) << bit;
                    less[lane] |= u64::from(down) << bit;
                    *now = *now + u32::from(up) - u32::from(down);
                }
            }
            let (full, any) = if count.is_deep() {
                count.step::<true>(&more, &less);
                (count.equal::<true>(&limit), count.any::<true>())
            } else {
                count.step::<false>(&more, &less);
                (count.equal::<false>(&limit), count.any::<false>())
            };
            for lane in 0..2 {
                for bit in 0..64 {
                    let now = plain[lane][bit];
                    assert_eq!(u32::from(count.get(lane, bit)), now);
                    assert_eq!(any[lane] >> bit & 1 == 1, now > 0);
                    assert_eq!(full[lane] >> bit & 1 == 1, now == most[lane]);
                }
                was_full[lane] |= full[lane];
                was_emptied[lane] |= was_full[lane] & !any[lane];
            }
        }
        assert_eq!(was_emptied, [u64::MAX; 2], "each was full, and then empty");
    }

    #[test]
    fn bit_plane_counts_match_plain_integers() {
        for most in [[15, 9], [16, 1], [64, 32], [127, 4], [200, 200]] {
            assert_counts_match_plain_integers(most);
        }
    }

    #[test]
    fn carry_propagates_through_all_planes() {
        let mut count = Count::<1>::of_lanes(&[65_535], 0b10);
        assert_eq!((count.get(0, 0), count.get(0, 1), count.any::<true>()), (0, 65_535, [0b10]));
        count = Count::of_lanes(&[32_768], 0b10);
        count.step::<true>(&[0], &[0b10]);
        assert_eq!((count.get(0, 1), count.any::<true>()), (32_767, [0b10]));
        count.step::<true>(&[0b10], &[0]);
        assert_eq!((count.get(0, 1), count.any::<true>()), (32_768, [0b10]));
    }
}
