//! Memory charge of a packet at the receiver, and of the credit for it.
//!
//! ```text
//!   charge of a packet   = packet + byte * its length
//!   charge of a channel  = packet * packets + byte * bytes, modulo 2^32, as credits compare it
//! ```
//!
//! Counted in bytes, the charge includes the slot in the buffer: short packets use no more memory
//! than their charge. Counted in packets, credits are those of cell networks.
//!
//! Source: FCVC of Kung and Chapman (ICNP 1993) and Adiseshu, Parulkar and Varghese 1996, section
//! 6.3, count cells, all of one length; counting bytes is ours.

/// Assumed if the scheduler has no limit: the longest of Ethernet.
pub(crate) const USUAL_BYTES: u32 = 1_500;

/// Memory charge of a packet.
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
    /// Length plus 112 bytes. A slot among the copies takes 64 bytes on a 64-bit machine if a
    /// packet is a vector with an owner and a time (48 in a buffer). Slots grow by a quarter: 80.
    /// An allocator adds at most 31: 8 bytes, rounded up to 16, and at least 32.
    pub const BYTES: Self = Self { packet: 112, byte: 1 };

    /// One per packet, of any length.
    pub const PACKETS: Self = Self { packet: 1, byte: 0 };

    /// Returns the charge of a packet.
    #[inline]
    pub const fn of(self, length_bytes: u32) -> u32 {
        self.packet.saturating_add(self.byte * length_bytes)
    }

    /// Modulo 2^32.
    pub(crate) fn of_all(self, packets: u32, bytes: u64) -> u32 {
        let bytes = u32::try_from(bytes & u64::from(u32::MAX)).expect("half a word");
        self.packet.wrapping_mul(packets).wrapping_add(self.byte.wrapping_mul(bytes))
    }

    /// Without wrapping, for small counts; saturates if they are wrong.
    pub(crate) const fn of_both(self, packets: u64, bytes: u64) -> u64 {
        let packets = packets.saturating_mul(self.packet as u64);
        packets.saturating_add(bytes.saturating_mul(self.byte as u64))
    }

    /// Credit before the first report: ten packets of 1,460 bytes, the initial window of RFC 6928.
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
