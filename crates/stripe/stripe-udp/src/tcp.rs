//! A channel over a TCP connection: the datagrams that go over UDP, each behind its length.
//!
//! ```text
//!   | length 2 | datagram | length 2 | datagram | ...      length: big-endian, 1 to the longest
//!
//!   [closed] -- the back-off is over --> [connecting] -- writable, no error ---> [open]
//!      ^   <-- an error, or too long ------|                                     |  ^
//!      |   <-- over, or stood still, or no length where one is to be ------------+  |
//!      +---------------------- where this end listens: one was admitted ------------+
//! ```
//!
//! The protocol above is the same. What is under way on a connection that ends is lost, as on any
//! channel that ends; within one nothing is, and nothing overtakes.
//!
//! Two queues of TCP's would stand before the protocol's eyes as delay. What is not sent yet it is
//! told to keep short, so that a link is full where UDP would lose; what is on its way is bounded by
//! the window of the protocol.
//!
//! Source: RFC 4571 (datagrams behind lengths of two bytes); RFC 5482 (user timeout); tcp(7).
//!
//! Invariants: nothing waits for a connection; one on which nothing authentic came changes nothing.

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

/// A connection that is not there after so long is begun anew: three times the other end was asked,
/// at 0, 1 and 3 s (RFC 6298, section 2).
const CONNECT_WAIT: Duration = Duration::from_secs(4);
/// Who says how much is on its way: something that goes back where the queue of the way is full, and
/// does not go on where this end sends less than it might, as it does by the protocol's own window.
/// BBR of Linux, version 1, takes its start for unfinished as long as that holds: it sent a fourth of
/// all bytes twice, and 100 + 300 Mbit/s behind queues of 64 kB carried .22 to .24 of their sum where
/// they carry .97 to .98 now (`docs/concepts/striping-tcp.md`).
const CONGESTION: &[u8] = b"cubic";
/// Connections that the kernel holds until they are taken, each turn; those that are half open it
/// answers with cookies where they are more (`tcp_syncookies`, RFC 4987).
const BACKLOG: i32 = 64;
/// Room for a message, where packets are short.
const MESSAGE_ROOM_BYTES: usize = 512;

/// Where a channel begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpPlan {
    /// Which end of the connection this is.
    pub end: TcpEnd,
    /// The interface that all goes through, if it is to be one.
    pub interface: Option<String>,
    /// By which mark rules of routing and filters tell it from others (`SO_MARK`); it takes
    /// `CAP_NET_ADMIN`.
    pub mark: Option<u32>,
    /// The codepoint of differentiated services of all that goes on it (RFC 2474).
    pub dscp: u8,
    /// The longest packet. What is longer with what stands before it is no datagram of ours.
    pub longest_bytes: u32,
}

/// Who opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpEnd {
    /// The other end: it is heard here. Channels of one address, interface and mark have one socket,
    /// and the header of what comes says which channel it is of.
    Listens(SocketAddr),
    /// This end.
    Connects {
        /// From here; best with port 0, any, since one that was used just now may not be used again.
        local: SocketAddr,
        /// To there.
        remote: SocketAddr,
    },
}

impl TcpPlan {
    /// A socket that is bound as it says, waits for nothing, and listens if it is to. Where CUBIC is
    /// not what all may use it takes `CAP_NET_ADMIN`; connections that come there have it too.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let (TcpEnd::Listens(local) | TcpEnd::Connects { local, .. }) = self.end;
        let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
        place(&socket, self.interface.as_deref(), self.mark)?;
        let class = i32::from(self.dscp << 2);
        // What a socket of IPv6 sends to IPv4 has that of IPv4.
        setsockopt(&socket, Ipv4Tos, &class)?;
        if local.is_ipv6() {
            setsockopt(&socket, Ipv6TClass, &class)?;
        }
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        // Where the kernel has no other it stays.
        let _: io::Result<()> = socket.set_tcp_congestion(CONGESTION);
        socket.bind(&local.into())?;
        if let TcpEnd::Listens(_) = self.end {
            socket.listen(BACKLOG)?;
        }
        Ok(socket.into())
    }

    /// What stands before a datagram that goes in a segment of its own, as the first time it does: the
    /// headers of IP (RFC 791, RFC 8200) and of TCP (RFC 9293) with its timestamps (RFC 7323), and the
    /// length.
    pub(crate) fn wire_bytes(&self) -> u32 {
        let (TcpEnd::Listens(local) | TcpEnd::Connects { local, .. }) = self.end;
        let ip_bytes = if local.is_ipv6() { 40 } else { 20 };
        ip_bytes + 20 + 12 + u32::try_from(LENGTH_BYTES).expect("a length is short")
    }

    /// How long a datagram can be.
    fn datagram_bytes_max(&self) -> usize {
        (self.longest_bytes as usize + OVERHEAD_BYTES_MAX).max(MESSAGE_ROOM_BYTES)
    }
}

/// A channel over TCP: its connection, as long as there is one.
#[derive(Debug)]
pub(crate) struct TcpLink {
    plan: TcpPlan,
    state: State,
    backoff: Backoff,
    opener: Option<Opener>,
}

#[derive(Debug)]
enum State {
    /// Where this end connects it does so then; as soon as it is known how late it is, if not given.
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
    /// One that is closed, and begins to connect when it is asked first. That it can is tried here.
    pub(crate) fn open(plan: TcpPlan, opener: Option<Opener>) -> io::Result<Self> {
        if let TcpEnd::Connects { .. } = plan.end {
            opener.as_ref().map_or_else(|| plan.open(), |one| one.open(Opening::Waits))?;
        }
        let state = State::Closed { again_at: Some(Instant::ORIGIN) };
        Ok(Self { plan, state, backoff: Backoff::default(), opener })
    }

    /// Does what is due; whether a connection has come to be.
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

    /// A socket that is bound, and listens if this end does; `WouldBlock` where it is yet to come.
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
            // Nothing was tried yet.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                State::Closed { again_at: Some(now.after(SOON)) }
            }
            Err(_) => State::Closed { again_at: Some(now.after(self.backoff.next(now))) },
        };
    }

    /// The socket is connected: whether it can be used.
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

    /// It has this connection from now on, with whatever came on it; whether it had another.
    pub(crate) fn adopt(&mut self, mut connection: Connection) -> bool {
        connection.expect_more();
        let before = std::mem::replace(&mut self.state, State::Open(Box::new(connection)));
        matches!(before, State::Open(_))
    }

    /// When something is due though nothing comes.
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

    /// One that is closed, or has been connecting since before something changed, begins now.
    pub(crate) fn look_anew(&mut self, now: Instant) {
        if !matches!(self.state, State::Open(_)) {
            self.backoff = Backoff::default();
            self.state = State::Closed { again_at: Some(now) };
        }
    }

    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.state, State::Connecting { .. })
    }

    /// Whether something that came waits here, and not in the kernel.
    pub(crate) fn holds_more(&self) -> bool {
        matches!(&self.state, State::Open(connection) if connection.holds_more())
    }

    /// Whether a datagram has begun to go.
    pub(crate) fn holds_rest(&self) -> bool {
        matches!(&self.state, State::Open(connection) if connection.holds_rest())
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Open(connection) => Some(connection.as_fd()),
            _ => None,
        }
    }

    /// What becomes writable where a full connection takes more, or where one has come to be.
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

    /// What did not go whole last time goes first, and then of a run from one datagram on; how many
    /// are the connection's now.
    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        let State::Open(connection) = &mut self.state else { return Err(gone()) };
        connection.send(run, from).map_err(told)
    }

    /// Sends one datagram, or what of it does not go just now before all that is sent later.
    pub(crate) fn tell(&mut self, datagram: &[u8]) -> io::Result<()> {
        let State::Open(connection) = &mut self.state else { return Err(gone()) };
        connection.tell(datagram).map_err(told)
    }

    /// What did not go whole goes.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let State::Open(connection) = &mut self.state else { return Ok(()) };
        connection.flush().map_err(told)
    }

    /// Takes what has come, a datagram a buffer. The time is that at which it is read: there is no
    /// other.
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
                // What came before is taken first; an end is told again.
                Err(_) if count > 0 => break,
                Err(error) => return Err(told(error)),
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

    /// Where it is connected to, or from.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match &self.state {
            State::Open(connection) => connection.local(),
            _ => None,
        }
    }

    /// Where the other end of its connection is.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        match &self.state {
            State::Open(connection) => Some(connection.remote()),
            _ => None,
        }
    }

    /// It connects to there from now on.
    pub(crate) fn set_remote(&mut self, to: SocketAddr) {
        if let TcpEnd::Connects { remote, .. } = &mut self.plan.end {
            *remote = to;
            self.state = State::Closed { again_at: Some(Instant::ORIGIN) };
        }
    }
}

/// Whether a socket that connects has done so.
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

/// What an error of a connection means for its channel: it is full, or no more is to be had of it.
fn told(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => full(),
        io::ErrorKind::InvalidData => error,
        _ => gone(),
    }
}
