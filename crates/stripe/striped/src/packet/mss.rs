//! MSS clamping: lowers TCP's maximum segment size option so that segments fit the bundle.
//!
//! Hosts behind this machine do not know its interface's MTU, and some networks drop ICMP errors.
//! SYNs in both directions are rewritten.
//!
//! Source: RFC 9293, sections 3.2 and 3.7.1; RFC 6691 (options do not count).
//!
//! Invariant: valid checksums stay valid, and invalid checksums invalid.

use super::header::{Payload, V4_HEADER_BYTES, V6_HEADER_BYTES, updated, word};

const TCP: u8 = 6;
const TCP_HEADER_BYTES: usize = 20;
const CHECKSUM: usize = 16;
const SYN: u8 = 0x02;
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const MSS_BYTES: u8 = 4;

pub(crate) fn clamp(packet: &mut [u8], longest_bytes: usize) -> bool {
    let Some(at) = option_of(packet) else { return false };
    let Payload { at: tcp_at, .. } = Payload::of(packet).expect("it has an option");
    let header_bytes = if packet[0] >> 4 == 4 { V4_HEADER_BYTES } else { V6_HEADER_BYTES };
    let largest = longest_bytes.saturating_sub(header_bytes + TCP_HEADER_BYTES);
    let new = u16::try_from(largest).unwrap_or(u16::MAX);
    let (Some(old), Some(checksum)) = (word(packet, at), word(packet, tcp_at + CHECKSUM)) else {
        return false;
    };
    if old <= new {
        return false;
    }
    packet[at..at + 2].copy_from_slice(&new.to_be_bytes());
    // At an odd offset, the value's bytes are in different checksum words, so they are swapped.
    let in_words = |value: u16| if (at - tcp_at) % 2 == 1 { value.swap_bytes() } else { value };
    let checksum = updated(checksum, in_words(old), in_words(new));
    packet[tcp_at + CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
    true
}

fn option_of(packet: &[u8]) -> Option<usize> {
    let Payload { protocol, at } = Payload::of(packet)?;
    let header = packet.get(at..).filter(|header| header.len() >= TCP_HEADER_BYTES)?;
    if protocol != TCP || header[13] & SYN == 0 {
        return None;
    }
    let options = header.get(..usize::from(header[12] >> 4) * 4)?;
    let mut next = TCP_HEADER_BYTES;
    while let [kind, rest @ ..] = options.get(next..)? {
        let length = match (*kind, rest.first()) {
            (END, _) => return None,
            (NO_OPERATION, _) => 1,
            (MSS, Some(&MSS_BYTES)) if rest.len() >= 3 => return Some(at + next + 2),
            (_, Some(&length)) if length >= 2 => usize::from(length),
            _ => return None,
        };
        next += length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::header::sum;
    use super::*;

    fn syn(version: u8, options: &[u8], flags: u8) -> Vec<u8> {
        let mut tcp = vec![0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 0, 0, flags, 0xff, 0xff, 0, 0, 0, 0];
        tcp[12] = u8::try_from((20 + options.len()) / 4).expect("few options") << 4;
        tcp.extend_from_slice(options);
        let mut packet = if version == 4 {
            let mut header = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0];
            header[3] = u8::try_from(20 + tcp.len()).expect("a short packet");
            header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            header
        } else {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, 6, 64];
            header[5] = u8::try_from(tcp.len()).expect("a short packet");
            header.extend(0..32);
            header
        };
        let at = packet.len();
        packet.extend_from_slice(&tcp);
        let checksum = !tcp_sum(&packet, at);
        packet[at + CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    fn tcp_sum(packet: &[u8], at: usize) -> u16 {
        let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
        let length = u16::try_from(packet.len() - at).expect("a short packet").to_be_bytes();
        sum(&[addresses, &[0, 6], &length, &packet[at..]])
    }

    const WITH_MSS: [&[u8]; 4] = [
        &[2, 4, 5, 180],
        &[1, 2, 4, 5, 180, 1, 1, 1],
        &[4, 2, 2, 4, 5, 180, 1, 0],
        &[3, 3, 7, 2, 4, 5, 180, 0],
    ];

    #[test]
    fn mss_of_a_syn_is_clamped() {
        for (version, at, largest) in [(4, 20, 1_260), (6, 40, 1_240)] {
            for options in WITH_MSS {
                for flags in [SYN, SYN | 0x10] {
                    let before = syn(version, options, flags);
                    assert_eq!(tcp_sum(&before, at), 0xffff);
                    let mut packet = before.clone();
                    assert!(clamp(&mut packet, 1_300), "{options:?}");
                    assert_eq!(word(&packet, option_of(&packet).expect("MSS")), Some(largest));
                    assert_eq!(tcp_sum(&packet, at), 0xffff, "{options:?}");
                    let changed = before.iter().zip(&packet).filter(|(one, other)| one != other);
                    assert!(changed.count() <= 4, "the option and the checksum alone");
                }
            }
        }
    }

    #[test]
    fn fitting_syns_and_other_packets_are_unchanged() {
        let mut fragment = syn(4, WITH_MSS[0], SYN);
        fragment[7] = 1;
        let mut udp = syn(4, WITH_MSS[0], SYN);
        udp[9] = 17;
        let cases = [
            (syn(4, WITH_MSS[0], SYN), 1_500),
            (syn(4, WITH_MSS[0], 0x10), 1_300),
            (syn(4, &[], SYN), 1_300),
            (syn(4, &[0, 2, 4, 5], SYN), 1_300),
            (syn(4, &[3, 0, 2, 4], SYN), 1_300),
            (syn(4, &[2, 3, 5, 180], SYN), 1_300),
            (syn(4, &[1, 1, 2, 4], SYN), 1_300),
            (fragment, 1_300),
            (udp, 1_300),
        ];
        for (before, longest_bytes) in cases {
            let mut packet = before.clone();
            assert!(!clamp(&mut packet, longest_bytes), "{before:?}");
            assert_eq!(packet, before);
        }
    }

    #[test]
    fn ipv6_extension_headers_are_skipped() {
        let plain = syn(6, WITH_MSS[0], SYN);
        let mut packet = plain[..40].to_vec();
        packet[6] = 0;
        packet.extend([60, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([44, 1, 1, 12]);
        packet.extend([0; 12]);
        packet.extend([6, 0, 0, 1, 0, 0, 0, 7]);
        packet.extend_from_slice(&plain[40..]);
        assert_eq!(option_of(&packet), Some(40 + 8 + 16 + 8 + 22));
        assert!(clamp(&mut packet, 1_300));
    }
}
