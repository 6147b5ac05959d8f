//! The other end, as far as keys go: handshakes with it, and what is sealed for it and opened.

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

/// Who both ends are, and when what is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerPlan {
    /// Our key.
    pub private: PrivateKey,
    /// The other end's.
    pub peer: PublicKey,
    /// What both know beside, if they do.
    pub preshared: Option<PresharedKey>,
    /// When what is done.
    pub times: Times,
}

/// The other end.
///
/// Whoever drives it calls [`Self::poll_transmit`] when something may be due, at the latest at
/// [`Self::poll_timeout`], and sends what it gives on every channel; gives datagrams for which
/// [`crate::is_handshake`] is true to [`Self::handle`] and sends the reply where they came from, and
/// all others to [`Self::open`]. Where [`Self::sessions`] has grown, a session has begun: the striping
/// begins synchronised in its first epoch, before it is given what was opened.
#[derive(Debug)]
pub struct Peer {
    identity: Identity,
    times: Times,
    /// What those whom we talk to must know.
    their_macs: PublicMacs,
    /// What both of us make, and nobody else.
    shared: SharedMac,
    responder: Responder,
    process: u64,
    now: Instant,
    /// Seals; opens.
    current: Option<Pair>,
    /// Opens what was on its way when the present one was made.
    previous: Option<Pair>,
    /// Opens; seals from when the other end has shown that it has it.
    next: Option<Pair>,
    attempt: Option<Attempt>,
    /// What was answered last, and with what.
    answered: Option<(Mac, [u8; RESPONSE_BYTES])>,
    /// Cookies that were given before are over.
    answered_at: Option<Instant>,
    tries: u32,
    /// No handshake is begun before.
    again_at: Instant,
    /// Since when something was sent that is no answer, and nothing heard.
    unheard_since: Option<Instant>,
    /// What is to go on every channel.
    outgoing: Outgoing,
    /// What went on every channel last.
    sent: Outgoing,
    processes: Option<Processes>,
    counts: Counts,
}

/// A handshake that we began.
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

/// What has been counted of handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handshakes that we began, tries included.
    pub begun: u64,
    /// Pairs of keys that this end came to seal with.
    pub keys: u64,
    /// Sessions: processes at both ends that had not met.
    pub sessions: u64,
    /// Cookies that we gave.
    pub cookies: u64,
    /// What was not taken.
    pub discards: Discards,
}

impl Peer {
    /// By how much a datagram is longer for being sealed.
    pub const CHECK_BYTES: usize = CHECK_BYTES;

    /// Knows nothing of the other end but its key.
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
            unheard_since: None,
            outgoing: Outgoing::Nothing,
            sent: Outgoing::Nothing,
            processes: None,
            counts: Counts::default(),
        })
    }

    /// It is so late: keys that are too old are gone.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let (now, age_max) = (self.now, self.times.open());
        for pair in [&mut self.current, &mut self.previous, &mut self.next] {
            pair.take_if(|pair| pair.made_at.after(age_max) <= now);
        }
    }

    /// Whether something may be sealed just now.
    pub fn can_seal(&self) -> bool {
        self.current.as_ref().is_some_and(|pair| {
            !pair.is_used_up && self.now < pair.made_at.after(self.times.reject)
        })
    }

    /// Seals the datagram that begins here in the buffer with a [`Header`]; it grows by
    /// [`Self::CHECK_BYTES`]. Where nothing can be sealed it is blotted out.
    pub fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        self.unheard_since.get_or_insert(self.now);
        self.seal_answer(from, buffer);
    }

    /// The same of what nothing is to be heard for: it answers something.
    pub fn seal_answer(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Some(pair) = &mut self.current {
            pair.seal(from, buffer);
        } else {
            buffer[from..].fill(0);
            buffer.resize(buffer.len() + CHECK_BYTES, 0);
        }
    }

    /// Opens a datagram in its place: its header, what is behind, and whether it is newer than all
    /// before of its kind on its channel, so that the channel is where it came from.
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

    /// Opens a datagram that may be another peer's: what is not taken is not counted.
    pub fn try_open<'a>(
        &mut self,
        datagram: &'a mut [u8],
    ) -> Result<(Header, &'a [u8], bool), Discard> {
        let (header, index) = sealed(datagram)?;
        let Self { current, next, previous, .. } = self;
        let pair = [current, next, previous].into_iter().flatten().find(|pair| pair.index == index);
        let (behind, is_newest) = pair.ok_or(Discard::NoKey)?.open(header, datagram)?;
        self.hear(index);
        Ok((header, behind, is_newest))
    }

    /// Whether a datagram may be of this peer, as far as its header tells: there is such a key, and it
    /// has not come before.
    pub fn may_open(&self, datagram: &[u8]) -> bool {
        let Ok((header, index)) = sealed(datagram) else { return false };
        let pairs = [&self.current, &self.next, &self.previous].into_iter().flatten();
        pairs.into_iter().any(|pair| pair.index == index && pair.is_fresh(header))
    }

    /// Who the other end is.
    pub const fn their_key(&self) -> &PublicKey {
        &self.identity.peer
    }

    /// Something authentic has come under the key of this index.
    fn hear(&mut self, index: u8) {
        self.unheard_since = None;
        if let Some(pair) = self.next.take_if(|pair| pair.index == index) {
            self.adopt(pair);
        }
    }

    /// The other end has shown that it has these keys.
    fn adopt(&mut self, pair: Pair) {
        self.counts.keys += 1;
        self.attempt = None;
        (self.tries, self.again_at, self.unheard_since) = (0, self.now, None);
        let is_same = self.processes == Some(pair.processes);
        if !is_same {
            self.processes = Some(pair.processes);
            self.counts.sessions += 1;
        }
        // What was on its way under the keys before is of use in the same session alone.
        self.previous = self.current.replace(pair).filter(|_| is_same);
    }

    /// What is to go on every channel whose other end has an address, or nothing. `can_begin` says
    /// whether any has.
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

    /// When something is to be done though nothing comes.
    pub fn poll_timeout(&self, can_begin: bool) -> Instant {
        match self.outgoing {
            Outgoing::Nothing if can_begin => self.begin_at(),
            Outgoing::Nothing => Instant::from_nanoseconds(u64::MAX),
            _ => self.now,
        }
    }

    /// When a handshake is to be begun.
    fn begin_at(&self) -> Instant {
        let due_at = self.current.as_ref().map_or(Instant::ORIGIN, |pair| {
            if pair.is_worn {
                return Instant::ORIGIN;
            }
            let rekey_at = pair.made_at.after(self.times.rekey_of(pair.is_initiator));
            let silent_at = self.unheard_since.map(|since| since.after(self.times.silence));
            silent_at.map_or(rekey_at, |silent_at| silent_at.min(rekey_at))
        });
        due_at.max(self.again_at)
    }

    /// Begins a handshake, unless the machine gives no randomness.
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

    /// Nothing is begun for a while.
    fn wait(&mut self) {
        let mut chance = [0; 4];
        // Without randomness there is no handshake either.
        let _: Result<(), NoRandomness> = fill(&mut chance);
        let wait = self.times.wait(self.tries, u32::from_be_bytes(chance));
        self.again_at = self.now.after(wait);
    }

    /// An index by which none of our keys is told.
    fn free_index(&self) -> u8 {
        let pairs = [&self.current, &self.previous, &self.next].into_iter().flatten();
        let attempt = self.attempt.iter().map(|attempt| attempt.index);
        let used: Vec<_> = pairs.map(|pair| pair.index).chain(attempt).collect();
        let mut free = (0..INDICES).filter(|index| !used.contains(index));
        free.next().expect("three at most are in use where one is asked for")
    }

    /// How many sessions there have been.
    pub const fn sessions(&self) -> u64 {
        self.counts.sessions
    }

    /// What has been counted.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A datagram was not taken for what it is inside.
    pub const fn discard(&mut self, discard: Discard) {
        self.counts.discards.count(discard);
    }

    /// A datagram of a handshake has come from there; what is written into `reply` is to go back.
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
