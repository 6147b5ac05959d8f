//! What was sent in this epoch: what markers tell, and what reports are held against.
//!
//! Invariant: the sequence number of the next packet is the sum of the packets of all channels but
//! for retransmissions.

/// What was sent on a channel in this epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets, modulo 2^32.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// What was sent on every channel.
#[derive(Clone, Debug)]
pub(super) struct SentByChannel {
    channels: Vec<Sent>,
    next_sequence: u32,
}

impl SentByChannel {
    pub(super) fn new(channels: usize) -> Self {
        Self { channels: vec![Sent::default(); channels], next_sequence: 0 }
    }

    pub(super) fn on(&self, channel: usize) -> Sent {
        self.channels[channel]
    }

    pub(super) const fn next_sequence(&self) -> u32 {
        self.next_sequence
    }

    pub(super) fn add(&mut self, channel: usize, length_bytes: u32) {
        self.add_copy(channel, length_bytes);
        self.next_sequence = self.next_sequence.wrapping_add(1);
    }

    /// A copy is a packet of its channel, and none more of the pipe.
    pub(super) fn add_copy(&mut self, channel: usize, length_bytes: u32) {
        let sent = &mut self.channels[channel];
        sent.packets = sent.packets.wrapping_add(1);
        sent.bytes = sent.bytes.wrapping_add(u64::from(length_bytes));
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.channels.fill(Sent::default());
        self.next_sequence = 0;
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Sent: packets, bytes);
#[cfg(test)]
crate::corruption::corrupt!(SentByChannel: next_sequence, channels);
