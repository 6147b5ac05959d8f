//! Overtaking: how often a packet is passed by others, and what comes of it.
//!
//! ```text
//!   p1 was overtaken at most so often ─► waited for:  nothing behind it in the order of a lane goes before it
//!   p2 behind p1 in its buffer        ─► held back:   it cannot be read, and nobody waits for it
//! ```
//!
//! Only where packets overtake whatever is in their buffer is any held back.

use crate::packets::order::Waiting;
use crate::packets::simulation::Simulation;
use gingham_model::Among;
use gingham_topology::ChannelId;
use std::collections::BTreeSet;

impl Simulation {
    /// Whether an older packet of the same buffer waits that may not be overtaken any more.
    pub(crate) fn is_held_back(&self, at: Waiting) -> bool {
        let overtaking = self.packets.overtaking;
        let buffer = self.input(at.input).lane(at.lane);
        let mut older = buffer[..at.place].iter().filter(|buffered| buffered.waits());
        overtaking.among == Among::AnyOutput
            && older.any(|buffered| buffered.overtaken >= overtaking.at_most)
    }

    /// Whether nothing may go before it.
    pub(crate) fn is_waited_for(&self, at: Waiting) -> bool {
        let overtaken = self.waiting(at).overtaken;
        overtaken >= self.packets.overtaking.at_most && !self.is_held_back(at)
    }

    /// A packet starts on a lane of an output, before others.
    pub(crate) fn overtake(&mut self, output: ChannelId, lane: u8, starting: Waiting) {
        let in_order = self.in_order(output, lane);
        let before = in_order.into_iter().take_while(|other| *other != starting);
        let mut overtaken: BTreeSet<Waiting> = before.collect();
        if self.packets.overtaking.among == Among::AnyOutput {
            let older = (0..starting.place).map(|place| Waiting { place, ..starting });
            overtaken.extend(older.filter(|older| self.waiting(*older).waits()));
        }
        for Waiting { input, lane, place } in overtaken {
            self.input_mut(input).lanes[usize::from(lane)][place].overtaken += 1;
        }
    }
}
