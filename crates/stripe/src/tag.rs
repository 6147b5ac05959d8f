//! Tags: the twelve bytes before a packet where order is guaranteed.
//!
//! ```text
//!    0       1       2       3       4       5       6       7
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//!   |  sequence number of the pipe  | sequence number of the channel|
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//!   | epoch, low 16 |R|    zero     | channel where R, or 0 |  payload ...
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//! ```
//!
//! The first number says where the packet belongs, the second what the channel lost before it. A
//! repair (R) is a copy of a packet that was lost: it names the channel on which that went, and
//! both numbers are that packet's.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 4, has the guaranteed variant with a
//! sequence number; the number of the channel is that of RFC 1990's links turned round: there each
//! link's last number of the bundle proves a loss, here a channel does by itself and at once.
//!
//! Invariant: what is parsed and written again is the same twelve bytes.

use gingham_fairq::CHANNELS_MAX;

use crate::{Epoch, WireError};

/// The length of a tag.
pub const TAG_BYTES: usize = 12;

const REPAIR: u16 = 1 << 15;

/// What stands before a packet where order is guaranteed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The packet's number in the pipe: how many were sent before it in its epoch, modulo 2^32.
    pub sequence: u32,
    /// How many were sent before it on its channel, modulo 2^32.
    pub channel_sequence: u32,
    /// The low half of the epoch.
    pub epoch: u16,
    /// Of a copy, the channel on which the packet went first.
    pub repair_of: Option<u8>,
}

impl Tag {
    /// The tag as bytes.
    pub fn to_bytes(self) -> [u8; TAG_BYTES] {
        let flags = self.repair_of.map_or(0, |channel| REPAIR | u16::from(channel));
        let mut bytes = [0; TAG_BYTES];
        bytes[..4].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.channel_sequence.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[10..].copy_from_slice(&flags.to_be_bytes());
        bytes
    }

    /// The tag at the beginning of these bytes, and what follows it.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (tag, payload) = bytes
            .split_first_chunk::<TAG_BYTES>()
            .ok_or(WireError::Truncated { length: bytes.len() })?;
        let [s0, s1, s2, s3, c0, c1, c2, c3, e0, e1, f0, f1] = *tag;
        let flags = u16::from_be_bytes([f0, f1]);
        let repair_of = match flags {
            0 => None,
            _ if flags & REPAIR == 0 || usize::from(flags & !REPAIR) >= CHANNELS_MAX => {
                return Err(WireError::NotZero);
            }
            _ => Some(f1),
        };
        let tag = Self {
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            channel_sequence: u32::from_be_bytes([c0, c1, c2, c3]),
            epoch: u16::from_be_bytes([e0, e1]),
            repair_of,
        };
        Ok((tag, payload))
    }
}

impl Epoch {
    /// The half that tags carry.
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub(crate) const fn low(self) -> u16 {
        self.get() as u16
    }
}

/// How far one sequence number is ahead of another, negative if it is behind (RFC 1982).
pub(crate) const fn ahead(sequence: u32, of: u32) -> i32 {
    sequence.wrapping_sub(of).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_written_as_drawn() {
        let tag =
            Tag { sequence: 0x0102_0304, channel_sequence: 5, epoch: 0x0a0b, repair_of: None };
        let bytes = [1, 2, 3, 4, 0, 0, 0, 5, 10, 11, 0, 0];
        assert_eq!(tag.to_bytes(), bytes);
        let repair = Tag { repair_of: Some(63), ..tag };
        assert_eq!(repair.to_bytes()[10..], [0x80, 63]);
        let mut frame = repair.to_bytes().to_vec();
        frame.extend(b"data");
        assert_eq!(Tag::parse(&frame), Ok((repair, &b"data"[..])));
        assert_eq!(Tag::parse(&bytes), Ok((tag, &[][..])));
    }

    #[test]
    fn bytes_that_are_no_tag_are_refused() {
        assert_eq!(Tag::parse(&[0; 11]), Err(WireError::Truncated { length: 11 }));
        for flags in [[0, 1], [0x80, 64], [0x81, 0], [0x40, 0]] {
            let mut bytes = [0; TAG_BYTES];
            bytes[10..].copy_from_slice(&flags);
            assert_eq!(Tag::parse(&bytes), Err(WireError::NotZero), "{flags:?}");
        }
    }

    #[test]
    fn sequence_numbers_compare_across_the_wrap() {
        assert_eq!((ahead(2, u32::MAX), ahead(u32::MAX, 2), ahead(7, 7)), (3, -3, 0));
    }
}
