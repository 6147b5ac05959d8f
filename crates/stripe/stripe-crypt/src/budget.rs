//! Rate limit of Diffie-Hellman computations for received initiations.
//!
//! ```text
//!   initiation with a cookie ──► sender's address known? ──► network's bucket ──► total bucket
//!                                  known and unknown senders have separate buckets
//! ```
//!
//! Buckets are per network, because a host can use any number of ports and IPv6 addresses. A flood
//! from many networks blocks unknown senders, but not a peer at its known address.

use std::net::{IpAddr, SocketAddr};

use gingham_stripe::Instant;

const BUCKETS: usize = 256;
/// Initiation limit per network: fifty peers behind one address can each start a handshake every
/// second.
const OF_A_NETWORK: Rate = Rate { per_second: 50, at_once: 16 };
/// Initiation limit for all networks together; at 0.2 ms each, initiations use a tenth of a core.
const OF_ALL: Rate = Rate { per_second: 500, at_once: 128 };
const SECOND_NS: u64 = 1_000_000_000;

/// Datagram sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Source address, possibly forged.
    pub address: SocketAddr,
    /// Whether a peer was last seen, or is configured, at `address`.
    pub is_known: bool,
}

impl Sender {
    pub(crate) fn bytes(self) -> [u8; 18] {
        let mut bytes = [0; 18];
        match self.address.ip().to_canonical() {
            IpAddr::V4(ip) => bytes[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes[..16].copy_from_slice(&ip.octets()),
        }
        bytes[16..].copy_from_slice(&self.address.port().to_be_bytes());
        bytes
    }

    /// Returns the sender's network: an IPv4 address, or the upper half of an IPv6 address (RFC
    /// 4291, section 2.5.4).
    pub(crate) fn network(self) -> [u8; 8] {
        *self.bytes().first_chunk().expect("an address is longer")
    }
}

#[derive(Clone, Copy, Debug)]
struct Rate {
    per_second: u64,
    at_once: u64,
}

impl Rate {
    /// Takes a token. Returns the time in ns when the bucket will be full again; `None` if it is
    /// empty.
    fn with_one(self, full_at: u64, now: u64) -> Option<u64> {
        let one = SECOND_NS / self.per_second;
        let full_at = full_at.max(now) + one;
        (full_at <= now + self.at_once * one).then_some(full_at)
    }
}

#[derive(Debug)]
struct Buckets {
    networks: [u64; BUCKETS],
    all: u64,
}

#[derive(Debug)]
pub(crate) struct Budget([Buckets; 2]);

impl Budget {
    pub(crate) fn new() -> Self {
        Self([0; 2].map(|_| Buckets { networks: [0; BUCKETS], all: 0 }))
    }

    pub(crate) fn admits(&mut self, now: Instant, is_known: bool, bucket: usize) -> bool {
        let Buckets { networks, all } = &mut self.0[usize::from(is_known)];
        let (now, network) = (now.nanoseconds(), &mut networks[bucket]);
        let taken = OF_A_NETWORK.with_one(*network, now).zip(OF_ALL.with_one(*all, now));
        if let Some(taken) = taken {
            (*network, *all) = taken;
        }
        taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn network_admits_burst_of_16_then_50_per_second() {
        let mut budget = Budget::new();
        let mut taken = |now| (0..100).filter(|_| budget.admits(at(now), false, 7)).count();
        assert_eq!([0, 20, 59, 10_000].map(&mut taken), [16, 1, 1, 16]);
        assert!(budget.admits(at(10_000), false, 8) && budget.admits(at(10_000), true, 7));
    }

    #[test]
    fn budget_is_500_per_second_separately_for_known_peers() {
        let mut budget = Budget::new();
        let mut taken = |now, is_known| {
            let all = (0..4_096).filter(|one| budget.admits(at(now), is_known, one % BUCKETS));
            all.count()
        };
        assert_eq!([taken(0, false), taken(0, false), taken(100, false)], [128, 0, 50]);
        assert_eq!([taken(100, true), taken(10_100, false)], [128, 128]);
    }

    #[test]
    fn network_of_host_ignores_port_and_ipv6_interface_id() {
        let of = |address: &str| Sender { address: address.parse().expect("one"), is_known: false };
        let [one, same] = ["192.0.2.1:1", "[::ffff:192.0.2.1]:2"].map(of);
        assert_eq!(one.network(), same.network());
        assert_ne!(one.bytes(), same.bytes());
        assert_ne!(one.network(), of("192.0.2.2:1").network());
        let [one, same, other] =
            ["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:0:1::1]:1"].map(of);
        assert_eq!(one.network(), same.network());
        assert_ne!(one.bytes(), same.bytes());
        assert_ne!(one.network(), other.network());
    }
}
