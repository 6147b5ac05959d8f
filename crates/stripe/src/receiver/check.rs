//! The receiver looks at itself: a state that nothing leads to is given up.
//!
//! Whatever writes over its words, a marker on each channel puts numbers, quanta and counts right,
//! and what is left is found here, or as late markers, or by the sender as an epoch that it does
//! not know; all end in a reset. How long that takes is said in the specification of the protocol.
//!
//! Source: Varghese, "Self-stabilization by local checking and global reset", 1994; Adiseshu,
//! Parulkar and Varghese 1996, section 5, name snapshots and resets. That options and program are
//! as they were is taken for granted.
//!
//! Invariant: a state that passes is one that messages can bring about.

#[cfg(test)]
mod corruption;

use super::Receiver;
use super::numbering::Numbering;
use crate::{Instant, Numbered, first_channels};

/// How often in a wait.
const LOOKS: u32 = 16;

impl<S: Numbered, P> Receiver<S, P> {
    /// Looks at what does not depend on the sender, some times in a wait; a message has come on
    /// this wire.
    pub(super) fn look(&mut self, now: Instant, wire: usize) {
        if self.look_at > now && self.look_at <= now.after(self.options.wait) {
            return;
        }
        self.look_at = now.after(self.options.wait / LOOKS);
        let count = self.buffers.len();
        let rounds_max = self.options.far_rounds_max.saturating_mul(2);
        let sound = self.numbering.is_sound(count) && self.scheduler.is_sound(rounds_max);
        if !sound {
            self.start_over(wire);
        }
        self.buffers.iter_mut().for_each(|buffer| buffer.mend(now));
        self.reports.mend(now);
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.mend(now);
        }
    }

    /// Nothing leads to the state that was found: the sender is to begin an epoch.
    pub(super) fn start_over(&mut self, wire: usize) {
        self.reception.unsound += 1;
        self.numbering = Numbering::new();
        self.scheduler = self.initial.clone();
        self.epochs.doubt(first_channels(self.buffers.len()));
        self.epochs.request(wire);
    }
}
