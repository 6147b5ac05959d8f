//! Where connections are heard, and those that have come and not said yet who they are.
//!
//! ```text
//!   listener ──► candidate ── an authentic datagram ──► its channel, whatever that had before
//!                    |
//!                    +── over, too late, too much, one too many: closed
//! ```
//!
//! Invariants: no connection of a channel ends for one that is not authentic; candidates are bounded
//! in number, time and bytes; nobody crowds out who comes from another network.

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

/// So many connections may wait to be authentic; then the oldest of the network that has most goes.
/// One of ours says who it is with its first bytes, so that whoever would crowd it out must open as
/// many within its round trip, and from as many networks: handshakes of TCP tell them.
const CANDIDATES_MAX: usize = 64;
/// For so long they may: several times the second in which the other end says something at least,
/// and a handshake.
const WAIT: Duration = Duration::from_secs(10);
/// And so many datagrams may come on each: those of a handshake, which are three and those of tries
/// before, or what is none of ours, such as what is under a key that one end has forgotten.
const DATAGRAMS_MAX: usize = 64;
/// How often it is asked whether the interface is still there: an end that connects tries again
/// after five seconds at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A socket that listens, and what came of it.
#[derive(Debug)]
pub(crate) struct Listener {
    plan: TcpPlan,
    /// There is none where the interface is gone.
    socket: Option<Socket>,
    acceptor: Acceptor,
    look_at: Instant,
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
    network: u64,
}

impl Listener {
    /// Opens one for the channels that listen where this plan says, if it says so.
    pub(crate) fn open(plan: &TcpPlan, opener: Option<&Opener>) -> io::Result<Option<Self>> {
        let TcpEnd::Listens(_) = plan.end else { return Ok(None) };
        let socket = opener.map_or_else(|| plan.open(), |one| one.open(Opening::Waits))?;
        let (socket, candidates) = (Some(socket.into()), Vec::new());
        let (plan, look_at) = (plan.clone(), Instant::ORIGIN);
        let acceptor = Acceptor::default();
        Ok(Some(Self { plan, socket, acceptor, look_at, channels: 0, candidates }))
    }

    /// Whether it is to have another socket: its interface is gone, and one of that name may have come.
    pub(crate) fn is_lost(&mut self, now: Instant) -> bool {
        if self.look_at().is_none_or(|look_at| now < look_at) {
            return false;
        }
        self.look_at = now.after(LOOK_EVERY);
        // A socket that is bound to an interface which is not there has the name of none.
        self.socket = self.socket.take().filter(|socket| socket.device().is_ok());
        self.socket.is_none()
    }

    /// It hears on this socket from now on.
    pub(crate) fn reopen(&mut self, socket: Socket) {
        self.socket = Some(socket);
    }

    /// When something is due though nothing comes.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.look_at().into_iter().chain(self.acceptor.next_at()).min()
    }

    /// When it wants to be asked whether it is lost.
    fn look_at(&self) -> Option<Instant> {
        self.plan.interface.as_ref().map(|_| self.look_at)
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
        self.socket.as_ref()?.local_addr().ok()?.as_socket()
    }

    /// What becomes readable where a connection comes, or something on one.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let candidates = self.candidates.iter().map(|one| one.connection.as_fd());
        let socket = self.socket.iter().filter(|_| !self.acceptor.rests());
        socket.map(Socket::as_fd).chain(candidates)
    }

    /// Takes the connections that have come. Where this process may have no more sockets, one that
    /// waits makes room.
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

/// Closes the oldest of the network of which most wait, if any do.
fn close_one(candidates: &mut Vec<Candidate>) -> bool {
    let of = |network| candidates.iter().filter(|one| one.network == network).count();
    let crowd = |place: &usize| (of(candidates[*place].network), Reverse(*place));
    let most = (0..candidates.len()).max_by_key(crowd);
    most.map(|place| candidates.remove(place)).is_some()
}

/// What one host has at its will: an address of IPv4, and 64 bits of one of IPv6 (RFC 7934).
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

    /// A connection from 127.0.0.`last`.
    fn stranger(listener: &Listener, last: u8) -> TcpStream {
        let socket = Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.expect("a socket");
        let from = SocketAddr::from(([127, 0, 0, last], 0));
        socket.bind(&from.into()).expect("all of 127 is here");
        let at = listener.local().expect("an address");
        socket.connect(&at.into()).expect("it listens");
        socket.into()
    }

    /// Takes what there is: how many datagrams came.
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

    /// However many one host opens, it crowds out only itself.
    #[test]
    fn who_comes_from_elsewhere_is_not_crowded_out() {
        let (mut listener, now) = (listener(), now());
        let mut ours = stranger(&listener, 2);
        let mut others = Vec::new();
        for _ in 0..3 * CANDIDATES_MAX {
            others.push(stranger(&listener, 1));
            turn(&mut listener, now);
        }
        assert_eq!(listener.candidates.len(), CANDIDATES_MAX);
        let open = others.iter_mut().map(|one| !is_closed(one));
        let open: Vec<_> = open.collect();
        // The youngest of the others wait as well.
        assert!(open.iter().rev().take(CANDIDATES_MAX - 1).all(|is_open| *is_open));
        assert_eq!(open.iter().filter(|is_open| **is_open).count(), CANDIDATES_MAX - 1);
        ours.write_all(&[0, 1, 7]).expect("it is open");
        assert_eq!(turn(&mut listener, now), 1);
    }

    /// One that cannot be taken waits, and nobody is woken for it.
    #[test]
    fn where_no_descriptor_is_left_the_socket_is_not_waited_for() {
        let (mut listener, began) = (listener(), now());
        listener.acceptor.begin(began);
        let refuse = || -> io::Result<()> { Err(nix::errno::Errno::ENFILE.into()) };
        assert_eq!(listener.acceptor.next(began, refuse, || false), None);
        let later = listener.next_at().expect("it is to be asked again");
        assert!(listener.fds().next().is_none() && began < later);
        let _ours = stranger(&listener, 1);
        turn(&mut listener, began);
        assert!(listener.candidates.is_empty());
        turn(&mut listener, later);
        assert_eq!((listener.candidates.len(), listener.next_at()), (1, None));
        assert_eq!(listener.fds().count(), 2);
    }

    /// A byte now and then is no reason to wait longer.
    #[test]
    fn a_datagram_that_never_ends_is_waited_for_as_long_as_none() {
        let (mut listener, began) = (listener(), now());
        let mut streams = [stranger(&listener, 1), stranger(&listener, 1)];
        for second in 0..WAIT.as_secs() {
            streams[0].write_all(if second == 0 { &[1, 0] } else { &[7] }).expect("it is open");
            assert_eq!(turn(&mut listener, began.after(Duration::from_secs(second))), 0);
        }
        assert_eq!(listener.candidates.len(), 2);
        turn(&mut listener, began.after(WAIT));
        assert!(streams.iter_mut().all(is_closed));
    }

    /// Neither datagrams without end nor a length that cannot be.
    #[test]
    fn who_says_too_much_or_nonsense_is_closed() {
        let (mut listener, now) = (listener(), now());
        let mut streams = [stranger(&listener, 1), stranger(&listener, 1)];
        streams[0].write_all(&[0, 1, 7].repeat(2 * DATAGRAMS_MAX)).expect("it is read");
        streams[1].write_all(&[0xff; 9]).expect("it is read");
        assert_eq!(turn(&mut listener, now), DATAGRAMS_MAX);
        assert!(listener.candidates.is_empty());
        assert!(streams.iter_mut().all(is_closed));
    }

    #[test]
    fn a_host_has_an_address_or_half_of_one() {
        let of = |text: &str| network_of(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
