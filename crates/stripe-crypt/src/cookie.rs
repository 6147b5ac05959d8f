//! Cheap answers to whoever begins a handshake: nobody is worth a Diffie-Hellman who has not shown that
//! he hears what is sent to the address that he names.
//!
//! ```text
//!   mac1   = MAC(H("mac1", public key of the receiver), message)    knows whom he talks to
//!   bucket = MAC(secret of the moment, address)                     one of 256, no state an address
//!   cookie = MAC(the same secret, count of the bucket, address)
//!   mac2   = MAC(cookie, message with mac1)                         hears what goes to the address
//! ```
//!
//! A bucket counts the handshakes that are taken from its addresses, and the secret changes every two
//! minutes: a recorded message is of no use after the one handshake that it was made for. So no clock is
//! needed to tell old from new, and many who begin at once spoil one another's cookies but once in 256.
//!
//! Source: Donenfeld, WireGuard (2017), section 5.3, where a cookie is asked for under load alone and
//! a time stamp tells old from new.

use std::time::Duration;

use gingham_stripe::Instant;
use ring::aead::{Aad, NONCE_LEN, Nonce};
use ring::{digest, hmac};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, NoRandomness, PublicKey};
use crate::primitives::{CHECK_BYTES, cipher, fill};
use crate::wire::{COOKIE_AT, COOKIE_BYTES, COOKIE_NONCE_BYTES, MAC_BYTES, Mac};

/// Two minutes, as in WireGuard (section 5.4.7).
const SECRET_AGE_MAX: Duration = Duration::from_secs(120);
/// A bucket for all addresses that meet in it: those whose MAC begins with the same byte. With 256
/// peers that all begin at once, one other is in the bucket of each.
const BUCKETS: usize = 256;
/// Handshakes a second that are worth a Diffie-Hellman, a bucket; WireGuard's Linux driver has 20 an
/// address, and 5 at once.
const HANDSHAKES_PER_SECOND: u64 = 20;
const HANDSHAKES_AT_ONCE: u64 = 5;
const SECOND_NS: u64 = 1_000_000_000;

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
        cookie: &Mac,
        mac1: &Mac,
        message: &mut [u8; COOKIE_BYTES],
    ) -> Result<(), NoRandomness> {
        let (nonce, sealed) = message[COOKIE_AT..].split_at_mut(COOKIE_NONCE_BYTES);
        fill(nonce)?;
        let (text, check) = sealed.split_at_mut(MAC_BYTES);
        text.copy_from_slice(cookie);
        let key = cipher(&self.one_time(nonce));
        let tag = key.seal_in_place_separate_tag(zero(), Aad::from(mac1), text);
        check.copy_from_slice(tag.expect("it is short").as_ref());
        Ok(())
    }

    /// The cookie in a message that answers this `mac1`.
    pub(crate) fn unwrap(&self, mac1: &Mac, message: &[u8; COOKIE_BYTES]) -> Option<Mac> {
        let (nonce, sealed) = message[COOKIE_AT..].split_at(COOKIE_NONCE_BYTES);
        let mut sealed: [u8; MAC_BYTES + CHECK_BYTES] = sealed.try_into().ok()?;
        let key = cipher(&self.one_time(nonce));
        let opened = key.open_in_place(zero(), Aad::from(mac1), &mut sealed).ok()?;
        (&*opened).try_into().ok()
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

/// Whether two are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(one: &Mac, other: &Mac) -> bool {
    one.ct_eq(other).into()
}

/// The cookies that this end gives, and how often they were used.
#[derive(Debug)]
pub(crate) struct Cookies {
    secret: hmac::Key,
    made_at: Instant,
    /// How many handshakes were taken from the addresses of each bucket, modulo 2^32.
    taken: [u32; BUCKETS],
    /// When each bucket is full again, in nanoseconds.
    full_at: [u64; BUCKETS],
}

impl Cookies {
    pub(crate) fn new(now: Instant) -> Result<Self, NoRandomness> {
        Ok(Self { secret: secret()?, made_at: now, taken: [0; BUCKETS], full_at: [0; BUCKETS] })
    }

    /// The cookie of an address, whatever its bytes are.
    pub(crate) fn of(&mut self, now: Instant, address: &[u8]) -> Result<Mac, NoRandomness> {
        if self.made_at.after(SECRET_AGE_MAX) <= now {
            (self.secret, self.made_at) = (secret()?, now);
        }
        let taken = self.taken[self.bucket(address)];
        Ok(mac(&self.secret, &[&taken.to_be_bytes(), address]))
    }

    /// A handshake from this address was taken: no cookie of its bucket is of use any more.
    pub(crate) fn spend(&mut self, address: &[u8]) {
        let taken = &mut self.taken[self.bucket(address)];
        *taken = taken.wrapping_add(1);
    }

    fn bucket(&self, address: &[u8]) -> usize {
        mac(&self.secret, &[address])[0].into()
    }

    /// Whether a handshake from this address is worth looking at.
    pub(crate) fn admits(&mut self, now: Instant, address: &[u8]) -> bool {
        let bucket = &mut self.full_at[self.bucket(address)];
        let (now, one) = (now.nanoseconds(), SECOND_NS / HANDSHAKES_PER_SECOND);
        let full_at = (*bucket).max(now) + one;
        let is_admitted = full_at <= now + HANDSHAKES_AT_ONCE * one;
        if is_admitted {
            *bucket = full_at;
        }
        is_admitted
    }
}

fn secret() -> Result<hmac::Key, NoRandomness> {
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    fill(&mut *bytes)?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn a_cookie_is_of_an_address_and_of_a_while() {
        let mut cookies = Cookies::new(at(0)).expect("randomness");
        let [one, other] = [&b"one address"[..], b"another"];
        let first = cookies.of(at(0), one).expect("randomness");
        assert_eq!(cookies.of(at(119_999), one), Ok(first));
        assert_ne!(cookies.of(at(0), other), Ok(first));
        assert_ne!(cookies.of(at(120_000), one), Ok(first));
        let mut others = (0..=u8::MAX).map(|byte| [byte]);
        let other = others.find(|other| cookies.bucket(other) != cookies.bucket(one));
        let other = other.expect("not all meet");
        let before = [one, &other].map(|who| cookies.of(at(120_000), who));
        cookies.spend(one);
        let after = [one, &other].map(|who| cookies.of(at(120_000), who));
        assert_eq!((before[0] == after[0], before[1] == after[1]), (false, true));
    }

    #[test]
    fn only_who_sent_the_message_reads_the_cookie() {
        let macs = PublicMacs::new(&PublicKey([3; 32]));
        let (cookie, said, mut message) = ([5; MAC_BYTES], [6; MAC_BYTES], [0; COOKIE_BYTES]);
        macs.wrap(&cookie, &said, &mut message).expect("randomness");
        assert_eq!(macs.unwrap(&said, &message), Some(cookie));
        assert_eq!(macs.unwrap(&[7; MAC_BYTES], &message), None);
        assert_eq!(PublicMacs::new(&PublicKey([4; 32])).unwrap(&said, &message), None);
    }

    #[test]
    fn five_at_once_and_then_twenty_a_second() {
        let mut cookies = Cookies::new(at(0)).expect("randomness");
        let mut taken = |now| (0..100).filter(|_| cookies.admits(now, b"one address")).count();
        assert_eq!([taken(at(0)), taken(at(50)), taken(at(149)), taken(at(10_000))], [5, 1, 1, 5]);
        let mut others = (0..=u8::MAX).map(|byte| [byte]);
        let other = others.find(|other| cookies.bucket(other) != cookies.bucket(b"one address"));
        assert!(cookies.admits(at(10_000), &other.expect("not all meet")));
    }
}
