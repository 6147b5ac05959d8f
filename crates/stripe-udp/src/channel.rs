//! A channel: its socket as long as there is one, what came on it, what was counted.
//!
//! ```text
//!            the interface, its address or its route is gone
//!   [open] ---------------------------------------------------> [gone]   tried at what is to go next,
//!      ^                                                          |      which is a probe, and not
//!      +----------------------------------------------------------+      more often than [`AGAIN`]
//! ```

use std::io;
use std::time::Duration;

use gingham_stripe::Instant;

use crate::clock::Moment;
use crate::counts::ChannelCounts;
use crate::error::Meaning;
use crate::inbox::{Batch, Inbox};
use crate::socket::{BufferPlan, ChannelPlan, ChannelSocket};

/// A socket is tried again after so long: soon beside the second in which a probe goes at least.
const AGAIN: Duration = Duration::from_millis(100);

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) plan: ChannelPlan,
    buffers: BufferPlan,
    pub(crate) socket: Option<ChannelSocket>,
    again_at: Instant,
    inbox: Inbox,
    pub(crate) counts: ChannelCounts,
}

impl Channel {
    pub(crate) fn open(
        mut plan: ChannelPlan,
        buffers: BufferPlan,
        now: Instant,
    ) -> io::Result<Self> {
        let socket = ChannelSocket::open(&plan, &buffers)?;
        // Where any port will do, the one that it got: a socket that is opened anew is to have it,
        // since the other end takes nothing from elsewhere.
        plan.local.set_port(socket.local()?.port());
        Ok(Self {
            plan,
            buffers,
            socket: Some(socket),
            again_at: now,
            inbox: Inbox::new(now),
            counts: ChannelCounts::default(),
        })
    }

    /// Sends datagrams of one length; whether the channel is gone just now.
    pub(crate) fn send(&mut self, now: Instant, run: &[u8], segment_bytes: usize) -> bool {
        let datagrams = run.len().div_ceil(segment_bytes) as u64;
        self.reopen(now);
        let Some(socket) = &self.socket else {
            self.counts.unsent += datagrams;
            return false;
        };
        self.counts.sends += 1;
        match socket.send(self.plan.remote, run, segment_bytes) {
            Ok(()) => self.counts.sent += datagrams,
            Err(error) => match Meaning::of(&error) {
                Meaning::Full => self.counts.full += datagrams,
                Meaning::Refused => self.counts.refused += datagrams,
                Meaning::Gone => {
                    self.counts.unsent += datagrams;
                    self.close(now);
                    return true;
                }
            },
        }
        false
    }

    /// Opens a socket anew, if there is none and it is time for that.
    fn reopen(&mut self, now: Instant) {
        if self.socket.is_none() && self.again_at <= now {
            self.again_at = now.after(AGAIN);
            self.socket = ChannelSocket::open(&self.plan, &self.buffers).ok();
            self.counts.reopened += u64::from(self.socket.is_some());
        }
    }

    fn close(&mut self, now: Instant) {
        self.socket = None;
        self.again_at = now.after(AGAIN);
        self.counts.gone += 1;
    }

    /// Takes from the kernel what has come, once what came before is taken; whether the channel is
    /// gone just now.
    pub(crate) fn receive(&mut self, moment: &Moment) -> bool {
        let Some(socket) = &self.socket else { return false };
        let Err(error) = self.inbox.fill(socket, moment) else { return false };
        let is_gone = Meaning::of(&error) == Meaning::Gone;
        if is_gone {
            self.close(moment.now);
        } else {
            self.counts.refused += 1;
        }
        is_gone
    }

    /// When the next batch of what has come did.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.inbox.next_at()
    }

    /// Whether all is taken, and the kernel may have more.
    pub(crate) fn may_have_more(&self) -> bool {
        self.inbox.was_full() && self.inbox.next_at().is_none()
    }

    /// How many datagrams the next batch is, an empty one included, and the batch if it came from
    /// where it is to come from.
    pub(crate) fn take(&mut self) -> Option<(usize, Option<Batch<'_>>)> {
        let batch = self.inbox.take()?;
        let frames = batch.len();
        let is_ours = frames > 0 && is_same(batch.from, self.plan.remote);
        let (counts, datagrams) = (&mut self.counts, frames.max(1));
        *if is_ours { &mut counts.came } else { &mut counts.strange } += datagrams as u64;
        counts.batches += 1;
        Some((datagrams, is_ours.then_some(batch)))
    }
}

/// Whether two addresses are one, whatever labels or scopes the kernel adds.
fn is_same(one: std::net::SocketAddr, other: std::net::SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical() && one.port() == other.port()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;

    #[test]
    fn a_socket_that_is_opened_anew_has_the_port_that_it_had() {
        let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let plan = ChannelPlan { local: any, interface: None, mark: None, remote: any };
        let (now, buffers) = (now(), BufferPlan::default());
        let mut channel = Channel::open(plan, buffers, now).expect("a socket");
        let local = |channel: &Channel| channel.socket.as_ref().map(|socket| socket.local().ok());
        let before = local(&channel);
        channel.close(now);
        assert_eq!(local(&channel), None);
        channel.reopen(now.after(AGAIN));
        assert_eq!((local(&channel), channel.counts.reopened), (before, 1));
    }
}
