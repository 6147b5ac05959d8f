//! Many peers of one server over loopback, on shared ports.
#![cfg(target_os = "linux")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use gingham_stripe::Epoch;
use gingham_stripe_crypt::{
    Discard, Peer, PeerPlan, PrivateKey, PublicKey, Sender, Times, is_handshake,
};
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Ends, OpenError, Source, Sources, now};

/// Far longer than needed, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(100);
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
const PACKET_BYTES: usize = 1_000;

#[derive(Default)]
struct Numbers {
    next: u64,
    left: u64,
}

impl Source for Numbers {
    fn next_bytes(&mut self) -> Option<usize> {
        (self.left > 0).then_some(PACKET_BYTES)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        let end = buffer.len() + PACKET_BYTES;
        buffer.extend(self.next.to_be_bytes());
        buffer.resize(end, 0);
        (self.next, self.left) = (self.next + 1, self.left - 1);
    }
}

struct Each(Vec<Numbers>);

impl Sources for Each {
    type One = Numbers;
    fn of(&mut self, end: usize) -> &mut Numbers {
        &mut self.0[end]
    }
}

fn plan(private: &PrivateKey, peer: PublicKey) -> EndPlan {
    let times = Times::default();
    let peer = PeerPlan { private: private.clone(), peer, preshared: None, times };
    let mut plan = EndPlan { peer: Some(peer), ..EndPlan::free(1_400) };
    plan.striping = plan.striping.repaired();
    plan
}

fn channel(local: SocketAddr, remote: SocketAddr) -> ChannelPlan {
    ChannelPlan { local, interface: None, mark: None, remote }
}

fn any() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

struct World {
    server: Ends,
    sources: Each,
    clients: Vec<(End, Numbers)>,
    keys: Vec<PrivateKey>,
    server_key: PrivateKey,
    port: SocketAddr,
    came: [Vec<Vec<u64>>; 2],
}

impl World {
    fn new(clients: usize) -> Self {
        let server_key = PrivateKey::random().expect("randomness");
        let keys: Vec<_> =
            (0..clients).map(|_| PrivateKey::random().expect("randomness")).collect();
        let mut server = Ends::new(Some(&server_key), Duration::ZERO).expect("a server");
        // A port that is currently free.
        let port = UdpSocket::bind(any()).and_then(|socket| socket.local_addr());
        let port = port.expect("a port");
        for (number, key) in keys.iter().enumerate() {
            let channels = vec![channel(port, NOWHERE); 2];
            let plan = plan(&server_key, key.public());
            let added = server.add(&plan, channels, Epoch::new(1));
            assert_eq!(added.expect("an end"), number);
        }
        let mut world = Self {
            server,
            sources: Each((0..clients).map(|_| Numbers::default()).collect()),
            clients: Vec::new(),
            keys,
            server_key,
            port,
            came: [vec![Vec::new(); clients], vec![Vec::new(); clients]],
        };
        world.clients = (0..clients).map(|number| world.client(number)).collect();
        world
    }

    fn client(&self, number: usize) -> (End, Numbers) {
        let channels = vec![channel(any(), self.port); 2];
        let plan = plan(&self.keys[number], self.server_key.public());
        (End::open(&plan, channels, Epoch::new(1)).expect("an end"), Numbers::default())
    }

    fn step(&mut self) {
        self.step_of(&(0..self.clients.len()).collect::<Vec<_>>());
    }

    /// `ends` maps clients to ends of the server.
    fn step_of(&mut self, ends: &[usize]) {
        let Self { server, sources, clients, came: [at_server, at_clients], .. } = self;
        let number = |bytes: &[u8]| u64::from_be_bytes(*bytes.first_chunk().expect("a number"));
        for ((end, source), came) in clients.iter_mut().zip(at_clients) {
            end.receive();
            came.extend(std::iter::from_fn(|| end.next_packet()).map(|one| number(&one.bytes)));
            end.transmit(source);
        }
        server.receive();
        while let Some((end, packet)) = server.next_packet() {
            let client = ends.iter().position(|one| *one == end).expect("a client");
            at_server[client].push(number(&packet.bytes));
        }
        (0..sources.0.len())
            .filter(|end| sources.0[*end].left > 0)
            .for_each(|end| server.touch(end));
        server.transmit(sources);
        server.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let ends_at = now().after(TIMEOUT);
        while !is_so(self) {
            assert!(now() < ends_at, "{what}: {:?}", self.server.unauthenticated());
            self.step();
        }
    }

    fn exchange(&mut self, clients: &[usize], packets: u64) {
        let before = self.came.clone();
        for client in clients {
            self.sources.0[*client].left += packets;
            self.clients[*client].1.left += packets;
        }
        self.until("packets", |world| {
            clients.iter().all(|client| {
                let grew =
                    |side: usize| world.came[side][*client].len() - before[side][*client].len();
                grew(0).min(grew(1)) as u64 >= packets
            })
        });
        for came in self.came.iter().flatten() {
            assert!(came.is_sorted_by(|one, next| one < next), "{came:?}");
        }
    }

    fn moved(&self, end: usize) -> u64 {
        let end = self.server.end(end).expect("it is there");
        (0..2).map(|channel| end.counts(channel).moved).sum()
    }
}

#[test]
fn peers_have_separate_pipes_over_one_port() {
    let mut world = World::new(3);
    world.exchange(&[0, 1, 2], 500);
    for end in 0..3 {
        assert!(world.came[0][end].iter().copied().eq(0..500), "{end}");
        assert!(world.came[1][end].iter().copied().eq(0..500), "{end}");
        let end = world.server.end(end).expect("it is there");
        let counts = end.handshakes().expect("keys");
        assert_eq!(counts.sessions, 1);
        assert_eq!([0, 1].map(|channel| end.counts(channel).moved), [1, 1]);
        assert_eq!(end.local(0), end.local(1));
    }
    assert_eq!(world.server.unauthenticated().discards.total(), 0);
}

/// The source port changes between two datagrams, as behind a NAT that lost its state.
#[test]
fn moved_client_is_found_by_its_keys() {
    let mut world = World::new(3);
    world.exchange(&[0, 1, 2], 100);
    let (before, port) = (world.moved(1), world.port);
    for channel in 0..2 {
        let plan = self::channel(any(), port);
        world.clients[1].0.move_channel(channel, plan).expect("a socket");
    }
    world.exchange(&[0, 1, 2], 100);
    world.until("both channels", |world| world.moved(1) >= before + 2);
    assert!(world.server.unauthenticated().found >= 2);
    assert_eq!(world.server.end(1).and_then(End::handshakes).expect("keys").sessions, 1);
    assert_eq!([0, 2].map(|end| world.moved(end)), [2, 2]);
}

/// A NAT reassigns an address: after a datagram that is not the first client's, others' keys are
/// tried as well.
#[test]
fn reassigned_address_passes_to_its_new_client() {
    let mut world = World::new(3);
    world.exchange(&[0, 1, 2], 100);
    let sources = [0, 1].map(|channel| world.clients[0].0.local(channel).expect("a socket"));
    // The second client has taken over the address of one of the first's channels.
    let (gone, _) = world.clients.remove(0);
    drop(gone);
    world.came[0].remove(0);
    world.came[1].remove(0);
    let plan = channel(sources[0], world.port);
    world.clients[0].0.move_channel(0, plan).expect("a socket");
    let before = world.server.end(1).map(|end| end.counts(0).moved);
    let ends_at = now().after(TIMEOUT);
    while world.server.end(1).map(|end| end.counts(0).moved) == before {
        assert!(now() < ends_at, "{:?}", world.server.unauthenticated());
        world.clients[0].1.left += 1;
        world.step_of(&[1, 2]);
    }
    assert_eq!(world.server.end(1).and_then(End::handshakes).expect("keys").sessions, 1);
}

#[test]
fn restarted_client_does_not_disturb_others() {
    let mut world = World::new(3);
    world.exchange(&[0, 1, 2], 100);
    world.clients[1] = world.client(1);
    world.came[1][1].clear();
    world.clients[1].1.next = 1_000;
    world.exchange(&[0, 2], 100);
    world.until("a session", |world| {
        world.server.end(1).and_then(End::handshakes).is_some_and(|one| one.sessions == 2)
    });
    world.exchange(&[0, 1, 2], 100);
    for end in [0, 2] {
        assert!(world.came[0][end].iter().copied().eq(0..300), "{end}");
        let end = world.server.end(end).expect("it is there");
        assert_eq!((end.sending().resets, end.reception().given_up), (0, 0));
    }
}

#[test]
fn garbage_is_counted_and_causes_bounded_trials() {
    let mut world = World::new(2);
    world.exchange(&[0, 1], 100);
    let stranger = UdpSocket::bind(any()).expect("a socket");
    let mut sent = 0_u64;
    for round in 0..100_u8 {
        for number in 0..50_u8 {
            // A plausible packet header, in any session and with any number.
            let mut garbage = [round; 200];
            garbage[..8].copy_from_slice(&[0x40, 0, 0xff, number, round, number, 1, 1]);
            sent += u64::from(stranger.send_to(&garbage, world.port).is_ok());
        }
        world.step();
    }
    world.exchange(&[0, 1], 100);
    let counts = world.server.unauthenticated();
    let discards = counts.discards;
    assert!(counts.untried + discards.total() <= sent);
    let of_garbage = discards.of(Discard::NotAuthentic) + discards.of(Discard::NoKey);
    assert!(counts.untried + of_garbage > 0, "{counts:?} of {sent}");
    for end in 0..2 {
        let end = world.server.end(end).expect("it is there");
        assert_eq!(end.handshakes().expect("keys").discards.total(), 0);
    }
}

#[test]
fn duplicate_key_is_rejected_and_removed_end_is_ignored() {
    let mut world = World::new(2);
    world.exchange(&[0, 1], 100);
    let again = plan(&world.server_key, world.keys[0].public());
    let port = world.port;
    let channels = || vec![channel(port, NOWHERE)];
    let refused = world.server.add(&again, channels(), Epoch::new(1));
    assert!(matches!(refused, Err(OpenError::SamePeer(_))), "{refused:?}");
    assert!(world.server.remove(0).is_some() && world.server.remove(0).is_none());
    let before = world.came[0][0].len();
    world.clients[0].1.left += 10;
    world.exchange(&[1], 100);
    assert_eq!(world.came[0][0].len(), before);
    // Its number is free for another end, and its port is open while any end uses it.
    let other = PrivateKey::random().expect("randomness").public();
    let added = world.server.add(&plan(&world.server_key, other), channels(), Epoch::new(1));
    assert_eq!(added.expect("an end"), 0);
    world.server.remove(0);
    world.server.remove(1);
    world.step();
    assert!(UdpSocket::bind(port).is_ok());
}

/// The removed end was due for a turn that its successor must not lose.
#[test]
fn end_in_a_reused_slot_gets_turns() {
    let mut world = World::new(2);
    world.exchange(&[0, 1], 100);
    for _ in 0..3 {
        world.server.touch(0);
        assert!(world.server.remove(0).is_some());
        world.step();
        let plan = plan(&world.server_key, world.keys[0].public());
        let channels = (0..2).map(|_| (channel(world.port, NOWHERE).into(), None)).collect();
        world.server.add_by(0, &plan, channels, Epoch::new(1)).expect("it is free");
        world.clients[0] = world.client(0);
        // The server continues its numbers; the client restarts them.
        world.came[0][0].clear();
        world.exchange(&[0, 1], 100);
    }
    assert!(world.came[0][1].iter().copied().eq(0..400));
    assert_eq!(world.server.end(1).and_then(End::handshakes).expect("keys").sessions, 1);
    let again = plan(&world.server_key, world.keys[1].public());
    let channels = vec![(channel(world.port, NOWHERE).into(), None)];
    let refused = world.server.add_by(1, &again, channels, Epoch::new(1));
    assert!(matches!(refused, Err(OpenError::Taken(1))), "{refused:?}");
}

/// The server initiates; the response comes from elsewhere, to the last of 1,025 ends.
#[test]
fn response_from_elsewhere_is_found_among_1025_ends() {
    const PLACE: usize = 1_024;
    let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
    let [server_plan, plan] = [0, 1].map(|one| plan(&keys[one], keys[1 - one].public()));
    let mut server = Ends::new(Some(&keys[0]), Duration::ZERO).expect("a server");
    let sockets = [0; 2].map(|_| UdpSocket::bind(any()).expect("a socket"));
    let remote = sockets[0].local_addr().expect("an address");
    let channels = vec![(channel(any(), remote).into(), None)];
    server.add_by(PLACE, &server_plan, channels, Epoch::new(1)).expect("it is free");
    let mut sources = Each((0..=PLACE).map(|_| Numbers::default()).collect());
    let mut peer = Peer::new(&plan.peer.expect("a peer"), now()).expect("randomness");
    for socket in &sockets {
        socket.set_nonblocking(true).expect("it can");
    }
    let has_keys = |server: &Ends| {
        server.end(PLACE).and_then(End::handshakes).is_some_and(|counts| counts.keys > 0)
    };
    let ends_at = now().after(TIMEOUT);
    while !has_keys(&server) {
        assert!(now() < ends_at, "{:?}", server.unauthenticated());
        server.receive();
        server.transmit(&mut sources);
        let mut datagram = [0; 2_000];
        for socket in &sockets {
            while let Ok((bytes, address)) = socket.recv_from(&mut datagram) {
                let (datagram, mut reply) = (&datagram[..bytes], Vec::new());
                let sender = Sender { address, is_known: false };
                let taken = is_handshake(datagram)
                    && peer.handle(now(), sender, datagram, &mut reply).is_ok();
                if taken && !reply.is_empty() {
                    sockets[1].send_to(&reply, address).expect("it is sent");
                }
            }
        }
        server.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }
}
