//! Recently sent packets of a channel, which can be retransmitted.
//!
//! Invariant: the ring length is a power of two, so that sequence numbers keep their slots across
//! the wrap at 2^32.

use super::Sent;
use crate::tag::ahead;

/// Initial ring length, for the packets in flight on a slow channel: 64 packets of 1,400 bytes take
/// 9 ms at 80 Mbit/s.
const FIRST: usize = 64;

/// Ring buffer of sent packets; the newest has sequence number `next - 1`.
#[derive(Clone, Debug)]
pub(super) struct SentHistory {
    pub(super) ring: Vec<Sent>,
    pub(super) next: u32,
    pub(super) count: usize,
    most: usize,
}

impl SentHistory {
    pub(super) fn new(packets: usize) -> Self {
        let most = packets.next_power_of_two();
        Self { ring: vec![Sent::default(); most.min(FIRST)], next: 0, count: 0, most }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let (next, kept) = (self.next, count(self.count.min(self.ring.len())));
        (1..=kept).map(move |age| next.wrapping_sub(age))
    }

    const fn place(&self, channel_sequence: u32) -> usize {
        channel_sequence as usize & (self.ring.len() - 1)
    }

    pub(super) fn at(&mut self, channel_sequence: u32) -> Option<&mut Sent> {
        let age = usize::try_from(ahead(self.next, channel_sequence)).ok()?;
        let place = self.place(channel_sequence);
        (1..=self.count).contains(&age).then(|| &mut self.ring[place])
    }

    pub(super) fn push(&mut self, channel_sequence: u32, sent: Sent) {
        if self.count >= self.ring.len() && self.ring.len() < self.most {
            self.grow();
        }
        let place = self.place(channel_sequence);
        self.ring[place] = sent;
        self.next = channel_sequence.wrapping_add(1);
        self.count = self.count.saturating_add(1).min(self.ring.len());
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let length = self.ring.len();
        self.ring.resize(2 * length, Sent::default());
        for age in 1..=count(length) {
            let number = self.next.wrapping_sub(age);
            let (before, place) = (number as usize & (length - 1), self.place(number));
            self.ring[place] = self.ring[before];
        }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
        if self.ring.len() > FIRST {
            self.ring = vec![Sent::default(); self.most.min(FIRST)];
        }
    }
}

fn count(packets: usize) -> u32 {
    u32::try_from(packets).expect("a ring is shorter than the numbers go round")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_numbers_are_found_within_the_history_across_the_wrap() {
        for first in [0, u32::MAX - 100] {
            let mut history = SentHistory::new(200);
            for number in 0..600_u32 {
                let sent = Sent { sequence: number, ..Sent::default() };
                history.push(first.wrapping_add(number), sent);
                let least = number.saturating_sub(255);
                let mut at =
                    |number: u32| history.at(first.wrapping_add(number)).map(|sent| sent.sequence);
                assert_eq!((at(least), at(number)), (Some(least), Some(number)));
                assert!(least == 0 || at(least - 1).is_none());
                assert_eq!(at(number + 1), None);
            }
            history.clear();
            assert_eq!((history.ring.len(), history.at(first.wrapping_add(599)).is_none()), {
                (FIRST, true)
            });
        }
    }
}
