//! Link of a channel: the boundary between the protocol and sockets.
//!
//! Invariants: a batch is from the channel's other end, or marked as foreign; a link accepts the
//! datagrams of a run in order, and returns the number accepted.

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

/// Link parameters of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPlan {
    /// UDP.
    Udp(ChannelPlan),
    /// TCP.
    Tcp(TcpPlan),
    /// Ethernet frames.
    Ethernet(EthernetPlan),
    /// Queues in memory, for test drivers.
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
    pub(crate) const fn header_bytes(&self) -> u32 {
        match self {
            Self::Udp(plan) => plan.header_bytes(),
            Self::Tcp(_) | Self::Ethernet(_) => 0,
            Self::Memory(_) => MemoryPlan::HEADER_BYTES,
        }
    }

    /// Returns the length of the headers per datagram on the wire, in bytes. Over TCP, each
    /// datagram counts as a segment, since only the kernel knows the real segments.
    pub(crate) fn wire_bytes(&self) -> u32 {
        if let Self::Tcp(plan) = self { plan.wire_bytes() } else { self.header_bytes() }
    }

    pub(crate) const fn passes_all(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    pub(crate) const fn kind(&self) -> LinkKind {
        match self {
            Self::Udp(_) | Self::Tcp(_) | Self::Memory(_) => LinkKind::Datagrams,
            Self::Ethernet(plan) => LinkKind::Ethernet { is_offloaded: plan.is_offloaded },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Datagrams,
    Ethernet { is_offloaded: bool },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Packets on Ethernet channels; all datagrams on UDP and TCP channels.
    #[default]
    Packets,
    Messages,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    pub(crate) stamp: Option<Duration>,
    pub(crate) bytes: usize,
    pub(crate) stride: usize,
    pub(crate) payload: Payload,
    pub(crate) is_ours: bool,
    pub(crate) from: Option<SocketAddr>,
    /// ECN field, only known over UDP.
    pub(crate) ecn: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batches {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
pub(crate) enum Link {
    Udp(Box<UdpLink>),
    Tcp(Box<TcpLink>),
    Ethernet(Box<EthernetLink>),
}

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

    pub(crate) fn reopen(&mut self, now: Instant) -> io::Result<()> {
        match self {
            Self::Udp(link) => link.reopen(now),
            Self::Tcp(_) => Err(gone()),
            Self::Ethernet(link) => link.reopen(),
        }
    }

    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        if let Self::Tcp(link) = self { link.advance(now) } else { false }
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        if let Self::Tcp(link) = self { link.next_at() } else { None }
    }

    pub(crate) fn adopt(&mut self, connection: Connection) -> bool {
        if let Self::Tcp(link) = self { link.adopt(connection) } else { false }
    }

    pub(crate) fn listening(&self) -> Option<io::Result<Socket>> {
        if let Self::Tcp(link) = self { Some(link.socket()) } else { None }
    }

    pub(crate) fn is_connecting(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.is_connecting())
    }

    pub(crate) fn on_network_change(&mut self, now: Instant) {
        match self {
            Self::Udp(link) => link.on_network_change(),
            Self::Tcp(link) => link.on_network_change(now),
            Self::Ethernet(_) => {}
        }
    }

    pub(crate) fn holds_more(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.holds_more())
    }

    pub(crate) fn holds_rest(&self) -> bool {
        matches!(self, Self::Tcp(link) if link.holds_rest())
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Self::Tcp(link) = self { link.flush() } else { Ok(()) }
    }

    pub(crate) fn close(&mut self) {
        either!(self, link => link.close());
    }

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

    pub(crate) const fn shared(&self) -> Option<&SharedPort> {
        if let Self::Udp(link) = self { link.shared() } else { None }
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Udp(link) => link.fd(),
            Self::Tcp(link) => link.fd(),
            Self::Ethernet(link) => link.fd(),
        }
    }

    pub(crate) fn full_fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Udp(_) => None,
            Self::Tcp(link) => link.full_fd(),
            Self::Ethernet(link) => link.full_fd(),
        }
    }

    pub(crate) fn segments_max(&self) -> usize {
        match self {
            Self::Udp(link) => link.segments_max(),
            Self::Tcp(_) | Self::Ethernet(_) => self.batches().count,
        }
    }

    pub(crate) fn batches(&self) -> Batches {
        match self {
            Self::Udp(link) => link.batches(),
            Self::Tcp(link) => link.batches(),
            Self::Ethernet(link) => link.batches(),
        }
    }

    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        either!(self, link => link.send(run, from))
    }

    pub(crate) const fn waits(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Ethernet(_))
    }

    pub(crate) fn receive(
        &mut self,
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        either!(self, link => link.receive(bytes, arrivals))
    }

    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(link) => link.local(),
            Self::Tcp(link) => link.local(),
            Self::Ethernet(_) => None,
        }
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(link) => link.remote(),
            Self::Tcp(link) => link.remote(),
            Self::Ethernet(_) => None,
        }
    }

    /// Sends one datagram; over TCP, the connection determines address and class.
    pub(crate) fn send_one(&mut self, to: SocketAddr, message: &[u8], class: u8) -> io::Result<()> {
        match self {
            Self::Udp(link) => link.send_one(to, message, class),
            Self::Tcp(link) => link.send_one(message),
            Self::Ethernet(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(crate) fn set_remote(&mut self, remote: SocketAddr) {
        match self {
            Self::Udp(link) => link.set_remote(remote),
            Self::Tcp(link) => link.set_remote(remote),
            Self::Ethernet(_) => {}
        }
    }
}
