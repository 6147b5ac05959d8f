//! Tags: in guaranteed order, each packet is preceded by twelve bytes, and each copy by twenty.
//!
//! ```text
//!    0       1       2       3       4       5       6       7       8       9       10      11
//!   +-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+
//!   |   header (see `header`), with the channel sequence number     |     pipe sequence number      |
//!   +-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+-------+
//!   |  lost: channel sequence no.   | c: 6 bits, distance: 26 bits  |   copies only
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//! ```
//!
//! Gaps in the channel sequence numbers reveal losses. A copy gets the next channel sequence number
//! of the channel that carries it, keeps the pipe sequence number of the lost packet, and names
//! that packet's channel (c) and channel sequence number. Like a marker, a copy carries the
//! sender's next pipe sequence number, encoded as its distance from the copy's pipe sequence
//! number, to prove earlier losses on the channel that carries it.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 4 (guaranteed variant). In RFC 1990, only
//! the last sequence numbers of all links together prove a loss; here, each channel immediately
//! proves its own losses. Retransmissions with new sequence numbers come from QUIC (RFC 9002,
//! section 3).
//!
//! Invariant: parsing and writing again yields the same bytes.

use core::ops::Deref;

use gingham_fairq::CHANNELS_MAX;

use crate::{Content, Epoch, HEADER_BYTES, Header, PACKETS_MAX, WireError};

/// Tag length of a first transmission.
pub const TAG_BYTES: usize = HEADER_BYTES + 4;

/// Tag length of a copy, the maximum tag length.
pub const TAG_BYTES_MAX: usize = TAG_BYTES + 8;

/// Width of the distance field, in bits.
const AHEAD_BITS: u32 = 26;
const AHEAD_MAX: u32 = (1 << AHEAD_BITS) - 1;

// The distance field covers every packet that a receiver can hold; the remaining bits hold the
// channel.
const _: () = assert!(PACKETS_MAX * CHANNELS_MAX == 1 << AHEAD_BITS);
const _: () = assert!(CHANNELS_MAX == 1 << (u32::BITS - AHEAD_BITS));

/// Tag that precedes a packet in guaranteed order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// Pipe sequence number: number of packets sent earlier in the epoch, on all channels, modulo
    /// 2^32.
    pub sequence: u32,
    /// Channel that carries the packet or copy.
    pub channel: u8,
    /// Channel sequence number: number of packets and copies sent earlier on the channel, modulo
    /// 2^32.
    pub channel_sequence: u32,
    /// Low 16 bits of the epoch number.
    pub session: u16,
    /// Identification of the lost packet; `None` for a first transmission.
    pub repair_of: Option<RepairOf>,
}

/// Additional fields in the tag of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepairOf {
    /// Channel of the first transmission.
    pub channel: u8,
    /// Channel sequence number of the first transmission.
    pub channel_sequence: u32,
    /// Next pipe sequence number when the copy is sent. The encoding allows at most 2^26 - 1 more
    /// than the sequence number of the copy.
    pub next_sequence: u32,
}

/// Encoded tag.
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
    /// Returns the encoded length, in bytes.
    pub const fn length(&self) -> usize {
        if self.repair_of.is_some() { TAG_BYTES_MAX } else { TAG_BYTES }
    }

    /// Returns the header, which can be sent unencrypted.
    pub fn header(&self) -> Header {
        let content = if self.repair_of.is_some() { Content::Copy } else { Content::Data };
        let Self { channel, session, channel_sequence: number, .. } = *self;
        Header { content, channel, session, number }
    }

    /// Encodes the tag.
    pub fn to_bytes(self) -> TagBytes {
        let of = self.repair_of.unwrap_or_default();
        let ahead = of.next_sequence.wrapping_sub(self.sequence).min(AHEAD_MAX);
        let lost = u32::from(of.channel) << AHEAD_BITS | ahead;
        let mut bytes = [0; TAG_BYTES_MAX];
        bytes[..HEADER_BYTES].copy_from_slice(&self.header().to_bytes());
        bytes[HEADER_BYTES..TAG_BYTES].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[12..16].copy_from_slice(&of.channel_sequence.to_be_bytes());
        bytes[16..].copy_from_slice(&lost.to_be_bytes());
        TagBytes { bytes, length: self.length() }
    }

    /// Parses a tag; returns it with the remaining bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (header, behind) = Header::parse(bytes)?;
        Self::parse_behind(header, behind).map_err(|error| match error {
            WireError::Truncated { .. } => WireError::Truncated { length: bytes.len() },
            error => error,
        })
    }

    /// Parses the part of a tag after its header, for example after decryption.
    pub fn parse_behind(header: Header, behind: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let truncated = WireError::Truncated { length: behind.len() };
        let Header { content, channel, session, number: channel_sequence } = header;
        let (sequence, payload) = behind.split_first_chunk().ok_or(truncated)?;
        let sequence = u32::from_be_bytes(*sequence);
        let tag = Self { sequence, channel, channel_sequence, session, repair_of: None };
        match content {
            Content::Data => Ok((tag, payload)),
            Content::Message => Err(WireError::BadKind { kind: content as u8 }),
            Content::Copy => {
                let (number, behind) = payload.split_first_chunk().ok_or(truncated)?;
                let (lost, payload) = behind.split_first_chunk().ok_or(truncated)?;
                let lost = u32::from_be_bytes(*lost);
                let repair_of = Some(RepairOf {
                    channel: (lost >> AHEAD_BITS).to_be_bytes()[3],
                    channel_sequence: u32::from_be_bytes(*number),
                    next_sequence: sequence.wrapping_add(lost & AHEAD_MAX),
                });
                Ok((Self { repair_of, ..tag }, payload))
            }
        }
    }
}

impl Epoch {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub(crate) const fn low(self) -> u16 {
        self.get() as u16
    }
}

/// Returns the signed distance from `of` to `sequence` modulo 2^32 (RFC 1982); negative if
/// `sequence` is behind.
pub(crate) const fn ahead(sequence: u32, of: u32) -> i32 {
    sequence.wrapping_sub(of).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_has_the_documented_layout() {
        let tag = Tag {
            sequence: 0x0102_0304,
            channel: 2,
            channel_sequence: 5,
            session: 0x0a0b,
            repair_of: None,
        };
        let bytes = [0x40, 2, 10, 11, 0, 0, 0, 5, 1, 2, 3, 4];
        assert_eq!(tag.to_bytes()[..], bytes);
        assert_eq!(Tag::parse(&bytes), Ok((tag, &[][..])));
        let of =
            RepairOf { channel: 63, channel_sequence: 0x0c0d_0e0f, next_sequence: 0x0102_0309 };
        let copy = Tag { repair_of: Some(of), ..tag };
        assert_eq!(copy.to_bytes()[..2], [0x41, 2]);
        assert_eq!(copy.to_bytes()[12..], [12, 13, 14, 15, 63 << 2, 0, 0, 5]);
        let mut frame = copy.to_bytes().to_vec();
        assert_eq!(frame.len(), copy.length());
        assert_eq!(Tag::parse(&frame[..19]), Err(WireError::Truncated { length: 19 }));
        frame.extend(b"data");
        assert_eq!(Tag::parse(&frame), Ok((copy, &b"data"[..])));
    }

    #[test]
    fn next_sequence_distance_of_a_copy_is_clamped() {
        for (next_sequence, read) in
            [(7 + (1 << 26), 6 + (1 << 26)), (6 + (1 << 26), 6 + (1 << 26))]
        {
            let of = RepairOf { channel: 63, channel_sequence: 0, next_sequence };
            let bytes = Tag { sequence: 7, repair_of: Some(of), ..Tag::default() }.to_bytes();
            let (tag, _) = Tag::parse(&bytes).expect("it was written so");
            assert_eq!(tag.repair_of, Some(RepairOf { next_sequence: read, ..of }));
        }
    }

    #[test]
    fn invalid_tags_are_rejected() {
        assert_eq!(Tag::parse(&[0x40; 7]), Err(WireError::Truncated { length: 7 }));
        assert_eq!(
            Tag::parse(&[0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Err(WireError::Truncated { length: 11 })
        );
        assert_eq!(Tag::parse(&[0; TAG_BYTES]), Err(WireError::BadVersion { version: 0 }));
        assert_eq!(
            Tag::parse(&[0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Err(WireError::BadKind { kind: 2 })
        );
    }

    #[test]
    fn sequence_numbers_compare_across_the_wrap() {
        assert_eq!((ahead(2, u32::MAX), ahead(u32::MAX, 2), ahead(7, 7)), (3, -3, 0));
    }
}
