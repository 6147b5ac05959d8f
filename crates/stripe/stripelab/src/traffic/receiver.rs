//! Receiver of a transport, which passes segments on in order and stores early segments.

use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Receiver {
    expected: u64,
    early: BTreeMap<u64, u32>,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { expected: 1, early: BTreeMap::new() }
    }
}

impl Receiver {
    pub(super) fn take(&mut self, segment: u64, bytes: u32) -> (u64, u64) {
        if segment >= self.expected {
            self.early.insert(segment, bytes);
        }
        let mut handed_on = 0;
        while let Some(bytes) = self.early.remove(&self.expected) {
            self.expected += 1;
            handed_on += u64::from(bytes);
        }
        (self.expected, handed_on)
    }
}
