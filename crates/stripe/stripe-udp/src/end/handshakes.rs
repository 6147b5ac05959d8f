//! Handshakes of an end, the sessions that they begin, and channels that follow the other end's
//! address.

use std::net::SocketAddr;

use gingham_fairq::Causal;
use gingham_stripe::{ChannelError, Epoch, Instant};
use gingham_stripe_crypt::{Counts, Discard, Peer, Sender, is_handshake};

use super::End;
use crate::channel::Channel;
use crate::encapsulation::Encapsulation;
use crate::error::OpenError;
use crate::inbox::Batch;
use crate::scheduler::Scheduler;
use crate::striping::{Before, Preference, Striping, StripingPlan};

/// Maximum replies to a batch, all of whose datagrams have one source address; more indicates a
/// flood.
pub(crate) const REPLIES_A_BATCH: usize = 8;

/// Initial parameters of a session, and the number of sessions so far.
#[derive(Debug)]
pub(super) struct Sessions {
    plan: StripingPlan,
    scheduler: Scheduler,
    /// Existing channels, one bit each.
    present: u64,
    /// Channels that pass packets of any length, one bit each.
    passing_all: u64,
    before: Before,
    /// Usage preferences by channel.
    preferences: Vec<Preference>,
    count: u64,
    /// Whether a session has begun and the protocol does not know yet which channels lack a link.
    pub(super) is_new: bool,
}

impl Sessions {
    pub(super) fn new(plan: &StripingPlan, scheduler: Scheduler, before: Before) -> Self {
        let preferences = vec![Preference::default(); scheduler.channels()];
        Self {
            plan: *plan,
            scheduler,
            present: 0,
            passing_all: 0,
            before,
            preferences,
            count: 0,
            is_new: false,
        }
    }

    /// Sets how a channel is to be used from the next session on.
    pub(super) fn prefer(&mut self, channel: usize, preference: Preference) {
        self.preferences[channel] = preference;
    }

    /// Records whether a channel exists, and whether it passes packets of any length.
    pub(super) const fn set_slot(&mut self, channel: usize, is_there: bool, passes_all: bool) {
        let others = !(1 << channel);
        self.present = self.present & others | (is_there as u64) << channel;
        self.passing_all = self.passing_all & others | (passes_all as u64) << channel;
    }

    /// Creates the sender and receiver of a session, beginning with a reset to an epoch, or
    /// synchronised.
    pub(super) fn striping(
        &self,
        reset_to: Option<Epoch>,
        now: Instant,
    ) -> Result<Striping, OpenError> {
        let slots = (self.scheduler.clone(), self.present);
        let mut striping = Striping::new(&self.plan, slots, self.before, reset_to, now)?;
        for channel in 0..u64::BITS as usize {
            if self.passing_all & 1 << channel != 0 {
                striping.set_passes_all(channel, true);
            }
        }
        for (channel, preference) in self.preferences.iter().enumerate() {
            striping.prefer(channel, *preference);
        }
        Ok(striping)
    }

    /// Begins a new session if the other end has begun one.
    pub(super) fn follow(&mut self, count: u64, striping: &mut Striping) {
        if self.count != count {
            (self.count, self.is_new) = (count, true);
            *striping = self.striping(None, striping.now()).expect("it was made so before");
        }
    }
}

/// Outcome of a batch, beyond the frames passed to the protocol.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) strange: u64,
    /// New address of the channel's other end, if it has moved.
    pub(super) moved_to: Option<SocketAddr>,
    /// Handshake messages to send back to the source of the batch.
    pub(super) replies: Vec<Vec<u8>>,
}

/// Processes a batch received on a channel whose other end had the address `remote`.
pub(super) fn take(
    batch: Batch<'_>,
    (channel, remote): (usize, Option<SocketAddr>),
    encapsulation: &mut Encapsulation,
    striping: &mut Striping,
    sessions: &mut Sessions,
) -> Taken {
    let mut taken = Taken::default();
    let Batch { at, payload, is_ours, from, ecn, .. } = batch;
    for datagram in batch.datagrams() {
        if let (Some(peer), Some(from), true) =
            (encapsulation.peer_mut(), from, is_handshake(datagram))
        {
            let keys = peer.counts().keys;
            let sender = Sender { address: from, is_known: remote == Some(from) };
            let reply = answer(peer, at, sender, datagram, (striping, sessions));
            // A message that creates keys responds to our latest one, so its sender is the
            // recipient of that.
            if encapsulation.peer().is_some_and(|peer| peer.counts().keys != keys) && !is_ours {
                taken.moved_to = Some(from);
            }
            match reply {
                Ok(reply) if reply.is_empty() => {}
                Ok(reply) if taken.replies.len() < REPLIES_A_BATCH => taken.replies.push(reply),
                Ok(_) | Err(_) => taken.strange += 1,
            }
            continue;
        }
        let Some((frame, is_newest)) = encapsulation.open(payload, datagram) else {
            taken.strange += 1;
            continue;
        };
        if let Some(peer) = encapsulation.peer() {
            sessions.follow(peer.sessions(), striping);
        }
        if is_newest && !is_ours {
            taken.moved_to = from;
        }
        striping.take(at, channel, (frame, ecn));
    }
    taken
}

pub(super) fn follow_remote(
    one: &mut Channel,
    striping: &mut Striping,
    channel: usize,
    remote: SocketAddr,
) {
    let before = one.link.remote();
    if before == Some(remote) {
        return;
    }
    one.follow(remote);
    // Another port is a new mapping on the same path (RFC 9000, section 9.4).
    if before.is_some_and(|before| before.ip().to_canonical() != remote.ip().to_canonical()) {
        // Fails only if there is no such channel, and so nothing to forget.
        let _: Result<(), ChannelError> = striping.move_channel(channel);
    }
}

/// Processes a handshake datagram and returns the reply, which may be empty.
pub(super) fn answer(
    peer: &mut Peer,
    at: Instant,
    from: Sender,
    datagram: &[u8],
    (striping, sessions): (&mut Striping, &mut Sessions),
) -> Result<Vec<u8>, Discard> {
    let mut reply = Vec::new();
    let handled = peer.handle(at, from, datagram, &mut reply);
    sessions.follow(peer.sessions(), striping);
    handled.map(|()| reply)
}

impl End {
    /// Sends pending handshake messages on every channel; returns whether other datagrams may be
    /// sent.
    pub(super) fn shake_hands(&mut self) -> bool {
        let (now, can_begin, class) = (self.striping.now(), self.can_begin(), self.class);
        let Some(peer) = self.encapsulation.peer_mut() else { return true };
        while let Some(message) = peer.poll_transmit(now, can_begin) {
            for (number, channel) in self.channels.iter_mut().enumerate() {
                let send_one = |one: &mut Channel| {
                    one.send_one(now, None, (message, class)) || one.remind(now, (message, class))
                };
                if channel.as_mut().is_some_and(send_one) {
                    self.striping.lose(number);
                }
            }
        }
        peer.can_seal()
    }

    /// Whether the address of the other end is known on any channel.
    fn can_begin(&self) -> bool {
        self.channels.iter().flatten().any(|channel| channel.link.remote().is_some())
    }

    /// Returns the time of the next timeout of the protocol or of a handshake.
    pub fn timeout(&self) -> Instant {
        let timeout = self.striping.poll_timeout();
        let Some(peer) = self.encapsulation.peer() else { return timeout };
        let handshake = peer.poll_timeout(self.can_begin());
        if peer.can_seal() { handshake.min(timeout) } else { handshake }
    }

    /// Returns the handshake counters, if datagrams are sealed.
    pub fn handshakes(&self) -> Option<&Counts> {
        self.encapsulation.peer().map(Peer::counts)
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{BbrPlan, ControlPlan, Controlled};
    use gingham_stripe_crypt::{PeerPlan, PrivateKey, Times};

    use super::*;
    use crate::{EndPlan, MemoryPlan, MemoryPort};

    /// Returns the BBR seed of an end with these keys.
    fn seed(ours: &PrivateKey, theirs: &PrivateKey) -> u64 {
        let (private, peer) = (ours.clone(), theirs.public());
        let peer = PeerPlan { private, peer, preshared: None, times: Times::default() };
        let plan = EndPlan { peer: Some(peer), ..EndPlan::free(1_200) };
        let remote = "10.0.0.1:7000".parse().expect("an address");
        let link = MemoryPlan { port: MemoryPort::new(1_472), remote };
        let end = End::open_at(Instant::ORIGIN, &plan, vec![link], Epoch::new(1)).expect("an end");
        let control = end.sessions.plan.sender.control;
        let Some(ControlPlan { by: Controlled::Bbr(BbrPlan { seed, .. }), .. }) = control else {
            panic!("{control:?}")
        };
        seed
    }

    /// The two ends of a server and those of its two clients: every end has its own seed, and the
    /// same one when reopened.
    #[test]
    fn each_end_has_a_distinct_stable_seed() {
        let [server, one, other] = [(); 3].map(|()| PrivateKey::random().expect("randomness"));
        let pairs = [(&server, &one), (&server, &other), (&one, &server), (&other, &server)];
        let seeds = || pairs.map(|(ours, theirs)| seed(ours, theirs));
        assert_eq!(seeds(), seeds());
        let mut sorted = seeds().to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 4, "{sorted:?}");
    }
}
