//! What the ends tell each other beside the data.
//!
//! ```text
//!   sender -> receiver    Marker (number of the next packet of the channel)    Reset (start anew)
//!   receiver -> sender    Acknowledged (of a reset)       ResetRequested (we are out of step)
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5. The paper resets after a crash and
//! leaves the how open; epochs are ours: whatever belongs to an earlier one is discarded.

use gingham_fairq::Number;

use crate::Discard;

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
    /// The channel, from 0, by the sender's numbering.
    pub channel: u8,
    /// How many channels there are.
    pub channels: u8,
    /// What it says.
    pub kind: Kind,
}

impl Message {
    /// A message of an end; ends have at most 64 channels.
    pub(crate) fn about(channel: usize, channels: usize, epoch: Epoch, kind: Kind) -> Self {
        let small = |channels: usize| u8::try_from(channels).expect("at most 64 channels");
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

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The next packet of the channel has this number.
    Marker(Number),
    /// The epoch begins: what came on the channel before is void.
    Reset,
    /// The reset has come on the channel.
    Acknowledged,
    /// The receiver asks for an epoch after the one that it names.
    ResetRequested,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_compare_across_the_wrap() {
        let last = Epoch::new(u32::MAX);
        assert!(last.next().is_after(last) && !last.is_after(last.next()) && !last.is_after(last));
    }
}
