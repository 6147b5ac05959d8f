//! Datagrams from unknown addresses, identified by their keys.
//!
//! | datagram | identified by | maximum cost |
//! |---|---|---|
//! | initiation | cookie, then Noise, which identifies the sender | three MACs; a rate-limited Diffie-Hellman |
//! | handshake response | MAC, tried by each end that awaits a response | a MAC per end |
//! | sealed datagram | key, by trial | a trial per end with a matching key index |
//!
//! Trials are limited to [`TRIALS_PER_SECOND`]. A peer that is missed because of the limit remains
//! silent for a second, and is then identified by an initiation.
//!
//! Invariant: neither the state nor the work per second grows with the number of source addresses.

use std::collections::BTreeMap;

use gingham_stripe::Instant;
use gingham_stripe_crypt::{
    Discard, Discards, PrivateKey, PublicKey, Read, Responder, Sender, discard_of, is_handshake,
};

use super::named;
use super::places::{Owner, Places};
use crate::end::{End, Origin, REPLIES_A_BATCH, Took};
use crate::error::OpenError;
use crate::framing::is_in_clear;

/// Maximum rate of trial decryptions; at 1 to 2 us per 1,400 bytes, they use 1 to 2 % of a core.
const TRIALS_PER_SECOND: u64 = 10_000;
/// Maximum burst of trials, enough to find a moved end among a thousand ends.
const TRIALS_AT_ONCE: u64 = 1_024;
/// Number of ends scanned in the time of one trial.
const ENDS_A_TRIAL: u64 = 32;
/// Number of MACs computed in the time of one trial.
const MACS_A_TRIAL: u64 = 4;
const SECOND_NS: u64 = 1_000_000_000;

/// Counters of datagrams from unknown addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnauthenticatedCounts {
    /// Datagrams from peers at new addresses, identified by their keys.
    pub found: u64,
    /// Datagrams not examined because of the rate limit.
    pub untried: u64,
    /// Cookies issued.
    pub cookies: u64,
    /// Discarded datagrams that belong to no end, by reason.
    pub discards: Discards,
}

#[derive(Debug, Default)]
pub(super) struct Unauthenticated {
    responder: Option<Responder>,
    by_key: BTreeMap<PublicKey, usize>,
    /// Map from the mac1 of an initiation to the end that answered it last.
    by_answered: BTreeMap<[u8; 16], usize>,
    places: Places,
    trials: Trials,
    pub(super) counts: UnauthenticatedCounts,
    owner: Option<Owner>,
    is_tried: bool,
    pub(super) replies: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl Unauthenticated {
    pub(super) fn new(private: Option<&PrivateKey>) -> Result<Self, OpenError> {
        Ok(Self { responder: private.map(Responder::new).transpose()?, ..Self::default() })
    }

    pub(super) fn add(&mut self, number: usize, end: &End) -> Result<(), OpenError> {
        let Some(peer) = end.peer() else { return Ok(()) };
        if self.by_key.contains_key(peer.their_key()) {
            return Err(OpenError::SamePeer(*peer.their_key()));
        }
        self.by_key.insert(*peer.their_key(), number);
        Ok(())
    }

    pub(super) fn remove(&mut self, number: usize, end: &End) {
        if let Some(peer) = end.peer() {
            self.by_key.remove(peer.their_key());
        }
        self.by_answered.retain(|_, one| *one != number);
        self.places.forget(number);
    }

    pub(super) fn learn_remotes(&mut self, number: usize, end: &End) {
        for (port, remote) in end.remotes() {
            self.places.learn((port, remote), number, |one| end.has_remote(one));
        }
    }

    pub(super) fn begin(&mut self, origin: Origin<'_>) {
        self.owner = self.places.owner(Places::place(origin));
        self.is_tried = false;
    }

    pub(super) fn take(
        &mut self,
        origin: Origin<'_>,
        datagram: &mut [u8],
        ends: &mut [Option<Box<End>>],
    ) -> Option<usize> {
        let Some(owner) = self.owner else { return self.take_stray(origin, datagram, ends) };
        let Some((number, end)) = named(ends, owner.end) else {
            return self.take_stray(origin, datagram, ends);
        };
        // Decryption in place would make the datagram unusable for other ends.
        let its = if owner.is_doubtful {
            self.scratch.clear();
            self.scratch.extend_from_slice(datagram);
            &mut self.scratch
        } else {
            &mut *datagram
        };
        let took = end.take_datagram(origin, its, &mut self.replies);
        let is_doubtful = took == Took::Nothing;
        if is_doubtful != owner.is_doubtful {
            self.places.set_doubtful(Places::place(origin), is_doubtful);
            self.owner = Some(Owner { is_doubtful, ..owner });
        }
        match took {
            Took::Nothing if owner.is_doubtful => self.take_stray(origin, datagram, ends),
            Took::Nothing => None,
            Took::Its | Took::Place => Some(number),
        }
    }

    pub(super) fn reply(
        &mut self,
        origin: Origin<'_>,
        whose: Option<usize>,
        ends: &[Option<Box<End>>],
    ) {
        let class = self.class(whose, ends);
        for reply in self.replies.drain(..) {
            let _: std::io::Result<()> =
                origin.port.borrow_mut().send_one((origin.from, class), &reply);
        }
    }

    fn class(&self, whose: Option<usize>, ends: &[Option<Box<End>>]) -> u8 {
        let number = whose.or(self.owner.map(|owner| owner.end));
        let known = number.and_then(|number| ends.get(number)?.as_ref());
        known.or_else(|| ends.iter().flatten().next()).map_or(0, |end| end.class())
    }

    pub(super) fn take_initiation(
        &mut self,
        origin: Origin<'_>,
        datagram: &[u8],
        ends: &mut [Option<Box<End>>],
    ) -> Option<usize> {
        let sender = Sender { address: origin.from, is_known: self.owner.is_some() };
        let (by_answered, mut reply, mut again) = (&self.by_answered, Vec::new(), None);
        let answered = |mac1: &[u8; 16], reply: &mut Vec<u8>| {
            again = by_answered.get(mac1).copied();
            let end = again.and_then(|number| ends.get(number)?.as_ref());
            let peer = end.and_then(|end| end.peer());
            peer.is_some_and(|peer| peer.answer_again(datagram, reply))
        };
        let responder = self.responder.as_mut()?;
        let whose = match responder.read(origin.at, sender, datagram, answered, &mut reply) {
            Ok(Read::Answered) => again,
            Ok(Read::Cookie) => {
                self.counts.cookies += 1;
                None
            }
            Ok(Read::Begun(initiation)) => {
                let number = self.by_key.get(initiation.from()).copied();
                let known = number.and_then(|number| named(ends, number));
                let Some((number, end)) = known else {
                    self.counts.discards.count(Discard::OtherPeer);
                    return None;
                };
                let mac1 = initiation.mac1();
                end.accept(origin.at, *initiation, &mut reply).ok()?;
                if !reply.is_empty() {
                    self.by_answered.retain(|_, one| *one != number);
                    self.by_answered.insert(mac1, number);
                }
                Some(number)
            }
            Err(discard) => {
                self.counts.discards.count(discard);
                None
            }
        };
        if !reply.is_empty() && self.replies.len() < REPLIES_A_BATCH {
            self.replies.push(reply);
        }
        let (number, end) = named(ends, whose?)?;
        self.learn(origin, number, end);
        Some(number)
    }

    /// Tries the keys of all ends on a datagram. After a failed trial, other datagrams of its batch
    /// are not tried. Returns the matching end.
    fn take_stray(
        &mut self,
        origin: Origin<'_>,
        datagram: &[u8],
        ends: &mut [Option<Box<End>>],
    ) -> Option<usize> {
        let is_handshake = is_handshake(datagram);
        if let Some(discard) = wrong(datagram) {
            self.counts.discards.count(discard);
            return None;
        }
        let ends_a_trial = if is_handshake { MACS_A_TRIAL } else { ENDS_A_TRIAL };
        let looks = (ends.len() as u64).div_ceil(ends_a_trial).min(TRIALS_AT_ONCE - 1);
        if std::mem::replace(&mut self.is_tried, true) || !self.trials.take(origin.at, looks) {
            self.counts.untried += 1;
            return None;
        }
        let mut discard = Discard::NoKey;
        for number in 0..ends.len() {
            let Some((_, end)) = named(ends, number) else { continue };
            if !end.may_take(datagram) {
                continue;
            }
            if !self.trials.take(origin.at, 1) {
                self.counts.untried += 1;
                return None;
            }
            discard = Discard::NotAuthentic;
            self.scratch.clear();
            self.scratch.extend_from_slice(datagram);
            match end.take_stray(origin, &mut self.scratch, &mut self.replies) {
                Took::Nothing => continue,
                Took::Its => {}
                Took::Place => {
                    self.counts.found += 1;
                    self.learn(origin, number, end);
                }
            }
            self.is_tried = false;
            return Some(number);
        }
        self.counts.discards.count(discard);
        None
    }

    fn learn(&mut self, origin: Origin<'_>, number: usize, end: &End) {
        self.places.learn(Places::place(origin), number, |one| end.has_remote(one));
        self.owner = Some(Owner { end: number, is_doubtful: false });
    }
}

fn wrong(datagram: &[u8]) -> Option<Discard> {
    if is_in_clear(datagram) { Some(Discard::InClear) } else { discard_of(datagram) }
}

#[derive(Debug, Default)]
struct Trials {
    full_at: u64,
}

impl Trials {
    fn take(&mut self, now: Instant, trials: u64) -> bool {
        let (now, one) = (now.nanoseconds(), SECOND_NS / TRIALS_PER_SECOND);
        let full_at = self.full_at.max(now) + trials * one;
        let is_there = full_at <= now + TRIALS_AT_ONCE * one;
        if is_there {
            self.full_at = full_at;
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe::Epoch;
    use gingham_stripe_crypt::{PeerPlan, Times};

    use super::*;
    use crate::{EndPlan, MemoryPlan, MemoryPort};

    fn end(dscp: u8) -> Box<End> {
        let [private, peer] = [(); 2].map(|()| PrivateKey::random().expect("randomness"));
        let (peer, times) = (peer.public(), Times::default());
        let peer = Some(PeerPlan { private, peer, preshared: None, times });
        let plan = EndPlan { peer, dscp, ..EndPlan::free(1_200) };
        let remote = "10.0.0.1:7000".parse().expect("an address");
        let link = MemoryPlan { port: MemoryPort::new(1_472), remote };
        let end = End::open_at(Instant::ORIGIN, &plan, vec![link], Epoch::new(1));
        Box::new(end.expect("an end"))
    }

    #[test]
    fn reply_has_dscp_of_its_end_or_of_the_first() {
        let mut unauthenticated = Unauthenticated::new(None).expect("no key");
        let mut ends = [Some(end(10)), Some(end(20))];
        for (number, one) in ends.iter().enumerate() {
            unauthenticated.add(number, one.as_ref().expect("an end")).expect("another peer");
        }
        let class = |unauthenticated: &Unauthenticated, whose, ends: &[_]| {
            unauthenticated.class(whose, ends) >> 2
        };
        assert_eq!([None, Some(0), Some(1)].map(|whose| class(&unauthenticated, whose, &ends)), {
            [10, 10, 20]
        });
        unauthenticated.owner = Some(Owner { end: 1, is_doubtful: true });
        assert_eq!(class(&unauthenticated, None, &ends), 20);
        unauthenticated.owner = None;
        unauthenticated.remove(0, &ends[0].take().expect("an end"));
        assert_eq!([None, Some(0)].map(|whose| class(&unauthenticated, whose, &ends)), [20, 20]);
        assert_eq!(class(&unauthenticated, None, &[]), 0);
    }

    #[test]
    fn trial_rate_is_bounded() {
        let at = |milliseconds: u64| Instant::from_nanoseconds(milliseconds * 1_000_000);
        let mut trials = Trials::default();
        let mut taken = |now| (0..100_000).filter(|_| trials.take(now, 1)).count();
        assert_eq!([taken(at(0)), taken(at(1)), taken(at(11)), taken(at(60_000))], {
            [1_024, 10, 100, 1_024]
        });
        assert!(trials.take(at(90_000), 1_024) && !trials.take(at(90_000), 1));
    }
}
