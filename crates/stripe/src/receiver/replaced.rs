//! Packets that need not be asked for though they should be lost: their copies came before them.
//!
//! Who sends a packet on two channels at once gives each of them the number that it has there. A copy
//! names its packet; if that is then found to be lost, nothing is missing.
//!
//! Invariant: memory is taken at set-up; of what is forgotten a copy comes too often, and no packet too
//! seldom.

use std::collections::VecDeque;

use super::gaps::Gaps;

/// So many are remembered: what 100 Mbit/s of packets of 1,400 bytes are in a tenth of a second, which
/// is as long as the round trips of channels differ.
const REPLACED_MAX: usize = 1_024;

/// The last packets whose copies came before them: channels, and numbers there.
#[derive(Clone, Debug)]
pub(super) struct Replaced(VecDeque<(u8, u32)>);

impl Replaced {
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(REPLACED_MAX))
    }

    pub(super) fn push(&mut self, channel: u8, channel_sequence: u32) {
        if self.0.len() == REPLACED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((channel, channel_sequence));
    }

    /// Some of a channel's packets were found to be lost: those that are here are not missing.
    pub(super) fn fill(&self, channel: u8, gaps: &mut Gaps) {
        for (_, number) in self.0.iter().filter(|(one, _)| *one == channel) {
            gaps.fill(channel, *number);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
