//! A channel over TCP: datagrams as over UDP, each preceded by its length.
//!
//! ```text
//!   | length 2 | datagram | length 2 | datagram | ...      length: big-endian, from 1 to the maximum
//!
//!   [closed] -- backoff expired -------> [connecting] -- writable, no error ---> [open]
//!      ^   <-- error, or timeout ----------|                                     |  ^
//!      |   <-- closed, stalled, or invalid length -------------------------------+  |
//!      +---------------------- listening end: a connection was admitted ------------+
//! ```
//!
//! Datagrams in flight are lost when a connection ends; within a connection, no datagram is lost or
//! reordered.
//!
//! TCP's queues add delay, which the protocol would attribute to the path. A socket option limits
//! the queue of unsent bytes, and the protocol's window limits the bytes in flight.
//!
//! Source: RFC 4571 (datagrams with a two-byte length); RFC 5482 (user timeout); tcp(7).
//!
//! Invariants: no operation blocks; a connection without authentic datagrams changes nothing.

mod backoff;
mod connection;
mod frames;
mod listener;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Ipv4Tos, Ipv6TClass};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::{full, gone};
use crate::framing::OVERHEAD_BYTES_MAX;
use crate::link::{Arrival, Batches};
use crate::run::Run;
use crate::socket::{Opener, Opening, SOON, place};

use backoff::Backoff;
use frames::{FRAMES, LENGTH_BYTES};

pub(crate) use connection::Connection;
pub(crate) use listener::Listener;

/// Maximum time for connecting: three attempts, at 0, 1 and 3 s (RFC 6298, section 2).
const CONNECT_WAIT: Duration = Duration::from_secs(4);
/// TCP's congestion control. It must back off when the path's queue is full, and stop probing when
/// the protocol's window is the limit. Linux BBR version 1 does not leave startup in that case: it
/// sent a quarter of all bytes twice, and 100 + 300 Mbit/s with queues of 64 kB carried 0.22 to
/// 0.24 of the total rate instead of 0.97 to 0.98 (`docs/concepts/striping-tcp.md`).
const CONGESTION: &[u8] = b"cubic";
/// Length of the kernel's accept queue; beyond it, SYN cookies are used (`tcp_syncookies`, RFC
/// 4987).
const BACKLOG: i32 = 64;
const MESSAGE_ROOM_BYTES: usize = 512;

/// Parameters of a channel over TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpPlan {
    /// Listening or connecting role.
    pub end: TcpEnd,
    /// Interface for all traffic; `None` follows the routing table.
    pub interface: Option<String>,
    /// Mark for routing and filter rules (`SO_MARK`); requires `CAP_NET_ADMIN`.
    pub mark: Option<u32>,
    /// DSCP (RFC 2474).
    pub dscp: u8,
    /// Longest packet in bytes; datagrams longer than this plus the overhead are invalid.
    pub longest_bytes: u32,
}

/// Listening or connecting role of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpEnd {
    /// Listens at this address. Channels with the same address, interface and mark share a socket.
    Listens(SocketAddr),
    /// Connects to the listening end.
    Connects {
        /// Local address, preferably with port 0, because a recently used port may be unavailable.
        local: SocketAddr,
        /// Address of the listening end.
        remote: SocketAddr,
    },
}

impl TcpPlan {
    /// Opens and binds a non-blocking socket, and listens in the listening role. Selecting CUBIC
    /// may require `CAP_NET_ADMIN`; accepted connections inherit the setting.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let (TcpEnd::Listens(local) | TcpEnd::Connects { local, .. }) = self.end;
        let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        let class = i32::from(self.dscp << 2);
        setsockopt(&socket, Ipv4Tos, &class)?;
        if local.is_ipv6() {
            setsockopt(&socket, Ipv6TClass, &class)?;
        }
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        // Keeps the default congestion control if the kernel lacks CUBIC.
        let _: io::Result<()> = socket.set_tcp_congestion(CONGESTION);
        socket.bind(&local.into())?;
        if let TcpEnd::Listens(_) = self.end {
            socket.listen(BACKLOG)?;
        }
        Ok(socket.into())
    }

    /// Returns the header length in bytes of a datagram that fills a separate segment: IP (RFC 791,
    /// RFC 8200), TCP (RFC 9293) with timestamps (RFC 7323), and the length field.
    pub(crate) fn wire_bytes(&self) -> u32 {
        let (TcpEnd::Listens(local) | TcpEnd::Connects { local, .. }) = self.end;
        let ip_bytes = if local.is_ipv6() { 40 } else { 20 };
        ip_bytes + 20 + 12 + u32::try_from(LENGTH_BYTES).expect("a length is short")
    }

    fn datagram_bytes_max(&self) -> usize {
        (self.longest_bytes as usize + OVERHEAD_BYTES_MAX).max(MESSAGE_ROOM_BYTES)
    }
}

#[derive(Debug)]
pub(crate) struct TcpLink {
    plan: TcpPlan,
    state: State,
    backoff: Backoff,
    opener: Option<Opener>,
}

#[derive(Debug)]
enum State {
    /// Closed until the next connection attempt; `again_at` is `None` until the current time is
    /// known.
    Closed {
        again_at: Option<Instant>,
    },
    Connecting {
        socket: Socket,
        until: Instant,
    },
    Open(Box<Connection>),
}

impl TcpLink {
    pub(crate) fn open(plan: TcpPlan, opener: Option<Opener>) -> io::Result<Self> {
        if let TcpEnd::Connects { .. } = plan.end {
            opener.as_ref().map_or_else(|| plan.open(), |one| one.open(Opening::Waits))?;
        }
        let state = State::Closed { again_at: Some(Instant::ORIGIN) };
        Ok(Self { plan, state, backoff: Backoff::default(), opener })
    }

    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        match &mut self.state {
            State::Open(_) => return false,
            State::Closed { again_at } => {
                let TcpEnd::Connects { remote, .. } = self.plan.end else { return false };
                let at = *again_at.get_or_insert_with(|| now.after(self.backoff.next(now)));
                if at <= now {
                    self.begin(now, remote);
                }
            }
            State::Connecting { socket, until } => match is_connected(socket) {
                Ok(false) if now < *until => {}
                Ok(true) => return self.use_connection(now),
                _ => self.close(),
            },
        }
        false
    }

    pub(crate) fn socket(&self) -> io::Result<Socket> {
        let by = self.opener.as_ref();
        let socket = by.map_or_else(|| self.plan.open(), |one| one.open(Opening::Asks));
        socket.map(Socket::from)
    }

    fn begin(&mut self, now: Instant, remote: SocketAddr) {
        let begun = self.socket().and_then(|socket| match socket.connect(&remote.into()) {
            Err(error) if error.raw_os_error() != Some(Errno::EINPROGRESS as i32) => Err(error),
            _ => Ok(socket),
        });
        self.state = match begun {
            Ok(socket) => State::Connecting { socket, until: now.after(CONNECT_WAIT) },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                State::Closed { again_at: Some(now.after(SOON)) }
            }
            Err(_) => State::Closed { again_at: Some(now.after(self.backoff.next(now))) },
        };
    }

    fn use_connection(&mut self, now: Instant) -> bool {
        let again_at = Some(now.after(self.backoff.next(now)));
        let before = std::mem::replace(&mut self.state, State::Closed { again_at });
        let State::Connecting { socket, .. } = before else { return false };
        let Ok(connection) = Connection::new(socket, self.plan.datagram_bytes_max()) else {
            return false;
        };
        self.adopt(connection);
        true
    }

    pub(crate) fn adopt(&mut self, mut connection: Connection) -> bool {
        connection.expect_more();
        let before = std::mem::replace(&mut self.state, State::Open(Box::new(connection)));
        matches!(before, State::Open(_))
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        match (&self.state, self.plan.end) {
            (State::Closed { again_at }, TcpEnd::Connects { .. }) => {
                Some(again_at.unwrap_or(Instant::ORIGIN))
            }
            (State::Connecting { until, .. }, _) => Some(*until),
            _ => None,
        }
    }

    pub(crate) fn close(&mut self) {
        self.state = State::Closed { again_at: None };
    }

    pub(crate) fn on_network_change(&mut self, now: Instant) {
        if !matches!(self.state, State::Open(_)) {
            self.backoff = Backoff::default();
            self.state = State::Closed { again_at: Some(now) };
        }
    }

    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.state, State::Connecting { .. })
    }

    pub(crate) fn holds_more(&self) -> bool {
        matches!(&self.state, State::Open(connection) if connection.holds_more())
    }

    pub(crate) fn holds_rest(&self) -> bool {
        matches!(&self.state, State::Open(connection) if connection.holds_rest())
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Open(connection) => Some(connection.as_fd()),
            _ => None,
        }
    }

    pub(crate) fn full_fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Closed { .. } => None,
            State::Connecting { socket, .. } => Some(socket.as_fd()),
            State::Open(connection) => Some(connection.as_fd()),
        }
    }

    pub(crate) fn batches(&self) -> Batches {
        Batches { count: FRAMES, bytes: self.plan.datagram_bytes_max() }
    }

    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        let State::Open(connection) = &mut self.state else { return Err(gone()) };
        connection.send(run, from).map_err(translated)
    }

    pub(crate) fn send_one(&mut self, datagram: &[u8]) -> io::Result<()> {
        let State::Open(connection) = &mut self.state else { return Err(gone()) };
        connection.send_one(datagram).map_err(translated)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let State::Open(connection) = &mut self.state else { return Ok(()) };
        connection.flush().map_err(translated)
    }

    /// Receives datagrams; TCP has no kernel timestamps, so the time of reading counts.
    pub(crate) fn receive(
        &mut self,
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        let longest_bytes = self.plan.datagram_bytes_max();
        let State::Open(connection) = &mut self.state else { return Err(gone()) };
        let from = Some(connection.remote());
        let (mut count, mut may_read) = (0, true);
        for (place, arrival) in bytes.chunks_mut(longest_bytes).zip(arrivals) {
            match connection.has_next(&mut may_read) {
                Ok(_) => {}
                Err(_) if count > 0 => break,
                Err(error) => return Err(translated(error)),
            }
            let Some(datagram) = connection.take() else { break };
            let bytes = datagram.len();
            place[..bytes].copy_from_slice(datagram);
            *arrival = Arrival { bytes, stride: bytes, is_ours: true, from, ..Arrival::default() };
            count += 1;
        }
        if count > 0 {
            self.backoff = Backoff::default();
        }
        Ok(count)
    }

    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match &self.state {
            State::Open(connection) => connection.local(),
            _ => None,
        }
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match &self.state {
            State::Open(connection) => Some(connection.remote()),
            _ => None,
        }
    }

    pub(crate) fn set_remote(&mut self, to: SocketAddr) {
        if let TcpEnd::Connects { remote, .. } = &mut self.plan.end {
            *remote = to;
            self.state = State::Closed { again_at: Some(Instant::ORIGIN) };
        }
    }
}

fn is_connected(socket: &Socket) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(Errno::ENOTCONN as i32) => Ok(false),
        Err(error) => Err(error),
    }
}

fn translated(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => full(),
        io::ErrorKind::InvalidData => error,
        _ => gone(),
    }
}
