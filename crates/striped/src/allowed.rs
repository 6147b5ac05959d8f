//! Which addresses the other end may have inside the pipe: packets of others do not come out of it, and
//! packets to others do not go into it.
//!
//! Source: Donenfeld, WireGuard (2017), section 2 (cryptokey routing).
//!
//! Invariant: what is no packet of IP passes neither way, where anything is refused at all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use crate::config::{Config, PeerTable, Prefix};

const V4_SOURCE: Range<usize> = 12..16;
const V4_DESTINATION: Range<usize> = 16..20;
const V6_SOURCE: Range<usize> = 8..24;
const V6_DESTINATION: Range<usize> = 24..40;

/// Addresses of the other end.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// All, if there are none.
    prefixes: Option<Vec<Prefix>>,
    /// Packets that did not come out, for where they said that they came from.
    pub(crate) refused_sources: u64,
    /// Packets that did not go in, for where they were to go.
    pub(crate) refused_destinations: u64,
}

impl Allowed {
    /// As the file says; by default the networks of the interface and its routes. Without a key nobody is known.
    pub(crate) fn new(config: &Config) -> Self {
        let default = || [&config.addresses[..], &config.routes].concat();
        let told = |peer: &PeerTable| peer.allowed_ips.clone().unwrap_or_else(default);
        let prefixes = config.peer.as_ref().map(told);
        Self { prefixes, refused_sources: 0, refused_destinations: 0 }
    }

    /// Whether a packet may come out.
    pub(crate) fn passes_out(&mut self, packet: &[u8]) -> bool {
        let passes = self.has(packet, V4_SOURCE, V6_SOURCE);
        self.refused_sources += u64::from(!passes);
        passes
    }

    /// Whether a packet may go in.
    pub(crate) fn passes_in(&mut self, packet: &[u8]) -> bool {
        let passes = self.has(packet, V4_DESTINATION, V6_DESTINATION);
        self.refused_destinations += u64::from(!passes);
        passes
    }

    fn has(&self, packet: &[u8], v4: Range<usize>, v6: Range<usize>) -> bool {
        let Some(prefixes) = &self.prefixes else { return true };
        address(packet, v4, v6)
            .is_some_and(|address| prefixes.iter().any(|prefix| prefix.contains(address)))
    }
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
    use super::*;

    fn allowed(prefixes: &[&str]) -> Allowed {
        let prefix = |text: &&str| text.parse().expect("a prefix");
        let prefixes = Some(prefixes.iter().map(prefix).collect());
        Allowed { prefixes, refused_sources: 0, refused_destinations: 0 }
    }

    #[test]
    fn each_way_the_address_of_the_other_end_counts() {
        let mut allowed = allowed(&["10.90.0.0/24", "fd00::/64"]);
        let mut v4 = [0x45; 20];
        v4[V4_SOURCE].copy_from_slice(&[10, 90, 0, 2]);
        v4[V4_DESTINATION].copy_from_slice(&[10, 90, 1, 1]);
        assert_eq!((allowed.passes_out(&v4), allowed.passes_in(&v4)), (true, false));
        let mut v6 = [0x60; 40];
        v6[V6_SOURCE].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        v6[V6_DESTINATION][..8].copy_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((allowed.passes_out(&v6), allowed.passes_in(&v6)), (false, true));
        for nothing in [&[][..], &v4[..15], &v6[..23], &[0; 40]] {
            assert!(!allowed.passes_out(nothing));
        }
        assert_eq!((allowed.refused_sources, allowed.refused_destinations), (5, 1));
    }

    #[test]
    fn where_nobody_is_known_all_passes() {
        let mut all = Allowed { prefixes: None, refused_sources: 0, refused_destinations: 0 };
        assert!(all.passes_in(&[]) && all.passes_out(&[7]));
    }
}
