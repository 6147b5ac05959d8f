//! Packets that can be sent again, at the caller's.

use gingham_fairq::CHANNELS_MAX;

use crate::PACKETS_MAX;

/// The last packets that were sent, by their number in the pipe: what a caller keeps to send
/// copies.
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
    /// A power of two of them.
    ring: Vec<Option<(u32, P)>>,
}

impl<P> RetransmissionBuffer<P> {
    /// Room for so many packets, at least one, rounded up to a power of two; at most for what 64
    /// channels can be asked to send again.
    pub fn new(packets: usize) -> Self {
        Self {
            ring: (0..packets.min(PACKETS_MAX * CHANNELS_MAX).next_power_of_two())
                .map(|_| None)
                .collect(),
        }
    }

    /// Keeps a packet, and gives back the one that makes room for it.
    pub fn keep(&mut self, sequence: u32, packet: P) -> Option<P> {
        let place = self.place(sequence);
        let old = self.ring[place].replace((sequence, packet));
        old.map(|(_, packet)| packet)
    }

    /// The packet with this number, if it is still kept.
    pub fn get(&self, sequence: u32) -> Option<&P> {
        let kept = self.ring[self.place(sequence)].as_ref();
        kept.filter(|(number, _)| *number == sequence).map(|(_, packet)| packet)
    }

    const fn place(&self, sequence: u32) -> usize {
        sequence as usize & (self.ring.len() - 1)
    }
}
