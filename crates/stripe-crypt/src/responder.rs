//! What an initiation is worth, before it is known who sends it: one of these serves all peers that
//! reach us by one key.
//!
//! ```text
//!   initiation ──► mac1? ──► answered before? ──► mac2? ──► not too often? ──► Noise: whose it is
//!                   │              │                │              │
//!                 counted      same answer       a cookie       counted
//! ```
//!
//! Invariant: no state grows with the addresses that datagrams come from.

use gingham_stripe::Instant;
use snow::HandshakeState;

use crate::cookie::{Cookies, PublicMacs, is_same, mac2};
use crate::discard::Discard;
use crate::keys::{NoRandomness, PrivateKey, PublicKey};
use crate::noise::read_initiation;
use crate::wire::{COOKIE_BYTES, INITIATION_BYTES, MAC1_AT, MAC2_AT, Mac, Payload, Type};

/// Reads initiations, and gives cookies.
#[derive(Debug)]
pub struct Responder {
    private: PrivateKey,
    /// What those who talk to us must know.
    macs: PublicMacs,
    cookies: Cookies,
}

/// An initiation of somebody who has the private key of its sender, and hears what is sent to his
/// address.
#[derive(Debug)]
pub struct Initiation {
    pub(crate) state: HandshakeState,
    pub(crate) from: PublicKey,
    pub(crate) mac1: Mac,
    pub(crate) payload: Payload,
}

impl Initiation {
    /// Who sends it.
    pub const fn from(&self) -> &PublicKey {
        &self.from
    }
}

/// What an initiation is.
#[derive(Debug)]
pub enum Read {
    /// One that was answered before, and is so again.
    Answered,
    /// One whose sender is to show that he hears this cookie.
    Cookie,
    /// One that is worth an answer.
    Begun(Box<Initiation>),
}

impl Responder {
    /// For whoever knows the public key of this one.
    pub fn new(private: &PrivateKey, now: Instant) -> Result<Self, NoRandomness> {
        let macs = PublicMacs::new(&private.public());
        Ok(Self { private: private.clone(), macs, cookies: Cookies::new(now)? })
    }

    /// Reads an initiation that came from the address that these bytes are; what is written behind
    /// `reply` is to go back. `answered` is asked for the answer to one that has this `mac1`.
    pub fn read(
        &mut self,
        now: Instant,
        from: &[u8],
        datagram: &[u8],
        answered: impl FnOnce(&Mac, &mut Vec<u8>) -> bool,
        reply: &mut Vec<u8>,
    ) -> Result<Read, Discard> {
        Type::of(datagram)?;
        let message: &[u8; INITIATION_BYTES] =
            datagram.try_into().map_err(|_| Discard::Malformed)?;
        let mac1: Mac = *message[MAC1_AT..].first_chunk().expect("it has that length");
        if !is_same(&self.mac1(&message[..MAC1_AT], &[]), &mac1) {
            return Err(Discard::BadMac);
        }
        // It came on another channel, or again: it makes no other keys.
        if answered(&mac1, reply) {
            return Ok(Read::Answered);
        }
        let cookie = self.cookies.of(now, from).map_err(|_| Discard::Busy)?;
        let said: Mac = *message[MAC2_AT..].first_chunk().expect("it has that length");
        if !is_same(&mac2(&cookie, &message[..MAC2_AT]), &said) {
            self.give(&cookie, &mac1, reply)?;
            return Ok(Read::Cookie);
        }
        if !self.cookies.admits(now, &cookie) {
            return Err(Discard::Busy);
        }
        let (state, from, payload) =
            read_initiation(&self.private, message).ok_or(Discard::NotAuthentic)?;
        let payload = Payload::parse(&payload)?;
        Ok(Read::Begun(Box::new(Initiation { state, from, mac1, payload })))
    }

    /// One from this address was answered: no cookie that it has is of use any more.
    pub fn took(&mut self, from: &[u8]) {
        self.cookies.spend(from);
    }

    fn give(&self, cookie: &Mac, mac1: &Mac, reply: &mut Vec<u8>) -> Result<(), Discard> {
        let mut message = [0; COOKIE_BYTES];
        message[..4].copy_from_slice(&Type::Cookie.header());
        // Nobody is answered who has to be told something that nobody can guess.
        self.macs.wrap(cookie, mac1, &mut message).map_err(|_| Discard::Busy)?;
        reply.extend_from_slice(&message);
        Ok(())
    }

    /// What shows that the sender of a message knows our public key, and what else it knows.
    pub(crate) fn mac1(&self, message: &[u8], also: &[u8]) -> Mac {
        self.macs.mac1(message, also)
    }
}
