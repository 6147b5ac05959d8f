//! Tests of pending keys and handshakes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::*;
use crate::cookie::prove;
use crate::wire::{COOKIE_BYTES, MAC3_AT};

const LEFT: usize = 0;
const RIGHT: usize = 1;
const HOME: Sender = of(1, 1, false);
const ELSEWHERE: Sender = of(2, 1, false);

const fn of(host: u16, port: u16, is_known: bool) -> Sender {
    let [a, b] = host.to_be_bytes();
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 18, a, b)), port);
    Sender { address, is_known }
}

struct Both {
    peers: [Peer; 2],
    now: Instant,
}

impl Both {
    fn new() -> Self {
        let mut keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
        keys.sort_by_key(|key| std::cmp::Reverse(key.public()));
        let now = Instant::from_nanoseconds(1 << 40);
        let peers = [LEFT, RIGHT].map(|end| {
            let plan = PeerPlan {
                private: keys[end].clone(),
                peer: keys[1 - end].public(),
                preshared: None,
                times: Times::default(),
            };
            Peer::new(&plan, now).expect("randomness")
        });
        Self { peers, now }
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now = self.now.after(Duration::from_millis(milliseconds));
    }

    fn begin(&mut self, end: usize) -> Vec<u8> {
        self.peers[end].poll_transmit(self.now, true).expect("it is due").to_vec()
    }

    fn give(&mut self, to: usize, from: Sender, datagram: &[u8]) -> Result<Vec<u8>, Discard> {
        let mut reply = Vec::new();
        self.peers[to].handle(self.now, from, datagram, &mut reply)?;
        Ok(reply)
    }

    fn proven(&mut self, from: usize, initiation: &[u8]) -> Vec<u8> {
        let cookie = self.give(1 - from, HOME, initiation).expect("a cookie");
        assert_eq!(cookie.len(), COOKIE_BYTES);
        self.give(from, HOME, &cookie).expect("it waits for one")
    }

    fn shake_hands(&mut self, from: usize) -> [Vec<u8>; 2] {
        let initiation = self.begin(from);
        let proven = self.proven(from, &initiation);
        let response = self.give(1 - from, HOME, &proven).expect("a response");
        assert_eq!(response.len(), RESPONSE_BYTES);
        self.give(from, HOME, &response).expect("it waits for it");
        let confirm = self.begin(from);
        self.give(1 - from, HOME, &confirm).expect("it waits for it");
        [initiation, proven]
    }

    /// Replays an initiation as an attacker that knows both public keys and receives at its source
    /// address.
    fn replay(&mut self, to: usize, recorded: &[u8]) -> Result<Vec<u8>, Discard> {
        let cookie = self.give(to, ELSEWHERE, recorded)?;
        let cookie = cookie[..].try_into().expect("a cookie for who hears it");
        let known = PublicMacs::new(&self.peers[1 - to].identity.peer);
        let mac1 = recorded[MAC1_AT..STAMP_AT].try_into().expect("it has that length");
        let cookie = known.unwrap(&mac1, cookie).expect("it is for this message");
        let mut again: [u8; INITIATION_BYTES] = recorded.try_into().expect("it has that length");
        let stranger = PrivateKey::random().expect("randomness");
        prove(&cookie, &SharedMac::new(&stranger, &self.peers[to].identity.public), &mut again);
        let with_theirs = [&again[..MAC3_AT], &recorded[MAC3_AT..]].concat();
        let refused = self.give(to, ELSEWHERE, &with_theirs);
        assert_eq!(refused, self.give(to, ELSEWHERE, &again));
        refused
    }
}

#[test]
fn replayed_initiation_with_reflected_cookies_is_rejected() {
    for kept in [0, 1] {
        let mut both = Both::new();
        let recorded = both.shake_hands(LEFT)[kept].clone();
        both.pass(1_000_000);
        both.shake_hands(LEFT);
        both.pass(1_000_000);
        let initiation = both.begin(LEFT);
        let proven = both.proven(LEFT, &initiation);
        let response = both.give(RIGHT, HOME, &proven).expect("a response");
        for _ in 0..3 {
            let replayed = both.replay(RIGHT, &recorded);
            assert_eq!(replayed, Err(Discard::NotAuthentic));
        }
        both.give(LEFT, HOME, &response).expect("it waits for it");
        let confirm = both.begin(LEFT);
        both.give(RIGHT, HOME, &confirm).expect("the keys are there still");
        assert_eq!(both.peers.each_ref().map(|peer| peer.counts.keys), [3, 3]);
    }
}

impl Both {
    fn garbage(&mut self, to: usize, from: Sender) -> Discard {
        let mut garbage = [0; INITIATION_BYTES];
        garbage[..4].copy_from_slice(&Type::Initiation.header());
        let known = PublicMacs::new(&self.peers[to].identity.public);
        let mac1 = known.mac1(&garbage[..MAC1_AT], &[]);
        garbage[MAC1_AT..STAMP_AT].copy_from_slice(&mac1);
        let cookie = self.give(to, from, &garbage).expect("a cookie");
        let cookie = known.unwrap(&mac1, cookie[..].try_into().expect("a cookie")).expect("ours");
        let stranger = PrivateKey::random().expect("randomness");
        prove(&cookie, &SharedMac::new(&stranger, &self.peers[to].identity.public), &mut garbage);
        self.give(to, from, &garbage).expect_err("it is nobody's")
    }

    fn flood(&mut self, to: usize, from: impl Iterator<Item = Sender>) -> usize {
        from.map(|from| self.garbage(to, from)).filter(|one| *one == Discard::NotAuthentic).count()
    }
}

/// In one of 256 cases, the peer shares a bucket with the flooding host.
#[test]
fn ports_of_a_host_share_one_budget() {
    let mut agreed = 0;
    for _ in 0..8 {
        let mut both = Both::new();
        assert_eq!(both.flood(RIGHT, (0..2_000).map(|port| of(7, port, false))), 16);
        let initiation = both.begin(LEFT);
        let proven = both.proven(LEFT, &initiation);
        agreed += usize::from(both.give(RIGHT, HOME, &proven).is_ok());
    }
    assert!(agreed >= 6, "{agreed}");
}

#[test]
fn known_peer_gets_keys_during_flood_from_many_networks() {
    let mut both = Both::new();
    assert_eq!(both.flood(RIGHT, (100..2_100).map(|host| of(host, 1, false))), 128);
    let initiation = both.begin(LEFT);
    let proven = both.proven(LEFT, &initiation);
    assert_eq!(both.give(RIGHT, HOME, &proven), Err(Discard::Busy));
    let known = Sender { is_known: true, ..HOME };
    let response = both.give(RIGHT, known, &proven).expect("a response");
    both.give(LEFT, HOME, &response).expect("it waits for it");
}

/// Checks that a late first attempt is rejected after the left end's second attempt, whose keys are
/// unconfirmed. A third attempt replaces those keys.
#[test]
fn pending_keys_are_replaced_only_by_later_initiations() {
    let mut both = Both::new();
    let initiation = both.begin(LEFT);
    let held_back = both.proven(LEFT, &initiation);
    both.pass(5_000);
    let initiation = both.begin(LEFT);
    let proven = both.proven(LEFT, &initiation);
    let response = both.give(RIGHT, HOME, &proven).expect("a response");
    assert_eq!(both.give(RIGHT, HOME, &held_back), Err(Discard::Replayed));
    both.pass(5_000);
    let initiation = both.begin(LEFT);
    let proven = both.proven(LEFT, &initiation);
    let later = both.give(RIGHT, HOME, &proven).expect("a response");
    assert_eq!(both.give(LEFT, HOME, &response), Err(Discard::BadMac));
    both.give(LEFT, HOME, &later).expect("it waits for it");
    let confirm = both.begin(LEFT);
    both.give(RIGHT, HOME, &confirm).expect("it waits for it");
    assert_eq!(both.peers.map(|peer| peer.counts.keys), [1, 1]);
}

/// Checks the replay of copies recorded in transit. For a while, each channel's copy is valid if it
/// is sent from that channel's address.
#[test]
fn initiation_on_another_channel_expires_after_response() {
    let mut both = Both::new();
    let initiation = both.begin(LEFT);
    let proven = both.proven(LEFT, &initiation);
    let cookie = both.give(RIGHT, ELSEWHERE, &initiation).expect("a cookie");
    let other = both.give(LEFT, ELSEWHERE, &cookie).expect("it waits for one");
    let response = both.give(RIGHT, HOME, &proven).expect("a response");
    assert_eq!(both.give(RIGHT, ELSEWHERE, &other).as_ref(), Ok(&response));
    both.give(LEFT, HOME, &response).expect("it waits for it");
    let confirm = both.begin(LEFT);
    both.give(RIGHT, HOME, &confirm).expect("it waits for it");
    both.peers[LEFT].again_at = Instant::ORIGIN;
    both.peers[LEFT].silent_since = Some(Instant::ORIGIN);
    both.pass(2_000);
    both.shake_hands(LEFT);
    assert_eq!(both.give(RIGHT, ELSEWHERE, &other), Err(Discard::Replayed));
    assert_eq!(both.give(RIGHT, HOME, &proven), Err(Discard::Replayed));
    both.pass(8_000);
    let cookie = both.give(RIGHT, ELSEWHERE, &other).expect("it is too old");
    assert_eq!(cookie.len(), COOKIE_BYTES);
}
