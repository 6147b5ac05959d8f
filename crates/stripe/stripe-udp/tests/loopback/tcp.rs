//! Two ends over TCP connections that break, stall, or come from elsewhere.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use gingham_stripe::{Epoch, SizeState};
use gingham_stripe_crypt::{Discard, PeerPlan, PrivateKey, Times};
use gingham_stripe_udp::{ChannelPlan, End, LinkPlan, TcpEnd, TcpPlan, now};

use crate::pair::{LONGEST_BYTES, Numbers, TIMEOUT, plan};
use crate::relay::Relay;

const PACKETS: usize = 5_000;
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn tcp(end: TcpEnd) -> LinkPlan {
    let longest_bytes = u32::try_from(LONGEST_BYTES).expect("it is short");
    TcpPlan { end, interface: None, mark: None, dscp: 0, longest_bytes }.into()
}

fn listens(at: SocketAddr) -> LinkPlan {
    tcp(TcpEnd::Listens(at))
}

fn connects(remote: SocketAddr) -> LinkPlan {
    tcp(TcpEnd::Connects { local: ANY, remote })
}

fn udp() -> LinkPlan {
    ChannelPlan { local: ANY, interface: None, mark: None, remote: ANY }.into()
}

fn end(number: usize, channels: Vec<LinkPlan>, times: Times) -> End {
    let key = |digit: &str| digit.repeat(64).parse::<PrivateKey>().expect("a key");
    let mut keys = [key("1"), key("2")];
    keys.rotate_left(number);
    let [private, other] = keys;
    let mut plan = plan();
    plan.peer = Some(PeerPlan { private, peer: other.public(), preshared: None, times });
    End::open(&plan, channels, Epoch::new(1)).expect("sockets")
}

fn left(channels: Vec<LinkPlan>) -> End {
    end(0, channels, Times::default())
}

fn right(channels: Vec<LinkPlan>) -> End {
    end(1, channels, Times::default())
}

/// Numbers of sessions and of pairs of keys.
fn shaken(end: &End) -> (u64, u64) {
    let counts = end.handshakes().expect("it has keys");
    (counts.sessions, counts.keys)
}

fn frames(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    while let Some((length, behind)) = stream.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length));
        let Some(rest) = behind.get(length..) else { break };
        frames.push(&stream[..2 + length]);
        stream = rest;
    }
    frames
}

struct Pair {
    left: End,
    right: End,
    relays: Vec<Relay>,
}

impl Pair {
    /// Over connections to one address, each through a relay.
    fn relayed() -> Self {
        let right = right(vec![listens(ANY), listens(ANY)]);
        let at = right.local(0).expect("a socket");
        assert_eq!(right.local(1), Some(at));
        let relays = vec![Relay::new(at), Relay::new(at)];
        let left = left(relays.iter().map(|relay| connects(relay.local())).collect());
        Self { left, right, relays }
    }

    fn step(&mut self, numbers: &mut Numbers, came: &mut Vec<usize>) {
        self.left.receive();
        self.left.transmit(numbers);
        self.relays.iter_mut().for_each(Relay::pass);
        self.right.receive();
        while let Some(packet) = self.right.next_packet() {
            let number = packet.bytes.first_chunk().expect("a number");
            assert_eq!(packet.bytes.len(), Numbers::length(usize::from_be_bytes(*number)));
            came.push(usize::from_be_bytes(*number));
        }
        self.right.transmit(&mut Numbers::default());
        self.relays.iter_mut().for_each(Relay::pass);
        self.left.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }

    fn until(
        &mut self,
        numbers: &mut Numbers,
        mut holds: impl FnMut(&Self, &[usize]) -> bool,
    ) -> Vec<usize> {
        let (ends_at, mut came) = (now().after(TIMEOUT), Vec::new());
        while !holds(self, &came) {
            assert!(now() < ends_at, "{} came", came.len());
            self.step(numbers, &mut came);
        }
        came
    }

    fn open(mut self) -> Self {
        let is_in = |pair: &Self, _: &[usize]| {
            (0..2).all(|one| pair.left.is_in(one) && pair.right.is_in(one))
                && pair.left.is_open()
                && pair.right.is_open()
        };
        self.until(&mut Numbers::default(), is_in);
        self
    }

    fn carry(&mut self, packets: std::ops::Range<usize>) {
        let count = packets.len();
        let came =
            self.until(&mut Numbers(packets.clone().collect()), |_, came| came.len() == count);
        assert!(came.into_iter().eq(packets));
    }
}

#[test]
fn packets_arrive_in_order_over_two_connections_to_one_address() {
    let right = right(vec![listens(ANY), listens(ANY)]);
    let at = right.local(0).expect("a socket");
    let left = left(vec![connects(at), connects(at)]);
    let mut pair = Pair { left, right, relays: Vec::new() }.open();
    pair.carry(0..PACKETS);
    for channel in 0..2 {
        let counts = pair.right.counts(channel);
        assert!(counts.came > 100, "channel {channel} carried {counts:?}");
        assert_eq!((counts.strange, counts.gone, counts.moved), (0, 0, 0));
    }
    assert_eq!(pair.right.reception().repaired, 0);
}

/// Channels over TCP pass packets of any length from the start of a session.
#[test]
fn restarted_end_completes_handshake_over_tcp_alone() {
    let mut pair = Pair::relayed().open();
    let at = pair.right.local(0).expect("a socket");
    pair.carry(0..100);
    for again in 0..2 {
        let before = [&pair.left, &pair.right].map(|end| shaken(end).0);
        if again == 1 {
            pair.right = right(vec![listens(ANY)]);
            pair.right = right(vec![listens(at), listens(at)]);
        } else {
            let relays = pair.relays.iter();
            pair.left = left(relays.map(|relay| connects(relay.local())).collect());
        }
        let stays = 1 - again;
        pair.until(&mut Numbers::default(), |pair, _| {
            shaken([&pair.left, &pair.right][again]).0 == 1
                && shaken([&pair.left, &pair.right][stays]).0 == before[stays] + 1
        });
        for channel in 0..2 {
            for end in [&pair.left, &pair.right] {
                assert_eq!(end.size(channel).state, SizeState::SearchComplete);
            }
        }
        pair = pair.open();
        pair.carry(0..PACKETS);
    }
}

/// Keys are renewed every 50 ms at full load.
#[test]
fn rekeying_on_full_connections_loses_nothing() {
    let times = Times { rekey: Duration::from_millis(50), ..Times::default() };
    let right = end(1, vec![listens(ANY)], times);
    let at = right.local(0).expect("a socket");
    let left = end(0, vec![connects(at)], times);
    let mut pair = Pair { left, right, relays: Vec::new() };
    let numbers = &mut Numbers((0..1_000_000).collect());
    let came = pair.until(numbers, |pair, _| shaken(&pair.left).1.min(shaken(&pair.right).1) >= 20);
    assert!(came.len() > 100 && came.into_iter().enumerate().all(|(at, number)| at == number));
    for end in [&pair.left, &pair.right] {
        let counts = end.handshakes().expect("it has keys");
        assert_eq!((counts.sessions, counts.discards.total()), (1, 0), "{counts:?}");
        assert_eq!(end.counts(0).gone, 0);
    }
}

/// Datagrams held back are authentic and never arrived before, but are not the newest of their
/// channel.
#[test]
fn connection_with_delayed_datagrams_replaces_no_other() {
    let mut pair = Pair::relayed().open();
    pair.carry(0..100);
    pair.relays[0].record();
    pair.relays[0].swallow(true);
    let is_held = |pair: &Pair, _: &[usize]| frames(&pair.relays[0].recorded()).len() > 4;
    pair.until(&mut Numbers((100..200).collect()), is_held);
    let held = pair.relays[0].recorded();
    pair.relays[0].swallow(false);
    pair.relays[0].cut();
    pair.until(&mut Numbers::default(), |pair, _| {
        pair.left.counts(0).reopened == 1 && pair.left.is_in(0) && pair.right.is_in(0)
    });
    pair.carry(200..1_200);
    let (before, at) = (pair.right.counts(0), pair.right.local(0).expect("a socket"));
    let mut stream = TcpStream::connect(at).expect("it listens");
    stream.write_all(&frames(&held).concat()).expect("it is read");
    pair.carry(1_200..PACKETS);
    let after = pair.right.counts(0);
    assert_eq!((after.gone, after.reopened), (before.gone, before.reopened));
    let discards = pair.right.handshakes().expect("it has keys").discards;
    assert_eq!(discards.of(Discard::NotAuthentic), 0);
}

/// A replayed initiation gets a limited number of responses.
#[test]
fn replies_to_a_candidate_are_bounded() {
    let mut pair = Pair::relayed();
    pair.relays[0].record();
    pair = pair.open();
    let recorded = pair.relays[0].recorded();
    let first = frames(&recorded)[0];
    let mut stream =
        TcpStream::connect(pair.right.local(0).expect("a socket")).expect("it listens");
    stream.set_nonblocking(true).expect("a socket");
    stream.write_all(&first.repeat(100)).expect("it is read");
    let (mut answers, mut room, mut is_over) = (Vec::new(), [0; 1 << 14], false);
    pair.until(&mut Numbers::default(), |_, _| {
        match stream.read(&mut room) {
            Ok(count) => {
                answers.extend(&room[..count]);
                is_over = count == 0;
            }
            Err(error) => is_over = error.kind() != ErrorKind::WouldBlock,
        }
        is_over
    });
    let answers = frames(&answers).len();
    assert!((1..=64).contains(&answers), "{answers} answers");
    pair.carry(0..PACKETS);
    assert_eq!(pair.right.counts(0).gone, 0);
}

#[test]
fn udp_and_tcp_channels_share_a_pipe() {
    let mut right = right(vec![udp(), listens(ANY)]);
    let mut left = left(vec![udp(), connects(right.local(1).expect("a socket"))]);
    left.set_remote(0, right.local(0).expect("a socket"));
    right.set_remote(0, left.local(0).expect("a socket"));
    let mut pair = Pair { left, right, relays: Vec::new() }.open();
    pair.carry(0..PACKETS);
    for channel in 0..2 {
        assert!(pair.right.counts(channel).came > 100, "channel {channel} carried nothing");
    }
}

/// Connections break one after the other, and then both at once.
#[test]
fn broken_connection_is_reopened_without_loss() {
    let mut pair = Pair::relayed().open();
    // More than one channel can carry at full rate while the other reconnects.
    let numbers = &mut Numbers((0..200 * PACKETS).collect());
    let mut came = Vec::new();
    for (part, cut) in [&[0][..], &[1], &[0, 1]].into_iter().enumerate() {
        came.extend(pair.until(numbers, |_, part| part.len() >= PACKETS / 2));
        let before = [0, 1].map(|one| pair.left.counts(one).reopened);
        for one in cut {
            pair.relays[*one].cut();
        }
        came.extend(pair.until(numbers, |pair, _| {
            cut.iter().all(|one| pair.left.counts(*one).reopened > before[*one])
                && (0..2).all(|one| pair.left.is_in(one) && pair.right.is_in(one))
        }));
        assert!(!numbers.0.is_empty(), "it was not in the middle: {part}");
    }
    numbers.0.truncate(PACKETS);
    let total = numbers.0.back().expect("some are left") + 1;
    let left = total - came.len();
    came.extend(pair.until(numbers, |_, part| part.len() == left));
    assert!(came.into_iter().eq(0..total));
    assert_eq!(pair.right.reception().given_up, 0);
    assert!(pair.right.counts(0).gone >= 2 && pair.left.counts(1).gone >= 2);
}

/// The listening end does not notice that the connection is closed.
#[test]
fn half_open_connection_is_replaced() {
    let mut pair = Pair::relayed().open();
    pair.carry(0..100);
    pair.relays[0].leave();
    let is_back = |pair: &Pair, _: &[usize]| {
        pair.right.counts(0).reopened == 1 && pair.left.is_in(0) && pair.right.is_in(0)
    };
    pair.until(&mut Numbers::default(), is_back);
    pair.carry(100..PACKETS);
    assert_eq!((pair.left.counts(0).reopened, pair.right.counts(0).gone), (1, 1));
    assert_eq!(pair.right.counts(1).gone, 0);
}

/// Invalid lengths in the middle of the stream.
#[test]
fn desynchronised_stream_is_reopened() {
    let mut pair = Pair::relayed().open();
    pair.carry(0..100);
    pair.relays[0].insert(&[0xff; 7]);
    let numbers = &mut Numbers((100..PACKETS).collect());
    let mut came = pair.until(numbers, |pair, _| pair.right.counts(0).gone == 1);
    assert!(pair.right.counts(0).strange > 0);
    let left = PACKETS - 100 - came.len();
    came.extend(pair.until(numbers, |_, part| part.len() == left));
    assert!(came.into_iter().eq(100..PACKETS));
    pair.until(&mut Numbers::default(), |pair, _| pair.left.is_in(0) && pair.right.is_in(0));
    assert_eq!(pair.left.counts(0).reopened, 1);
}

/// Silent connections, garbage, a replay of an earlier connection, and more connections than are
/// admitted.
#[test]
fn unauthenticated_connections_are_closed_and_replace_no_other() {
    let mut pair = Pair::relayed();
    pair.relays[0].record();
    pair = pair.open();
    pair.carry(0..100);
    let at = pair.right.local(0).expect("a socket");
    let replayed = pair.relays[0].recorded();
    assert!(replayed.len() > 1_000);
    let sent = [&[][..], &[0xff; 9], &[0, 3, 1, 2, 3], &replayed].map(|bytes| {
        let mut stream = TcpStream::connect(at).expect("it listens");
        stream.write_all(bytes).expect("it is read");
        stream
    });
    let mut many = Vec::new();
    for number in 0..100 {
        // More than may wait for admission, but no more at once than the kernel's backlog.
        many.push(TcpStream::connect(at).expect("it listens"));
        pair.carry(100 + number..101 + number);
    }
    pair.carry(200..PACKETS);
    for channel in 0..2 {
        assert_eq!(pair.right.counts(channel).gone, 0);
    }
    assert!(pair.right.counts(0).strange > 1);
    drop((sent, many));
    pair.carry(PACKETS..PACKETS + 100);
}

/// One connection is full because it is not read: the other carries copies of the waiting packets.
/// After three seconds without acknowledgement it is replaced.
#[test]
fn stalled_connection_does_not_block_others() {
    let mut pair = Pair::relayed().open();
    pair.carry(0..100);
    pair.relays[0].hold(true);
    let mut next = 100;
    while pair.left.counts(0).gone == 0 {
        pair.carry(next..next + 1_000);
        next += 1_000;
    }
    assert!(next > PACKETS, "only {next} went in three seconds");
    let (counts, sending) = (pair.left.counts(0), pair.left.sending());
    assert!(counts.sent < 2_000, "{counts:?}");
    // No packet was assigned to it that it did not take.
    assert!(sending.repairs <= counts.sent, "{sending:?} {counts:?}");
    pair.relays[0].hold(false);
    pair.until(&mut Numbers::default(), |pair, _| pair.left.is_in(0) && pair.right.is_in(0));
    pair.carry(next..next + PACKETS);
    assert_eq!(pair.right.reception().given_up, 0);
    assert!(pair.left.counts(0).reopened > 0);
}

/// Meanwhile the end uses its other channel.
#[test]
fn unconnected_end_retries() {
    let place = TcpListener::bind(ANY).expect("a socket");
    let at = place.local_addr().expect("an address");
    drop(place);
    let right_one = right(vec![udp(), udp()]);
    let mut left = left(vec![udp(), connects(at)]);
    left.set_remote(0, right_one.local(0).expect("a socket"));
    let mut pair = Pair { left, right: right_one, relays: Vec::new() };
    let local = pair.left.local(0).expect("a socket");
    pair.right.set_remote(0, local);
    pair.carry(0..100);
    assert!(!pair.left.is_in(1));
    let mut other = right(vec![udp(), listens(at)]);
    other.set_remote(0, local);
    pair.left.set_remote(0, other.local(0).expect("a socket"));
    pair.right = other;
    pair.until(&mut Numbers::default(), |pair, _| pair.left.is_in(1) && pair.right.is_in(1));
    let came = pair.until(&mut Numbers((1_000..100_000).collect()), |pair, came| {
        came.len() > 1_000 && pair.right.counts(1).came > 100
    });
    assert!(came.is_sorted_by(|one, next| one < next));
}
