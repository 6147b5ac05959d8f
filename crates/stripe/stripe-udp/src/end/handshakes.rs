//! Handshakes and sessions of an end, and tracking of the other end's addresses.

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

/// Maximum replies per batch; more replies would indicate a flood, since a batch has a single
/// source.
pub(crate) const REPLIES_A_BATCH: usize = 8;

#[derive(Debug)]
pub(super) struct Sessions {
    plan: StripingPlan,
    scheduler: Scheduler,
    present: u64,
    passing_all: u64,
    before: Before,
    preferences: Vec<Preference>,
    count: u64,
    /// Whether the protocol must still be notified of channels without a link, as at the start of a
    /// session.
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

    pub(super) fn prefer(&mut self, channel: usize, preference: Preference) {
        self.preferences[channel] = preference;
    }

    pub(super) const fn set_slot(&mut self, channel: usize, is_there: bool, passes_all: bool) {
        let others = !(1 << channel);
        self.present = self.present & others | (is_there as u64) << channel;
        self.passing_all = self.passing_all & others | (passes_all as u64) << channel;
    }

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

    pub(super) fn follow(&mut self, count: u64, striping: &mut Striping) {
        if self.count != count {
            (self.count, self.is_new) = (count, true);
            *striping = self.striping(None, striping.now()).expect("it was made so before");
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) strange: u64,
    pub(super) moved_to: Option<SocketAddr>,
    pub(super) replies: Vec<Vec<u8>>,
}

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
            // A message that creates keys is a response, so its sender has received our latest
            // message.
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
    // A changed port only indicates a new NAT mapping on the same path (RFC 9000, section 9.4).
    if before.is_some_and(|before| before.ip().to_canonical() != remote.ip().to_canonical()) {
        let _: Result<(), ChannelError> = striping.move_channel(channel);
    }
}

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

    fn can_begin(&self) -> bool {
        self.channels.iter().flatten().any(|channel| channel.link.remote().is_some())
    }

    /// Returns the time of the next timeout.
    pub fn timeout(&self) -> Instant {
        let timeout = self.striping.poll_timeout();
        let Some(peer) = self.encapsulation.peer() else { return timeout };
        let handshake = peer.poll_timeout(self.can_begin());
        if peer.can_seal() { handshake.min(timeout) } else { handshake }
    }

    /// Returns the handshake counters; `None` without encryption.
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
