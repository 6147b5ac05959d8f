//! Events packed into one word, so that two events compare like two integers.
//!
//! ```text
//!   kind: 4 bits | channel, source or endpoint: 28 bits | rest: 32 bits for a worm, packet or lane
//! ```
//!
//! Simultaneous events are ordered by kind, then by channel, source or endpoint.

use gingham_net::Endpoints;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Packed(u64);

pub(crate) const INDEX_MAX: usize = (1 << 28) - 1;

impl Packed {
    /// Value greater than every event.
    pub(crate) const LAST: Self = Self(u64::MAX);

    #[inline]
    pub(crate) const fn new(kind: u64, index: usize, rest: usize) -> Self {
        Self(kind << 60 | (index as u64) << 32 | rest as u64)
    }

    #[inline]
    pub(crate) const fn kind(self) -> u64 {
        self.0 >> 60
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0 >> 32).expect("64-bit platform") & INDEX_MAX
    }

    #[inline]
    pub(crate) fn rest(self) -> usize {
        usize::try_from(self.0 & 0xffff_ffff).expect("64-bit platform")
    }
}

pub(crate) fn assert_indices_fit(endpoints: &Endpoints) {
    let indices = endpoints.plan().channels.len().max(endpoints.source_count());
    assert!(indices <= INDEX_MAX, "an event holds 28 bits of index");
}
