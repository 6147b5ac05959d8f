//! Counts of 64 switches at once, as planes of bits: bit s of plane b is bit b of the count of
//! switch s.
//!
//! ```text
//!   switch      3 2 1 0
//!   plane 0     1 0 1 1      a count goes up, down or stays in one update of all:
//!   plane 1     0 1 1 0      carry = more ^ less; each plane p: p ^= carry, and the carry goes on
//!   plane 2     1 0 0 0      where p was 1 and goes up, or was 0 and goes down
//!   count       5 2 3 1
//! ```

/// Planes of a count.
pub(crate) const PLANES: usize = 4;

/// The highest count.
pub(crate) const COUNT_MAX: u32 = (1 << PLANES) - 1;

/// A count for each lane of 64 switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Count<const L: usize> {
    planes: [[u64; L]; PLANES],
}

impl<const L: usize> Count<L> {
    /// All zero.
    pub(crate) const ZERO: Self = Self { planes: [[0; L]; PLANES] };

    /// The same count of a lane in all switches.
    pub(crate) fn of_lanes(count: impl Fn(usize) -> u16) -> Self {
        let plane =
            |plane| std::array::from_fn(|lane| u64::from(count(lane) >> plane & 1) * u64::MAX);
        Self { planes: std::array::from_fn(plane) }
    }

    /// One more where `more`, one less where `less`, nothing where both.
    #[inline(always)]
    pub(crate) fn step(&mut self, more: &[u64; L], less: &[u64; L]) {
        let (mut carry, mut down) = ([0; L], [0; L]);
        for lane in 0..L {
            carry[lane] = more[lane] ^ less[lane];
            down[lane] = less[lane] & !more[lane];
        }
        for plane in &mut self.planes {
            for lane in 0..L {
                let before = plane[lane];
                plane[lane] ^= carry[lane];
                carry[lane] &= before ^ down[lane];
            }
        }
        debug_assert_eq!(carry, [0; L], "no count leaves its range");
    }

    /// Where a count is not zero.
    #[inline(always)]
    pub(crate) fn any(&self) -> [u64; L] {
        let mut any = [0; L];
        for plane in &self.planes {
            for lane in 0..L {
                any[lane] |= plane[lane];
            }
        }
        any
    }

    /// Where a count is that of `other`.
    #[inline(always)]
    pub(crate) fn equal(&self, other: &Self) -> [u64; L] {
        let mut equal = [u64::MAX; L];
        for plane in 0..PLANES {
            for lane in 0..L {
                equal[lane] &= !(self.planes[plane][lane] ^ other.planes[plane][lane]);
            }
        }
        equal
    }

    /// The count of a lane of one switch.
    #[inline]
    pub(crate) fn get(&self, lane: usize, bit: usize) -> u16 {
        let mut count = 0;
        for plane in 0..PLANES {
            count |= u16::from(self.planes[plane][lane] >> bit & 1 == 1) << plane;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    /// A long mix of steps, beside plain numbers.
    #[test]
    fn counts_are_those_of_plain_numbers() {
        let mut draw = Stream::new(1, "counts", Purpose::Shuffle);
        let mut count = Count::<2>::ZERO;
        let mut plain = [[0_u16; 64]; 2];
        let limit = Count::<2>::of_lanes(|lane| [15, 9][lane]);
        for _ in 0..5_000 {
            let (mut more, mut less) = ([0; 2], [0; 2]);
            for lane in 0..2 {
                for bit in 0..64 {
                    let (up, down) = (draw.below(3) > 0, draw.below(3) > 0);
                    let now = &mut plain[lane][bit];
                    let (up, down) = (up && (*now < 15 || down), down && (*now > 0 || up));
                    more[lane] |= u64::from(up) << bit;
                    less[lane] |= u64::from(down) << bit;
                    *now = *now + u16::from(up) - u16::from(down);
                }
            }
            count.step(&more, &less);
            for lane in 0..2 {
                for bit in 0..64 {
                    let now = plain[lane][bit];
                    assert_eq!(count.get(lane, bit), now);
                    assert_eq!(count.any()[lane] >> bit & 1 == 1, now > 0);
                    assert_eq!(count.equal(&limit)[lane] >> bit & 1 == 1, now == [15, 9][lane]);
                }
            }
        }
    }
}
