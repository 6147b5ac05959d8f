//! Where connections are heard, and those that have come and not said yet who they are.
//!
//! ```text
//!   listener ──► candidate ── an authentic datagram ──► its channel, whatever that had before
//!                    |
//!                    +── over, too late, too much, one too many: closed
//! ```
//!
//! Invariants: no connection of a channel ends for one that is not authentic; candidates are bounded
//! in number, time and bytes.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use gingham_stripe::Instant;
use socket2::Socket;

use super::connection::Connection;
use super::{TcpEnd, TcpPlan};

/// So many connections may wait to be authentic; then the oldest goes. One of ours says who it is
/// with its first bytes, so that whoever would crowd it out must open as many within its round trip.
const CANDIDATES_MAX: usize = 64;
/// For so long they may: several times the second in which the other end says something at least,
/// and a handshake.
const WAIT: Duration = Duration::from_secs(10);
/// And so many datagrams may come on each: those of a handshake, which are three and those of tries
/// before, or what is none of ours, such as what is under a key that one end has forgotten.
const DATAGRAMS_MAX: usize = 64;
/// Connections that the kernel holds until they are taken, each turn: as many as candidates.
const BACKLOG: i32 = 64;

/// A socket that listens, and what came of it.
#[derive(Debug)]
pub(crate) struct Listener {
    plan: TcpPlan,
    socket: Socket,
    /// The channels that it is for, a bit each.
    channels: u64,
    /// The oldest first.
    candidates: Vec<Candidate>,
}

#[derive(Debug)]
struct Candidate {
    connection: Connection,
    until: Instant,
    datagrams: usize,
}

impl Listener {
    /// Opens one for the channels that listen where this plan says, if it says so.
    pub(crate) fn open(plan: &TcpPlan) -> io::Result<Option<Self>> {
        let TcpEnd::Listens(_) = plan.end else { return Ok(None) };
        let socket = Socket::from(plan.open()?);
        socket.listen(BACKLOG)?;
        Ok(Some(Self { plan: plan.clone(), socket, channels: 0, candidates: Vec::new() }))
    }

    /// Whether a channel of this plan is heard here.
    pub(crate) fn is_for(&self, plan: &TcpPlan) -> bool {
        *plan == self.plan
    }

    /// A channel is heard here from now on.
    pub(crate) fn add(&mut self, channel: usize) {
        self.channels |= 1 << channel;
    }

    /// One is not any more; whether any is.
    pub(crate) fn remove(&mut self, channel: usize) -> bool {
        self.channels &= !(1 << channel);
        self.channels != 0
    }

    pub(crate) const fn serves(&self, channel: usize) -> bool {
        self.channels & 1 << channel != 0
    }

    /// The channels that are heard here, a bit each.
    pub(crate) const fn channels(&self) -> u64 {
        self.channels
    }

    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()?.as_socket()
    }

    /// What becomes readable where a connection comes, or something on one.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let candidates = self.candidates.iter().map(|one| one.connection.as_fd());
        std::iter::once(self.socket.as_fd()).chain(candidates)
    }

    /// Takes the connections that have come.
    pub(crate) fn accept(&mut self, now: Instant) {
        self.candidates.retain(|one| now < one.until);
        for _ in 0..BACKLOG {
            let Ok((socket, _)) = self.socket.accept() else { break };
            let connection = Connection::new(socket, self.plan.datagram_bytes_max());
            let Ok(connection) = connection else { continue };
            if self.candidates.len() == CANDIDATES_MAX {
                self.candidates.remove(0);
            }
            let until = now.after(WAIT);
            self.candidates.push(Candidate { connection, until, datagrams: 0 });
        }
    }

    /// The next datagram of the candidates from this place on, which moves past those that have none.
    /// Those of which no more is to be had are closed. Where it came from is told too.
    pub(crate) fn next_datagram(&mut self, place: &mut usize) -> Option<(SocketAddr, &mut [u8])> {
        while let Some(candidate) = self.candidates.get_mut(*place) {
            match candidate.connection.has_next(&mut true) {
                Ok(true) => break,
                Ok(false) => *place += 1,
                Err(_) => drop(self.candidates.remove(*place)),
            }
        }
        let connection = &mut self.candidates.get_mut(*place)?.connection;
        let from = connection.remote();
        Some((from, connection.take()?))
    }

    /// What was taken there last does not say whose it is; this is answered, if it is anything. A
    /// candidate that does not take the answer at once is closed.
    pub(crate) fn keep(&mut self, place: usize, reply: &[u8]) {
        let Some(candidate) = self.candidates.get_mut(place) else { return };
        candidate.datagrams += 1;
        let is_told = reply.is_empty() || candidate.connection.tell(reply).is_ok();
        if candidate.datagrams == DATAGRAMS_MAX || !is_told || candidate.connection.holds_rest() {
            self.candidates.remove(place);
        }
    }

    /// What was taken there last says whose it is.
    pub(crate) fn admit(&mut self, place: usize) -> Connection {
        self.candidates.remove(place).connection
    }
}
