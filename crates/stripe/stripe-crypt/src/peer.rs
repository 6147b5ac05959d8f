//! Cryptographic state of a peer, with its handshakes and key pairs.

mod answers;
#[cfg(test)]
mod tests;

use gingham_stripe::{Header, Instant};
use snow::HandshakeState;

use crate::budget::Sender;
use crate::cookie::{PublicMacs, SharedMac};
use crate::discard::{Discard, Discards};
use crate::keys::{KEY_BYTES, NoRandomness, PresharedKey, PrivateKey, PublicKey};
use crate::noise::{Identity, initiate};
use crate::pair::{Pair, Processes};
use crate::primitives::{CHECK_BYTES, fill};
use crate::responder::Responder;
use crate::times::Times;
use crate::wire::{
    CONFIRM_BYTES, INDICES, INITIATION_BYTES, MAC1_AT, Mac, Payload, RESPONSE_BYTES, STAMP_AT,
    Type, sealed,
};

/// Configuration of a [`Peer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerPlan {
    /// Our private key.
    pub private: PrivateKey,
    /// Peer's public key.
    pub peer: PublicKey,
    /// Preshared key, if any.
    pub preshared: Option<PresharedKey>,
    /// Time limits of keys and handshakes.
    pub times: Times,
}

/// Cryptographic state of a peer.
///
/// The datagram returned by [`Self::poll_transmit`], due at [`Self::poll_timeout`], is sent on
/// every channel. Received datagrams that satisfy [`crate::is_handshake`] are passed to
/// [`Self::handle`], whose reply is sent to their source; all other datagrams are passed to
/// [`Self::open`]. When [`Self::sessions`] increases, the striping protocol restarts synchronised
/// in its first epoch, before it processes the opened datagram.
#[derive(Debug)]
pub struct Peer {
    identity: Identity,
    times: Times,
    their_macs: PublicMacs,
    shared: SharedMac,
    responder: Responder,
    process: u64,
    now: Instant,
    current: Option<Pair>,
    /// Previous pair, for datagrams that were sealed before the change to the current pair.
    previous: Option<Pair>,
    /// Next pair, which only opens datagrams until the peer has proved that it has the keys.
    next: Option<Pair>,
    attempt: Option<Attempt>,
    answered: Option<(Mac, [u8; RESPONSE_BYTES])>,
    /// Time of the last response; cookies issued earlier are rejected.
    answered_at: Option<Instant>,
    tries: u32,
    again_at: Instant,
    /// Send time of the first unanswered datagram.
    silent_since: Option<Instant>,
    outgoing: Outgoing,
    sent: Outgoing,
    processes: Option<Processes>,
    counts: Counts,
}

#[derive(Debug)]
struct Attempt {
    state: HandshakeState,
    message: [u8; INITIATION_BYTES],
    index: u8,
}

impl Attempt {
    fn mac1(&self) -> Mac {
        self.message[MAC1_AT..STAMP_AT].try_into().expect("it has that length")
    }
}

#[derive(Debug)]
enum Outgoing {
    Nothing,
    Initiation,
    Confirm([u8; CONFIRM_BYTES]),
}

/// Handshake counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handshake attempts, including retries.
    pub begun: u64,
    /// Key pairs adopted.
    pub keys: u64,
    /// Sessions, each between a new pair of processes.
    pub sessions: u64,
    /// Cookies issued.
    pub cookies: u64,
    /// Discarded datagrams.
    pub discards: Discards,
}

impl Peer {
    /// Bytes added by sealing.
    pub const CHECK_BYTES: usize = CHECK_BYTES;

    /// Creates the state without a session.
    pub fn new(plan: &PeerPlan, now: Instant) -> Result<Self, NoRandomness> {
        let public = plan.private.public();
        let preshared = plan.preshared.clone().unwrap_or(PresharedKey([0; KEY_BYTES]));
        let (private, peer) = (plan.private.clone(), plan.peer);
        let mut process = [0; 8];
        fill(&mut process)?;
        Ok(Self {
            their_macs: PublicMacs::new(&peer),
            shared: SharedMac::new(&private, &peer),
            responder: Responder::new(&private)?,
            identity: Identity { private, public, peer, preshared },
            times: plan.times,
            process: u64::from_be_bytes(process),
            now,
            current: None,
            previous: None,
            next: None,
            attempt: None,
            answered: None,
            answered_at: None,
            tries: 0,
            again_at: now,
            silent_since: None,
            outgoing: Outgoing::Nothing,
            sent: Outgoing::Nothing,
            processes: None,
            counts: Counts::default(),
        })
    }

    /// Advances the clock and drops expired keys.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let (now, age_max) = (self.now, self.times.open());
        for pair in [&mut self.current, &mut self.previous, &mut self.next] {
            pair.take_if(|pair| pair.made_at.after(age_max) <= now);
        }
    }

    /// Returns whether there is a valid key for sealing.
    pub fn can_seal(&self) -> bool {
        self.current.as_ref().is_some_and(|pair| {
            !pair.is_used_up && self.now < pair.made_at.after(self.times.reject)
        })
    }

    /// Seals the datagram that starts with a [`Header`] at `from`. Without a key, the datagram is
    /// zeroed.
    pub fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        self.silent_since.get_or_insert(self.now);
        self.seal_answer(from, buffer);
    }

    /// Seals a datagram that expects no reply, like [`Self::seal`].
    pub fn seal_answer(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Some(pair) = &mut self.current {
            pair.seal(from, buffer);
        } else {
            buffer[from..].fill(0);
            buffer.resize(buffer.len() + CHECK_BYTES, 0);
        }
    }

    /// Opens a datagram in place. Returns its header, the bytes after it, and whether it is the
    /// newest of its kind on its channel. The newest datagram's source is the channel's address.
    pub fn open<'a>(
        &mut self,
        datagram: &'a mut [u8],
    ) -> Result<(Header, &'a [u8], bool), Discard> {
        let opened = self.try_open(datagram);
        if let Err(discard) = opened {
            self.counts.discards.count(discard);
        }
        opened
    }

    /// Opens a datagram like [`Self::open`], but does not count a failure.
    pub fn try_open<'a>(
        &mut self,
        datagram: &'a mut [u8],
    ) -> Result<(Header, &'a [u8], bool), Discard> {
        let (header, index) = sealed(datagram)?;
        let Self { current, next, previous, .. } = self;
        let pair = [current, next, previous].into_iter().flatten().find(|pair| pair.index == index);
        let (behind, is_newest) = pair.ok_or(Discard::NoKey)?.open(header, datagram)?;
        self.note_authentic(index);
        Ok((header, behind, is_newest))
    }

    /// Returns whether the datagram may be from this peer, judged by key index and number alone.
    pub fn may_open(&self, datagram: &[u8]) -> bool {
        let Ok((header, index)) = sealed(datagram) else { return false };
        let pairs = [&self.current, &self.next, &self.previous].into_iter().flatten();
        pairs.into_iter().any(|pair| pair.index == index && pair.is_fresh(header))
    }

    /// Returns the peer's public key.
    pub const fn their_key(&self) -> &PublicKey {
        &self.identity.peer
    }

    fn note_authentic(&mut self, index: u8) {
        self.silent_since = None;
        if let Some(pair) = self.next.take_if(|pair| pair.index == index) {
            self.adopt(pair);
        }
    }

    fn adopt(&mut self, pair: Pair) {
        self.counts.keys += 1;
        self.attempt = None;
        (self.tries, self.again_at, self.silent_since) = (0, self.now, None);
        let is_same = self.processes == Some(pair.processes);
        if !is_same {
            self.processes = Some(pair.processes);
            self.counts.sessions += 1;
        }
        // The previous keys are useful only within one session.
        self.previous = self.current.replace(pair).filter(|_| is_same);
    }

    /// Returns the handshake datagram to send on every channel with a known remote address, if one
    /// is due. `can_begin` is whether any channel has such an address.
    pub fn poll_transmit(&mut self, now: Instant, can_begin: bool) -> Option<&[u8]> {
        self.advance(now);
        if matches!(self.outgoing, Outgoing::Nothing)
            && can_begin
            && self.begin_at() <= self.now
            && self.begin().is_some()
        {
            self.outgoing = Outgoing::Initiation;
        }
        self.sent = std::mem::replace(&mut self.outgoing, Outgoing::Nothing);
        match &self.sent {
            Outgoing::Nothing => None,
            Outgoing::Initiation => self.attempt.as_ref().map(|attempt| &attempt.message[..]),
            Outgoing::Confirm(message) => Some(message),
        }
    }

    /// Returns when [`Self::poll_transmit`] is due.
    pub fn poll_timeout(&self, can_begin: bool) -> Instant {
        match self.outgoing {
            Outgoing::Nothing if can_begin => self.begin_at(),
            Outgoing::Nothing => Instant::from_nanoseconds(u64::MAX),
            _ => self.now,
        }
    }

    fn begin_at(&self) -> Instant {
        let due_at = self.current.as_ref().map_or(Instant::ORIGIN, |pair| {
            if pair.is_worn {
                return Instant::ORIGIN;
            }
            let rekey_at = pair.made_at.after(self.times.rekey_of(pair.is_initiator));
            let silent_at = self.silent_since.map(|since| since.after(self.times.silence));
            silent_at.map_or(rekey_at, |silent_at| silent_at.min(rekey_at))
        });
        due_at.max(self.again_at)
    }

    fn begin(&mut self) -> Option<()> {
        self.attempt = None;
        self.wait();
        self.tries = self.tries.saturating_add(1);
        let index = self.free_index();
        let mut message = [0; INITIATION_BYTES];
        message[..4].copy_from_slice(&Type::Initiation.header());
        let payload = Payload { process: self.process, index };
        let state = initiate(&self.identity, payload, &mut message)?;
        let mac1 = self.their_macs.mac1(&message[..MAC1_AT], &[]);
        message[MAC1_AT..STAMP_AT].copy_from_slice(&mac1);
        self.attempt = Some(Attempt { state, message, index });
        self.counts.begun += 1;
        Some(())
    }

    fn wait(&mut self) {
        let mut chance = [0; 4];
        // Without randomness the handshake fails anyway.
        let _: Result<(), NoRandomness> = fill(&mut chance);
        let wait = self.times.wait(self.tries, u32::from_be_bytes(chance));
        self.again_at = self.now.after(wait);
    }

    fn free_index(&self) -> u8 {
        let pairs = [&self.current, &self.previous, &self.next].into_iter().flatten();
        let attempt = self.attempt.iter().map(|attempt| attempt.index);
        let used: Vec<_> = pairs.map(|pair| pair.index).chain(attempt).collect();
        let mut free = (0..INDICES).filter(|index| !used.contains(index));
        free.next().expect("three at most are in use where one is asked for")
    }

    /// Returns the number of sessions so far.
    pub const fn sessions(&self) -> u64 {
        self.counts.sessions
    }

    /// Returns the handshake counters.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Counts a discard of an opened datagram with invalid contents.
    pub const fn discard(&mut self, discard: Discard) {
        self.counts.discards.count(discard);
    }

    /// Processes a handshake datagram; the caller sends `reply` to its source.
    pub fn handle(
        &mut self,
        now: Instant,
        from: Sender,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        self.advance(now);
        reply.clear();
        let taken = self.answer(from, datagram, reply);
        if let Err(discard) = taken {
            self.counts.discards.count(discard);
        }
        taken
    }
}
