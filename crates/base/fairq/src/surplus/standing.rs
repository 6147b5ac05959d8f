//! What a scheduler knows of a channel: the number of its next packet, its quantum, a change to
//! come.
//!
//! ```text
//!   round       3      4      5      6      7      8
//!   in, 1500    1500   1500   1500   3000   3000   0      changes: 3000 from 6, 0 from 8
//!                             in                   out
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.5 and 5, for the number; quanta that
//! change and channels that are out are ours.
//!
//! Invariants: the deficit is 1 to the quantum while the channel is in, and 0 while it is out; the
//! quantum is that of the round of the next packet, so a change to come is of a later one.

use crate::{Number, Round};

/// A quantum that is announced and does not hold yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The first round in which it holds.
    pub from: Round,
    /// The quantum; 0 where the channel goes out.
    pub quantum_bytes: u32,
}

/// All that a scheduler knows of a channel, and what a marker says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The number of its next packet; while it is out, a round in which it is so, and 0.
    pub next: Number,
    /// What it may send in that round; 0 while it is out.
    pub quantum_bytes: u32,
    /// What it may send later.
    pub coming: Option<Change>,
}

impl Standing {
    /// A channel that begins a turn in this round.
    pub const fn beginning(round: Round, quantum_bytes: u32) -> Self {
        let next = Number { round, deficit_bytes: quantum_bytes };
        Self { next, quantum_bytes, coming: None }
    }

    /// A channel that sends nothing in this round.
    pub const fn out(round: Round) -> Self {
        Self::beginning(round, 0)
    }

    /// Whether the channel gets turns.
    pub const fn is_in(&self) -> bool {
        self.quantum_bytes != 0
    }

    /// The next packet is of this round, in which a change to come may hold; the last channel does
    /// not go out.
    pub(super) fn enter(&mut self, round: Round, is_last: bool) {
        self.next.round = round;
        if let Some(change) = self.coming.filter(|change| !change.from.is_after(round)) {
            self.coming = None;
            if !is_last || change.quantum_bytes != 0 {
                self.quantum_bytes = change.quantum_bytes;
            }
        }
    }

    /// A packet of at least the deficit is sent; one longer than the quantum uses up several
    /// rounds.
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
