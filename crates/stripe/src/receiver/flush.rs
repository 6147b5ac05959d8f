//! The end of an epoch: what waits is given out, what is missing is waited for no longer.
//!
//! ```text
//!   channel 0   |    5 7 |  scheduler: 0, 1, 0, 1      given out 5, 6, 7, 8, then what comes
//!   channel 1   |  _ 6 8 |  4 is missing: passed over  of the new epoch
//! ```
//!
//! Source: ours; Adiseshu, Parulkar and Varghese 1996, section 5, leave what waits at a reset open.
//!
//! Invariant: nothing waits in a buffer afterwards.

use super::Receiver;
use super::buffer::Buffer;
use crate::{ChannelSet, Discard, Instant, Numbered};

impl<S: Numbered, P> Receiver<S, P> {
    /// The epoch ends. Whatever waits is to be given out before anything that comes: in the order
    /// of the scheduler, or of sequence numbers where there are any; unless the epoch had not begun
    /// on every channel, as with a receiver that restarted on what was still on its way to the one
    /// before.
    pub(super) fn flush(&mut self, now: Instant) {
        self.silent = ChannelSet::MAX;
        let longest_bytes = self.scheduler.longest_bytes();
        self.buffers.iter_mut().for_each(|buffer| buffer.repair_state(now, longest_bytes));
        let held = self.held_bytes();
        if self.epochs.are_synchronised(self.in_channels()) {
            self.give_all_out(now);
        }
        let left: usize = self.buffers.iter().map(Buffer::packets).sum();
        self.reception.discards.add(Discard::Reset, left as u64);
        self.buffers.iter_mut().for_each(Buffer::clear);
        self.pool.see_flush(if self.flushed.is_empty() { 0 } else { held });
    }

    /// The next of what was flushed.
    #[cold]
    pub(super) fn next_flushed(&mut self) -> Option<P> {
        let packet = self.flushed.pop_front();
        if self.flushed.is_empty() {
            self.pool.see_flush(0);
        }
        packet
    }

    fn give_all_out(&mut self, now: Instant) {
        loop {
            if let Some(packet) = self.next_packet(now) {
                self.flushed.push_back(packet);
            } else if !self.skip_missing() {
                return;
            }
        }
    }
}
