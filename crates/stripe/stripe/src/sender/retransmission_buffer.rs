use gingham_fairq::CHANNELS_MAX;

use crate::PACKETS_MAX;

/// Buffer of packets that may be retransmitted, indexed by pipe sequence number.
///
/// ```
/// use gingham_stripe::RetransmissionBuffer;
///
/// let mut kept = RetransmissionBuffer::new(2);
/// kept.keep(7, "seven");
/// kept.keep(8, "eight");
/// kept.keep(9, "nine");
/// assert_eq!((kept.get(7), kept.get(9)), (None, Some(&"nine")));
/// ```
#[derive(Clone, Debug)]
pub struct RetransmissionBuffer<P> {
    ring: Vec<Option<(u32, P)>>,
    most: usize,
}

/// Initial number of slots, as in `repairs::history`.
const FIRST: usize = 64;

impl<P> RetransmissionBuffer<P> {
    /// Creates a buffer for at least `packets` packets: the next power of two.
    pub fn new(packets: usize) -> Self {
        let most = packets.min(PACKETS_MAX * CHANNELS_MAX).next_power_of_two();
        Self { ring: empty(most.min(FIRST)), most }
    }

    /// Stores a packet; returns the packet that it replaces.
    pub fn keep(&mut self, sequence: u32, packet: P) -> Option<P> {
        while self.ring.len() < self.most && self.is_taken(sequence) {
            let before = core::mem::take(&mut self.ring);
            self.ring = empty(2 * before.len());
            // Packets in different slots keep different slots when the ring grows.
            for (number, packet) in before.into_iter().flatten() {
                let place = self.place(number);
                self.ring[place] = Some((number, packet));
            }
        }
        let place = self.place(sequence);
        let old = self.ring[place].replace((sequence, packet));
        old.map(|(_, packet)| packet)
    }

    fn is_taken(&self, sequence: u32) -> bool {
        self.ring[self.place(sequence)].as_ref().is_some_and(|(number, _)| *number != sequence)
    }

    /// Removes all packets.
    pub fn clear(&mut self) {
        self.ring = empty(self.most.min(FIRST));
    }

    /// Returns the packet with this pipe sequence number; `None` if it is not stored.
    pub fn get(&self, sequence: u32) -> Option<&P> {
        let kept = self.ring[self.place(sequence)].as_ref();
        kept.filter(|(number, _)| *number == sequence).map(|(_, packet)| packet)
    }

    const fn place(&self, sequence: u32) -> usize {
        sequence as usize & (self.ring.len() - 1)
    }
}

fn empty<P>(packets: usize) -> Vec<Option<(u32, P)>> {
    (0..packets).map(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_packets_are_kept_across_the_wrap() {
        for first in [0, u32::MAX - 300] {
            let mut kept = RetransmissionBuffer::new(200);
            for number in 0..1_000_u32 {
                let given_back = kept.keep(first.wrapping_add(number), number);
                assert_eq!(given_back, number.checked_sub(256));
                let least = number.saturating_sub(255);
                assert!(
                    (least..=number).all(|one| kept.get(first.wrapping_add(one)) == Some(&one))
                );
            }
            kept.clear();
            assert_eq!((kept.ring.len(), kept.get(first.wrapping_add(999))), (FIRST, None));
        }
    }
}
