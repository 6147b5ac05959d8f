//! Messages as bytes, all numbers with the highest byte first.
//!
//! ```text
//!    0       1       2       3       4        5         6       7
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//!   |  'G'     'S'  | vers. | kind  | channel| channels|     zero      |
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//!   |             epoch             |       round (marker, or 0)       |   8
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//!   |      deficit (marker, or 0)   |   CRC-32C of the bytes before    |  16
//!   +-------+-------+-------+-------+--------+---------+-------+-------+
//! ```
//!
//! Links have checks of their own; the one here keeps what passes them by from becoming a
//! scheduler's state. Bytes after the message are padding (Ethernet has at least 46) and are not read.
//!
//! Invariants: what is parsed and written again is the same 24 bytes; any bytes give a message or
//! a [`WireError`].

use core::fmt;

use gingham_fairq::{CHANNELS_MAX, Number, Round};

use crate::{Epoch, Kind, Message};

/// The length of every message.
pub const MESSAGE_BYTES: usize = 24;

const MAGIC: [u8; 2] = *b"GS";
const VERSION: u8 = 1;
const CHECKED_BYTES: usize = MESSAGE_BYTES - 4;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// Fewer bytes than a message has.
    Truncated {
        /// Bytes there.
        length: usize,
    },
    /// The first two bytes are those of something else.
    BadMagic,
    /// A version of the protocol that is not known here.
    BadVersion {
        /// The version.
        version: u8,
    },
    /// The checksum is that of other bytes.
    BadChecksum,
    /// A kind of message that is not known here.
    BadKind {
        /// The kind.
        kind: u8,
    },
    /// A channel that is not among the channels, or more of them than there can be.
    BadChannel {
        /// The channel, from 0.
        channel: u8,
        /// How many there are.
        channels: u8,
    },
    /// A marker with a deficit of zero, which is no packet's.
    NoDeficit,
    /// A field that this kind of message leaves zero is not.
    NotZero,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { length } => {
                write!(f, "{length} bytes, where a message has {MESSAGE_BYTES}")
            }
            Self::BadMagic => write!(f, "it does not begin as a message does"),
            Self::BadVersion { version } => {
                write!(f, "version {version}, where {VERSION} is known")
            }
            Self::BadChecksum => write!(f, "the checksum does not fit"),
            Self::BadKind { kind } => write!(f, "kind {kind} is not known"),
            Self::BadChannel { channel, channels } => {
                write!(
                    f,
                    "channel {channel} of {channels}; at most {CHANNELS_MAX} are numbered from 0"
                )
            }
            Self::NoDeficit => write!(f, "a marker with a deficit of zero"),
            Self::NotZero => write!(f, "a field that must be zero is not"),
        }
    }
}

impl core::error::Error for WireError {}

impl Message {
    /// The message as bytes.
    pub fn to_bytes(self) -> [u8; MESSAGE_BYTES] {
        let (kind, number) = match self.kind {
            Kind::Marker(number) => (1, number),
            Kind::Reset => (2, NO_NUMBER),
            Kind::Acknowledged => (3, NO_NUMBER),
            Kind::ResetRequested => (4, NO_NUMBER),
        };
        let mut bytes = [0; MESSAGE_BYTES];
        bytes[..2].copy_from_slice(&MAGIC);
        bytes[2..6].copy_from_slice(&[VERSION, kind, self.channel, self.channels]);
        bytes[8..12].copy_from_slice(&self.epoch.get().to_be_bytes());
        bytes[12..16].copy_from_slice(&number.round.get().to_be_bytes());
        bytes[16..20].copy_from_slice(&number.deficit_bytes.to_be_bytes());
        let checksum = crc32c(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The message at the beginning of these bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let Some(bytes) = bytes.first_chunk::<MESSAGE_BYTES>() else {
            return Err(WireError::Truncated { length: bytes.len() });
        };
        if bytes[..2] != MAGIC {
            return Err(WireError::BadMagic);
        }
        if bytes[2] != VERSION {
            return Err(WireError::BadVersion { version: bytes[2] });
        }
        if crc32c(&bytes[..CHECKED_BYTES]) != word(bytes, CHECKED_BYTES) {
            return Err(WireError::BadChecksum);
        }
        let number = Number { round: Round::new(word(bytes, 12)), deficit_bytes: word(bytes, 16) };
        let kind = kind_of(bytes[3], number)?;
        let (channel, channels) = (bytes[4], bytes[5]);
        if channel >= channels || usize::from(channels) > CHANNELS_MAX {
            return Err(WireError::BadChannel { channel, channels });
        }
        if bytes[6..8] != [0, 0] {
            return Err(WireError::NotZero);
        }
        Ok(Self { epoch: Epoch::new(word(bytes, 8)), channel, channels, kind })
    }
}

/// The number field of what is no marker.
const NO_NUMBER: Number = Number { round: Round::new(0), deficit_bytes: 0 };

fn kind_of(kind: u8, number: Number) -> Result<Kind, WireError> {
    match kind {
        1 if number.deficit_bytes == 0 => Err(WireError::NoDeficit),
        1 => Ok(Kind::Marker(number)),
        2..=4 if number != NO_NUMBER => Err(WireError::NotZero),
        2 => Ok(Kind::Reset),
        3 => Ok(Kind::Acknowledged),
        4 => Ok(Kind::ResetRequested),
        kind => Err(WireError::BadKind { kind }),
    }
}

fn word(bytes: &[u8; MESSAGE_BYTES], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// CRC-32C (Castagnoli), bit by bit: messages are few and short.
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL_REFLECTED: u32 = 0x82f6_3b78;
    let shift = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL_REFLECTED & (crc & 1).wrapping_neg());
    let step = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), shift);
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C (RFC 3720, appendix B.4, and every catalogue of them).
    #[test]
    fn the_checksum_has_its_check_value() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }
}
