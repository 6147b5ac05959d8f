//! Path choice: which path of a pair a packet takes, where a plan has two sets of them.
//!
//! ```text
//!                        ┌─► first set      a pair has a path in each, or in none
//!   packet that starts ──┤
//!                        └─► second set
//! ```
//!
//! The choice is made for each packet as its first flit starts, by what the adapter knows then (Flich et al. 2001, section V).
//!
//! Invariant: both sets join the same pairs.

/// One of the path sets of a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PathSet {
    /// The only one, or the first of two.
    #[default]
    First,
    /// The second.
    Second,
}

impl PathSet {
    /// Its place in [`Plan::path_sets`](crate::Plan::path_sets).
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How an adapter chooses between path sets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum PathChoice {
    /// There is one.
    #[default]
    Only,
    /// The first for packets of messages with less payload than this, the second for all others.
    ByLength {
        /// Payload of the message in bytes.
        below_bytes: u32,
    },
    /// The second with this chance, from 0 to 1.
    AtRandom {
        /// The chance.
        second: f64,
    },
    /// The second while the host finds the network congested.
    ByContention(ContentionPlan),
}

/// When a host finds the network congested.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContentionPlan {
    /// Weight of the coefficient so far for one that rises.
    pub alpha: f64,
    /// Weight of the coefficient so far for one that falls.
    pub beta: f64,
    /// A coefficient above this changes to the second set.
    pub above: f64,
    /// A coefficient below this changes back to the first.
    pub below: f64,
}

/// What a host makes of the network after a packet of its own has left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contention {
    /// The contention coefficient: the time that packets took to leave, to the least that they could take.
    pub coefficient: f64,
    /// Which paths its next packet takes.
    pub path_set: PathSet,
}
