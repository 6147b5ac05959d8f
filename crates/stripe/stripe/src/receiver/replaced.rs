//! Packets sent on two channels and first received as copies; they need no retransmission if the
//! first transmission is lost.
//!
//! Invariants: at most [`REPLACED_MAX`] increasing numbers per channel, each used once. A forgotten
//! entry causes a needless retransmission, never a missing packet.

use std::collections::VecDeque;

use super::buffer::make_place;
use super::gaps::Gaps;
use crate::tag::ahead;

/// Maximum number of entries per channel: about 0.1 s of 1,400-byte packets at 100 Mbit/s.
const REPLACED_MAX: usize = 1_024;

/// Channel sequence numbers of the first transmissions, for each channel.
#[derive(Clone, Debug)]
pub(super) struct Replaced(Vec<VecDeque<u32>>);

impl Replaced {
    pub(super) fn new(channels: usize) -> Self {
        Self(vec![VecDeque::new(); channels])
    }

    pub(super) fn push(&mut self, channel: u8, channel_sequence: u32) {
        let numbers = &mut self.0[usize::from(channel)];
        if numbers.len() == REPLACED_MAX {
            numbers.pop_front();
        }
        make_place(numbers);
        // Copies are sent in order and mostly arrive in order.
        let before = numbers.iter().rev().take_while(|one| ahead(**one, channel_sequence) > 0);
        let place = numbers.len() - before.count();
        numbers.insert(place, channel_sequence);
    }

    /// Removes from `gaps` the packets from `first` to `next`, exclusive, whose copies have
    /// arrived.
    pub(super) fn fill(&mut self, (channel, first): (u8, u32), next: u32, gaps: &mut Gaps) {
        let numbers = &mut self.0[usize::from(channel)];
        let over = numbers.partition_point(|number| ahead(*number, next) < 0);
        for number in numbers.drain(..over).filter(|number| ahead(*number, first) >= 0) {
            gaps.fill(channel, number);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(VecDeque::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::gaps::{Lost, RepairRequests};
    use crate::{Instant, Nack};

    const NOW: Instant = Instant::ORIGIN;

    fn asked(replaced: &mut Replaced) -> Vec<(u32, u16)> {
        let mut gaps = Gaps::new(RepairRequests::default());
        let (round_trip_ns, longest_ns) = (0, 0);
        let (first, count) = (7, 3);
        gaps.note(
            NOW,
            Lost { channel: 1, first, count, from: 20, before: 40, round_trip_ns, longest_ns },
        );
        replaced.fill((1, first), first + count, &mut gaps);
        let nacks = std::iter::from_fn(|| gaps.poll(NOW));
        nacks.map(|(Nack { first, count, .. }, _)| (first, count)).collect()
    }

    /// The gap covers packets 7 to 9. Packet 5 precedes it, packet 8 has a copy, and packet 12 can
    /// still arrive.
    #[test]
    fn passed_numbers_are_forgotten_and_replaced_ones_not_missing() {
        let mut replaced = Replaced::new(2);
        for number in [12, 8, 5] {
            replaced.push(1, number);
        }
        assert_eq!(asked(&mut replaced), [(7, 1), (9, 1)]);
        assert_eq!(replaced.0, [vec![], vec![12]]);
    }

    #[test]
    fn each_channel_has_its_own_room() {
        let mut replaced = Replaced::new(2);
        replaced.push(1, 8);
        (0..2_000).for_each(|number| replaced.push(0, number));
        assert_eq!((replaced.0[0].len(), replaced.0[0][0]), (REPLACED_MAX, 2_000 - 1_024));
        assert_eq!(asked(&mut replaced), [(7, 1), (9, 1)]);
    }
}
