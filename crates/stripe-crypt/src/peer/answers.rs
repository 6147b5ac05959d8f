//! What is answered to the datagrams of a handshake.

use super::{Attempt, Outgoing, Peer};
use crate::cookie::{is_same, mac2};
use crate::discard::Discard;
use crate::keys::NoRandomness;
use crate::noise::{Keys, keys, read_initiation, read_response, respond};
use crate::pair::{Made, Pair};
use crate::wire::{
    CONFIRM_BYTES, COOKIE_BYTES, INITIATION_BYTES, MAC1_AT, MAC2_AT, Mac, Payload, RESPONSE_BYTES,
    RESPONSE_MAC_AT, Type,
};

impl Peer {
    pub(super) fn answer(
        &mut self,
        from: &[u8],
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        match Type::of(datagram)? {
            Type::Initiation => self.take_initiation(from, whole(datagram)?, reply),
            Type::Response => self.take_response(whole(datagram)?),
            Type::Cookie => self.take_cookie(whole(datagram)?, reply),
            Type::Confirm => self.take_confirm(whole(datagram)?),
        }
    }

    fn take_initiation(
        &mut self,
        from: &[u8],
        message: &[u8; INITIATION_BYTES],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let mac1 = mac_at(message, MAC1_AT);
        if !is_same(&self.our_macs.mac1(&message[..MAC1_AT], &[]), &mac1) {
            return Err(Discard::BadMac);
        }
        if let Some((_, response)) = self.answered.as_ref().filter(|(known, _)| *known == mac1) {
            // It came on another channel, or again: it makes no other keys.
            reply.extend_from_slice(response);
            return Ok(());
        }
        let cookie = self.cookies.of(self.now, from).map_err(without_randomness)?;
        if !is_same(&mac2(&cookie, &message[..MAC2_AT]), &mac_at(message, MAC2_AT)) {
            return self.give_cookie(&cookie, &mac1, reply);
        }
        if !self.cookies.admits(self.now, &cookie) {
            return Err(Discard::Busy);
        }
        let (state, peer, payload) =
            read_initiation(&self.identity, message).ok_or(Discard::NotAuthentic)?;
        if peer != self.identity.peer {
            return Err(Discard::OtherPeer);
        }
        let theirs = Payload::parse(&payload)?;
        if self.goes_first() {
            return Ok(());
        }
        self.respond(state, &mac1, theirs, reply)
    }

    fn respond(
        &mut self,
        state: snow::HandshakeState,
        mac1: &Mac,
        theirs: Payload,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        (self.attempt, self.next) = (None, None);
        let index = self.free_index();
        let mut response = [0; RESPONSE_BYTES];
        response[..4].copy_from_slice(&Type::Response.header());
        let ours = Payload { process: self.process, index };
        let keys = respond(state, ours, &mut response).ok_or(Discard::Busy)?;
        let mac = self.their_macs.mac1(&response[..RESPONSE_MAC_AT], mac1);
        response[RESPONSE_MAC_AT..].copy_from_slice(&mac);
        self.next = Some(self.pair(keys, index, theirs, false));
        self.answered = Some((*mac1, response));
        self.cookies.change(self.now).map_err(without_randomness)?;
        // Unless it is heard of soon, we begin.
        self.wait();
        reply.extend_from_slice(&response);
        Ok(())
    }

    /// Both have begun: whose public key is higher goes on, and answers only once the first try has
    /// had no answer.
    fn goes_first(&self) -> bool {
        let is_first_try = self.attempt.is_some() && self.tries == 1 && self.now < self.again_at;
        is_first_try && self.identity.public > self.identity.peer
    }

    fn give_cookie(
        &mut self,
        cookie: &Mac,
        mac1: &Mac,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let mut message = [0; COOKIE_BYTES];
        message[..4].copy_from_slice(&Type::Cookie.header());
        self.our_macs.wrap(cookie, mac1, &mut message).map_err(without_randomness)?;
        reply.extend_from_slice(&message);
        self.counts.cookies += 1;
        Ok(())
    }

    /// What answers nothing that is under way is of a channel that was slower.
    fn take_cookie(
        &mut self,
        message: &[u8; COOKIE_BYTES],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let Some(attempt) = &self.attempt else { return Ok(()) };
        let cookie = self.their_macs.unwrap(&attempt.mac1(), message);
        let cookie = cookie.ok_or(Discard::NotAuthentic)?;
        let mac = mac2(&cookie, &attempt.message[..MAC2_AT]);
        reply.extend_from_slice(&attempt.message[..MAC2_AT]);
        reply.extend_from_slice(&mac);
        Ok(())
    }

    fn take_response(&mut self, message: &[u8; RESPONSE_BYTES]) -> Result<(), Discard> {
        let Some(attempt) = &mut self.attempt else { return Ok(()) };
        let mac = self.our_macs.mac1(&message[..RESPONSE_MAC_AT], &attempt.mac1());
        if !is_same(&mac, &mac_at(message, RESPONSE_MAC_AT)) {
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
            // It came on another channel before.
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
        self.hear(index);
        Ok(())
    }

    fn pair(&self, keys: Keys, index: u8, theirs: Payload, is_initiator: bool) -> Pair {
        let processes = (self.process, theirs.process);
        let other_index = theirs.index;
        Pair::new(keys, Made { index, other_index, at: self.now, is_initiator, processes })
    }
}

/// A datagram that is as long as it is to be.
fn whole<const N: usize>(datagram: &[u8]) -> Result<&[u8; N], Discard> {
    datagram.try_into().map_err(|_| Discard::Malformed)
}

fn mac_at(message: &[u8], at: usize) -> Mac {
    *message[at..].first_chunk().expect("it has that length")
}

/// Nobody is answered who has to be told something that nobody can guess.
const fn without_randomness(_: NoRandomness) -> Discard {
    Discard::Busy
}
