//! Replies to handshake datagrams.

use gingham_stripe::Instant;

use super::{Attempt, Outgoing, Peer};
use crate::budget::Sender;
use crate::cookie::{SharedMac, is_same, prove};
use crate::discard::Discard;
use crate::noise::{Keys, keys, read_response, respond};
use crate::pair::{Made, Pair};
use crate::responder::{Initiation, Read, Responder};
use crate::wire::{
    CONFIRM_BYTES, COOKIE_BYTES, INITIATION_BYTES, MAC1_AT, Mac, Payload, RESPONSE_BYTES,
    RESPONSE_MAC_AT, STAMP_AT, Type,
};

impl Peer {
    pub(super) fn answer(
        &mut self,
        from: Sender,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        match Type::of(datagram)? {
            Type::Initiation => self.take_initiation(from, datagram, reply),
            Type::Response => self.take_response(whole(datagram)?),
            Type::Cookie => self.take_cookie(whole(datagram)?, reply),
            Type::Confirm => self.take_confirm(whole(datagram)?),
        }
    }

    fn take_initiation(
        &mut self,
        from: Sender,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let Self { responder, answered, shared, .. } = self;
        let again = |_: &Mac, reply: &mut Vec<u8>| {
            whole(datagram).is_ok_and(|message| repeat(answered.as_ref(), shared, message, reply))
        };
        match responder.read(self.now, from, datagram, again, reply)? {
            Read::Answered => Ok(()),
            Read::Cookie => {
                self.counts.cookies += 1;
                Ok(())
            }
            Read::Begun(initiation) => self.take_begun(*initiation, reply),
        }
    }

    /// Processes an initiation from the shared responder; the caller sends `reply` to the source
    /// address.
    pub fn accept(
        &mut self,
        now: Instant,
        initiation: Initiation,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        self.advance(now);
        let taken = self.take_begun(initiation, reply);
        if let Err(discard) = taken {
            self.counts.discards.count(discard);
        }
        taken
    }

    /// Appends the previous response to `reply` if `datagram` is an authentic copy of the last
    /// accepted initiation.
    pub fn answer_again(&self, datagram: &[u8], reply: &mut Vec<u8>) -> bool {
        let (answered, shared) = (self.answered.as_ref(), &self.shared);
        whole(datagram).is_ok_and(|message| repeat(answered, shared, message, reply))
    }

    /// Returns whether this peer awaits the datagram. Initiations are never awaited.
    pub fn expects(&self, datagram: &[u8]) -> bool {
        match (Type::of(datagram), &self.attempt) {
            (Ok(Type::Response), Some(attempt)) => {
                whole(datagram).is_ok_and(|message: &[u8; RESPONSE_BYTES]| {
                    is_answer(&self.responder, attempt, message)
                })
            }
            (Ok(Type::Cookie), Some(attempt)) => whole(datagram)
                .is_ok_and(|message| self.their_macs.unwrap(&attempt.mac1(), message).is_some()),
            (Ok(Type::Confirm), _) => whole(datagram).is_ok_and(|message| {
                let next = self.next.as_ref().filter(|pair| pair.index == message[2]);
                next.is_some_and(|pair| pair.is_confirm(message))
            }),
            _ => false,
        }
    }

    fn take_begun(&mut self, initiation: Initiation, reply: &mut Vec<u8>) -> Result<(), Discard> {
        if initiation.from != self.identity.peer {
            return Err(Discard::OtherPeer);
        }
        if !self.shared.has_proof(&initiation.message) {
            return Err(Discard::NotAuthentic);
        }
        // An earlier copy was processed by another responder.
        if self.answer_again(&initiation.message, reply) {
            return Ok(());
        }
        if self.answered_at.is_some_and(|at| initiation.given_at <= at) {
            return Err(Discard::Replayed);
        }
        self.answered_at = Some(self.now);
        let mac1 = initiation.mac1();
        self.respond(initiation.state, mac1, initiation.payload, reply)
    }

    fn respond(
        &mut self,
        state: snow::HandshakeState,
        mac1: Mac,
        theirs: Payload,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        // The peer has abandoned its previous attempt, as in WireGuard; the freshness check ensures
        // that this attempt is later.
        self.next = None;
        // If both ends have started a handshake, only the end with the higher public key continues;
        // otherwise one of the two responses would be wasted.
        self.attempt.take_if(|_| self.identity.public < self.identity.peer);
        let index = self.free_index();
        let mut response = [0; RESPONSE_BYTES];
        response[..4].copy_from_slice(&Type::Response.header());
        let ours = Payload { process: self.process, index };
        let keys = respond(state, &self.identity.preshared, ours, &mut response);
        let keys = keys.ok_or(Discard::Busy)?;
        let mac = self.their_macs.mac1(&response[..RESPONSE_MAC_AT], &mac1);
        response[RESPONSE_MAC_AT..].copy_from_slice(&mac);
        self.next = Some(self.pair(keys, index, theirs, false));
        self.answered = Some((mac1, response));
        // If no confirmation arrives soon, this end starts a handshake.
        self.wait();
        reply.extend_from_slice(&response);
        Ok(())
    }

    /// Processes a cookie. A cookie without a pending attempt is a late copy from a slower channel.
    fn take_cookie(
        &mut self,
        message: &[u8; COOKIE_BYTES],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let Some(attempt) = &self.attempt else { return Ok(()) };
        let cookie = self.their_macs.unwrap(&attempt.mac1(), message);
        let cookie = cookie.ok_or(Discard::NotAuthentic)?;
        let mut message = attempt.message;
        prove(&cookie, &self.shared, &mut message);
        reply.extend_from_slice(&message);
        Ok(())
    }

    fn take_response(&mut self, message: &[u8; RESPONSE_BYTES]) -> Result<(), Discard> {
        let Some(attempt) = &mut self.attempt else { return Ok(()) };
        if !is_answer(&self.responder, attempt, message) {
            return Err(Discard::BadMac);
        }
        let payload = read_response(&mut attempt.state, message).ok_or(Discard::OtherSecret)?;
        let theirs = Payload::parse(&payload)?;
        let Some(Attempt { state, index, .. }) = self.attempt.take() else { return Ok(()) };
        let pair = self.pair(keys(state), index, theirs, true);
        self.outgoing = Outgoing::Confirm(pair.confirm());
        self.next = None;
        self.adopt(pair);
        Ok(())
    }

    fn take_confirm(&mut self, message: &[u8; CONFIRM_BYTES]) -> Result<(), Discard> {
        let index = message[2];
        let Some(pair) = self.next.as_ref().filter(|pair| pair.index == index) else {
            let mut known = [&self.current, &self.previous].into_iter().flatten();
            return if known.any(|pair| pair.index == index) {
                Ok(())
            } else {
                Err(Discard::NoKey)
            };
        };
        if !pair.is_confirm(message) {
            return Err(Discard::NotAuthentic);
        }
        self.note_authentic(index);
        Ok(())
    }

    fn pair(&self, keys: Keys, index: u8, theirs: Payload, is_initiator: bool) -> Pair {
        let processes = (self.process, theirs.process);
        let other_index = theirs.index;
        Pair::new(keys, Made { index, other_index, at: self.now, is_initiator, processes })
    }
}

fn whole<const N: usize>(datagram: &[u8]) -> Result<&[u8; N], Discard> {
    datagram.try_into().map_err(|_| Discard::Malformed)
}

fn is_answer(responder: &Responder, attempt: &Attempt, message: &[u8; RESPONSE_BYTES]) -> bool {
    let mac = responder.mac1(&message[..RESPONSE_MAC_AT], &attempt.mac1());
    let received = message[RESPONSE_MAC_AT..].first_chunk().expect("it has that length");
    is_same(&mac, received)
}

fn repeat(
    answered: Option<&(Mac, [u8; RESPONSE_BYTES])>,
    shared: &SharedMac,
    message: &[u8; INITIATION_BYTES],
    reply: &mut Vec<u8>,
) -> bool {
    let known = answered.filter(|(mac1, _)| message[MAC1_AT..STAMP_AT] == *mac1);
    let known = known.filter(|_| shared.has_proof(message));
    reply.extend(known.into_iter().flat_map(|(_, response)| response));
    known.is_some()
}
