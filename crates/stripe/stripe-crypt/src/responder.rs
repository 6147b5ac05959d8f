//! What an initiation is worth, before it is known who sends it: one of these serves all peers that
//! reach us by one key.
//!
//! ```text
//!   initiation ──► mac1? ──► mac2? ──► answered before? ──► not too often? ──► Noise: whose it is
//!                   │          │              │                    │                   │
//!                 counted   a cookie     same answer            counted    mac3, stamp: said now?
//! ```
//!
//! Invariant: no state grows with the addresses that datagrams come from.

use gingham_stripe::Instant;
use snow::HandshakeState;

use crate::budget::{Budget, Sender};
use crate::cookie::{Cookies, PublicMacs, is_same, mac2};
use crate::discard::Discard;
use crate::keys::{NoRandomness, PrivateKey, PublicKey};
use crate::noise::read_initiation;
use crate::wire::{COOKIE_BYTES, INITIATION_BYTES, MAC1_AT, MAC2_AT, Mac, Payload, STAMP_AT, Type};

/// Reads initiations, and gives cookies.
#[derive(Debug)]
pub struct Responder {
    private: PrivateKey,
    /// What those who talk to us must know.
    macs: PublicMacs,
    cookies: Cookies,
    budget: Budget,
}

/// An initiation that somebody with the private key of its sender made at some time, and that comes from
/// somebody who hears what is sent to his address. Its peer tells whether both are one.
#[derive(Debug)]
pub struct Initiation {
    pub(crate) state: HandshakeState,
    pub(crate) from: PublicKey,
    pub(crate) message: [u8; INITIATION_BYTES],
    /// When the cookie was given that it answers.
    pub(crate) given_at: Instant,
    pub(crate) payload: Payload,
}

impl Initiation {
    /// Who sends it.
    pub const fn from(&self) -> &PublicKey {
        &self.from
    }

    /// What tells it from all others, as those ask for it that read one.
    pub fn mac1(&self) -> Mac {
        part(&self.message, MAC1_AT)
    }
}

/// Bytes of a message that begin there.
fn part<const N: usize>(message: &[u8; INITIATION_BYTES], at: usize) -> [u8; N] {
    *message[at..].first_chunk().expect("it has that length")
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
    pub fn new(private: &PrivateKey) -> Result<Self, NoRandomness> {
        let macs = PublicMacs::new(&private.public());
        let (private, budget) = (private.clone(), Budget::new());
        Ok(Self { private, macs, cookies: Cookies::new()?, budget })
    }

    /// Reads an initiation that came from there; what is written behind `reply` is to go back.
    /// `answered` is asked for the answer to one that has this `mac1`, if its peer says so of the
    /// datagram.
    pub fn read(
        &mut self,
        now: Instant,
        from: Sender,
        datagram: &[u8],
        answered: impl FnOnce(&Mac, &mut Vec<u8>) -> bool,
        reply: &mut Vec<u8>,
    ) -> Result<Read, Discard> {
        Type::of(datagram)?;
        let message: &[u8; INITIATION_BYTES] =
            datagram.try_into().map_err(|_| Discard::Malformed)?;
        let mac1: Mac = part(message, MAC1_AT);
        if !is_same(&self.mac1(&message[..MAC1_AT], &[]), &mac1) {
            return Err(Discard::BadMac);
        }
        let given = self.cookies.given(now, part(message, STAMP_AT), &from.bytes());
        let given = given.filter(|(cookie, _)| {
            is_same(&mac2(&cookie.key, &message[..MAC2_AT]), &part(message, MAC2_AT))
        });
        let Some((_, given_at)) = given else {
            self.give(now, from, &mac1, reply)?;
            return Ok(Read::Cookie);
        };
        // It came on another channel, or again: it makes no other keys.
        if answered(&mac1, reply) {
            return Ok(Read::Answered);
        }
        if !self.budget.admits(now, from.is_known, self.cookies.bucket(&from.network())) {
            return Err(Discard::Busy);
        }
        let (state, from, payload) =
            read_initiation(&self.private, message).ok_or(Discard::NotAuthentic)?;
        let payload = Payload::parse(&payload)?;
        let message = *message;
        Ok(Read::Begun(Box::new(Initiation { state, from, message, given_at, payload })))
    }

    fn give(
        &self,
        now: Instant,
        from: Sender,
        mac1: &Mac,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let cookie = self.cookies.give(now, &from.bytes());
        let mut message = [0; COOKIE_BYTES];
        message[..4].copy_from_slice(&Type::Cookie.header());
        // Nobody is answered who has to be told something that nobody can guess.
        self.macs.wrap(&cookie, mac1, &mut message).map_err(|_| Discard::Busy)?;
        reply.extend_from_slice(&message);
        Ok(())
    }

    /// What shows that the sender of a message knows our public key, and what else it knows.
    pub(crate) fn mac1(&self, message: &[u8], also: &[u8]) -> Mac {
        self.macs.mac1(message, also)
    }
}
