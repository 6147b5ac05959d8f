//! What the ends tell each other beside the data.
//!
//! ```text
//!   sender -> receiver, on a channel          receiver -> sender, on its way back
//!     Reset   start anew                        Acknowledged, ResetRequested
//!     Marker  all there is to say of it         Report, Nack
//!     Left    another one is out                LeftAcknowledged
//! ```
//!
//! A marker describes its channel entirely, so whatever went wrong there, the next one puts right.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5. The paper resets after a crash and
//! leaves the how open; epochs are ours: whatever belongs to an earlier one is discarded. So is
//! what a marker says beside the number, and what the receiver reports.

use gingham_fairq::{Round, Standing};

use crate::{Discard, Instant};

/// The count of resets, modulo 2^32, compared as serial numbers (RFC 1982).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u32);

impl Epoch {
    /// The epoch of this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The epoch after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The epoch before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }

    /// Whether this epoch comes after the other.
    pub const fn is_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }
}

/// A message of one end to the other, about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The epoch in which it holds; of a request, the last epoch known to who asks.
    pub epoch: Epoch,
    /// The channel on which it goes, or on whose way back, from 0, by the sender's numbering.
    pub channel: u8,
    /// How many channels the sender has.
    pub channels: u8,
    /// What it says.
    pub kind: Kind,
}

impl Message {
    /// A message of an end; ends have at most 64 channels.
    pub(crate) fn about(channel: usize, channels: usize, epoch: Epoch, kind: Kind) -> Self {
        Self { epoch, channel: small(channel), channels: small(channels), kind }
    }

    /// Whether the other end has as many channels as this one and means the channel on which the
    /// message came.
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

/// A channel's number, or how many there are, as messages write it.
pub(crate) fn small(channels: usize) -> u8 {
    u8::try_from(channels).expect("at most 64 channels")
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All there is to say of the channel.
    Marker(Marker),
    /// The epoch begins: what came on the channel before belongs to an earlier one.
    Reset {
        /// The channel's quantum; 0 where it is out.
        quantum: u32,
    },
    /// The reset has come on the channel.
    Acknowledged,
    /// The receiver asks for an epoch after the one that it names.
    ResetRequested,
    /// Another channel sends nothing from a round on.
    Left(Departure),
    /// The receiver knows that the other channel is out.
    LeftAcknowledged(Departure),
    /// What has come on the channel, and how much more may.
    Report(Report),
    /// Packets that the receiver knows to be lost: a negative acknowledgement.
    Nack(Nack),
}

impl Kind {
    /// Whether only a sender says so: then it is for the receiver of the other end, otherwise for its
    /// sender.
    pub const fn is_from_sender(&self) -> bool {
        matches!(self, Self::Marker(_) | Self::Reset { .. } | Self::Left(_))
    }
}

/// What the sender says of a channel: what follows on it is described by this alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// The number of its next packet, its quantum and the change to come.
    pub standing: Standing,
    /// Packets of data sent on it in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The sequence number, in the pipe, of the next packet on whatever channel: how many were sent
    /// in this epoch, modulo 2^32.
    pub next_sequence: u32,
    /// When the marker was given out, by the sender's clock.
    pub sent_at: Instant,
    /// The time there and back on the channel as the sender last measured it, in nanoseconds; 0
    /// where it has not, 2^32 - 1 where it was longer.
    pub round_trip_ns: u32,
    /// So long after the channel falls silent the sender takes it out, in nanoseconds; 0 where it
    /// never does, 2^32 - 1 where it takes longer.
    pub out_after_ns: u32,
    /// What the last report said of that: which limit the sender goes by.
    pub lowered: bool,
}

/// A channel that is out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// The channel.
    pub channel: u8,
    /// It sends nothing from this round on; if it comes back, then after it.
    pub since: Round,
    /// Packets of data sent on it in this epoch, modulo 2^32.
    pub sent_packets: u32,
    /// The sequence number, in the pipe, of the next packet when it left.
    pub next_sequence: u32,
}

/// A negative acknowledgement: packets of a channel that the receiver knows to be lost. The message
/// may come on the way back of another channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nack {
    /// The channel on which they went.
    pub channel: u8,
    /// The first of them, by the sequence numbers of that channel.
    pub first: u32,
    /// How many there are in a row, at least one.
    pub count: u16,
    /// For so many nanoseconds more their copies are waited for; 2^32 - 1 where it is longer, or as
    /// long as any come.
    pub left_ns: u32,
}

/// What the receiver says of a channel. Counts are of this epoch and only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// So much may be charged to the channel, modulo 2^32: what is in flight no longer, and what the
    /// receiver keeps room for.
    pub limit_bytes: u32,
    /// It changes whenever the limit falls; markers give it back, and say so that nothing above the
    /// limit is to come.
    pub lowered: bool,
    /// Packets that are in flight no longer, come or lost, modulo 2^32: the sender's own count in
    /// the last marker, and what came since.
    pub accounted_packets: u32,
    /// Their bytes.
    pub accounted_bytes: u64,
    /// Packets that came, modulo 2^32.
    pub received_packets: u32,
    /// Their bytes.
    pub received_bytes: u64,
    /// When the last packet came on the channel, by the receiver's clock.
    pub came_at: Instant,
    /// From which round on the last marker announced a change.
    pub coming_from: Option<Round>,
    /// What the last marker said of when it was sent.
    pub echo: Instant,
    /// So many nanoseconds ago it came, or 2^32 - 1 where it was longer.
    pub held_ns: u32,
    /// So many nanoseconds ago the last packet that is accounted for came, or 2^32 - 1 where it was
    /// longer or it did not.
    pub came_ago_ns: u32,
    /// The longest packet of data that came lately, in bytes: since the last report at least, and in
    /// the last 20 ms.
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
