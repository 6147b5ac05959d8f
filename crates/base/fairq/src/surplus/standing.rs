//! Channel state: next packet number, quantum and announced quantum change.
//!
//! ```text
//!   round       3      4      5      6      7      8
//!   quantum     1500   1500   1500   3000   3000   0 (excluded)
//!   changes:    3000 from round 6 on, 0 from round 8 on
//! ```
//!
//! Quantum changes and excluded channels are our extensions of the paper.
//!
//! Invariants: the deficit ranges from 1 to the quantum, and is 0 while the channel is excluded; an
//! announced change takes effect after the next packet's round.

use crate::{Number, Round};

/// Announced quantum change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// First round with the new quantum.
    pub from: Round,
    /// New quantum in bytes; 0 excludes the channel.
    pub quantum_bytes: u32,
}

/// Complete state of a channel, as sent in a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Number of the next packet; its deficit is 0 while the channel is excluded.
    pub next: Number,
    /// Quantum in bytes in the next packet's round; 0 while the channel is excluded.
    pub quantum_bytes: u32,
    /// Announced quantum change.
    pub coming: Option<Change>,
}

impl Standing {
    /// Returns the state of a channel that starts a turn.
    pub const fn beginning(round: Round, quantum_bytes: u32) -> Self {
        let next = Number { round, deficit_bytes: quantum_bytes };
        Self { next, quantum_bytes, coming: None }
    }

    /// Returns the state of an excluded channel.
    pub const fn out(round: Round) -> Self {
        Self::beginning(round, 0)
    }

    /// Returns whether the channel is active (not excluded).
    pub const fn is_in(&self) -> bool {
        self.quantum_bytes != 0
    }

    /// Enters a round and applies a due change; never excludes the last active channel.
    pub(super) fn enter(&mut self, round: Round, is_last: bool) {
        self.next.round = round;
        if let Some(change) = self.coming.filter(|change| !change.from.is_after(round)) {
            self.coming = None;
            if !is_last || change.quantum_bytes != 0 {
                self.quantum_bytes = change.quantum_bytes;
            }
        }
    }

    /// Charges a packet that uses up the deficit and possibly the quanta of further rounds.
    pub(super) fn overdraw(&mut self, length_bytes: u32, is_last: bool) {
        let mut owed_bytes = u64::from(length_bytes.saturating_sub(self.next.deficit_bytes));
        loop {
            self.enter(self.next.round.next(), is_last);
            let quantum_bytes = u64::from(self.quantum_bytes);
            if quantum_bytes == 0 || quantum_bytes > owed_bytes {
                let left_bytes = quantum_bytes.saturating_sub(owed_bytes);
                self.next.deficit_bytes = u32::try_from(left_bytes).expect("at most a quantum");
                return;
            }
            owed_bytes -= quantum_bytes;
        }
    }
}
