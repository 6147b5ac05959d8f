//! Listening sockets, and unauthenticated connections (candidates).
//!
//! Invariants: an unauthenticated connection never ends a channel's connection; candidates are
//! bounded in number, time and bytes; a host cannot displace candidates of another network.

use std::cmp::Reverse;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use gingham_stripe::Instant;
use socket2::Socket;

use super::connection::Connection;
use super::{TcpEnd, TcpPlan};
use crate::acceptor::Acceptor;
use crate::socket::{Opener, Opening};

/// Maximum number of candidates. Above it, the oldest candidate of the network with the most
/// candidates is closed. Displacing a genuine peer thus takes 64 connections from 64 networks
/// within the peer's round-trip time.
const CANDIDATES_MAX: usize = 64;
/// Time limit for authentication: several times the maximum send interval of 1 s, plus the duration
/// of a handshake.
const WAIT: Duration = Duration::from_secs(10);
/// Maximum datagrams per candidate: three for a handshake, those of earlier attempts, and datagrams
/// that cannot be authenticated, for example because their key was forgotten.
const DATAGRAMS_MAX: usize = 64;
/// Interval between checks that the interface exists, shorter than the longest retry pause of
/// connecting ends.
const CHECK_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Listener {
    plan: TcpPlan,
    socket: Option<Socket>,
    acceptor: Acceptor,
    check_at: Instant,
    channels: u64,
    candidates: Vec<Candidate>,
}

#[derive(Debug)]
struct Candidate {
    connection: Connection,
    until: Instant,
    datagrams: usize,
    network: u64,
}

impl Listener {
    pub(crate) fn open(plan: &TcpPlan, opener: Option<&Opener>) -> io::Result<Option<Self>> {
        let TcpEnd::Listens(_) = plan.end else { return Ok(None) };
        let socket = opener.map_or_else(|| plan.open(), |one| one.open(Opening::Waits))?;
        let (socket, candidates) = (Some(socket.into()), Vec::new());
        let (plan, check_at) = (plan.clone(), Instant::ORIGIN);
        let acceptor = Acceptor::default();
        Ok(Some(Self { plan, socket, acceptor, check_at, channels: 0, candidates }))
    }

    /// Returns whether the interface was removed; a new interface of the same name may exist.
    pub(crate) fn is_lost(&mut self, now: Instant) -> bool {
        if self.check_at().is_none_or(|check_at| now < check_at) {
            return false;
        }
        self.check_at = now.after(CHECK_EVERY);
        self.socket = self.socket.take().filter(|socket| socket.device().is_ok());
        self.socket.is_none()
    }

    pub(crate) fn reopen(&mut self, socket: Socket) {
        self.socket = Some(socket);
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.check_at().into_iter().chain(self.acceptor.next_at()).min()
    }

    fn check_at(&self) -> Option<Instant> {
        self.plan.interface.as_ref().map(|_| self.check_at)
    }

    pub(crate) fn is_for(&self, plan: &TcpPlan) -> bool {
        *plan == self.plan
    }

    pub(crate) fn add(&mut self, channel: usize) {
        self.channels |= 1 << channel;
    }

    pub(crate) fn remove(&mut self, channel: usize) -> bool {
        self.channels &= !(1 << channel);
        self.channels != 0
    }

    pub(crate) const fn serves(&self, channel: usize) -> bool {
        self.channels & 1 << channel != 0
    }

    pub(crate) const fn channels(&self) -> u64 {
        self.channels
    }

    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.socket.as_ref()?.local_addr().ok()?.as_socket()
    }

    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let candidates = self.candidates.iter().map(|one| one.connection.as_fd());
        let socket = self.socket.iter().filter(|_| !self.acceptor.rests());
        socket.map(Socket::as_fd).chain(candidates)
    }

    pub(crate) fn accept(&mut self, now: Instant) {
        let Self { socket, acceptor, candidates, .. } = self;
        candidates.retain(|one| now < one.until);
        let Some(socket) = socket else { return };
        acceptor.begin(now);
        while let Some((came, _)) = acceptor.next(now, || socket.accept(), || close_one(candidates))
        {
            if candidates.len() == CANDIDATES_MAX {
                close_one(candidates);
            }
            let connection = Connection::new(came, self.plan.datagram_bytes_max());
            let Ok(connection) = connection else { continue };
            let (until, network) = (now.after(WAIT), network_of(connection.remote().ip()));
            candidates.push(Candidate { connection, until, datagrams: 0, network });
        }
    }

    /// Returns the next datagram and its source, starting with the candidate at index `place`;
    /// `place` advances past candidates without a datagram.
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

    pub(crate) fn keep(&mut self, place: usize, reply: &[u8]) {
        let Some(candidate) = self.candidates.get_mut(place) else { return };
        candidate.datagrams += 1;
        let is_sent = reply.is_empty() || candidate.connection.send_one(reply).is_ok();
        if candidate.datagrams == DATAGRAMS_MAX || !is_sent || candidate.connection.holds_rest() {
            self.candidates.remove(place);
        }
    }

    pub(crate) fn admit(&mut self, place: usize) -> Connection {
        self.candidates.remove(place).connection
    }
}

fn close_one(candidates: &mut Vec<Candidate>) -> bool {
    let of = |network| candidates.iter().filter(|one| one.network == network).count();
    let crowd = |place: &usize| (of(candidates[*place].network), Reverse(*place));
    let most = (0..candidates.len()).max_by_key(crowd);
    most.map(|place| candidates.remove(place)).is_some()
}

/// Returns the address range that a single host may control: an IPv4 address, or the upper 64 bits
/// of an IPv6 address (RFC 7934).
fn network_of(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    use super::*;
    use crate::clock::now;

    fn listener() -> Listener {
        let end = TcpEnd::Listens((Ipv4Addr::LOCALHOST, 0).into());
        let plan = TcpPlan { end, interface: None, mark: None, dscp: 0, longest_bytes: 1_400 };
        Listener::open(&plan, None).expect("a socket").expect("it listens")
    }

    fn connect_from(listener: &Listener, last: u8) -> TcpStream {
        let socket = Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.expect("a socket");
        let from = SocketAddr::from(([127, 0, 0, last], 0));
        socket.bind(&from.into()).expect("all of 127 is here");
        let at = listener.local().expect("an address");
        socket.connect(&at.into()).expect("it listens");
        socket.into()
    }

    fn turn(listener: &mut Listener, now: Instant) -> usize {
        listener.accept(now);
        let (mut place, mut count) = (0, 0);
        while listener.next_datagram(&mut place).is_some() {
            listener.keep(place, &[]);
            count += 1;
        }
        count
    }

    fn is_closed(stream: &mut TcpStream) -> bool {
        stream.set_nonblocking(true).expect("a socket");
        !matches!(stream.read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    #[test]
    fn one_host_cannot_crowd_out_others() {
        let (mut listener, now) = (listener(), now());
        let mut ours = connect_from(&listener, 2);
        let mut others = Vec::new();
        for _ in 0..3 * CANDIDATES_MAX {
            others.push(connect_from(&listener, 1));
            turn(&mut listener, now);
        }
        assert_eq!(listener.candidates.len(), CANDIDATES_MAX);
        let open = others.iter_mut().map(|one| !is_closed(one));
        let open: Vec<_> = open.collect();
        assert!(open.iter().rev().take(CANDIDATES_MAX - 1).all(|is_open| *is_open));
        assert_eq!(open.iter().filter(|is_open| **is_open).count(), CANDIDATES_MAX - 1);
        ours.write_all(&[0, 1, 7]).expect("it is open");
        assert_eq!(turn(&mut listener, now), 1);
    }

    #[test]
    fn socket_is_not_polled_while_descriptors_are_exhausted() {
        let (mut listener, began) = (listener(), now());
        listener.acceptor.begin(began);
        let refuse = || -> io::Result<()> { Err(nix::errno::Errno::ENFILE.into()) };
        assert_eq!(listener.acceptor.next(began, refuse, || false), None);
        let later = listener.next_at().expect("it is to be asked again");
        assert!(listener.fds().next().is_none() && began < later);
        let _ours = connect_from(&listener, 1);
        turn(&mut listener, began);
        assert!(listener.candidates.is_empty());
        turn(&mut listener, later);
        assert_eq!((listener.candidates.len(), listener.next_at()), (1, None));
        assert_eq!(listener.fds().count(), 2);
    }

    #[test]
    fn incomplete_datagram_does_not_extend_the_time_limit() {
        let (mut listener, began) = (listener(), now());
        let mut streams = [connect_from(&listener, 1), connect_from(&listener, 1)];
        for second in 0..WAIT.as_secs() {
            streams[0].write_all(if second == 0 { &[1, 0] } else { &[7] }).expect("it is open");
            assert_eq!(turn(&mut listener, began.after(Duration::from_secs(second))), 0);
        }
        assert_eq!(listener.candidates.len(), 2);
        turn(&mut listener, began.after(WAIT));
        assert!(streams.iter_mut().all(is_closed));
    }

    #[test]
    fn excess_or_invalid_datagrams_close_the_connection() {
        let (mut listener, now) = (listener(), now());
        let mut streams = [connect_from(&listener, 1), connect_from(&listener, 1)];
        streams[0].write_all(&[0, 1, 7].repeat(2 * DATAGRAMS_MAX)).expect("it is read");
        streams[1].write_all(&[0xff; 9]).expect("it is read");
        assert_eq!(turn(&mut listener, now), DATAGRAMS_MAX);
        assert!(listener.candidates.is_empty());
        assert!(streams.iter_mut().all(is_closed));
    }

    #[test]
    fn host_is_an_ipv4_address_or_an_ipv6_64_prefix() {
        let of = |text: &str| network_of(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
