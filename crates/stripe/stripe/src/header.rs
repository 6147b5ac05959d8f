//! The eight-byte datagram header.
//!
//! ```text
//!     0       1       2       3       4       5       6       7
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//!   | v | k |channel|    session    |    number on the channel      |   v: version, k: type, 4 bits each
//!   +-------+-------+-------+-------+-------+-------+-------+-------+
//! ```
//!
//! Encryption can use the header as unencrypted associated data and as a nonce: within a session
//! (an epoch), neither end sends the same header twice. Packets and copies on a channel share one
//! sequence of numbers; message datagrams have another, distinguished by the content type. A new
//! key is needed before the numbers wrap at 2^32.
//!
//! Source: ours, modelled on RFC 9001, sections 5.3 and 5.4.

use gingham_fairq::CHANNELS_MAX;

use crate::message::small;
use crate::wire::VERSION;
use crate::{Epoch, WireError};

/// Header length.
pub const HEADER_BYTES: usize = 8;

/// Type of the datagram content after the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Packet sent for the first time.
    #[default]
    Data,
    /// Copy of a lost packet.
    Copy,
    /// Control messages.
    Message,
}

/// Datagram header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Type of the content.
    pub content: Content,
    /// Channel of the datagram; messages to the sender use its reverse direction.
    pub channel: u8,
    /// Low 16 bits of the epoch number.
    pub session: u16,
    /// Sequence number on the channel, modulo 2^32; message datagrams have a separate sequence.
    pub number: u32,
}

impl Header {
    /// Encodes the header.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let ([s0, s1], [n0, n1, n2, n3]) = (self.session.to_be_bytes(), self.number.to_be_bytes());
        [VERSION << 4 | self.content as u8, self.channel, s0, s1, n0, n1, n2, n3]
    }

    /// Parses a header; returns it with the remaining bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let truncated = WireError::Truncated { length: bytes.len() };
        let (header, behind) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(truncated)?;
        let [first, channel, s0, s1, n0, n1, n2, n3] = *header;
        let (version, kind) = (first >> 4, first & 0xf);
        if version != VERSION {
            return Err(WireError::BadVersion { version });
        }
        let content = match kind {
            0 => Content::Data,
            1 => Content::Copy,
            2 => Content::Message,
            kind => return Err(WireError::BadKind { kind }),
        };
        if usize::from(channel) >= CHANNELS_MAX {
            return Err(WireError::BadChannel { channel, channels: small(CHANNELS_MAX) });
        }
        let session = u16::from_be_bytes([s0, s1]);
        let number = u32::from_be_bytes([n0, n1, n2, n3]);
        Ok((Self { content, channel, session, number }, behind))
    }
}

/// Per-channel sequence numbers for the message datagrams that one end sends; they continue across
/// epochs.
///
/// ```
/// use gingham_stripe::{Content, Epoch, Header, MessageNumbers};
///
/// let mut numbers = MessageNumbers::default();
/// let epoch = Epoch::new(0x1_0007);
/// let header = Header { content: Content::Message, channel: 3, session: 7, number: 0 };
/// assert_eq!(numbers.header(3, epoch), header);
/// assert_eq!(numbers.header(3, epoch), Header { number: 1, ..header });
/// ```
#[derive(Clone, Debug)]
pub struct MessageNumbers([u32; CHANNELS_MAX]);

impl Default for MessageNumbers {
    fn default() -> Self {
        Self([0; CHANNELS_MAX])
    }
}

impl MessageNumbers {
    /// Returns the header of the next message datagram; `epoch` is the epoch of its first message.
    pub fn header(&mut self, channel: u8, epoch: Epoch) -> Header {
        let session = epoch.low();
        let next = &mut self.0[usize::from(channel) % CHANNELS_MAX];
        let number = *next;
        *next = next.wrapping_add(1);
        Header { content: Content::Message, channel, session, number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_has_the_documented_layout() {
        let header =
            Header { content: Content::Message, channel: 63, session: 0x0a0b, number: 0x0102_0304 };
        let bytes = [0x42, 63, 10, 11, 1, 2, 3, 4];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(Header::parse(&bytes), Ok((header, &[][..])));
    }

    #[test]
    fn invalid_headers_are_rejected() {
        assert_eq!(Header::parse(&[0x40; 7]), Err(WireError::Truncated { length: 7 }));
        let begins = |first, channel| {
            Header::parse(&[first, channel, 0, 0, 0, 0, 0, 0]).map(|(header, _)| header)
        };
        assert_eq!(begins(0x30, 0), Err(WireError::BadVersion { version: 3 }));
        assert_eq!(begins(0x50, 0), Err(WireError::BadVersion { version: 5 }));
        assert_eq!(begins(0x43, 0), Err(WireError::BadKind { kind: 3 }));
        let channel = Err(WireError::BadChannel { channel: 64, channels: 64 });
        assert_eq!(begins(0x40, 64), channel);
    }
}
