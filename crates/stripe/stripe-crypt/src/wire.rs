//! Handshake datagrams.
//!
//! ```text
//!                    0       1       2       3
//!                   +-------+-------+-------+-------+
//!   initiation, 166 |v|0|3| |   2   |     zero      | Noise e 32, s 48, payload 26 | mac1 16 | proof 40 |
//!   response, 78    |v|1|3| |   2   |     zero      | Noise e 32, payload 26 | mac1 16 |
//!   cookie, 68      |v|2|3| |   2   |     zero      | nonce 24 | stamp 8 and cookie 16, sealed to 40 |
//!   confirm, 24     |v|3|3| |   2   | index | zero  | zero 4 | check 16 |
//!                   +-------+-------+-------+-------+
//!   others          |v|i|k| |  as in the striping protocol: k is 0, 1 or 2, i the index
//! ```
//!
//! `v` is the version of the striping protocol. The next two bits are the type of a handshake
//! datagram (`k` is 3) or the index of the receiver's key (other `k`). The second byte is the
//! handshake version. A payload is the process name (8 bytes), the index of the sender's key, and a
//! zero. A proof, which replies to a cookie, is stamp 8, mac2 16, mac3 16; it is zero before a
//! cookie is known.

use gingham_stripe::Header;

use crate::discard::Discard;
use crate::primitives::CHECK_BYTES;

pub(crate) const VERSION: u8 = 2;
pub(crate) const MAC_BYTES: usize = 16;
pub(crate) const STAMP_BYTES: usize = 8;
pub(crate) const COOKIE_NONCE_BYTES: usize = 24;
pub(crate) const PAYLOAD_BYTES: usize = 10;
pub(crate) const INITIATION_BYTES: usize = MAC3_AT + MAC_BYTES;
pub(crate) const RESPONSE_BYTES: usize = RESPONSE_MAC_AT + MAC_BYTES;
pub(crate) const COOKIE_BYTES: usize =
    COOKIE_AT + COOKIE_NONCE_BYTES + STAMP_BYTES + MAC_BYTES + CHECK_BYTES;
pub(crate) const CONFIRM_BYTES: usize = CONFIRM_CLEAR_BYTES + CHECK_BYTES;
pub(crate) const NOISE_AT: usize = 4;
pub(crate) const COOKIE_AT: usize = 4;
/// Offset of mac1, after Noise's first message `e, es, s, ss`: a key, a sealed key, a sealed
/// payload.
pub(crate) const MAC1_AT: usize = NOISE_AT + 32 + 32 + CHECK_BYTES + PAYLOAD_BYTES + CHECK_BYTES;
pub(crate) const STAMP_AT: usize = MAC1_AT + MAC_BYTES;
pub(crate) const MAC2_AT: usize = STAMP_AT + STAMP_BYTES;
pub(crate) const MAC3_AT: usize = MAC2_AT + MAC_BYTES;
pub(crate) const RESPONSE_MAC_AT: usize = NOISE_AT + 32 + PAYLOAD_BYTES + CHECK_BYTES;
pub(crate) const CONFIRM_CLEAR_BYTES: usize = 8;
/// Number of key indices, limited by their two header bits.
pub(crate) const INDICES: u8 = 4;

/// MAC, truncated to 16 bytes.
pub(crate) type Mac = [u8; MAC_BYTES];

const KIND: u8 = 0b11;
const INDEX_SHIFT: u8 = 2;
const INDEX: u8 = 0b11 << INDEX_SHIFT;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Initiation,
    Response,
    Cookie,
    Confirm,
}

impl Type {
    pub(crate) fn header(self) -> [u8; 4] {
        [first(self as u8, KIND), VERSION, 0, 0]
    }

    pub(crate) fn of(datagram: &[u8]) -> Result<Self, Discard> {
        let [first, version, ..] = datagram else { return Err(Discard::Malformed) };
        check_version(*first)?;
        if *version != VERSION {
            return Err(Discard::OtherVersion);
        }
        Ok(match (first & INDEX) >> INDEX_SHIFT {
            0 => Self::Initiation,
            1 => Self::Response,
            2 => Self::Cookie,
            _ => Self::Confirm,
        })
    }
}

/// Returns whether a datagram belongs to a handshake.
pub fn is_handshake(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first & KIND == KIND)
}

/// Returns whether a datagram is an initiation, whose source does not identify the sender.
pub fn is_initiation(datagram: &[u8]) -> bool {
    is_handshake(datagram) && Type::of(datagram) == Ok(Type::Initiation)
}

fn check_version(first: u8) -> Result<(), Discard> {
    if first >> 4 == version() { Ok(()) } else { Err(Discard::OtherVersion) }
}

pub(crate) fn version() -> u8 {
    Header::default().to_bytes()[0] >> 4
}

fn first(index: u8, kind: u8) -> u8 {
    version() << 4 | index << INDEX_SHIFT | kind
}

pub(crate) const fn set_index(first: &mut u8, index: u8) {
    *first = *first & !INDEX | index << INDEX_SHIFT;
}

pub(crate) fn sealed(datagram: &[u8]) -> Result<(Header, u8), Discard> {
    let head: &[u8; 8] = datagram.first_chunk().ok_or(Discard::Malformed)?;
    check_version(head[0])?;
    let mut clean = *head;
    set_index(&mut clean[0], 0);
    let (header, _) = Header::parse(&clean).map_err(|_| Discard::Malformed)?;
    Ok((header, (head[0] & INDEX) >> INDEX_SHIFT))
}

/// Returns the reason to discard a datagram regardless of its sender, if any.
pub fn discard_of(datagram: &[u8]) -> Option<Discard> {
    if is_handshake(datagram) { Type::of(datagram).err() } else { sealed(datagram).err() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) process: u64,
    pub(crate) index: u8,
}

impl Payload {
    pub(crate) fn to_bytes(self) -> [u8; PAYLOAD_BYTES] {
        let mut bytes = [0; PAYLOAD_BYTES];
        bytes[..8].copy_from_slice(&self.process.to_be_bytes());
        bytes[8] = self.index;
        bytes
    }

    /// Parses an authentic payload; an invalid payload must be from another version.
    pub(crate) fn parse(bytes: &[u8; PAYLOAD_BYTES]) -> Result<Self, Discard> {
        let (process, rest) = bytes.split_first_chunk().ok_or(Discard::Malformed)?;
        let [index @ 0..INDICES, 0] = *rest else { return Err(Discard::OtherVersion) };
        Ok(Self { process: u64::from_be_bytes(*process), index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshake_datagrams_have_specified_lengths() {
        assert_eq!(
            [INITIATION_BYTES, RESPONSE_BYTES, COOKIE_BYTES, CONFIRM_BYTES],
            [166, 78, 68, 24]
        );
    }

    #[test]
    fn message_type_is_distinguished_from_others_and_from_packets() {
        for kind in [Type::Initiation, Type::Response, Type::Cookie, Type::Confirm] {
            let header = kind.header();
            assert!(is_handshake(&header) && Type::of(&header) == Ok(kind));
            assert_eq!(Type::of(&[header[0] ^ 0x10, VERSION]), Err(Discard::OtherVersion));
            assert_eq!(discard_of(&[header[0] ^ 0x10, VERSION]), Some(Discard::OtherVersion));
            assert_eq!(discard_of(&header), None);
            assert_eq!(Type::of(&[header[0], VERSION - 1]), Err(Discard::OtherVersion));
        }
        assert!(!is_handshake(&Header::default().to_bytes()) && !is_handshake(&[]));
        assert_eq!(Type::of(&[0x43]), Err(Discard::Malformed));
    }

    #[test]
    fn header_is_independent_of_key_index() {
        for index in 0..INDICES {
            let mut bytes = Header { number: 7, ..Header::default() }.to_bytes();
            set_index(&mut bytes[0], index);
            let (header, read) = sealed(&bytes).expect("a header");
            assert_eq!((header.number, read), (7, index));
        }
        assert_eq!(sealed(&[0x53; 8]), Err(Discard::OtherVersion));
        assert_eq!(sealed(&[0x43; 8]), Err(Discard::Malformed));
        assert_eq!(sealed(&[0x40; 7]), Err(Discard::Malformed));
    }
}
