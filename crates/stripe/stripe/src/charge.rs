//! Memory charge of packets at the receiver, which is also the unit of credits.
//!
//! ```text
//!   charge of a packet   = packet + byte * its length
//!   charge of a channel  = packet * packets + byte * bytes, modulo 2^32, like credit limits
//! ```
//!
//! A charge in bytes includes the buffer slot, so that short packets never occupy more memory than
//! their charge.
//!
//! Source: FCVC by Kung and Chapman (ICNP 1993) and Adiseshu, Parulkar and Varghese 1996, section
//! 6.3, which count cells of equal length; counting bytes is ours.

/// Packet length assumed if the scheduler sets no limit: the payload of an Ethernet frame.
pub(crate) const USUAL_BYTES: u32 = 1_500;

/// Memory charge of a packet: a fixed part plus a part per byte.
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
    /// Charge in bytes: the length plus 112 bytes, which cover a buffer slot (64 bytes, or 80 in a
    /// buffer that has just grown by a quarter) and up to 31 bytes of allocator overhead.
    pub const BYTES: Self = Self { packet: 112, byte: 1 };

    /// Charge in packets: 1 per packet, regardless of its length.
    pub const PACKETS: Self = Self { packet: 1, byte: 0 };

    /// Returns the charge of a packet of this length.
    #[inline]
    pub const fn of(self, length_bytes: u32) -> u32 {
        self.packet.saturating_add(self.byte * length_bytes)
    }

    pub(crate) fn of_all(self, packets: u32, bytes: u64) -> u32 {
        let bytes = u32::try_from(bytes & u64::from(u32::MAX)).expect("half a word");
        self.packet.wrapping_mul(packets).wrapping_add(self.byte.wrapping_mul(bytes))
    }

    /// Returns the total charge, not reduced modulo 2^32; saturates if the counts are corrupted.
    pub(crate) const fn of_both(self, packets: u64, bytes: u64) -> u64 {
        let packets = packets.saturating_mul(self.packet as u64);
        packets.saturating_add(bytes.saturating_mul(self.byte as u64))
    }

    /// Returns the credit granted before the first report: ten packets of 1,460 bytes, the initial
    /// window of RFC 6928.
    pub(crate) const fn first(self) -> u32 {
        10 * self.of(1_460)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_charge_is_the_sum_across_the_wrap() {
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
