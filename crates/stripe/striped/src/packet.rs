//! IP packets: flow, ECN marking, TCP MSS clamping, and ICMP errors.
//!
//! Source: RFC 3168 (ECN), RFC 6437 (flow labels).
//!
//! Invariant: every byte sequence belongs to a flow.

mod classified;
mod header;
mod mss;
mod too_big;

use gingham_entry::Ecn;

use header::{V4_ADDRESSES, V6_ADDRESSES, V6_HEADER_BYTES, updated};

pub(crate) use classified::Classified;
pub(crate) use mss::clamp;
pub(crate) use too_big::IcmpErrors;

/// Numbers of protocols with ports: TCP, UDP, DCCP and SCTP.
const WITH_PORTS: [u8; 4] = [6, 17, 33, 132];

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flow<'a> {
    addresses: &'a [u8],
    protocol: u8,
    ports: &'a [u8],
}

impl<'a> Flow<'a> {
    /// Returns the flow of a packet; the default value if it is not IP.
    pub(crate) fn of(packet: &'a [u8]) -> Self {
        match packet.first().map(|first| first >> 4) {
            Some(4) => Self::of_v4(packet).unwrap_or_default(),
            Some(6) => Self::of_v6(packet).unwrap_or_default(),
            _ => Self::default(),
        }
    }

    fn of_v4(packet: &'a [u8]) -> Option<Self> {
        let addresses = packet.get(V4_ADDRESSES)?;
        let (protocol, header_bytes) = (packet[9], usize::from(packet[0] & 0xf) * 4);
        let is_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
        let ports = if is_fragment { &[] } else { ports(packet, protocol, header_bytes) };
        Some(Self { addresses, protocol, ports })
    }

    fn of_v6(packet: &'a [u8]) -> Option<Self> {
        let (addresses, protocol) = (packet.get(V6_ADDRESSES)?, packet[6]);
        let ports = if WITH_PORTS.contains(&protocol) {
            ports(packet, protocol, V6_HEADER_BYTES)
        } else {
            // Unless a header with ports follows directly, the flow label is used instead.
            &packet[1..4]
        };
        Some(Self { addresses, protocol, ports })
    }
}

fn ports(packet: &[u8], protocol: u8, at: usize) -> &[u8] {
    let ports = if WITH_PORTS.contains(&protocol) { packet.get(at..at + 4) } else { None };
    ports.unwrap_or_default()
}

pub(crate) fn traffic_class(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 4 => *second,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => 0,
    }
}

pub(crate) fn ecn(packet: &[u8]) -> Ecn {
    Ecn::of_traffic_class(traffic_class(packet))
}

pub(crate) fn mark(packet: &mut [u8]) {
    if ecn(packet).is_capable() {
        set_ecn(packet, Ecn::Ce);
    }
}

pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if packet[0] >> 4 == 6 {
        packet[1] = packet[1] & !0x30 | (ecn as u8) << 4;
    } else if packet.len() >= V4_ADDRESSES.start {
        let old = u16::from_be_bytes([packet[0], packet[1]]);
        packet[1] = ecn.in_traffic_class(packet[1]);
        let new = u16::from_be_bytes([packet[0], packet[1]]);
        let checksum = u16::from_be_bytes([packet[10], packet[11]]);
        packet[10..12].copy_from_slice(&updated(checksum, old, new).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe::Instant;
    use proptest::prelude::*;

    use super::*;

    fn v4(tos: u8) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 24, 0, 7, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2]);
        let checksum = !header::sum(&[&packet[..20]]);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    fn v6(class: u8, next: u8) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4, 0, 9, 0, 4, next, 64];
        packet.extend((0..32).chain([0, 1, 0, 2]));
        packet
    }

    #[test]
    fn marking_keeps_the_checksum_valid() {
        for tos in [0x01, 0x02, 0x03, 0xb9, 0xfe] {
            let mut packet = v4(tos);
            mark(&mut packet);
            assert_eq!((ecn(&packet), packet[1] & !3), (Ecn::Ce, tos & !3));
            assert_eq!(header::sum(&[&packet[..20]]), 0xffff, "{tos:#x}");
            let mut packet = v6(tos, 6);
            mark(&mut packet);
            assert_eq!(packet[..2], v6(tos | 3, 6)[..2]);
        }
        for mut packet in [v4(0), v6(0xb8, 6), vec![0x45, 1], vec![]] {
            let before = packet.clone();
            mark(&mut packet);
            assert!(packet == before || packet.len() == 2);
        }
    }

    #[test]
    fn flows_differ_by_addresses_protocol_and_ports() {
        let packet = v4(0);
        assert_eq!(Flow::of(&packet).ports, [0, 1, 0, 2]);
        let differs = |place: usize| {
            let mut other = packet.clone();
            other[place] ^= 1;
            Flow::of(&other) != Flow::of(&packet)
        };
        assert!([9, 12, 19, 20, 23].into_iter().all(differs));
        assert!(![1, 4, 8].into_iter().any(differs));
        assert_eq!(Flow::of(&v6(0, 17)).ports, [0, 1, 0, 2]);
        assert_eq!(Flow::of(&v6(0, 0)).ports, [0, 0, 9]);
    }

    #[test]
    fn fragments_belong_to_one_flow() {
        let (mut first, mut second) = (v4(0), v4(0));
        first[6] = 0x20;
        second[7] = 3;
        second[20..].copy_from_slice(&[9; 4]);
        assert_eq!(Flow::of(&first), Flow::of(&second));
    }

    fn spoilt() -> impl Strategy<Value = Vec<u8>> {
        let version = prop_oneof![Just(0x45), Just(0x60), any::<u8>()];
        let protocol = prop_oneof![
            Just(0),
            Just(1),
            Just(6),
            Just(43),
            Just(44),
            Just(58),
            Just(60),
            any::<u8>()
        ];
        let bytes = proptest::collection::vec(any::<u8>(), 0..160);
        (version, protocol, bytes).prop_map(|(version, protocol, mut bytes)| {
            let at = if version >> 4 == 4 { 9 } else { 6 };
            for (place, byte) in [(0, version), (at, protocol)] {
                if let Some(there) = bytes.get_mut(place) {
                    *there = byte;
                }
            }
            bytes
        })
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_handled(bytes in spoilt(), longest in any::<u16>()) {
            let _: Flow<'_> = Flow::of(&bytes);
            let mut packet = bytes.clone();
            clamp(&mut packet, longest.into());
            mark(&mut packet);
            if traffic_class(&packet) != 0 {
                set_ecn(&mut packet, Ecn::Ect1);
            }
            prop_assert_eq!(packet.len(), bytes.len());
            let mut icmp_errors = IcmpErrors::new(Instant::ORIGIN);
            icmp_errors.refuse(Instant::ORIGIN, &bytes, longest);
            if let Some(icmp_error) = icmp_errors.next_icmp_error() {
                prop_assert!(icmp_error.len() <= 1_280);
                icmp_errors.refuse(Instant::ORIGIN, &icmp_error, 0);
                prop_assert!(icmp_errors.next_icmp_error().is_none());
            }
        }
    }
}
