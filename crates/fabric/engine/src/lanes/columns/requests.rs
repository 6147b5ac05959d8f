//! VC requests of heads at the ports of a column, and the holders of their lanes, as in
//! [`crate::lanes::requests`], for 64 switches at once.
//!
//! ```text
//!   words[w][switch]         one bit per requester (input * L + lane) whose head requests the output
//!   free[switch]             lanes without a holder
//!   holders[lane][switch]    requesters that hold the other lanes
//! ```
//!
//! Invariants: `requested` marks the switches with a nonzero word; every lane is either free or has
//! a holder; lanes that a port does not have are always free.

use super::group::{Head, Heads, RADIX_MAX};
use crate::bits::members;
use crate::lanes::layout::{LANES, round_robin};
use crate::lanes::queues::Coming;
use gingham_net::Priority;

const WORDS_MAX: usize = RADIX_MAX * LANES / 64;

const LEVELS: usize = Priority::LEVELS as usize;

#[derive(Clone, Debug)]
pub(crate) struct Requests<const L: usize> {
    words: [[u64; 64]; WORDS_MAX],
    pub(crate) requested: u64,
    /// Switches whose port has changed since it last granted all grantable lanes.
    pub(crate) changed: u64,
    /// Round-robin pointer of each level: the requester after the last winner.
    pointers: [[u16; 64]; LEVELS],
    has_levels: bool,
    /// Bit masks of the lanes without a holder. `lanes_after` contains the bit masks of the lanes
    /// above the last granted lane.
    pub(crate) free: [u16; 64],
    lanes_after: [u16; 64],
    holders: [[u16; 64]; L],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grant {
    pub(crate) asker: usize,
    pub(crate) lane: usize,
    pub(crate) onward: Coming,
}

impl<const L: usize> Requests<L> {
    const WORDS: usize = (RADIX_MAX * L).div_ceil(64);

    pub(crate) fn new(has_levels: bool) -> Self {
        Self {
            words: [[0; 64]; WORDS_MAX],
            requested: 0,
            changed: 0,
            pointers: [[0; 64]; LEVELS],
            has_levels,
            free: [u16::MAX; 64],
            lanes_after: [u16::MAX; 64],
            holders: [[0; 64]; L],
        }
    }

    /// Returns the round-robin pointer after a requester was served.
    #[inline]
    pub(crate) fn after(asker: usize) -> u16 {
        narrow((asker + 1) % (Self::WORDS * 64))
    }

    #[inline]
    pub(crate) fn insert(&mut self, asker: usize, bit: usize) {
        debug_assert!(asker < RADIX_MAX * L && bit < 64, "a switch has this lane");
        self.words[asker / 64 % Self::WORDS][bit & 63] |= 1 << (asker % 64);
        self.requested |= 1 << bit;
        self.changed |= 1 << bit;
    }

    /// Grants a free lane. Round robin selects first the requester, among the requesters that can
    /// use a free lane and have the highest level, and then one of the lanes that `can_be_given`
    /// permits for its head. With `PLAIN`, heads have no levels.
    #[inline(always)]
    pub(crate) fn grant<const PLAIN: bool>(
        &mut self,
        bit: usize,
        heads: &Heads<L>,
        can_be_given: impl Fn(&Head) -> u16,
    ) -> Option<Grant> {
        let free = self.free[bit & 63];
        let lanes_for = |head: &Head| head.may & free & can_be_given(head);
        let pointer = |level: u16| self.pointers[usize::from(level) % LEVELS][bit & 63];
        let (asker, lanes, head) = self.winner::<PLAIN>(bit, heads, pointer, lanes_for)?;
        let (level, onward) = (head.level, head.onward);
        let level = if PLAIN || !self.has_levels { 0 } else { usize::from(level) };
        self.pointers[level % LEVELS][bit & 63] = Self::after(asker);
        let lane = round_robin(lanes, &mut self.lanes_after[bit & 63]);
        self.take(asker, lane, bit);
        Some(Grant { asker, lane: lane % L, onward })
    }

    /// Returns the first requester, from the pointer of the highest level on, that can use a lane;
    /// and its lanes and head. With `PLAIN`, heads have no levels.
    #[inline(always)]
    pub(crate) fn winner<'a, const PLAIN: bool>(
        &self,
        bit: usize,
        heads: &'a Heads<L>,
        pointer: impl Fn(u16) -> u16,
        lanes_for: impl Fn(&Head) -> u16,
    ) -> Option<(usize, u16, &'a Head)> {
        let has_levels = !PLAIN && self.has_levels;
        let level = if has_levels { self.highest(bit, heads, &lanes_for)? } else { 0 };
        self.search(bit, pointer(level), |asker| {
            let head = heads.get(asker, bit);
            let lanes = lanes_for(head);
            let is_right = lanes != 0 && (!has_levels || head.level == level);
            is_right.then_some((asker, lanes, head))
        })
    }

    /// Removes a request, and records the requester as the holder of a free lane.
    #[inline(always)]
    pub(crate) fn take(&mut self, asker: usize, lane: usize, bit: usize) {
        self.words[asker / 64 % Self::WORDS][bit & 63] &= !(1 << (asker % 64));
        if (0..Self::WORDS).all(|number| self.words[number][bit & 63] == 0) {
            self.requested &= !(1 << bit);
        }
        self.free[bit & 63] &= !(1 << lane);
        self.holders[lane % L][bit & 63] = narrow(asker);
    }

    #[inline(never)]
    fn highest(
        &self,
        bit: usize,
        heads: &Heads<L>,
        lanes_for: impl Fn(&Head) -> u16,
    ) -> Option<u16> {
        let heads = self.askers(bit).map(|asker| heads.get(asker, bit));
        heads.filter(|head| lanes_for(head) != 0).map(|head| head.level).max()
    }

    #[inline(always)]
    fn search<T>(&self, bit: usize, first: u16, found: impl Fn(usize) -> Option<T>) -> Option<T> {
        if Self::WORDS == 1 {
            let askers = members(self.words[0][bit & 63].rotate_right(first.into()));
            return askers.map(|asker| (usize::from(first) + asker) % 64).find_map(&found);
        }
        let first = usize::from(first);
        let onward = u64::MAX << (first % 64);
        for turn in 0..=Self::WORDS {
            let number = (first / 64 + turn) % Self::WORDS;
            let mask = match turn {
                0 => onward,
                _ if turn == Self::WORDS => !onward,
                _ => u64::MAX,
            };
            let askers = members(self.words[number][bit & 63] & mask);
            let thing = askers.map(|asker| number * 64 + asker).find_map(&found);
            if thing.is_some() {
                return thing;
            }
        }
        None
    }

    #[inline]
    pub(crate) fn askers(&self, bit: usize) -> impl Iterator<Item = usize> {
        let (mut number, mut word) = (0, self.words[0][bit & 63]);
        std::iter::from_fn(move || {
            while word == 0 {
                number += 1;
                if number >= Self::WORDS {
                    return None;
                }
                word = self.words[number % WORDS_MAX][bit & 63];
            }
            let at = word.trailing_zeros() as usize;
            word &= word - 1;
            Some(number * 64 + at)
        })
    }

    #[inline]
    pub(crate) fn release(&mut self, lane: usize, bit: usize) {
        debug_assert!(lane < L && bit < 64, "a switch has this lane");
        self.free[bit & 63] |= 1 << lane;
        self.changed |= 1 << bit;
    }

    #[inline]
    pub(crate) fn holder(&self, lane: usize, bit: usize) -> Option<(usize, usize)> {
        let holder = usize::from(self.holders[lane][bit & 63]);
        let is_held = self.free[bit & 63] >> lane & 1 == 0;
        is_held.then_some(((holder / L) & (RADIX_MAX - 1), holder % L))
    }

    pub(crate) fn assert_invariants(&self) {
        for bit in 0..64 {
            let is_requested = self.askers(bit).next().is_some();
            assert_eq!(self.requested >> bit & 1 == 1, is_requested, "`requested` says what is so");
        }
    }
}

#[inline]
pub(crate) fn narrow(asker: usize) -> u16 {
    u16::try_from(asker % (RADIX_MAX * LANES)).expect("lanes of a switch have 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(may: u16, level: usize) -> Head {
        Head::new(may, level, Coming::none())
    }

    fn granted(grant: Option<Grant>) -> Option<(usize, usize)> {
        grant.map(|Grant { asker, lane, .. }| (asker, lane))
    }

    fn heads<const L: usize>(askers: &[Head]) -> Heads<L> {
        let mut heads = Heads::new();
        for (asker, bit) in (0..askers.len()).flat_map(|asker| (0..64).map(move |bit| (asker, bit)))
        {
            heads.set(asker, bit, askers[asker]);
        }
        heads
    }

    #[test]
    fn requesters_and_lanes_are_served_round_robin() {
        let mut requests = Requests::<2>::new(false);
        let heads = heads(&[head(0b11, 0); 6]);
        for asker in [4, 1] {
            requests.insert(asker, 5);
        }
        assert_eq!(granted(requests.grant::<true>(5, &heads, |_| u16::MAX)), Some((1, 0)));
        assert_eq!(granted(requests.grant::<true>(5, &heads, |_| u16::MAX)), Some((4, 1)));
        assert_eq!((requests.requested, requests.changed), (0, 1 << 5));
        for asker in [0, 5] {
            requests.insert(asker, 5);
        }
        assert_eq!(
            granted(requests.grant::<true>(5, &heads, |_| u16::MAX)),
            None,
            "both lanes are held"
        );
        assert_eq!((requests.holder(0, 5), requests.holder(1, 5)), (Some((0, 1)), Some((2, 0))));
        requests.release(0, 5);
        assert_eq!(requests.holder(0, 5), None);
        assert_eq!(granted(requests.grant::<true>(5, &heads, |_| u16::MAX)), Some((5, 0)));
        assert!(requests.askers(5).eq([0]));
        assert_eq!(requests.requested, 1 << 5);
    }

    #[test]
    fn grants_respect_levels_and_permitted_lanes() {
        let mut requests = Requests::<2>::new(true);
        let heads = heads(&[head(0b11, 0), head(0b11, 1), head(0b01, 1)]);
        for asker in [0, 1, 2] {
            requests.insert(asker, 0);
        }
        assert_eq!(granted(requests.grant::<false>(0, &heads, |_| u16::MAX)), Some((1, 0)));
        assert_eq!(granted(requests.grant::<false>(0, &heads, |_| u16::MAX)), Some((0, 1)));
        assert_eq!(granted(requests.grant::<false>(0, &heads, |_| u16::MAX)), None);
    }

    #[test]
    fn round_robin_spans_several_words() {
        let mut requests = Requests::<16>::new(false);
        let heads = heads(&[head(0xFFFF, 0); 80]);
        let mut granted = |askers: &[usize]| {
            for asker in askers {
                requests.insert(*asker, 63);
            }
            let grant = requests.grant::<true>(63, &heads, |_| u16::MAX).expect("lanes are free");
            requests.release(grant.lane, 63);
            grant.asker
        };
        assert_eq!(granted(&[3, 70]), 3);
        assert_eq!(granted(&[2, 79]), 70);
        assert_eq!(granted(&[]), 79);
        assert_eq!(granted(&[71]), 2);
    }
}
