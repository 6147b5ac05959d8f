//! Cookies: proofs that a sender is present and receives datagrams at its address, before the
//! responder spends a Diffie-Hellman computation or a key slot on its initiation.
//!
//! ```text
//!   mac1   = MAC(H("mac1", public key of the receiver), message)    sender knows the receiver's key
//!   cookie = MAC(responder's secret, stamp, address)                stamp: time of issue
//!   mac2   = MAC(cookie, message with mac1 and stamp)               sender receives at its address
//!   mac3   = MAC(MAC(static-static DH, "mac3"), all before)         sender is the peer, and present now
//! ```
//!
//! A cookie suffices to compute mac2 for any recorded message, but mac3 requires a private key.
//! After accepting an initiation, a peer rejects cookies issued earlier; only the issuer's clock is
//! used.
//!
//! Source: Donenfeld, WireGuard (2017), section 5.3.

use std::time::Duration;

use curve25519_dalek::montgomery::MontgomeryPoint;
use gingham_stripe::Instant;
use ring::aead::{Aad, NONCE_LEN, Nonce};
use ring::{digest, hmac};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, NoRandomness, PrivateKey, PublicKey};
use crate::primitives::{CHECK_BYTES, cipher, fill};
use crate::wire::{
    COOKIE_AT, COOKIE_BYTES, COOKIE_NONCE_BYTES, INITIATION_BYTES, MAC_BYTES, MAC2_AT, MAC3_AT,
    Mac, STAMP_AT, STAMP_BYTES,
};

/// Maximum age of an accepted cookie. An initiator abandons its handshake at most 6.7 s after its
/// last attempt.
const COOKIE_AGE_MAX: Duration = Duration::from_secs(10);

/// Issue time of a cookie, relative to the issuer's random origin.
pub(crate) type Stamp = [u8; STAMP_BYTES];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) stamp: Stamp,
    pub(crate) key: Mac,
}

#[derive(Debug)]
pub(crate) struct PublicMacs {
    mac1: hmac::Key,
    cookie: hmac::Key,
}

impl PublicMacs {
    pub(crate) fn new(public: &PublicKey) -> Self {
        let key = |label: &[u8]| {
            let mut context = digest::Context::new(&digest::SHA256);
            context.update(label);
            context.update(&public.0);
            hmac::Key::new(hmac::HMAC_SHA256, context.finish().as_ref())
        };
        Self { mac1: key(b"gingham mac1"), cookie: key(b"gingham cookie") }
    }

    /// Computes mac1 over `message` and `also`, which proves that the sender knows this public key.
    pub(crate) fn mac1(&self, message: &[u8], also: &[u8]) -> Mac {
        mac(&self.mac1, &[message, also])
    }

    pub(crate) fn wrap(
        &self,
        cookie: &Cookie,
        mac1: &Mac,
        message: &mut [u8; COOKIE_BYTES],
    ) -> Result<(), NoRandomness> {
        let (nonce, sealed) = message[COOKIE_AT..].split_at_mut(COOKIE_NONCE_BYTES);
        fill(nonce)?;
        let (text, check) = sealed.split_at_mut(STAMP_BYTES + MAC_BYTES);
        text[..STAMP_BYTES].copy_from_slice(&cookie.stamp);
        text[STAMP_BYTES..].copy_from_slice(&cookie.key);
        let key = cipher(&self.one_time(nonce));
        let tag = key.seal_in_place_separate_tag(zero(), Aad::from(mac1), text);
        check.copy_from_slice(tag.expect("it is short").as_ref());
        Ok(())
    }

    pub(crate) fn unwrap(&self, mac1: &Mac, message: &[u8; COOKIE_BYTES]) -> Option<Cookie> {
        let (nonce, sealed) = message[COOKIE_AT..].split_at(COOKIE_NONCE_BYTES);
        let mut sealed: [u8; STAMP_BYTES + MAC_BYTES + CHECK_BYTES] = sealed.try_into().ok()?;
        let key = cipher(&self.one_time(nonce));
        let opened = key.open_in_place(zero(), Aad::from(mac1), &mut sealed).ok()?;
        let (stamp, key) = opened.split_first_chunk()?;
        Some(Cookie { stamp: *stamp, key: (*key).try_into().ok()? })
    }

    /// Derives the key for one message. Random 24-byte nonces do not collide; random nonces of the
    /// cipher's length, 12 bytes, might.
    fn one_time(&self, nonce: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
        let tag = hmac::sign(&self.cookie, nonce);
        Zeroizing::new(tag.as_ref().try_into().expect("SHA-256 gives 32 bytes"))
    }
}

fn zero() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn mac(key: &hmac::Key, parts: &[&[u8]]) -> Mac {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    *context.sign().as_ref().first_chunk().expect("SHA-256 gives 32 bytes")
}

pub(crate) fn mac2(cookie: &Mac, message: &[u8]) -> Mac {
    mac(&hmac::Key::new(hmac::HMAC_SHA256, cookie), &[message])
}

#[derive(Debug)]
pub(crate) struct SharedMac(hmac::Key);

impl SharedMac {
    pub(crate) fn new(private: &PrivateKey, peer: &PublicKey) -> Self {
        let shared = Zeroizing::new(MontgomeryPoint(peer.0).mul_clamped(private.0).to_bytes());
        let key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &*shared), b"gingham mac3");
        Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()))
    }

    fn mac3(&self, message: &[u8]) -> Mac {
        mac(&self.0, &[message])
    }

    pub(crate) fn has_proof(&self, message: &[u8; INITIATION_BYTES]) -> bool {
        let (before, proof) = message.split_at(MAC3_AT);
        self.mac3(before).ct_eq(proof).into()
    }
}

pub(crate) fn prove(cookie: &Cookie, shared: &SharedMac, message: &mut [u8; INITIATION_BYTES]) {
    message[STAMP_AT..MAC2_AT].copy_from_slice(&cookie.stamp);
    let mac = mac2(&cookie.key, &message[..MAC2_AT]);
    message[MAC2_AT..MAC3_AT].copy_from_slice(&mac);
    let mac = shared.mac3(&message[..MAC3_AT]);
    message[MAC3_AT..].copy_from_slice(&mac);
}

pub(crate) fn is_same(one: &Mac, other: &Mac) -> bool {
    one.ct_eq(other).into()
}

#[derive(Debug)]
pub(crate) struct Cookies {
    secret: hmac::Key,
    /// Random origin of stamps, which hides the process's age.
    origin: u64,
}

impl Cookies {
    pub(crate) fn new() -> Result<Self, NoRandomness> {
        let (mut bytes, mut origin) = (Zeroizing::new([0; KEY_BYTES]), [0; 8]);
        fill(&mut *bytes)?;
        fill(&mut origin)?;
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &*bytes);
        Ok(Self { secret, origin: u64::from_be_bytes(origin) })
    }

    pub(crate) fn give(&self, now: Instant, address: &[u8]) -> Cookie {
        self.of(now.nanoseconds().wrapping_add(self.origin).to_be_bytes(), address)
    }

    pub(crate) fn given(
        &self,
        now: Instant,
        stamp: Stamp,
        address: &[u8],
    ) -> Option<(Cookie, Instant)> {
        let at = u64::from_be_bytes(stamp).wrapping_sub(self.origin);
        let at = Instant::from_nanoseconds(at);
        let is_over = at > now || at.after(COOKIE_AGE_MAX) <= now;
        (!is_over).then(|| (self.of(stamp, address), at))
    }

    fn of(&self, stamp: Stamp, address: &[u8]) -> Cookie {
        Cookie { stamp, key: mac(&self.secret, &[&stamp, address]) }
    }

    /// Maps a network to one of 256 buckets, which senders cannot predict.
    pub(crate) fn bucket(&self, network: &[u8]) -> usize {
        mac(&self.secret, &[b"bucket", network])[0].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn cookie_is_bound_to_address_and_expires() {
        let [cookies, others] = [0; 2].map(|_| Cookies::new().expect("randomness"));
        let [one, other] = [&b"one address"[..], b"another"];
        let cookie = cookies.give(at(5_000), one);
        let given = |now, address| cookies.given(at(now), cookie.stamp, address);
        assert_eq!(given(5_000, one), Some((cookie, at(5_000))));
        assert_eq!(given(14_999, one), Some((cookie, at(5_000))));
        assert_eq!([given(15_000, one), given(4_999, one)], [None, None]);
        assert!(given(5_000, other).is_some_and(|(its, _)| its.key != cookie.key));
        assert_ne!(others.give(at(5_000), one), cookie);
        assert_ne!(cookies.give(at(5_001), one), cookie);
    }

    #[test]
    fn cookie_is_readable_only_by_sender_of_the_message() {
        let macs = PublicMacs::new(&PublicKey([3; 32]));
        let (mac, mut message) = ([6; MAC_BYTES], [0; COOKIE_BYTES]);
        let cookie = Cookie { stamp: [4; STAMP_BYTES], key: [5; MAC_BYTES] };
        macs.wrap(&cookie, &mac, &mut message).expect("randomness");
        assert_eq!(macs.unwrap(&mac, &message), Some(cookie));
        assert_eq!(macs.unwrap(&[7; MAC_BYTES], &message), None);
        assert_eq!(PublicMacs::new(&PublicKey([4; 32])).unwrap(&mac, &message), None);
    }

    #[test]
    fn shared_mac_differs_from_that_of_a_third_key() {
        let keys = [0; 3].map(|_| PrivateKey::random().expect("randomness"));
        let mac3 = |one: usize, other: usize| {
            SharedMac::new(&keys[one], &keys[other].public()).mac3(b"message")
        };
        assert_eq!(mac3(0, 1), mac3(1, 0));
        assert_ne!(mac3(0, 1), mac3(2, 1));
    }
}
