//! Payload offset of IP packets, and checksums.
//!
//! Source: RFC 791, section 3.1; RFC 8200, section 4; RFC 1071 and RFC 1624 (checksums).

use std::ops::Range;

pub(super) const V4_ADDRESSES: Range<usize> = 12..20;
pub(super) const V6_ADDRESSES: Range<usize> = 8..40;
pub(super) const V4_HEADER_BYTES: usize = 20;
pub(super) const V6_HEADER_BYTES: usize = 40;
/// Hop-by-hop options, routing and destination options headers, whose length field counts units of
/// 8 bytes after the first 8.
const EXTENSIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT_OFFSET: u16 = 0x1fff;
const FRAGMENT: u8 = 44;
const FRAGMENT_BYTES: usize = 8;
/// Maximum number of extension headers, which limits the work per packet.
const EXTENSIONS_MAX: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Payload {
    pub(super) protocol: u8,
    pub(super) at: usize,
}

impl Payload {
    pub(super) fn of(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::of_v4(packet),
            6 => Self::of_v6(packet),
            _ => None,
        }
    }

    fn of_v4(packet: &[u8]) -> Option<Self> {
        packet.get(V4_ADDRESSES)?;
        let at = usize::from(packet[0] & 0xf) * 4;
        let is_first = word(packet, 6)? & FRAGMENT_OFFSET == 0;
        let is_header = at >= V4_HEADER_BYTES && at <= packet.len();
        (is_first && is_header).then_some(Self { protocol: packet[9], at })
    }

    fn of_v6(packet: &[u8]) -> Option<Self> {
        packet.get(V6_ADDRESSES)?;
        let (mut protocol, mut at) = (packet[6], V6_HEADER_BYTES);
        for _ in 0..EXTENSIONS_MAX {
            let header_bytes = match protocol {
                FRAGMENT if word(packet, at + 2)? & 0xfff8 != 0 => return None,
                FRAGMENT => FRAGMENT_BYTES,
                _ if EXTENSIONS.contains(&protocol) => (usize::from(*packet.get(at + 1)?) + 1) * 8,
                _ => return Some(Self { protocol, at }),
            };
            protocol = *packet.get(at)?;
            at += header_bytes;
        }
        None
    }
}

pub(super) fn word(packet: &[u8], at: usize) -> Option<u16> {
    let bytes = packet.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

pub(super) fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    !folded(sum)
}

/// Computes the ones' complement sum; an odd last byte is the high byte of its word (RFC 1071,
/// section 1).
pub(super) fn sum(parts: &[&[u8]]) -> u16 {
    let word =
        |pair: &[u8]| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    folded(parts.iter().flat_map(|part| part.chunks(2)).map(word).sum())
}

fn folded(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    let twice = (once & 0xffff) + (once >> 16);
    u16::try_from(twice).expect("it was folded twice")
}
