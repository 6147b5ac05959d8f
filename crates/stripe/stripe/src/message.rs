//! The control messages that the ends exchange in addition to data packets.
//!
//! ```text
//!   sender -> receiver, on a channel          receiver -> sender, in its reverse direction
//!     Reset   begin a new epoch                 Acknowledged, ResetRequested
//!     Marker  complete state of the channel     Report, Nack
//!     Left    another channel is out            LeftAcknowledged
//! ```
//!
//! A marker describes its channel completely and corrects any earlier error.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5, which leaves the method of resets open.
//! Epochs, reports, and all fields of a marker except the packet number are ours.

use gingham_fairq::{Round, Standing};

use crate::{Discard, Instant};

/// Number of an epoch: counts resets modulo 2^32, and is compared as a serial number (RFC 1982).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u32);

impl Epoch {
    /// Returns the epoch with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the epoch.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the epoch after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Returns the epoch before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }

    /// Whether this epoch comes after `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }
}

/// Control message about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Present epoch; in a reset request, the last epoch known to the requesting end.
    pub epoch: Epoch,
    /// Channel in the sender's numbering, from 0; messages to the sender use the reverse direction.
    pub channel: u8,
    /// Number of channels that the sender has.
    pub channels: u8,
    /// Kind and contents.
    pub kind: Kind,
}

impl Message {
    pub(crate) fn about(channel: usize, channels: usize, epoch: Epoch, kind: Kind) -> Self {
        Self { epoch, channel: small(channel), channels: small(channels), kind }
    }

    pub(crate) fn check(&self, channel: usize, channels: usize) -> Result<(), Discard> {
        if channel >= channels {
            Err(Discard::NoSuchChannel)
        } else if usize::from(self.channels) != channels {
            Err(Discard::OtherCount)
        } else if usize::from(self.channel) != channel {
            Err(Discard::OtherChannel)
        } else {
            Ok(())
        }
    }
}

pub(crate) fn small(channels: usize) -> u8 {
    u8::try_from(channels).expect("at most 64 channels")
}

/// Kind and contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complete state of the channel.
    Marker(Marker),
    /// Beginning of an epoch.
    Reset {
        /// Quantum of the channel; 0 if it is out.
        quantum: u32,
    },
    /// Acknowledgement of a reset, on its channel.
    Acknowledged,
    /// Request for a reset to an epoch after the named one.
    ResetRequested,
    /// Announcement that another channel carries no packets from a given round on.
    Left(Departure),
    /// Acknowledgement of a departure.
    LeftAcknowledged(Departure),
    /// Packets received on the channel, and credit for more.
    Report(Report),
    /// Negative acknowledgement of lost packets.
    Nack(Nack),
}

impl Kind {
    /// Whether only senders send messages of this kind.
    pub const fn is_from_sender(&self) -> bool {
        matches!(self, Self::Marker(_) | Self::Reset { .. } | Self::Left(_))
    }
}

/// Complete state of a channel as reported by the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// Number of the next packet, quantum, and pending quantum change.
    pub standing: Standing,
    /// Packets sent on the channel in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// Bytes of these packets.
    pub sent_bytes: u64,
    /// Pipe sequence number of the next packet on any channel, modulo 2^32; each epoch starts at 0.
    pub next_sequence: u32,
    /// Sending time, by the sender's clock.
    pub sent_at: Instant,
    /// Measured round-trip time of the channel; 0 if unknown, 2^32 - 1 if longer.
    pub round_trip_ns: u32,
    /// Silence after which the sender takes the channel out, in nanoseconds; 0 if never, 2^32 - 1
    /// if longer.
    pub out_after_ns: u32,
    /// Copy of `lowered` from the last report, which identifies the limit in use.
    pub lowered: bool,
}

/// Announcement that a channel is out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Channel that is out.
    pub channel: u8,
    /// First round without packets on the channel; it returns only in a later round.
    pub since: Round,
    /// Packets sent on the channel in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// Pipe sequence number of the next packet when the channel left.
    pub next_sequence: u32,
}

/// Negative acknowledgement; it may be sent in the reverse direction of any channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nack {
    /// Channel on which the packets were lost.
    pub channel: u8,
    /// Channel sequence number of the first missing packet.
    pub first: u32,
    /// Number of consecutive missing packets, at least one.
    pub count: u16,
    /// Remaining time that the receiver waits for copies; 2^32 - 1 if longer, or if each arriving
    /// copy prolongs it.
    pub left_ns: u32,
}

/// State of a channel as reported by the receiver; counts cover this epoch and never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Largest cumulative charge that the sender may reach on the channel, modulo 2^32.
    pub limit_bytes: u32,
    /// Bit that flips whenever the limit falls; a marker with the new value confirms that nothing
    /// above the limit will follow.
    pub lowered: bool,
    /// Packets accounted for, that is received or lost, modulo 2^32.
    pub accounted_packets: u32,
    /// Bytes of these packets.
    pub accounted_bytes: u64,
    /// Packets received, modulo 2^32.
    pub received_packets: u32,
    /// Bytes of these packets.
    pub received_bytes: u64,
    /// Arrival time of the last packet, by the receiver's clock.
    pub received_at: Instant,
    /// Round of the quantum change that the last marker announced.
    pub coming_from: Option<Round>,
    /// `sent_at` of the last marker received.
    pub echo: Instant,
    /// Time since the arrival of that marker, or 2^32 - 1 if longer.
    pub held_ns: u32,
    /// Time since the arrival of the last accounted packet; 2^32 - 1 if longer, or if it was lost.
    pub received_ago_ns: u32,
    /// Length of the longest packet received since the last report, and at least in the last 20 ms.
    pub longest_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_compare_across_the_wrap() {
        let last = Epoch::new(u32::MAX);
        assert_eq!(last.next().previous(), last);
        assert!(last.next().is_after(last) && !last.is_after(last.next()) && !last.is_after(last));
    }
}
