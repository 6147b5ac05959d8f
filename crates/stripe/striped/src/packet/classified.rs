//! Header fields that policies match.
//!
//! Source: RFC 791, RFC 8200; RFC 2474 (code points).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::WITH_PORTS;
use super::header::{Payload, word};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Classified {
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    /// Protocol after the known IPv6 extension headers.
    pub(crate) protocol: u8,
    pub(crate) dscp: u8,
    /// Source and destination port; `None` for later fragments.
    pub(crate) ports: Option<[u16; 2]>,
}

impl Classified {
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let payload = Payload::of(packet);
        let class = u16::from_be_bytes([*packet.first()?, *packet.get(1)?]);
        let (from, to, next, dscp) = match packet[0] >> 4 {
            4 => {
                let [from, to] = [12, 16].map(|at| packet.get(at..)?.first_chunk::<4>().copied());
                (Ipv4Addr::from(from?).into(), Ipv4Addr::from(to?).into(), packet[9], class >> 2)
            }
            6 => {
                let [from, to] = [8, 24].map(|at| packet.get(at..)?.first_chunk::<16>().copied());
                (Ipv6Addr::from(from?).into(), Ipv6Addr::from(to?).into(), packet[6], class >> 6)
            }
            _ => return None,
        };
        let protocol = payload.map_or(next, |payload| payload.protocol);
        let ports = payload.filter(|payload| WITH_PORTS.contains(&payload.protocol));
        let ports = ports
            .and_then(|payload| Some([word(packet, payload.at)?, word(packet, payload.at + 2)?]));
        let dscp = (dscp & 0x3f).to_be_bytes()[1];
        Some(Self { from, to, protocol, dscp, ports })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ipv6_extension_headers_are_skipped() {
        let mut packet = vec![0x6b, 0x80, 0, 0, 0, 16, 60, 64];
        packet.extend([[0xfd; 16], [0xfe; 16]].concat());
        packet.extend([17, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 8, 0, 0]);
        let classified = Classified::of(&packet).expect("a packet");
        assert_eq!((classified.protocol, classified.dscp), (17, 46));
        assert_eq!(classified.ports, Some([1, 2]));
        assert_eq!(Classified::of(&packet[..49]).expect("a packet").ports, None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _: Option<Classified> = Classified::of(&bytes);
        }
    }
}
