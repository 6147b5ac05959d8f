//! ICMP errors for packets that are too long for the bundle.
//!
//! ```text
//!   too long ──► ICMP "fragmentation needed", ICMPv6 "packet too big" ──► back into the TUN device
//! ```
//!
//! An error's source address is the packet's destination, because the kernel drops arriving packets
//! with its own addresses as source. Packets to multicast destinations therefore cause no error.
//!
//! Source: RFC 1191, section 4, and RFC 1812, sections 4.3.2 and 5.2.7.1; RFC 4443, sections 2.4
//! and 3.2; RFC 8200, section 5.
//!
//! Invariant: neither ICMP errors nor packets from or to a group cause an ICMP error.

use std::time::Duration;

use gingham_stripe::Instant;

use super::header::{Payload, V4_HEADER_BYTES, V6_ADDRESSES, V6_HEADER_BYTES, sum, word};

/// Token bucket size from RFC 4443, section 2.4 (f), for a small or medium-sized device.
const ANSWERS_MAX: u32 = 10;
const ANSWER_EVERY: Duration = Duration::from_millis(100);
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
const ICMP_HEADER_BYTES: usize = 8;
/// Maximum length of an ICMP error in bytes (RFC 1812, section 4.3.2.3; RFC 4443, section 2.4 (c)).
const ANSWER_BYTES_MAX: usize = 576;
const ANSWER_V6_BYTES_MAX: usize = 1_280;
/// Smallest MTU in bytes that IPv6 senders accept (RFC 8200, section 5).
const V6_MTU_MIN: u32 = 1_280;
const HOPS: u8 = 64;
/// TOS byte of an error: internetwork control precedence (RFC 1812, section 4.3.2.5).
const PRECEDENCE: u8 = 0xc0;

#[derive(Debug)]
pub(crate) struct IcmpErrors {
    left: u32,
    next_at: Instant,
    waiting: Vec<Vec<u8>>,
    pub(crate) too_long: u64,
    pub(crate) given: u64,
}

impl IcmpErrors {
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: ANSWERS_MAX, next_at: now, waiting: Vec::new(), too_long: 0, given: 0 }
    }

    pub(crate) fn refuse(&mut self, now: Instant, packet: &[u8], longest_bytes: u16) {
        self.too_long += 1;
        self.fill(now);
        if self.left > 0
            && let Some(icmp_error) = icmp_error(packet, longest_bytes)
        {
            self.left -= 1;
            self.given += 1;
            self.waiting.push(icmp_error);
        }
    }

    fn fill(&mut self, now: Instant) {
        while self.left < ANSWERS_MAX && self.next_at <= now {
            self.left += 1;
            self.next_at = self.next_at.after(ANSWER_EVERY);
        }
        if self.left == ANSWERS_MAX {
            self.next_at = now.after(ANSWER_EVERY);
        }
    }

    pub(crate) fn next_icmp_error(&mut self) -> Option<Vec<u8>> {
        self.waiting.pop()
    }
}

fn icmp_error(packet: &[u8], longest_bytes: u16) -> Option<Vec<u8>> {
    match packet.first()? >> 4 {
        4 => icmp_error_v4(packet, longest_bytes),
        6 => icmp_error_v6(packet, longest_bytes),
        _ => None,
    }
}

fn icmp_error_v4(packet: &[u8], longest_bytes: u16) -> Option<Vec<u8>> {
    let Payload { protocol, at } = Payload::of(packet)?;
    let may_not_be_cut = word(packet, 6)? & 0x4000 != 0;
    let is_error = protocol == ICMP && packet.get(at).is_none_or(|kind| is_error_v4(*kind));
    let (from, to) = (&packet[12..16], &packet[16..20]);
    if !may_not_be_cut || is_error || !is_one_v4(from) || !is_one_v4(to) {
        return None;
    }
    let quoted =
        &packet[..packet.len().min(ANSWER_BYTES_MAX - V4_HEADER_BYTES - ICMP_HEADER_BYTES)];
    let length = u16::try_from(V4_HEADER_BYTES + ICMP_HEADER_BYTES + quoted.len()).ok()?;
    let mut icmp_error = vec![0x45, PRECEDENCE];
    icmp_error.extend(length.to_be_bytes());
    icmp_error.extend([0, 0, 0, 0, HOPS, ICMP, 0, 0]);
    icmp_error.extend_from_slice(to);
    icmp_error.extend_from_slice(from);
    let checksum = !sum(&[&icmp_error]);
    icmp_error[10..12].copy_from_slice(&checksum.to_be_bytes());
    // Type and code: destination unreachable, fragmentation needed.
    icmp_error.extend([3, 4, 0, 0, 0, 0]);
    icmp_error.extend(longest_bytes.to_be_bytes());
    icmp_error.extend_from_slice(quoted);
    let checksum = !sum(&[&icmp_error[V4_HEADER_BYTES..]]);
    icmp_error[V4_HEADER_BYTES + 2..][..2].copy_from_slice(&checksum.to_be_bytes());
    Some(icmp_error)
}

/// Returns whether this ICMP type is an error: destination unreachable, source quench, redirect,
/// time exceeded or parameter problem.
const fn is_error_v4(kind: u8) -> bool {
    matches!(kind, 3 | 4 | 5 | 11 | 12)
}

fn is_one_v4(address: &[u8]) -> bool {
    !matches!(address[0], 0 | 127 | 224..)
}

fn icmp_error_v6(packet: &[u8], longest_bytes: u16) -> Option<Vec<u8>> {
    packet.get(V6_ADDRESSES)?;
    let (from, to) = (&packet[8..24], &packet[24..40]);
    let is_error = Payload::of(packet).is_some_and(|Payload { protocol, at }| {
        protocol == ICMP_V6 && packet.get(at).is_none_or(|kind| *kind < 128 || *kind == 137)
    });
    let mtu = u32::from(longest_bytes);
    if is_error || mtu < V6_MTU_MIN || !is_one_v6(from) || !is_one_v6(to) {
        return None;
    }
    let quoted =
        &packet[..packet.len().min(ANSWER_V6_BYTES_MAX - V6_HEADER_BYTES - ICMP_HEADER_BYTES)];
    let length = u16::try_from(ICMP_HEADER_BYTES + quoted.len()).ok()?;
    let mut icmp_error = vec![0x60, 0, 0, 0];
    icmp_error.extend(length.to_be_bytes());
    icmp_error.extend([ICMP_V6, HOPS]);
    icmp_error.extend_from_slice(to);
    icmp_error.extend_from_slice(from);
    icmp_error.extend([2, 0, 0, 0]);
    icmp_error.extend(mtu.to_be_bytes());
    icmp_error.extend_from_slice(quoted);
    let pseudo = [&length.to_be_bytes()[..], &[0, ICMP_V6]].concat();
    let checksum = !sum(&[&icmp_error[V6_ADDRESSES], &pseudo, &icmp_error[V6_HEADER_BYTES..]]);
    icmp_error[V6_HEADER_BYTES + 2..][..2].copy_from_slice(&checksum.to_be_bytes());
    Some(icmp_error)
}

fn is_one_v6(address: &[u8]) -> bool {
    let is_small = address[..15].iter().all(|byte| *byte == 0) && address[15] <= 1;
    address[0] != 0xff && !is_small
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(protocol: u8, kind: u8, length: usize) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 7, 0x40, 0, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2, kind]);
        packet.resize(length, 0xaa);
        packet
    }

    fn v6(protocol: u8, kind: u8, length: usize) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
        packet.extend([0xfd; 16]);
        packet.extend([0x20; 16]);
        packet.push(kind);
        packet.resize(length, 0xaa);
        packet
    }

    #[test]
    fn ipv4_sender_gets_fragmentation_needed() {
        let packet = v4(17, 0, 1_400);
        let reply = icmp_error(&packet, 1_300).expect("an answer");
        assert_eq!((reply.len(), word(&reply, 2)), (576, Some(576)));
        assert_eq!((reply[9], &reply[12..20]), (ICMP, &[10, 0, 0, 2, 10, 0, 0, 1][..]));
        assert_eq!((sum(&[&reply[..20]]), sum(&[&reply[20..]])), (0xffff, 0xffff));
        assert_eq!((&reply[20..22], word(&reply, 26)), (&[3, 4][..], Some(1_300)));
        assert_eq!(reply[28..], packet[..548]);
    }

    #[test]
    fn ipv6_sender_gets_packet_too_big() {
        let packet = v6(17, 0, 1_400);
        let reply = icmp_error(&packet, 1_300).expect("an answer");
        assert_eq!((reply.len(), word(&reply, 4)), (1_280, Some(1_240)));
        assert_eq!((&reply[8..24], &reply[24..40]), (&[0x20; 16][..], &[0xfd; 16][..]));
        assert_eq!(sum(&[&reply[8..40], &[4, 216, 0, 58], &reply[40..]]), 0xffff);
        assert_eq!((&reply[40..42], &reply[44..48]), (&[2, 0][..], &1_300_u32.to_be_bytes()[..]));
        assert_eq!(reply[48..], packet[..1_232]);
        assert_eq!(icmp_error(&packet, 1_279), None);
    }

    #[test]
    fn icmp_errors_and_group_packets_get_no_reply() {
        let changed = |mut packet: Vec<u8>, at: usize, byte: u8| {
            packet[at] = byte;
            packet
        };
        let plain = v4(17, 0, 1_400);
        assert!(icmp_error(&v4(ICMP, 8, 1_400), 1_300).is_some());
        assert!(icmp_error(&v6(ICMP_V6, 128, 1_400), 1_300).is_some());
        let unanswered = [
            v4(ICMP, 3, 1_400),
            v4(ICMP, 11, 1_400),
            changed(plain.clone(), 6, 0),
            changed(plain.clone(), 7, 1),
            changed(plain.clone(), 16, 224),
            changed(plain.clone(), 16, 255),
            changed(plain.clone(), 12, 0),
            changed(plain, 12, 127),
            v6(ICMP_V6, 1, 1_400),
            v6(ICMP_V6, 137, 1_400),
            changed(v6(17, 0, 1_400), 24, 0xff),
            changed(v6(17, 0, 1_400), 8, 0xff),
            [&v6(17, 0, 8)[..], &[0; 16], &v6(17, 0, 1_400)[24..]].concat(),
            vec![0x45],
            vec![],
        ];
        for packet in unanswered {
            assert_eq!(icmp_error(&packet, 1_300), None, "{:?}", packet.get(..48));
        }
    }

    #[test]
    fn replies_are_rate_limited() {
        let (start, packet) = (Instant::ORIGIN, v4(17, 0, 1_400));
        let mut icmp_errors = IcmpErrors::new(start);
        let mut given = |now| {
            (0..100).for_each(|_| icmp_errors.refuse(now, &packet, 1_300));
            std::iter::from_fn(|| icmp_errors.next_icmp_error()).count()
        };
        assert_eq!((given(start), given(start)), (10, 0));
        assert_eq!(given(start.after(Duration::from_millis(250))), 2);
        assert_eq!(given(start.after(Duration::from_secs(60))), 10);
        assert_eq!(icmp_errors.too_long, 400);
    }
}
