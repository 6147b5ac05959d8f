//! Cheap answers to whoever begins a handshake: nobody is worth a Diffie-Hellman who has not shown that
//! he hears what is sent to the address that he names, and nobody a new key who plays a record.
//!
//! ```text
//!   mac1   = MAC(H("mac1", public key of the receiver), message)    knows whom he talks to
//!   cookie = MAC(secret of the process, stamp, address)             the stamp: when it was given
//!   mac2   = MAC(cookie, message with mac1 and stamp)               hears what goes to the address
//!   mac3   = MAC(MAC(static-static DH, "mac3"), all before)         is the peer, and says it now
//! ```
//!
//! Whoever hears a cookie makes mac2 for any message that he recorded, but mac3 is made with a private key.
//! A peer that has answered takes no cookie that was given before: by the clock of who gave it, so that
//! those of both ends are never compared.
//!
//! Source: Donenfeld, WireGuard (2017), section 5.3, where a cookie is asked for under load alone and
//! a time stamp of the initiator tells old from new.

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

/// A handshake is given up by who began it 6.7 s after its last try at the latest, and is of no use then.
const COOKIE_AGE_MAX: Duration = Duration::from_secs(10);

/// When a cookie was given, as the other end sees it: its giver counts from a number by chance.
pub(crate) type Stamp = [u8; STAMP_BYTES];

/// A cookie, and when it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) stamp: Stamp,
    pub(crate) key: Mac,
}

/// The keys of what is known by a public key alone.
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

    /// What shows that the sender knows this public key, and what else it knows.
    pub(crate) fn mac1(&self, message: &[u8], also: &[u8]) -> Mac {
        mac(&self.mac1, &[message, also])
    }

    /// A cookie in a message, for whoever sent this `mac1`.
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

    /// The cookie in a message that answers this `mac1`.
    pub(crate) fn unwrap(&self, mac1: &Mac, message: &[u8; COOKIE_BYTES]) -> Option<Cookie> {
        let (nonce, sealed) = message[COOKIE_AT..].split_at(COOKIE_NONCE_BYTES);
        let mut sealed: [u8; STAMP_BYTES + MAC_BYTES + CHECK_BYTES] = sealed.try_into().ok()?;
        let key = cipher(&self.one_time(nonce));
        let opened = key.open_in_place(zero(), Aad::from(mac1), &mut sealed).ok()?;
        let (stamp, key) = opened.split_first_chunk()?;
        Some(Cookie { stamp: *stamp, key: (*key).try_into().ok()? })
    }

    /// A key for one message: nonces of 24 random bytes do not meet, those of the cipher's 12 might.
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

/// What a cookie makes of a message.
pub(crate) fn mac2(cookie: &Mac, message: &[u8]) -> Mac {
    mac(&hmac::Key::new(hmac::HMAC_SHA256, cookie), &[message])
}

/// What only two ends can make, each with its private key.
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

    /// Whether one of both says this just as it is.
    pub(crate) fn has_proof(&self, message: &[u8; INITIATION_BYTES]) -> bool {
        let (before, said) = message.split_at(MAC3_AT);
        self.mac3(before).ct_eq(said).into()
    }
}

/// Answers a cookie: an initiation becomes one whose sender hears it, and is there now.
pub(crate) fn prove(cookie: &Cookie, shared: &SharedMac, message: &mut [u8; INITIATION_BYTES]) {
    message[STAMP_AT..MAC2_AT].copy_from_slice(&cookie.stamp);
    let mac = mac2(&cookie.key, &message[..MAC2_AT]);
    message[MAC2_AT..MAC3_AT].copy_from_slice(&mac);
    let mac = shared.mac3(&message[..MAC3_AT]);
    message[MAC3_AT..].copy_from_slice(&mac);
}

/// Whether two are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(one: &Mac, other: &Mac) -> bool {
    one.ct_eq(other).into()
}

/// The cookies that this end gives.
#[derive(Debug)]
pub(crate) struct Cookies {
    secret: hmac::Key,
    /// From where stamps count, so that they do not tell for how long a process has been there.
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

    /// A cookie for an address, whatever its bytes are.
    pub(crate) fn give(&self, now: Instant, address: &[u8]) -> Cookie {
        self.of(now.nanoseconds().wrapping_add(self.origin).to_be_bytes(), address)
    }

    /// The cookie of this stamp, and when it was given, if that is not too long ago.
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

    /// In which of 256 an address, or a network, is: nobody else knows.
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
    fn a_cookie_is_of_an_address_and_of_a_while() {
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
    fn only_who_sent_the_message_reads_the_cookie() {
        let macs = PublicMacs::new(&PublicKey([3; 32]));
        let (said, mut message) = ([6; MAC_BYTES], [0; COOKIE_BYTES]);
        let cookie = Cookie { stamp: [4; STAMP_BYTES], key: [5; MAC_BYTES] };
        macs.wrap(&cookie, &said, &mut message).expect("randomness");
        assert_eq!(macs.unwrap(&said, &message), Some(cookie));
        assert_eq!(macs.unwrap(&[7; MAC_BYTES], &message), None);
        assert_eq!(PublicMacs::new(&PublicKey([4; 32])).unwrap(&said, &message), None);
    }

    #[test]
    fn what_two_share_no_third_makes() {
        let keys = [0; 3].map(|_| PrivateKey::random().expect("randomness"));
        let mac3 = |one: usize, other: usize| {
            SharedMac::new(&keys[one], &keys[other].public()).mac3(b"message")
        };
        assert_eq!(mac3(0, 1), mac3(1, 0));
        assert_ne!(mac3(0, 1), mac3(2, 1));
    }
}
