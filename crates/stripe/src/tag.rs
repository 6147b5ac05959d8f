//! Tags: the twelve bytes before a packet where order is guaranteed, with eight more before a
//! retransmission.
//!
//! ```text
//!    0       1       2       3       4       5       6       7       8       9       10      11
//!   +-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+
//!   |  sequence number of the pipe  | sequence number of the channel| epoch, low 16 |R| zero |channel|
//!   +-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+
//!   |   lost there, as which number |  next sequence of the pipe    |    where R: 8 bytes, then payload
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//! ```
//!
//! The first number says where the packet belongs, the second what the channel lost before it. A
//! repair (R) is a copy of a packet that was lost. It is a packet of the channel on which it goes,
//! with a number there; its number in the pipe is that of the lost packet, of which it names the
//! channel and the number there. So that it proves what was lost before it on its own channel, it
//! says as well, as a marker does, which number the next packet of the pipe had when it went.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 4, has the guaranteed variant with a
//! sequence number; the number of the channel is that of RFC 1990's links turned round: there each
//! link's last number of the bundle proves a loss, here a channel does by itself and at once. That
//! a retransmission is a packet with a number of its own is QUIC's (RFC 9002, section 3).
//!
//! Invariant: what is parsed and written again is the same bytes.

use core::ops::Deref;

use gingham_fairq::CHANNELS_MAX;

use crate::{Epoch, WireError};

/// The length of the tag of a packet that was not sent before.
pub const TAG_BYTES: usize = 12;

/// The length of the longest tag, that of a repair.
pub const TAG_BYTES_MAX: usize = TAG_BYTES + 8;

const REPAIR: u16 = 1 << 15;

/// What stands before a packet where order is guaranteed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The packet's number in the pipe: how many were sent before it in its epoch, modulo 2^32,
    /// each counted once.
    pub sequence: u32,
    /// How many were sent before it on its channel, copies as well, modulo 2^32.
    pub channel_sequence: u32,
    /// The low half of the epoch.
    pub epoch: u16,
    /// Of a copy, the packet that was lost.
    pub repair_of: Option<RepairOf>,
}

/// What a copy says beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepairOf {
    /// The channel on which the packet went first.
    pub channel: u8,
    /// Its number there.
    pub channel_sequence: u32,
    /// The number, in the pipe, of the next packet on whatever channel when the copy went.
    pub next_sequence: u32,
}

/// The bytes of a tag.
#[derive(Clone, Copy, Debug)]
pub struct TagBytes {
    bytes: [u8; TAG_BYTES_MAX],
    length: usize,
}

impl Deref for TagBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Tag {
    /// How many bytes it takes.
    pub const fn length(&self) -> usize {
        if self.repair_of.is_some() { TAG_BYTES_MAX } else { TAG_BYTES }
    }

    /// The tag as bytes.
    pub fn to_bytes(self) -> TagBytes {
        let flags = self.repair_of.map_or(0, |of| REPAIR | u16::from(of.channel));
        let RepairOf { channel_sequence, next_sequence, .. } = self.repair_of.unwrap_or_default();
        let mut bytes = [0; TAG_BYTES_MAX];
        bytes[..4].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.channel_sequence.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[10..12].copy_from_slice(&flags.to_be_bytes());
        bytes[12..16].copy_from_slice(&channel_sequence.to_be_bytes());
        bytes[16..].copy_from_slice(&next_sequence.to_be_bytes());
        TagBytes { bytes, length: self.length() }
    }

    /// The tag at the beginning of these bytes, and what follows it.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let truncated = WireError::Truncated { length: bytes.len() };
        let (tag, behind) = bytes.split_first_chunk::<TAG_BYTES>().ok_or(truncated)?;
        let [s0, s1, s2, s3, c0, c1, c2, c3, e0, e1, f0, channel] = *tag;
        let tag = Self {
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            channel_sequence: u32::from_be_bytes([c0, c1, c2, c3]),
            epoch: u16::from_be_bytes([e0, e1]),
            repair_of: None,
        };
        let flags = u16::from_be_bytes([f0, channel]);
        if flags == 0 {
            return Ok((tag, behind));
        }
        if flags & REPAIR == 0 || usize::from(flags & !REPAIR) >= CHANNELS_MAX {
            return Err(WireError::NotZero);
        }
        let (number, behind) = behind.split_first_chunk().ok_or(truncated)?;
        let (next, payload) = behind.split_first_chunk().ok_or(truncated)?;
        let repair_of = Some(RepairOf {
            channel,
            channel_sequence: u32::from_be_bytes(*number),
            next_sequence: u32::from_be_bytes(*next),
        });
        Ok((Self { repair_of, ..tag }, payload))
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
        assert_eq!(tag.to_bytes()[..], bytes);
        assert_eq!(Tag::parse(&bytes), Ok((tag, &[][..])));
        let of = RepairOf { channel: 63, channel_sequence: 0x0c0d_0e0f, next_sequence: 9 };
        let repair = Tag { repair_of: Some(of), ..tag };
        assert_eq!(repair.to_bytes()[10..], [0x80, 63, 12, 13, 14, 15, 0, 0, 0, 9]);
        let mut frame = repair.to_bytes().to_vec();
        assert_eq!(frame.len(), repair.length());
        assert_eq!(Tag::parse(&frame[..19]), Err(WireError::Truncated { length: 19 }));
        frame.extend(b"data");
        assert_eq!(Tag::parse(&frame), Ok((repair, &b"data"[..])));
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
