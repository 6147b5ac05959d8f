//! Two ends with keys and handshakes, over loopback.
#![cfg(target_os = "linux")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::time::Duration;

use gingham_stripe::Epoch;
use gingham_stripe_crypt::{Discard, PeerPlan, PrivateKey, Times};
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source, now};

/// Far longer than needed, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(100);
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

struct Numbers(Range<u64>);

impl Source for Numbers {
    fn next_bytes(&mut self) -> Option<usize> {
        (!self.0.is_empty()).then_some(1_000)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        let end = buffer.len() + 1_000;
        buffer.extend(self.0.next().expect("it was asked for").to_be_bytes());
        buffer.resize(end, 0);
    }
}

fn peers(times: Times) -> [PeerPlan; 2] {
    let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
    [0, 1].map(|end| PeerPlan {
        private: keys[end].clone(),
        peer: keys[1 - end].public(),
        preshared: None,
        times,
    })
}

fn end(peer: Option<PeerPlan>, locals: [SocketAddr; 2]) -> End {
    let mut plan = EndPlan { peer, ..EndPlan::free(1_400) };
    plan.striping = plan.striping.repaired();
    let channel = |local| ChannelPlan { local, interface: None, mark: None, remote: NOWHERE };
    End::open(&plan, locals.map(channel).into(), Epoch::new(1)).expect("sockets")
}

fn any() -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, 0).into(); 2]
}

fn locals(end: &End) -> [SocketAddr; 2] {
    [0, 1].map(|channel| end.local(channel).expect("a socket"))
}

fn lead(from: &mut End, to: [SocketAddr; 2]) {
    for (channel, remote) in to.into_iter().enumerate() {
        from.set_remote(channel, remote);
    }
}

fn pumped(
    one: &mut End,
    other: &mut End,
    numbers: &mut Numbers,
    goes_on: impl Fn(&End, &End, &[u64]) -> bool,
) -> Vec<u64> {
    let (ends_at, mut came) = (now().after(TIMEOUT), Vec::new());
    while goes_on(one, other, &came) {
        assert!(
            now() < ends_at,
            "{} came; {:?}, {:?}",
            came.len(),
            one.handshakes(),
            other.handshakes()
        );
        one.receive();
        one.transmit(numbers);
        other.receive();
        while let Some(packet) = other.next_packet() {
            came.push(u64::from_be_bytes(*packet.bytes.first_chunk().expect("a number")));
        }
        other.transmit(&mut Numbers(0..0));
        one.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }
    came
}

fn is_short_of(count: usize) -> impl Fn(&End, &End, &[u64]) -> bool {
    move |_, _, came| came.len() < count
}

fn discarded(end: &End, discard: Discard) -> u64 {
    end.handshakes().expect("it has keys").discards.of(discard)
}

/// The second end learns the address of the first on each channel.
#[test]
fn packets_arrive_in_order_and_peer_address_is_learnt() {
    let [left, right] = peers(Times::default()).map(|peer| end(Some(peer), any()));
    let (mut left, mut right) = (left, right);
    lead(&mut left, locals(&right));
    let came = pumped(&mut left, &mut right, &mut Numbers(0..5_000), is_short_of(5_000));
    assert!(came.into_iter().eq(0..5_000));
    for channel in [0, 1] {
        assert!(left.counts(channel).came > 0);
        assert_eq!(right.counts(channel).moved, 1);
    }
    for end in [&left, &right] {
        let counts = end.handshakes().expect("it has keys");
        assert_eq!((counts.sessions, counts.keys, counts.discards.total()), (1, 1, 0));
    }
}

/// Keys are renewed every 50 ms.
#[test]
fn rekeying_loses_nothing() {
    let times = Times { rekey: Duration::from_millis(50), ..Times::default() };
    let [mut left, mut right] = peers(times).map(|peer| end(Some(peer), any()));
    lead(&mut left, locals(&right));
    let keys = |end: &End| end.handshakes().expect("it has keys").keys;
    let came = pumped(&mut left, &mut right, &mut Numbers(0..u64::MAX), |left, right, _| {
        keys(left).min(keys(right)) < 20
    });
    assert!(came.len() > 100 && came.is_sorted_by(|one, next| one + 1 == *next));
    for end in [&left, &right] {
        let counts = end.handshakes().expect("it has keys");
        assert_eq!((counts.sessions, counts.discards.total()), (1, 0), "{counts:?}");
    }
    assert_eq!((left.sending().resets, right.reception().given_up), (0, 0));
}

/// Either end is dropped and reopened on its ports, like a restarted process.
#[test]
fn restarted_peer_is_accepted() {
    for again in [0, 1] {
        let plans = peers(Times::default());
        let mut ends = plans.clone().map(|peer| Some(end(Some(peer), any())));
        let places = ends.each_ref().map(|end| locals(end.as_ref().expect("it is there")));
        let numbers = &mut Numbers(0..u64::MAX);
        for round in 0..2 {
            if round == 1 {
                ends[again] = None;
                ends[again] = Some(end(Some(plans[again].clone()), places[again]));
            }
            let [left, right] = &mut ends;
            let (left, right) = (left.as_mut().expect("there"), right.as_mut().expect("there"));
            lead(left, places[1]);
            lead(right, places[0]);
            let before = right.handshakes().expect("it has keys").sessions;
            let came = pumped(left, right, numbers, |_, right, came| {
                right.handshakes().expect("it has keys").sessions == before || came.len() < 100
            });
            assert!(came.is_sorted_by(|one, next| one < next), "{again}: {came:?}");
        }
    }
}

/// The first end's address changes, as behind a NAT that lost its state: its next datagram is
/// authentic and newer than all before.
#[test]
fn channel_follows_a_moved_peer() {
    let [mut left, mut right] = peers(Times::default()).map(|peer| end(Some(peer), any()));
    lead(&mut left, locals(&right));
    pumped(&mut left, &mut right, &mut Numbers(0..100), is_short_of(100));
    let elsewhere = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    right.set_remote(0, elsewhere.local_addr().expect("an address"));
    let came = pumped(&mut left, &mut right, &mut Numbers(100..u64::MAX), |_, right, _| {
        right.counts(0).moved < 2
    });
    assert!(came.is_sorted_by(|one, next| one + 1 == *next));
}

#[test]
fn channel_does_not_follow_a_delayed_datagram() {
    let [mut left, mut right] = peers(Times::default()).map(|peer| end(Some(peer), any()));
    lead(&mut left, locals(&right));
    pumped(&mut left, &mut right, &mut Numbers(0..100), is_short_of(100));
    let tap = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    tap.set_nonblocking(true).expect("a socket");
    let (ends_at, mut bytes) = (now().after(TIMEOUT), [0; 2_000]);
    let numbers = &mut Numbers(100..u64::MAX);
    left.set_remote(0, tap.local_addr().expect("an address"));
    let length = loop {
        assert!(now() < ends_at, "nothing went on the channel");
        left.transmit(numbers);
        if let Ok(length) = tap.recv(&mut bytes) {
            break length;
        }
    };
    lead(&mut left, locals(&right));
    pumped(&mut left, &mut right, numbers, is_short_of(2_000));
    let (to, moved) = (locals(&right)[0], right.counts(0).moved);
    // It never arrived before and is authentic, but it is not the newest.
    tap.send_to(&bytes[..length], to).expect("it is sent");
    pumped(&mut left, &mut right, numbers, is_short_of(2_000));
    assert_eq!(right.counts(0).moved, moved);
    assert_eq!(discarded(&right, Discard::NotAuthentic), 0);
}

#[test]
fn cleartext_and_other_version_are_counted() {
    let [peer, _] = peers(Times::default());
    let (mut clear, mut sealed) = (end(None, any()), end(Some(peer), any()));
    lead(&mut clear, locals(&sealed));
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    stranger.send_to(&[0x52; 60], locals(&sealed)[0]).expect("it is sent");
    pumped(&mut clear, &mut sealed, &mut Numbers(0..100), |_, sealed, _| {
        discarded(sealed, Discard::InClear) < 2 || discarded(sealed, Discard::OtherVersion) < 1
    });
    assert!(!sealed.is_open() && sealed.next_packet().is_none());
}
