//! What carries a channel: the seam between the protocol and sockets.
//!
//! ```text
//!   channel ── send a run ──► link ── UDP, a port a channel
//!           ◄─ batches, each      ├── TCP, a connection a channel
//!              with its stamp     └── Ethernet, frames of two EtherTypes
//! ```
//!
//! Invariants: what a link gives came from the other end of its channel, or is said not to; a link
//! takes runs whole and in order, or says how much of one it took.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::Instant;
use socket2::Socket;

use crate::error::gone;
use crate::ethernet::{EthernetLink, EthernetPlan};
use crate::memory::MemoryPlan;
use crate::port::{PortPlan, Ports, SharedPort, UdpLink};
use crate::run::Run;
use crate::socket::{BufferPlan, ChannelPlan, Opener};
use crate::tcp::{Connection, TcpLink, TcpPlan};

/// Where a channel begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPlan {
    /// Over UDP.
    Udp(ChannelPlan),
    /// Over TCP.
    Tcp(TcpPlan),
    /// In frames of Ethernet.
    Ethernet(EthernetPlan),
    /// In memory, where somebody stands in for what is between both ends.
    Memory(MemoryPlan),
}

impl From<ChannelPlan> for LinkPlan {
    fn from(plan: ChannelPlan) -> Self {
        Self::Udp(plan)
    }
}

impl From<TcpPlan> for LinkPlan {
    fn from(plan: TcpPlan) -> Self {
        Self::Tcp(plan)
    }
}

impl From<EthernetPlan> for LinkPlan {
    fn from(plan: EthernetPlan) -> Self {
        Self::Ethernet(plan)
    }
}

impl From<MemoryPlan> for LinkPlan {
    fn from(plan: MemoryPlan) -> Self {
        Self::Memory(plan)
    }
}

impl LinkPlan {
    /// What the link puts before a datagram, in bytes.
    pub(crate) const fn header_bytes(&self) -> u32 {
        match self {
            Self::Udp(plan) => plan.header_bytes(),
            Self::Tcp(_) | Self::Ethernet(_) => 0,
            Self::Memory(_) => MemoryPlan::HEADER_BYTES,
        }
    }

    /// What stands before a datagram on the wire, in bytes: over TCP as if each went in a segment of its
    /// own. How many share one the kernel says, and what it sends again and acknowledges.
    pub(crate) fn wire_bytes(&self) -> u32 {
        if let Self::Tcp(plan) = self { plan.wire_bytes() } else { self.header_bytes() }
    }

    /// Whether packets pass however long they are.
    pub(crate) const fn passes_all(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Whether two are of one kind, so that the same stands on both.
    pub(crate) const fn kind(&self) -> LinkKind {
        match self {
            Self::Udp(_) | Self::Tcp(_) | Self::Memory(_) => LinkKind::Datagrams,
            Self::Ethernet(plan) => LinkKind::Ethernet { is_offloaded: plan.is_offloaded },
        }
    }
}

/// What the links of a pipe have alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Datagrams,
    Ethernet { is_offloaded: bool },
}

/// What a run or a batch holds, where a link tells these apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Packets, or datagrams that say themselves what they are.
    #[default]
    Packets,
    /// Messages of the protocol.
    Messages,
}

/// A batch that came: datagrams of one length, of which the last may be shorter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// When the kernel had it, by the realtime clock.
    pub(crate) stamp: Option<Duration>,
    pub(crate) bytes: usize,
    /// How long a datagram is.
    pub(crate) stride: usize,
    pub(crate) payload: Payload,
    /// Whether it came from the other end of the channel.
    pub(crate) is_ours: bool,
    /// Its address of UDP or TCP.
    pub(crate) from: Option<SocketAddr>,
    /// The ECN field of its headers of IP; over UDP alone.
    pub(crate) ecn: u8,
}

/// Buffers of batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batches {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// A link, open or not.
#[derive(Debug)]
pub(crate) enum Link {
    Udp(Box<UdpLink>),
    Tcp(Box<TcpLink>),
    Ethernet(Box<EthernetLink>),
}

/// The same call of whichever it is.
macro_rules! either {
    ($self:ident, $link:ident => $call:expr) => {
        match $self {
            Link::Udp($link) => $call,
            Link::Tcp($link) => $call,
            Link::Ethernet($link) => $call,
        }
    };
}

impl Link {
    /// An open one, which may have its port in common with others; over UDP or TCP by a socket that this
    /// gives, if it is there.
    pub(crate) fn open(
        plan: LinkPlan,
        (buffers, ports): (BufferPlan, &Ports),
        opener: Option<Opener>,
    ) -> io::Result<Self> {
        Ok(match plan {
            LinkPlan::Udp(plan) => {
                let remote = plan.remote;
                let place = (PortPlan::Socket(plan), remote);
                Self::Udp(Box::new(UdpLink::open(place, (buffers, ports), opener)?))
            }
            LinkPlan::Tcp(plan) => Self::Tcp(Box::new(TcpLink::open(plan, opener)?)),
            LinkPlan::Ethernet(plan) => {
                Self::Ethernet(Box::new(EthernetLink::open(plan, buffers)?))
            }
            LinkPlan::Memory(MemoryPlan { port, remote }) => {
                let place = (PortPlan::Memory(port), remote);
                Self::Udp(Box::new(UdpLink::open(place, (buffers, ports), None)?))
            }
        })
    }

    /// Opens it anew, unless it comes to be by itself.
    pub(crate) fn reopen(&mut self, now: Instant) -> io::Result<()> {
        match self {
            Self::Udp(link) => link.reopen(now),
            Self::Tcp(_) => Err(gone()),
            Self::Ethernet(link) => link.reopen(),
        }
    }

    /// Does what is due of a link that comes to be by itself; whether it has come to be just now.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        if let Self::Tcp(link) = self { link.advance(now) } else { false }
    }

    /// When something is due though nothing comes.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        if let Self::Tcp(link) = self { link.next_at() } else { None }
    }

    /// It has this connection from now on; whether it had another.
    pub(crate) fn adopt(&mut self, connection: Connection) -> bool {
        if let Self::Tcp(link) = self { link.adopt(connection) } else { false }
    }

    /// A socket that listens for it, where such are.
    pub(crate) fn listening(&self) -> Option<io::Result<Socket>> {
        if let Self::Tcp(link) = self { Some(link.socket()) } else { None }
    }

    /// Whether it is on the way to be open: then it is writable.
    pub(crate) fn is_connecting(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.is_connecting())
    }

    /// The network has changed: what would come to be later by itself is tried now.
    pub(crate) fn look_anew(&mut self, now: Instant) {
        match self {
            Self::Udp(link) => link.look_anew(),
            Self::Tcp(link) => link.look_anew(now),
            Self::Ethernet(_) => {}
        }
    }

    /// Whether something that came waits here, and not in the kernel.
    pub(crate) fn holds_more(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.holds_more())
    }

    /// Whether a datagram has begun to go, and has not gone whole.
    pub(crate) fn holds_rest(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.holds_rest())
    }

    /// What has begun to go does.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Self::Tcp(link) = self { link.flush() } else { Ok(()) }
    }

    pub(crate) fn close(&mut self) {
        either!(self, link => link.close());
    }

    /// It is of no use here any more. A port that it has in common with others stays.
    pub(crate) fn release(&mut self) {
        match self {
            Self::Udp(link) => link.release(),
            Self::Tcp(_) | Self::Ethernet(_) => self.close(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Udp(link) => link.is_open(),
            Self::Tcp(_) | Self::Ethernet(_) => self.fd().is_some(),
        }
    }

    /// The port that it has in common with others, on which what comes is taken for all of them.
    pub(crate) const fn shared(&self) -> Option<&SharedPort> {
        if let Self::Udp(link) = self { link.shared() } else { None }
    }

    /// What becomes readable where something comes, as long as it is open and its own.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Udp(link) => link.fd(),
            Self::Tcp(link) => link.fd(),
            Self::Ethernet(link) => link.fd(),
        }
    }

    /// What becomes writable where a link that was full takes more.
    pub(crate) fn full_fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Udp(_) => None,
            Self::Tcp(link) => link.full_fd(),
            Self::Ethernet(link) => link.full_fd(),
        }
    }

    /// How many datagrams may go in one call.
    pub(crate) fn segments_max(&self) -> usize {
        match self {
            Self::Udp(link) => link.segments_max(),
            // As many as in a call.
            Self::Tcp(_) | Self::Ethernet(_) => self.batches().count,
        }
    }

    /// How what comes is taken.
    pub(crate) fn batches(&self) -> Batches {
        match self {
            Self::Udp(link) => link.batches(),
            Self::Tcp(link) => link.batches(),
            Self::Ethernet(link) => link.batches(),
        }
    }

    /// Sends the datagrams of a run from one on, by its number: how many it took, at least one.
    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        either!(self, link => link.send(run, from))
    }

    /// Whether what a full link did not take waits until it does, and is not lost.
    pub(crate) const fn waits(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Ethernet(_))
    }

    /// Takes what has come, a batch a buffer: how many.
    pub(crate) fn receive(
        &mut self,
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        either!(self, link => link.receive(bytes, arrivals))
    }

    /// The address of UDP or TCP that it has, if any.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(link) => link.local(),
            Self::Tcp(link) => link.local(),
            Self::Ethernet(_) => None,
        }
    }

    /// The address of the other end, where it is known: over TCP as long as there is a connection.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(link) => link.remote(),
            Self::Tcp(link) => link.remote(),
            Self::Ethernet(_) => None,
        }
    }

    /// Sends a datagram of a handshake to this address, which over TCP can be no other than that of
    /// the connection; its traffic class too is that of the connection.
    pub(crate) fn tell(&mut self, to: SocketAddr, message: &[u8], class: u8) -> io::Result<()> {
        match self {
            Self::Udp(link) => link.tell(to, message, class),
            Self::Tcp(link) => link.tell(message),
            Self::Ethernet(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The other end has this address of UDP or TCP from now on.
    pub(crate) fn set_remote(&mut self, remote: SocketAddr) {
        match self {
            Self::Udp(link) => link.set_remote(remote),
            Self::Tcp(link) => link.set_remote(remote),
            Self::Ethernet(_) => {}
        }
    }
}
