//! Responder: checks initiations whose sender is unknown, for all peers that use one of our keys.
//!
//! ```text
//!   initiation ──► mac1 ──► mac2 ──► accepted before? ──► rate limit ──► Noise: sender
//!                   │         │             │                  │             │
//!                discard     cookie   same response         discard    mac3, stamp: present now?
//! ```

use gingham_stripe::Instant;
use snow::HandshakeState;

use crate::budget::{Budget, Sender};
use crate::cookie::{Cookies, PublicMacs, is_same, mac2};
use crate::discard::Discard;
use crate::keys::{NoRandomness, PrivateKey, PublicKey};
use crate::noise::read_initiation;
use crate::wire::{COOKIE_BYTES, INITIATION_BYTES, MAC1_AT, MAC2_AT, Mac, Payload, STAMP_AT, Type};

/// Processor of received initiations, which issues cookies.
#[derive(Debug)]
pub struct Responder {
    private: PrivateKey,
    macs: PublicMacs,
    cookies: Cookies,
    budget: Budget,
}

/// Initiation from a sender that holds the private key of its public key and received a cookie at
/// its address. The [`Peer`](crate::Peer) checks that the public key is the peer's.
#[derive(Debug)]
pub struct Initiation {
    pub(crate) state: HandshakeState,
    pub(crate) from: PublicKey,
    pub(crate) message: [u8; INITIATION_BYTES],
    pub(crate) given_at: Instant,
    pub(crate) payload: Payload,
}

impl Initiation {
    /// Returns the sender's public key.
    pub const fn from(&self) -> &PublicKey {
        &self.from
    }

    /// Returns mac1, which identifies the initiation.
    pub fn mac1(&self) -> Mac {
        part(&self.message, MAC1_AT)
    }
}

fn part<const N: usize>(message: &[u8; INITIATION_BYTES], at: usize) -> [u8; N] {
    *message[at..].first_chunk().expect("it has that length")
}

/// Result of processing an initiation.
#[derive(Debug)]
pub enum Read {
    /// The response was repeated.
    Answered,
    /// A cookie was issued.
    Cookie,
    /// The initiation is valid, and must be passed to its peer.
    Begun(Box<Initiation>),
}

impl Responder {
    /// Creates a responder for a private key.
    pub fn new(private: &PrivateKey) -> Result<Self, NoRandomness> {
        let macs = PublicMacs::new(&private.public());
        let (private, budget) = (private.clone(), Budget::new());
        Ok(Self { private, macs, cookies: Cookies::new()?, budget })
    }

    /// Processes an initiation; the caller sends `reply` to its source. If an initiation with this
    /// `mac1` was already accepted, `answered` appends the earlier response to `reply` and returns
    /// true.
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
        self.macs.wrap(&cookie, mac1, &mut message).map_err(|_| Discard::Busy)?;
        reply.extend_from_slice(&message);
        Ok(())
    }

    pub(crate) fn mac1(&self, message: &[u8], also: &[u8]) -> Mac {
        self.macs.mac1(message, also)
    }
}
