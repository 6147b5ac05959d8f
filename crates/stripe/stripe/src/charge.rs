//! What a packet takes of the receiver's memory, and so of the credit for it.
//!
//! ```text
//!   charge of a packet   = packet + byte * its length
//!   charge of a channel  = packet * packets + byte * bytes, modulo 2^32: credits compare these
//! ```
//!
//! Both ends charge alike. In bytes a packet costs its place in the buffer, too, so that short ones
//! do not cost more memory than they are charged for. Charged by the packet alone, credits are those
//! of cells.
//!
//! Source: FCVC of Kung and Chapman (ICNP 1993) counts cells, which are all of one length, and
//! Adiseshu, Parulkar and Varghese 1996, section 6.3, count as they do; bytes are ours.

/// What is taken for a long packet where a scheduler knows no longest: that of Ethernet.
pub(crate) const USUAL_BYTES: u32 = 1_500;

/// What is charged for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    packet: u32,
    byte: u32,
}

impl Default for Charge {
    fn default() -> Self {
        Self::BYTES
    }
}

impl Charge {
    /// The length of a packet and 112 bytes. Its place among the copies of lost packets is 64 bytes on
    /// a machine of 64 bits, with a packet that is a vector, whose it is and a time (48 in a buffer),
    /// and a quarter of that, since room for places grows by a quarter: 80. An allocator adds 8 bytes
    /// and rounds to 16, and to 32 the shortest: 31 at the most.
    pub const BYTES: Self = Self { packet: 112, byte: 1 };

    /// One a packet, however long.
    pub const PACKETS: Self = Self { packet: 1, byte: 0 };

    /// What a packet of so many bytes is charged.
    #[inline]
    pub const fn of(self, length_bytes: u32) -> u32 {
        self.packet.saturating_add(self.byte * length_bytes)
    }

    /// What packets that are so many bytes together are charged, modulo 2^32.
    pub(crate) fn of_all(self, packets: u32, bytes: u64) -> u32 {
        let bytes = u32::try_from(bytes & u64::from(u32::MAX)).expect("half a word");
        self.packet.wrapping_mul(packets).wrapping_add(self.byte.wrapping_mul(bytes))
    }

    /// The same where they are so few that it does not wrap; at most all there is, where counts are
    /// wrong.
    pub(crate) const fn of_both(self, packets: u64, bytes: u64) -> u64 {
        let packets = packets.saturating_mul(self.packet as u64);
        packets.saturating_add(bytes.saturating_mul(self.byte as u64))
    }

    /// Channels go so far ahead of reports before there is any: ten packets of 1,460 bytes, the
    /// initial window of RFC 6928.
    pub(crate) const fn first(self) -> u32 {
        10 * self.of(1_460)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_are_charged_is_the_sum_across_the_wrap() {
        for charge in [Charge::BYTES, Charge::PACKETS] {
            let (packets, bytes) = (u32::MAX, (7_u64 << 32) - 100);
            let before = charge.of_all(packets, bytes);
            let after = charge.of_all(packets.wrapping_add(1), bytes + 1_500);
            assert_eq!(after.wrapping_sub(before), charge.of(1_500));
        }
        assert_eq!((Charge::BYTES.of(1_500), Charge::PACKETS.of(1_500)), (1_612, 1));
        assert_eq!((Charge::BYTES.first(), Charge::PACKETS.first()), (15_720, 10));
    }
}
