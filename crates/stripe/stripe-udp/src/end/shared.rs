//! An end on shared ports. The owner of the ports passes datagrams to it one by one.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use gingham_stripe::Instant;
use gingham_stripe_crypt::{Discard, Initiation, Peer, Sender, is_handshake};

use super::End;
use super::handshakes::{REPLIES_A_BATCH, answer, follow_remote};
use crate::channel::{CE, Channel};
use crate::encapsulation::Encapsulation;
use crate::framing::Frame;
use crate::link::{Link, Payload};
use crate::port::{SharedPort, is_same, plain};
use crate::run::Run;
use crate::tcp::Listener;
use crate::wait::Ready;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) at: Instant,
    pub(crate) port: &'a SharedPort,
    pub(crate) from: SocketAddr,
    pub(crate) ecn: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Took {
    Nothing,
    Its,
    /// The datagram was accepted and proves that its source is the other end.
    Place,
}

impl End {
    /// Processes a datagram from a known address of the peer; appends a handshake reply to
    /// `replies`.
    pub(crate) fn take_datagram(
        &mut self,
        origin: Origin<'_>,
        datagram: &mut [u8],
        replies: &mut Vec<Vec<u8>>,
    ) -> Took {
        let Self { encapsulation, striping, sessions, .. } = self;
        if let (Some(peer), true) = (encapsulation.peer_mut(), is_handshake(datagram)) {
            let keys = peer.counts().keys;
            let from = Sender { address: origin.from, is_known: false };
            let answered = answer(peer, origin.at, from, datagram, (striping, sessions));
            let has_keys = peer.counts().keys != keys;
            let Ok(reply) = answered else { return self.count_strange(origin) };
            if !reply.is_empty() && replies.len() < REPLIES_A_BATCH {
                replies.push(reply);
            }
            return if has_keys { self.take_keys(origin) } else { Took::Its };
        }
        let bytes = datagram.len();
        match encapsulation.open(Payload::Packets, datagram) {
            Some((frame, is_newest)) => self.take_frame(origin, bytes, frame, is_newest),
            None => self.count_strange(origin),
        }
    }

    /// Moves the channel to the source of a message that created keys, because its sender received
    /// our latest message. The channel only moves if no other channel uses the port.
    fn take_keys(&mut self, origin: Origin<'_>) -> Took {
        let Self { striping, channels, .. } = self;
        let on_port = |one: &&mut Channel| is_on(one, origin.port);
        let mut here = channels
            .iter_mut()
            .enumerate()
            .filter_map(|(channel, one)| Some((channel, one.as_mut().filter(on_port)?)));
        let (Some((channel, one)), None) = (here.next(), here.next()) else { return Took::Its };
        if !one.link.remote().is_some_and(|before| is_same(before, origin.from)) {
            follow_remote(one, striping, channel, origin.from);
        }
        Took::Place
    }

    /// Processes a datagram from an unknown address; datagrams for other ends are not counted.
    pub(crate) fn take_stray(
        &mut self,
        origin: Origin<'_>,
        datagram: &mut [u8],
        replies: &mut Vec<Vec<u8>>,
    ) -> Took {
        let Encapsulation::Datagrams(framing) = &mut self.encapsulation else {
            return Took::Nothing;
        };
        if is_handshake(datagram) {
            return self.take_datagram(origin, datagram, replies);
        }
        let bytes = datagram.len();
        match framing.try_open(datagram) {
            Some((frame, is_newest)) => self.take_frame(origin, bytes, frame, is_newest),
            None => Took::Nothing,
        }
    }

    pub(crate) fn may_take(&self, datagram: &[u8]) -> bool {
        self.encapsulation.peer().is_some_and(|peer| {
            if is_handshake(datagram) { peer.expects(datagram) } else { peer.may_open(datagram) }
        })
    }

    pub(crate) fn accept(
        &mut self,
        now: Instant,
        initiation: Initiation,
        reply: &mut Vec<u8>,
    ) -> Result<(), Discard> {
        let Some(peer) = self.encapsulation.peer_mut() else { return Err(Discard::OtherPeer) };
        let taken = peer.accept(now, initiation, reply);
        let sessions = peer.sessions();
        self.sessions.follow(sessions, &mut self.striping);
        taken
    }

    pub(crate) const fn class(&self) -> u8 {
        self.class
    }

    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.encapsulation.peer()
    }

    fn take_frame(
        &mut self,
        origin: Origin<'_>,
        bytes: usize,
        frame: Frame<'_>,
        is_newest: bool,
    ) -> Took {
        let Self { encapsulation, striping, sessions, channels, .. } = self;
        let is_here = |one: &Channel| is_on(one, origin.port);
        let channel = frame
            .channel()
            .filter(|channel| channels.get(*channel).and_then(Option::as_ref).is_some_and(is_here));
        let Some(channel) = channel else { return self.count_strange(origin) };
        if let Some(peer) = encapsulation.peer() {
            sessions.follow(peer.sessions(), striping);
        }
        let Some(one) = &mut channels[channel] else { return Took::Nothing };
        one.counts.came += 1;
        one.metering.came(1, bytes);
        one.counts.came_bytes += bytes as u64;
        one.counts.marked += u64::from(origin.ecn == CE);
        if is_newest && !one.link.remote().is_some_and(|before| is_same(before, origin.from)) {
            follow_remote(one, striping, channel, origin.from);
        }
        striping.take(origin.at, channel, (frame, origin.ecn));
        if is_newest { Took::Place } else { Took::Its }
    }

    fn count_strange(&mut self, origin: Origin<'_>) -> Took {
        let mut channels = self.channels.iter_mut().flatten();
        if let Some(one) = channels.find(|one| is_on(one, origin.port)) {
            one.counts.strange += 1;
        }
        Took::Nothing
    }

    pub(crate) fn remotes(&self) -> impl Iterator<Item = (u64, SocketAddr)> {
        self.channels.iter().flatten().filter_map(|one| {
            let id = one.link.shared()?.borrow().id;
            Some((id, plain(one.link.remote()?)))
        })
    }

    pub(crate) fn has_remote(&self, remote: SocketAddr) -> bool {
        self.remotes().any(|(_, one)| one == remote)
    }

    pub(crate) fn lose_port(&mut self, port: &SharedPort, now: Instant) {
        for (number, one) in self.channels.iter_mut().enumerate() {
            if let Some(one) = one.as_mut().filter(|one| is_on(one, port)) {
                one.note_gone(now);
                self.striping.lose(number);
            }
        }
    }

    pub(crate) fn settle(&mut self, now: Instant) {
        self.striping.settle(now);
    }

    pub(crate) fn rest(&mut self) {
        if self.striping.rest() {
            self.run = Run::default();
            self.channels.iter_mut().flatten().for_each(Channel::rest);
        }
    }

    pub(crate) fn has_own(&self) -> bool {
        let is_own = |one: &Channel| one.link.shared().is_none();
        !self.listeners.is_empty() || self.channels.iter().flatten().any(is_own)
    }

    pub(crate) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let links = self.channels.iter().flatten().map(|channel| &channel.link);
        links.filter_map(Link::fd).chain(self.listeners.iter().flat_map(Listener::fds)).collect()
    }

    pub(crate) fn writable_fds(&self) -> Vec<BorrowedFd<'_>> {
        self.channels.iter().flatten().filter_map(Channel::awaited_fd).collect()
    }

    pub(crate) fn set_ready(&mut self, ready: Ready) {
        let links = self.channels.iter_mut().flatten();
        let with_fd = links.filter(|channel| channel.link.fd().is_some());
        for (number, channel) in with_fd.enumerate() {
            // Readiness of the descriptor does not cover bytes already read from the kernel.
            channel.is_quiet = !ready.has(number) && !channel.link.holds_more();
        }
    }

    pub(crate) fn due_at(&self) -> Instant {
        let links = self.channels.iter().flatten().map(|channel| &channel.link);
        let of = |link: &Link| {
            if link.holds_more() { Some(Instant::ORIGIN) } else { link.next_at() }
        };
        let listeners = self.listeners.iter().filter_map(Listener::next_at);
        links.filter_map(of).chain(listeners).fold(self.timeout(), Instant::min)
    }
}

fn is_on(one: &Channel, port: &SharedPort) -> bool {
    one.link.shared().is_some_and(|its| Rc::ptr_eq(its, port))
}
