//! A socket of channels: bound to an address or an interface, with batches both ways.
//!
//! Runs of datagrams of one length and traffic class go as one (`UDP_SEGMENT`), and what the kernel
//! has put together comes as one (`UDP_GRO`), many of those in a call (`recvmmsg`).
//!
//! Nothing is cut into fragments, here or on the way (`IP_PMTUDISC_PROBE`, which `quinn-udp` sets
//! for both families): what is too long for the interface is refused, and what is too long for the
//! path is lost, whatever messages of the network (ICMP) say, which anybody can make. So the protocol
//! finds out what a channel passes, and nobody else.
//!
//! Sockets are not connected: peers move. What comes from elsewhere is not taken.

mod sending;

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::sockopt::{IpMtu, Ipv4PacketInfo, Ipv6RecvPacketInfo};
use nix::sys::socket::{getsockopt, setsockopt};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

use crate::link::Batches;
use sending::Sending;

/// Where a channel begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPlan {
    /// The address here; unspecified where the interface or the route says it.
    pub local: SocketAddr,
    /// The interface that all goes through, if it is to be one.
    pub interface: Option<String>,
    /// By which mark rules of routing and filters tell its datagrams from others (`SO_MARK`); it
    /// takes `CAP_NET_ADMIN`.
    pub mark: Option<u32>,
    /// The address at the other end; unspecified where it is learned from what comes with its key.
    pub remote: SocketAddr,
}

impl ChannelPlan {
    /// The longest IP packet that the route to the other end takes, as far as this machine knows;
    /// nothing is sent. Only of IPv4.
    pub fn path_mtu(&self) -> io::Result<Option<usize>> {
        if self.remote.ip().is_unspecified() {
            return Ok(None);
        }
        let socket = self.connected()?;
        let is_known = self.remote.is_ipv4();
        let mtu = is_known.then(|| getsockopt(&socket, IpMtu)).transpose()?;
        Ok(mtu.and_then(|mtu| usize::try_from(mtu).ok()))
    }

    /// The address from which datagrams go to the other end just now; nothing is sent.
    pub fn source(&self) -> io::Result<IpAddr> {
        if self.remote.ip().is_unspecified() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let local = self.connected()?.local_addr()?.as_socket();
        local
            .map(|local| local.ip().to_canonical())
            .ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// A socket that the kernel has asked for the way.
    fn connected(&self) -> io::Result<Socket> {
        let mut local = self.local;
        local.set_port(0);
        let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        socket.bind(&local.into())?;
        socket.connect(&self.remote.into())?;
        Ok(socket)
    }

    /// What IP and UDP put before a datagram, in bytes.
    pub(crate) const fn header_bytes(&self) -> u32 {
        if self.remote.ip().to_canonical().is_ipv4() { 20 + 8 } else { 40 + 8 }
    }

    /// Whether a socket here sends there.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.local.is_ipv4() && self.remote.is_ipv6() {
            let message = format!("no IPv4 socket sends to {}", self.remote);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(())
    }

    /// A socket that is bound as it says.
    pub fn open(&self, buffers: &BufferPlan) -> io::Result<UdpSocket> {
        self.check()?;
        let domain = Domain::for_address(self.local);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        let bytes = buffers.bytes();
        // As much of it as the machine lets us have.
        socket.set_recv_buffer_size(bytes)?;
        socket.set_send_buffer_size(bytes)?;
        socket.bind(&self.local.into())?;
        Ok(socket.into())
    }
}

/// Says through which interface all is to go, and as what it is routed.
pub(crate) fn place(socket: &Socket, interface: Option<&str>, mark: Option<u32>) -> io::Result<()> {
    if let Some(interface) = interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    mark.map_or(Ok(()), |mark| socket.set_mark(mark))
}

/// How long the buffers of sockets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlan {
    /// What a channel carries at most.
    pub bytes_per_second: u64,
    /// For so long nobody may come to read or the interface to send.
    pub delay: Duration,
    /// No buffer is longer.
    pub bytes_max: usize,
}

impl Default for BufferPlan {
    /// 1 Gbit/s for 20 ms, as late as a process of normal priority has been seen to wake up beside
    /// busy ones; 4 MiB, as a privileged process may have without asking the administrator.
    fn default() -> Self {
        Self { bytes_per_second: 125_000_000, delay: Duration::from_millis(20), bytes_max: 4 << 20 }
    }
}

impl BufferPlan {
    pub(crate) fn bytes(&self) -> usize {
        let bytes = u128::from(self.bytes_per_second) * self.delay.as_nanos() / 1_000_000_000;
        usize::try_from(bytes).unwrap_or(usize::MAX).clamp(BUFFER_BYTES_MIN, self.bytes_max)
    }
}

/// What one run may be.
const BUFFER_BYTES_MIN: usize = 1 << 16;

/// What is taken in a call: at 1 Gbit/s a batch that the kernel has not put together is there every
/// 12 us, so that 16 of them are less than what a wake-up costs. What the kernel puts together is at
/// most an IP packet.
pub(crate) const BATCHES: Batches = Batches { count: 16, bytes: 1 << 16 };

/// A socket that was asked for and not waited for is looked for again after so long.
pub(crate) const SOON: Duration = Duration::from_millis(10);

/// Whether a socket is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// It is: of a channel that begins, or moves.
    Waits,
    /// It is not: where it is not there at once the error is `WouldBlock`, and soon it is asked again.
    /// Packets go on other channels meanwhile.
    Asks,
}

/// Opens the socket of a channel, for a process that may not.
pub struct Opener(Box<dyn Fn(Opening) -> io::Result<OwnedFd> + Send>);

impl Opener {
    /// From what gives a socket as [`ChannelPlan::open`] does, or [`crate::TcpPlan::open`].
    pub fn new(open: impl Fn(Opening) -> io::Result<OwnedFd> + Send + 'static) -> Self {
        Self(Box::new(open))
    }

    pub(crate) fn open(&self, opening: Opening) -> io::Result<OwnedFd> {
        (self.0)(opening)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

/// An open socket.
#[derive(Debug)]
pub(crate) struct ChannelSocket {
    socket: Socket,
    state: UdpSocketState,
    sending: Sending,
}

impl ChannelSocket {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Self> {
        let socket = Socket::from(socket);
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // Nobody asks to which address of ours something came, and `quinn-udp` has no room for that
        // and for the ECN field of what the kernel has put together.
        setsockopt(&socket, Ipv4PacketInfo, &false)?;
        if socket.local_addr()?.is_ipv6() {
            setsockopt(&socket, Ipv6RecvPacketInfo, &false)?;
        }
        let sending = Sending::new(state.max_gso_segments());
        Ok(Self { socket, state, sending })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// How many datagrams may go as one.
    pub(crate) const fn segments_max(&self) -> usize {
        self.sending.segments_max()
    }

    /// Sends datagrams of a length, of which the last may be shorter, to an address in a traffic
    /// class.
    pub(crate) fn send(
        &mut self,
        to: (SocketAddr, u8),
        run: &[u8],
        segment_bytes: usize,
    ) -> io::Result<()> {
        self.sending.send(&self.socket, to, run, segment_bytes)
    }

    /// Takes what has come, as many batches as there are buffers.
    pub(crate) fn receive(
        &self,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> io::Result<usize> {
        self.state.recv(UdpSockRef::from(&self.socket), buffers, metas)
    }

    /// The address that it has.
    pub(crate) fn local(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_what_comes_in_the_delay_but_no_more_than_the_cap() {
        let plan = BufferPlan {
            bytes_per_second: 10_000_000,
            delay: Duration::from_millis(30),
            bytes_max: 1_000_000,
        };
        assert_eq!(plan.bytes(), 300_000);
        assert_eq!(BufferPlan { bytes_per_second: u64::MAX, ..plan }.bytes(), 1_000_000);
        assert_eq!(BufferPlan { delay: Duration::ZERO, ..plan }.bytes(), BUFFER_BYTES_MIN);
    }
}
