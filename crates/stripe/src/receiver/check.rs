//! The receiver audits itself: a corrupt state, one that nothing leads to, is given up.
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

/// Audits in a wait.
const AUDITS: u32 = 16;

impl<S: Numbered, P> Receiver<S, P> {
    /// Audits what does not depend on the sender, some times in a wait; a message has come on this
    /// port.
    pub(super) fn audit(&mut self, now: Instant, port: usize) {
        if self.audit_at > now && self.audit_at <= now.after(self.options.wait) {
            return;
        }
        self.audit_at = now.after(self.options.wait / AUDITS);
        let count = self.buffers.len();
        let rounds_max = self.options.far_rounds_max.saturating_mul(2);
        let sound = self.numbering.is_sound(count) && self.scheduler.is_sound(rounds_max);
        if !sound {
            self.start_over(port);
        }
        let longest_bytes = self.scheduler.longest_bytes();
        self.buffers.iter_mut().for_each(|buffer| buffer.repair_state(now, longest_bytes));
        self.reports.repair_state(now);
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.repair_state(now);
        }
        self.repair_pool();
    }

    /// Nothing leads to the state that was found: the sender is to begin an epoch.
    pub(super) fn start_over(&mut self, port: usize) {
        self.reception.corrupt += 1;
        self.numbering = Numbering::new();
        self.scheduler = self.initial.clone();
        self.epochs.doubt(first_channels(self.buffers.len()));
        self.epochs.request(port);
    }
}
