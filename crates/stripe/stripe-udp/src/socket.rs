//! UDP sockets with batches in both directions.
//!
//! A call sends a whole run (`UDP_SEGMENT`), and receives several batches (`recvmmsg`) of datagrams
//! coalesced by the kernel (`UDP_GRO`).
//!
//! Datagrams are never fragmented (`IP_PMTUDISC_PROBE`, set by `quinn-udp`). The kernel rejects
//! datagrams longer than the interface's MTU; the network drops datagrams longer than the path MTU.
//! ICMP messages, which can be forged, are ignored.
//!
//! Sockets are not connected, because peers may change their address.

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

/// Parameters of a channel over UDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPlan {
    /// Local address, possibly unspecified.
    pub local: SocketAddr,
    /// Interface for all traffic; `None` follows the routing table.
    pub interface: Option<String>,
    /// Mark for routing and filter rules (`SO_MARK`); requires `CAP_NET_ADMIN`.
    pub mark: Option<u32>,
    /// Address of the other end; if unspecified, it is learned.
    pub remote: SocketAddr,
}

impl ChannelPlan {
    /// Returns the MTU of the route in bytes, if known to the kernel; only for IPv4.
    pub fn path_mtu(&self) -> io::Result<Option<usize>> {
        if self.remote.ip().is_unspecified() {
            return Ok(None);
        }
        let socket = self.connected()?;
        let is_known = self.remote.is_ipv4();
        let mtu = is_known.then(|| getsockopt(&socket, IpMtu)).transpose()?;
        Ok(mtu.and_then(|mtu| usize::try_from(mtu).ok()))
    }

    /// Returns the source address of datagrams to the other end.
    pub fn source(&self) -> io::Result<IpAddr> {
        if self.remote.ip().is_unspecified() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let local = self.connected()?.local_addr()?.as_socket();
        local
            .map(|local| local.ip().to_canonical())
            .ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn connected(&self) -> io::Result<Socket> {
        let mut local = self.local;
        local.set_port(0);
        let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        socket.bind(&local.into())?;
        socket.connect(&self.remote.into())?;
        Ok(socket)
    }

    pub(crate) const fn header_bytes(&self) -> u32 {
        if self.remote.ip().to_canonical().is_ipv4() { 20 + 8 } else { 40 + 8 }
    }

    pub(crate) fn check(&self) -> io::Result<()> {
        if self.local.is_ipv4() && self.remote.is_ipv6() {
            let message = format!("no IPv4 socket sends to {}", self.remote);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(())
    }

    /// Opens and binds a socket.
    pub fn open(&self, buffers: &BufferPlan) -> io::Result<UdpSocket> {
        self.check()?;
        let domain = Domain::for_address(self.local);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        let bytes = buffers.bytes();
        socket.set_recv_buffer_size(bytes)?;
        socket.set_send_buffer_size(bytes)?;
        socket.bind(&self.local.into())?;
        Ok(socket.into())
    }
}

pub(crate) fn place(socket: &Socket, interface: Option<&str>, mark: Option<u32>) -> io::Result<()> {
    if let Some(interface) = interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    mark.map_or(Ok(()), |mark| socket.set_mark(mark))
}

/// Parameters that determine the socket buffer sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlan {
    /// Maximum data rate in bytes per second.
    pub bytes_per_second: u64,
    /// Maximum delay of this process before it reads or sends.
    pub delay: Duration,
    /// Maximum buffer size in bytes.
    pub bytes_max: usize,
}

impl Default for BufferPlan {
    /// Returns buffers for 1 Gbit/s and 20 ms, the longest wake-up delay observed on a busy
    /// machine. The maximum of 4 MiB is available to privileged processes without configuration.
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

const BUFFER_BYTES_MIN: usize = 1 << 16;

/// Size of receive batches. At 1 Gbit/s, an uncoalesced datagram arrives every 12 us; 16 datagrams
/// arrive in less time than a wake-up takes. A coalesced batch is at most as long as an IP packet.
pub(crate) const BATCHES: Batches = Batches { count: 16, bytes: 1 << 16 };

pub(crate) const SOON: Duration = Duration::from_millis(10);

/// Behaviour of a socket supplier while no socket is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// Blocks, for a channel that is added or moved.
    Waits,
    /// Returns `WouldBlock`; the caller retries after `SOON`.
    Asks,
}

/// Socket supplier for an unprivileged process.
pub struct Opener(Box<dyn Fn(Opening) -> io::Result<OwnedFd> + Send>);

impl Opener {
    /// Creates a supplier from a function that returns sockets like [`ChannelPlan::open`] or
    /// [`crate::TcpPlan::open`].
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
        // `quinn-udp` has too little control buffer space for the packet information and the ECN
        // field of a coalesced batch.
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

    pub(crate) const fn segments_max(&self) -> usize {
        self.sending.segments_max()
    }

    pub(crate) fn send(
        &mut self,
        to: (SocketAddr, u8),
        run: &[u8],
        segment_bytes: usize,
    ) -> io::Result<()> {
        self.sending.send(&self.socket, to, run, segment_bytes)
    }

    pub(crate) fn receive(
        &self,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> io::Result<usize> {
        self.state.recv(UdpSockRef::from(&self.socket), buffers, metas)
    }

    pub(crate) fn local(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_size_is_rate_times_delay_within_bounds() {
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
