//! The memory of receivers that are not the protocol's: what waits is charged as there.
//!
//! Invariant: what is held is at most what may be.

use gingham_stripe::{Charge, ReceiverOptions};

/// What waits, as it is charged, and how much may.
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

    /// A packet of so many bytes is to wait: whether there is room.
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        let held = self.held + u64::from(self.charge.of(bytes));
        let has_room = held <= self.max;
        if has_room {
            self.held = held;
        }
        has_room
    }

    /// One waits no longer.
    pub(crate) fn give(&mut self, bytes: u32) {
        self.held -= u64::from(self.charge.of(bytes));
    }
}
