//! An established connection.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::libc::MSG_NOSIGNAL;
use socket2::Socket;

use super::frames::{Reading, Writing};
use crate::run::Run;

/// Maximum unsent bytes in TCP's queue: 1 ms at 130 Mbit/s, 13 ms at 10 Mbit/s. The kernel accepts
/// more data once half of them are sent.
const UNSENT_BYTES: u32 = 16_384;
/// Time without acknowledgement before closing: longer than any round-trip time with queueing, but
/// shorter than TCP's retransmission interval after an outage of some seconds.
const STILL: Duration = Duration::from_secs(3);
/// Maximum bytes per read: half a millisecond at 1 Gbit/s.
const READ_BYTES: usize = 1 << 16;

pub(crate) struct Connection {
    stream: Stream,
    remote: SocketAddr,
    reading: Reading,
    writing: Writing,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("socket", &self.stream.0).finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) fn new(socket: Socket, longest_bytes: usize) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        socket.set_tcp_user_timeout(Some(STILL))?;
        let remote = socket.peer_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        let reading = Reading::new(longest_bytes);
        Ok(Self { stream: Stream(socket), remote, reading, writing: Writing::default() })
    }

    pub(super) fn expect_more(&mut self) {
        self.reading.expand(READ_BYTES);
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.0.as_fd()
    }

    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.stream.0.local_addr().ok()?.as_socket()
    }

    pub(super) const fn remote(&self) -> SocketAddr {
        self.remote
    }

    pub(super) fn holds_more(&self) -> bool {
        self.reading.holds_more()
    }

    pub(super) const fn holds_rest(&self) -> bool {
        self.writing.holds_rest()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writing.flush(&mut &self.stream)
    }

    pub(super) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        self.writing.send(&mut &self.stream, run, from)
    }

    pub(super) fn send_one(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.writing.send_one(&mut &self.stream, datagram)
    }

    pub(super) fn has_next(&mut self, may_read: &mut bool) -> io::Result<bool> {
        while !self.reading.has_next()? {
            if !*may_read {
                return Ok(false);
            }
            match self.reading.fill(&mut &self.stream) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((_, may_have_more)) => *may_read = may_have_more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => *may_read = false,
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    pub(super) fn take(&mut self) -> Option<&mut [u8]> {
        self.reading.take()
    }
}

struct Stream(Socket);

impl Read for &Stream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(room)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, MSG_NOSIGNAL)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_vectored_with_flags(slices, MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
