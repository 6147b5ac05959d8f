//! Wire format of messages, in network byte order.
//!
//! ```text
//!    0       1       2       3       4        5         6       7
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//!   |  'G'     'S'  | vers. | kind  | channel| channels|     flags     |
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//!   |             epoch             |   body, 0 to 60 bytes    ...  CRC-32C of everything before
//!   +-------+-------+-------+-------+--------+-----
//! ```
//!
//! | kind | | body |
//! |---|---|---|
//! | 1 | Marker | round 4, deficit 4, quantum 4, coming: round 4, quantum 4; sent packets 4, sent bytes 8, next sequence 4, sent at 8, round trip 4, out after 4 |
//! | 2 | Reset | quantum 4 |
//! | 3, 4 | Acknowledged, ResetRequested | |
//! | 5, 6 | Left, LeftAcknowledged | channel 1, zero 3, round 4, sent packets 4, next sequence 4 |
//! | 7 | Report | limit bytes 4, accounted packets 4 and bytes 8, received packets 4 and bytes 8, received at 8, coming: round 4; echo 8, held 4, received ago 4, longest 4 |
//! | 8 | Nack | first 4, count 2, channel 1, zero 1, left 4 |
//!
//! Numbers after the field names are lengths in bytes. Flag bit 0 indicates that the "coming"
//! fields, a pending quantum change, are present; otherwise they are zero. Flag bit 1, used in
//! markers and reports, flips whenever the credit limit falls. The checksum protects the scheduler
//! state from bit errors that links miss. Bytes after a message are further messages or padding:
//! see [`Messages`].
//!
//! Invariants: parsing and writing again yields the same bytes; any input yields a message or a
//! [`WireError`].

mod body;
mod error;
mod messages;

use core::ops::Deref;

use crc32c::crc32c;

use crate::{Epoch, Message};
pub(crate) use error::VERSION;
pub use error::WireError;
pub use messages::Messages;

/// Maximum message length.
pub const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + body::BODY_BYTES_MAX + CHECKSUM_BYTES;

const HEADER_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
const MAGIC: [u8; 2] = *b"GS";

/// Encoded message, aligned because the checksum reads eight bytes at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct MessageBytes {
    bytes: [u8; MESSAGE_BYTES_MAX],
    length: usize,
}

impl Deref for MessageBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Message {
    /// Encodes the message.
    pub fn to_bytes(self) -> MessageBytes {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let (code, flags, body_bytes) = body::write(&self.kind, &mut bytes[HEADER_BYTES..]);
        bytes[..2].copy_from_slice(&MAGIC);
        bytes[2..6].copy_from_slice(&[VERSION, code, self.channel, self.channels]);
        bytes[6..8].copy_from_slice(&flags.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.epoch.get().to_be_bytes());
        let checked = HEADER_BYTES + body_bytes;
        let checksum = crc32c(&bytes[..checked]);
        bytes[checked..checked + CHECKSUM_BYTES].copy_from_slice(&checksum.to_be_bytes());
        MessageBytes { bytes, length: checked + CHECKSUM_BYTES }
    }

    /// Parses the message at the start of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        Self::split_first(bytes).map(|(message, _)| message)
    }

    fn split_first(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let truncated = WireError::Truncated { length: bytes.len() };
        let header = bytes.first_chunk::<HEADER_BYTES>().ok_or(truncated)?;
        if header[..2] != MAGIC {
            return Err(WireError::BadMagic);
        }
        let [_, _, version, code, channel, channels, high, low, epoch @ ..] = *header;
        if version != VERSION {
            return Err(WireError::BadVersion { version });
        }
        let checked = HEADER_BYTES + body::length(code)?;
        let checksum = bytes.get(checked..checked + CHECKSUM_BYTES).ok_or(truncated)?;
        if crc32c(&bytes[..checked]).to_be_bytes() != checksum {
            return Err(WireError::BadChecksum);
        }
        error::check_channel(channel, channels)?;
        let flags = u16::from_be_bytes([high, low]);
        let kind = body::parse(code, flags, channels, &bytes[HEADER_BYTES..checked])?;
        let epoch = Epoch::new(u32::from_be_bytes(epoch));
        Ok((Self { epoch, channel, channels, kind }, &bytes[checked + CHECKSUM_BYTES..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value is from RFC 3720, appendix B.4, and CRC catalogues.
    #[test]
    fn checksum_matches_the_crc32c_check_value() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn longest_message_is_a_report() {
        assert_eq!(MESSAGE_BYTES_MAX, 76);
    }
}
