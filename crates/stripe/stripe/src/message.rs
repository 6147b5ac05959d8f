//! Control messages between the two ends.
//!
//! ```text
//!   sender -> receiver, on a channel          receiver -> sender, in its reverse direction
//!     Reset   start a new epoch                 Acknowledged, ResetRequested
//!     Marker  complete state of the channel     Report, Nack
//!     Left    another channel was deactivated   LeftAcknowledged
//! ```
//!
//! Markers therefore correct all earlier errors.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5, which leaves the reset procedure open.
//! Epochs, reports, and all marker fields except the packet number are ours.

use gingham_fairq::{Round, Standing};

use crate::{Discard, Instant};

/// Epoch number, which counts resets modulo 2^32 and compares as a serial number (RFC 1982).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u32);

impl Epoch {
    /// Creates an epoch number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the epoch number.
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

    /// Returns whether this epoch is later than `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }
}

/// Control message about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Present epoch; in a reset request, the last epoch known to the requesting end.
    pub epoch: Epoch,
    /// Channel index at the sender, from 0. Messages to the sender use the channel's reverse
    /// direction.
    pub channel: u8,
    /// Number of channels at the sender.
    pub channels: u8,
    /// Type and content.
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

/// Type and content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complete channel state.
    Marker(Marker),
    /// Start of an epoch.
    Reset {
        /// Quantum of the channel; 0 if the channel is inactive.
        quantum: u32,
    },
    /// Acknowledgement of a reset, sent on the same channel.
    Acknowledged,
    /// Request for a reset to an epoch after [`Message::epoch`].
    ResetRequested,
    /// Announcement that another channel carries no packets from a given round on.
    Left(Departure),
    /// Acknowledgement of a [`Kind::Left`] message.
    LeftAcknowledged(Departure),
    /// Reception counts and credit for the channel.
    Report(Report),
    /// Negative acknowledgement of lost packets.
    Nack(Nack),
}

impl Kind {
    /// Returns whether only senders send messages of this type.
    pub const fn is_from_sender(&self) -> bool {
        matches!(self, Self::Marker(_) | Self::Reset { .. } | Self::Left(_))
    }
}

/// Complete channel state, reported by the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// Scheduler state: number of the next packet, quantum, and pending quantum change.
    pub standing: Standing,
    /// Packets sent on the channel in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// Bytes sent on the channel in this epoch.
    pub sent_bytes: u64,
    /// Pipe sequence number of the next packet on any channel, modulo 2^32. Each epoch starts at 0.
    pub next_sequence: u32,
    /// Send time, by the sender's clock.
    pub sent_at: Instant,
    /// Measured round-trip time of the channel, saturating at 2^32 - 1; 0 if unknown.
    pub round_trip_ns: u32,
    /// Time within which the sender deactivates the channel if it falls silent, saturating at 2^32
    /// - 1; 0 if never.
    pub out_after_ns: u32,
    /// Copy of [`Report::lowered`] from the last report, which identifies the credit limit in use.
    pub lowered: bool,
}

/// Announcement that a channel was deactivated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Deactivated channel.
    pub channel: u8,
    /// First round without packets on the channel, which can return only in a later round.
    pub since: Round,
    /// Packets sent on the channel in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// Pipe sequence number of the next packet at the time of the deactivation.
    pub next_sequence: u32,
}

/// Negative acknowledgement, sent in the reverse direction of any channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nack {
    /// Channel that lost the packets.
    pub channel: u8,
    /// Channel sequence number of the first missing packet.
    pub first: u32,
    /// Number of consecutive missing packets, at least 1.
    pub count: u16,
    /// Remaining time for which the receiver awaits copies, saturating at 2^32 - 1; also 2^32 - 1
    /// if each arriving copy extends the wait.
    pub left_ns: u32,
}

/// Channel state reported by the receiver. Counts start at 0 in each epoch and never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Credit limit: maximum cumulative memory charge of packets sent on the channel, modulo 2^32.
    pub limit_bytes: u32,
    /// Bit that flips whenever the credit limit falls. A marker with the new value confirms that no
    /// later packet exceeds the new limit.
    pub lowered: bool,
    /// Packets accounted for (received or lost), modulo 2^32.
    pub accounted_packets: u32,
    /// Bytes accounted for (received or lost).
    pub accounted_bytes: u64,
    /// Packets received, modulo 2^32.
    pub received_packets: u32,
    /// Bytes received.
    pub received_bytes: u64,
    /// Arrival time of the last packet, by the receiver's clock.
    pub received_at: Instant,
    /// Round of the pending quantum change in the last marker; `None` if no change is pending.
    pub coming_from: Option<Round>,
    /// Value of `sent_at` in the last marker received.
    pub echo: Instant,
    /// Time since the last marker arrived, saturating at 2^32 - 1.
    pub held_ns: u32,
    /// Time since the arrival of the last packet accounted for, saturating at 2^32 - 1; also
    /// 2^32 - 1 if that packet was lost.
    pub received_ago_ns: u32,
    /// Length of the longest packet received since the last report or within the last 20 ms,
    /// whichever period is longer.
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
