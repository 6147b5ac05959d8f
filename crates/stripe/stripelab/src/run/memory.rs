//! Buffer memory of receivers that do not run the protocol, accounted as in the protocol.
//!
//! Invariant: `held` is at most `max`.

use gingham_stripe::{Charge, ReceiverOptions};

#[derive(Debug)]
pub(crate) struct Memory {
    charge: Charge,
    max: u64,
    held: u64,
}

impl Memory {
    pub(crate) const fn new(options: &ReceiverOptions) -> Self {
        Self { charge: options.charge, max: options.buffer_bytes_max, held: 0 }
    }

    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        let held = self.held + u64::from(self.charge.of(bytes));
        let has_room = held <= self.max;
        if has_room {
            self.held = held;
        }
        has_room
    }

    pub(crate) fn give(&mut self, bytes: u32) {
        self.held -= u64::from(self.charge.of(bytes));
    }
}
