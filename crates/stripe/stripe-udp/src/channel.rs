//! A channel: its link, buffers and counters.
//!
//! ```text
//!            the interface, its address or its route is gone
//!   [open] ---------------------------------------------------> [gone]
//!      ^                                                          |
//!      +----------------------------------------------------------+
//!            the next probe, at most every 100 ms, reopens it
//! ```

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;

use crate::clock::Moment;
use crate::counts::ChannelCounts;
use crate::error::Meaning;
use crate::inbox::{Batch, Inbox};
use crate::link::{Link, LinkPlan};
use crate::meter::Metering;
use crate::outbox::Outbox;
use crate::port::{Ports, is_same};
use crate::run::Run;
use crate::socket::{BufferPlan, Opener, SOON};
use crate::tcp::Connection;

/// Time between attempts to reopen a link, short compared to the maximum probe interval of 1 s.
const AGAIN: Duration = Duration::from_millis(100);

/// Congestion experienced (RFC 3168, section 5).
pub(crate) const CE: u8 = 0b11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The run was sent, queued, or dropped locally; a local drop counts as a network loss.
    Went,
    /// A datagram exceeds the interface's MTU; more datagrams may be pending.
    TooLong {
        datagram_bytes: usize,
    },
    Gone,
}

#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) link: Link,
    /// Announced address of the other end, unaffected by later address changes.
    announced: Option<SocketAddr>,
    again_at: Instant,
    pub(crate) gone_by: Option<i32>,
    outbox: Outbox,
    inbox: Inbox,
    pub(crate) is_quiet: bool,
    pub(crate) counts: ChannelCounts,
    pub(crate) metering: Metering,
}

impl Channel {
    pub(crate) fn open(
        plan: LinkPlan,
        (buffers, ports): (BufferPlan, &Ports),
        opener: Option<Opener>,
        now: Instant,
    ) -> io::Result<Self> {
        let link = Link::open(plan, (buffers, ports), opener)?;
        Ok(Self {
            inbox: Inbox::new(link.batches(), now),
            announced: link.remote(),
            link,
            again_at: now,
            gone_by: None,
            outbox: Outbox::default(),
            is_quiet: false,
            counts: ChannelCounts::default(),
            metering: Metering::default(),
        })
    }

    /// Moves the channel to other addresses and drops datagrams queued for the old link. If the new
    /// link cannot be opened, the old link remains.
    pub(crate) fn relocate(
        &mut self,
        plan: LinkPlan,
        (buffers, ports): (BufferPlan, &Ports),
        opener: Option<Opener>,
        now: Instant,
    ) -> io::Result<()> {
        // Frees resources that the new link may need, such as the port.
        self.link.release();
        self.drop_waiting();
        self.again_at = now;
        let link = Link::open(plan, (buffers, ports), opener);
        self.gone_by = link.as_ref().err().and_then(io::Error::raw_os_error);
        self.link = link?;
        self.announced = self.link.remote();
        self.inbox = Inbox::new(self.link.batches(), now);
        self.is_quiet = false;
        Ok(())
    }

    pub(crate) fn send(&mut self, now: Instant, run: &mut Run) -> Sent {
        self.reopen(now);
        if !self.link.is_open() {
            self.counts.unsent += run.datagrams as u64;
            run.clear();
            return Sent::Went;
        }
        let cut = self.metering.cut(run);
        self.counts.unsent += cut;
        self.counts.full += self.outbox.push(run);
        let sent = self.drain(now);
        if cut > 0 && sent == Sent::Went { Sent::Gone } else { sent }
    }

    pub(crate) fn drain(&mut self, now: Instant) -> Sent {
        if let Err(error) = self.link.flush()
            && Meaning::of(&error) == Meaning::Gone
        {
            self.close(now, &error);
            return Sent::Gone;
        }
        while let Some((run, from)) = self.outbox.first() {
            let datagram_bytes = run.segment_bytes;
            match self.link.send(run, from) {
                Ok(taken) => {
                    self.counts.sends += 1;
                    self.counts.sent += taken as u64;
                    self.counts.sent_bytes += run.bytes_of(from, taken) as u64;
                    self.outbox.took(taken);
                }
                Err(error) => match Meaning::of(&error) {
                    Meaning::Full if self.link.waits() && self.outbox.may_wait(now) => break,
                    Meaning::Full => self.counts.full += self.outbox.drop_first(),
                    Meaning::Refused => self.counts.refused += self.outbox.drop_first(),
                    Meaning::TooLong => {
                        self.counts.too_long += self.outbox.drop_first();
                        return Sent::TooLong { datagram_bytes };
                    }
                    Meaning::Gone => {
                        self.close(now, &error);
                        return Sent::Gone;
                    }
                },
            }
        }
        Sent::Went
    }

    pub(crate) fn rest(&mut self) {
        self.outbox.rest();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.outbox.first().is_some() || self.link.holds_rest()
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.is_full() || (self.link.waits() && !self.link.is_open())
    }

    pub(crate) fn awaited_fd(&self) -> Option<BorrowedFd<'_>> {
        let is_awaited = self.is_full() || self.link.is_connecting();
        is_awaited.then(|| self.link.full_fd()).flatten()
    }

    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let is_new = self.link.advance(now);
        self.counts.reopened += u64::from(is_new && self.counts.gone > 0);
        is_new
    }

    pub(crate) fn adopt(&mut self, connection: Connection) {
        self.counts.gone += u64::from(self.link.adopt(connection));
        self.is_quiet = false;
        self.counts.reopened += u64::from(self.counts.gone > 0);
    }

    fn reopen(&mut self, now: Instant) {
        if !self.link.is_open() && self.again_at <= now {
            self.again_at = now.after(AGAIN);
            match self.link.reopen(now) {
                Ok(()) => self.counts.reopened += 1,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.again_at = now.after(SOON);
                }
                Err(error) => self.gone_by = error.raw_os_error().or(self.gone_by),
            }
        }
    }

    pub(crate) fn note_gone(&mut self, now: Instant) {
        if self.again_at <= now {
            self.again_at = now.after(AGAIN);
            self.counts.gone += 1;
        }
    }

    pub(crate) fn on_network_change(&mut self, now: Instant) {
        self.again_at = now;
        self.link.on_network_change(now);
        self.reopen(now);
    }

    pub(crate) fn lose_link(&mut self, now: Instant) {
        self.close(now, &Errno::EADDRNOTAVAIL.into());
        self.link.on_network_change(now);
    }

    fn close(&mut self, now: Instant, by: &io::Error) {
        self.gone_by = by.raw_os_error();
        self.drop_waiting();
        self.link.close();
        self.again_at = now.after(AGAIN);
        self.counts.gone += 1;
    }

    fn drop_waiting(&mut self) {
        while self.outbox.first().is_some() {
            self.counts.unsent += self.outbox.drop_first();
        }
    }

    pub(crate) fn receive(&mut self, moment: &Moment) -> bool {
        let is_own = self.link.shared().is_none();
        if std::mem::take(&mut self.is_quiet) || !self.link.is_open() || !is_own {
            return false;
        }
        let Self { inbox, link, .. } = self;
        let filled = inbox.fill(|bytes, arrivals| link.receive(bytes, arrivals), moment);
        let Err(error) = filled else { return false };
        let is_gone = Meaning::of(&error) == Meaning::Gone;
        self.counts.strange += u64::from(error.kind() == io::ErrorKind::InvalidData);
        if is_gone {
            self.close(moment.now, &error);
        } else {
            self.counts.refused += 1;
        }
        is_gone
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.inbox.next_at()
    }

    pub(crate) fn may_have_more(&self) -> bool {
        self.inbox.was_full() && self.inbox.next_at().is_none()
    }

    pub(crate) fn send_one(
        &mut self,
        now: Instant,
        to: Option<SocketAddr>,
        (message, class): (&[u8], u8),
    ) -> bool {
        self.reopen(now);
        let Some(to) = to.or_else(|| self.link.remote()) else { return false };
        if !self.link.is_open() || !self.metering.grants(message.len()) {
            self.counts.unsent += 1;
            return false;
        }
        let sent = self.link.send_one(to, message, class);
        self.counts.sends += 1;
        let Err(error) = sent else {
            self.counts.sent += 1;
            self.counts.sent_bytes += message.len() as u64;
            return false;
        };
        match Meaning::of(&error) {
            Meaning::Full => self.counts.full += 1,
            Meaning::Refused | Meaning::TooLong => self.counts.refused += 1,
            Meaning::Gone => {
                self.close(now, &error);
                return true;
            }
        }
        false
    }

    /// Sends `datagram` to the announced address if the other end was last seen elsewhere, so that
    /// replayed packets divert a channel only until a newer packet arrives. Returns whether the
    /// channel has just lost its link.
    pub(crate) fn remind(&mut self, now: Instant, datagram: (&[u8], u8)) -> bool {
        let (announced, current) = (self.announced, self.link.remote());
        let elsewhere = announced
            .filter(|announced| current.is_some_and(|current| !is_same(current, *announced)));
        elsewhere.is_some_and(|announced| self.send_one(now, Some(announced), datagram))
    }

    pub(crate) fn lead(&mut self, remote: SocketAddr) {
        self.announced = Some(remote);
        self.link.set_remote(remote);
    }

    pub(crate) fn follow(&mut self, remote: SocketAddr) {
        self.link.set_remote(remote);
        self.counts.moved += 1;
    }

    /// Takes a batch from the inbox. Returns the number of its datagrams, at least 1, and the batch
    /// if it is from the other end or `from_anywhere` is set.
    pub(crate) fn take(&mut self, from_anywhere: bool) -> Option<(usize, Option<Batch<'_>>)> {
        let batch = self.inbox.take()?;
        let frames = batch.len();
        self.metering.came(frames, batch.bytes());
        let is_ours = frames > 0 && (batch.is_ours || from_anywhere);
        let (counts, datagrams) = (&mut self.counts, frames.max(1));
        counts.marked += if is_ours && batch.ecn == CE { frames as u64 } else { 0 };
        *if is_ours { &mut counts.came } else { &mut counts.strange } += datagrams as u64;
        counts.came_bytes += if is_ours { batch.bytes() as u64 } else { 0 };
        counts.batches += 1;
        Some((datagrams, is_ours.then_some(batch)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::clock::now;
    use crate::socket::ChannelPlan;
    use crate::tcp::{TcpEnd, TcpPlan};

    #[test]
    fn closed_link_reopens_only_after_delay() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let plan = ChannelPlan { local: any, interface: None, mark: None, remote: any };
        let (now, buffers) = (now(), BufferPlan::default());
        let sockets = (buffers, &Ports::default());
        let mut channel = Channel::open(plan.into(), sockets, None, now).expect("a socket");
        channel.close(now, &Errno::ENOTCONN.into());
        channel.reopen(now);
        assert_eq!((channel.link.is_open(), channel.counts.reopened), (false, 0));
        channel.reopen(now.after(AGAIN));
        assert_eq!((channel.link.is_open(), channel.counts.reopened), (true, 1));
    }

    #[test]
    fn moved_channel_drops_queued_datagrams() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let plan = |remote| {
            let end = TcpEnd::Connects { local: any, remote };
            TcpPlan { end, interface: None, mark: None, dscp: 0, longest_bytes: 1_400 }
        };
        let listener = || TcpListener::bind(any).expect("a socket");
        let (here, there) = (listener(), listener());
        let to = |one: &TcpListener| plan(one.local_addr().expect("an address"));
        let (buffers, ports, now) = (BufferPlan::default(), Ports::default(), now());
        let channel = Channel::open(to(&here).into(), (buffers, &ports), None, now);
        let mut channel = channel.expect("a socket");
        while !channel.advance(now) {}
        let mut runs = 0;
        while channel.outbox.first().is_none() {
            let mut run = Run::default();
            for _ in 0..20 {
                run.begin(0, 1_000);
                run.bytes.resize(run.bytes.len() + 1_000, 0);
            }
            assert_eq!(channel.send(now, &mut run), Sent::Went);
            runs += 1;
        }
        channel.gone_by = Some(Errno::ENETUNREACH as i32);
        channel.relocate(to(&there).into(), (buffers, &ports), None, now).expect("a socket");
        let Channel { outbox, gone_by, counts, .. } = &channel;
        assert!(outbox.first().is_none(), "it would go to the new place");
        assert_eq!((counts.sent + counts.unsent, *gone_by), (20 * runs, None));
    }
}
