//! Allowed addresses of each peer. A packet from a pipe must have an allowed source address; a
//! packet from the interface is sent to the peer with the longest matching prefix.
//!
//! ```text
//!   10.90.0.0/24 ── peer 0      packets to 10.90.0.7 go to peer 1, those to 10.90.0.8 to peer 0;
//!   10.90.0.7/32 ── peer 1      a packet from peer 0 with source 10.90.0.7 is dropped
//! ```
//!
//! Source: Donenfeld, WireGuard (2017), section 2 (cryptokey routing).
//!
//! Invariant: if addresses are restricted, only valid IP packets pass, in either direction.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use ipnet::IpNet;
use prefix_trie::joint::JointPrefixMap;

use crate::config::{Config, Prefix};

const V4_SOURCE: Range<usize> = 12..16;
const V4_DESTINATION: Range<usize> = 16..20;
const V6_SOURCE: Range<usize> = 8..24;
const V6_DESTINATION: Range<usize> = 24..40;

#[derive(Debug)]
pub(crate) struct Allowed {
    owners: Option<JointPrefixMap<IpNet, usize>>,
}

impl Allowed {
    /// Creates the table; without peers, as over Ethernet, all addresses are allowed.
    pub(crate) fn new(config: &Config) -> Self {
        Self::of(
            config.allowed().enumerate().map(|(number, one)| (config.peers.place(number), one)),
        )
    }

    fn of(listed: impl Iterator<Item = (usize, Vec<Prefix>)>) -> Self {
        let mut owners = None;
        for (place, prefixes) in listed {
            let owners = owners.get_or_insert_with(JointPrefixMap::new);
            for prefix in prefixes {
                owners.insert(prefix.network().net(), place);
            }
        }
        Self { owners }
    }

    pub(crate) fn source(&self, packet: &[u8]) -> Option<usize> {
        self.owner(packet, V4_SOURCE, V6_SOURCE)
    }

    pub(crate) fn destination(&self, packet: &[u8]) -> Option<usize> {
        self.owner(packet, V4_DESTINATION, V6_DESTINATION)
    }

    fn owner(&self, packet: &[u8], v4: Range<usize>, v6: Range<usize>) -> Option<usize> {
        let Some(owners) = &self.owners else { return Some(0) };
        let address = IpNet::from(address(packet, v4, v6)?);
        owners.get_lpm(&address).map(|(_, owner)| *owner)
    }
}

pub(crate) fn is_to_group(packet: &[u8]) -> bool {
    address(packet, V4_DESTINATION, V6_DESTINATION).is_some_and(|to| to.is_multicast())
}

fn address(packet: &[u8], v4: Range<usize>, v6: Range<usize>) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(Ipv4Addr::from(*packet.get(v4)?.first_chunk::<4>()?).into()),
        6 => Some(Ipv6Addr::from(*packet.get(v6)?.first_chunk::<16>()?).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allowed(peers: &[&[&str]]) -> Allowed {
        let prefixes = |texts: &&[&str]| -> Vec<Prefix> {
            texts.iter().map(|text| text.parse().expect("a prefix")).collect()
        };
        Allowed::of(peers.iter().map(prefixes).enumerate())
    }

    #[test]
    fn multicast_address_is_recognised() {
        for (to, is_group) in [([224, 0, 0, 22], true), ([10, 9, 0, 1], false)] {
            assert_eq!(is_to_group(&v4([10, 9, 0, 2], to)), is_group, "{to:?}");
        }
        assert!(!is_to_group(&[]));
    }

    fn v4(source: [u8; 4], destination: [u8; 4]) -> [u8; 20] {
        let mut packet = [0x45; 20];
        packet[V4_SOURCE].copy_from_slice(&source);
        packet[V4_DESTINATION].copy_from_slice(&destination);
        packet
    }

    #[test]
    fn remote_address_counts_in_either_direction() {
        let allowed = allowed(&[&["10.90.0.0/24", "fd00::/64"]]);
        let packet = v4([10, 90, 0, 2], [10, 90, 1, 1]);
        assert_eq!((allowed.source(&packet), allowed.destination(&packet)), (Some(0), None));
        let mut v6 = [0x60; 40];
        v6[V6_SOURCE].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        v6[V6_DESTINATION][..8].copy_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((allowed.source(&v6), allowed.destination(&v6)), (None, Some(0)));
        for nothing in [&[][..], &packet[..15], &v6[..23], &[0; 40]] {
            assert_eq!(allowed.source(nothing), None);
        }
    }

    #[test]
    fn longest_prefix_wins() {
        let peers: [&[&str]; 4] =
            [&["10.90.0.1/24"], &["10.90.0.7/32"], &["0.0.0.0/0"], &["fd00::/8", "10.90.0.128/25"]];
        let allowed = allowed(&peers);
        let to = |last| allowed.destination(&v4([192, 0, 2, 1], [10, 90, 0, last]));
        assert_eq!([7, 8, 127, 128].map(to), [Some(1), Some(0), Some(0), Some(3)]);
        assert_eq!(allowed.source(&v4([192, 0, 2, 1], [0; 4])), Some(2));
        let mut v6 = [0x60; 40];
        v6[V6_SOURCE].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        assert_eq!(allowed.source(&v6), None);
    }

    #[test]
    fn packets_pass_without_allowed_addresses() {
        let all = Allowed { owners: None };
        assert_eq!((all.destination(&[]), all.source(&[7])), (Some(0), Some(0)));
    }

    proptest! {
        #[test]
        fn longest_prefix_matches_linear_search(
            prefixes in proptest::collection::btree_set((0_u32..16, 0_u8..=4), 1..40),
            address in 0_u32..16,
        ) {
            let nets: Vec<Prefix> = prefixes.iter().map(|(bits, length)| {
                let first = Ipv4Addr::from(bits << 28);
                format!("{first}/{length}").parse().expect("a prefix")
            }).collect();
            let peers = nets.iter().map(|net| vec![*net]).enumerate();
            let to = Ipv4Addr::from(address << 28);
            let holding = nets.iter().filter(|net| net.contains(to.into()));
            let longest = holding.map(Prefix::bits).max();
            let owner = Allowed::of(peers).destination(&v4([0; 4], to.octets()));
            prop_assert_eq!(owner.map(|owner| nets[owner].bits()), longest);
            prop_assert!(owner.is_none_or(|owner| nets[owner].contains(to.into())));
        }
    }
}
