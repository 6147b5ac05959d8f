//! Handshakes in virtual time.

mod network;

use std::time::Duration;

use gingham_stripe_crypt::{Discard, PresharedKey, Times};
use network::{Fate, Network, is_initiation, plans};
use proptest::prelude::*;

/// Milliseconds; a round trip takes 20.
fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[test]
fn handshake_completes_in_two_round_trips() {
    let mut network = Network::new(plans());
    network.run(milliseconds(60));
    assert!(network.both_carry());
    assert_eq!(network.sessions(), [1, 1]);
    assert!(network.ends.iter().all(|end| end.counts().discards.total() == 0));
}

#[test]
fn responder_without_address_learns_it() {
    let mut network = Network::new(plans());
    network.can_begin = [true, false];
    network.run(milliseconds(60));
    assert!(network.both_carry());
    assert_eq!(network.ends[1].counts().begun, 0);
}

#[test]
fn lost_handshake_is_retried() {
    let mut network = Network::new(plans());
    network.fate = |number, _| if number < 12 { Fate::Lost } else { Fate::Comes };
    network.run(milliseconds(15_000));
    assert!(network.both_carry());
    assert!(network.ends[0].counts().begun > 1);
}

/// Each end loses its first attempt. The second leaves after 30 to 40 ms, before the other's
/// arrives 10 ms later; the response comes 40 ms after it, before a third attempt after 60. If the
/// end that keeps its attempt began last, the final keys are in use at 90 ms.
#[test]
fn simultaneous_second_attempts_agree_on_one_session() {
    for _ in 0..20 {
        let mut network = Network::new(plans());
        let times = Times { retry: milliseconds(30), ..Times::default() };
        network.change_plans(|plan| plan.times = times);
        network.fate = |number, _| if number < 4 { Fate::Lost } else { Fate::Comes };
        network.run(milliseconds(100));
        assert!(network.ends.iter().all(|end| end.counts().begun == 2));
        assert!(network.both_carry());
        assert_eq!(network.sessions(), [1, 1]);
        assert!(network.are_in_one_session());
    }
}

/// Initiations of the end that keeps its attempt arrive at 60 ms. The other's get a response at 30
/// ms, and both ends have keys at 50 ms.
#[test]
fn late_initiation_after_key_agreement_makes_no_new_keys() {
    let mut plans = plans();
    if plans[0].private.public() < plans[1].private.public() {
        plans.reverse();
    }
    let mut network = Network::new(plans);
    network.fate = |number, _| if number < 2 { Fate::Late } else { Fate::Comes };
    network.run(milliseconds(200));
    assert!(network.both_carry());
    assert!(network.ends.iter().all(|end| end.counts().begun == 1 && end.counts().keys == 1));
}

#[test]
fn restarted_end_starts_a_new_session_and_peer_follows() {
    for again in [0, 1] {
        for can_begin in [[true, true], [true, false], [false, true]] {
            let mut network = Network::new(plans());
            network.can_begin = can_begin;
            network.run(milliseconds(200));
            let old = network.seal(again, 9);
            network.restart(again);
            // The running end keeps sending, for example markers, and receives nothing.
            for _ in 0..20 {
                network.say(1 - again);
                network.run(milliseconds(100));
            }
            assert!(network.both_carry(), "{again} {can_begin:?}");
            assert_eq!(network.ends[1 - again].sessions(), 2);
            assert_eq!(network.ends[again].sessions(), 1);
            assert!(network.open(1 - again, old).is_err());
        }
    }
}

#[test]
fn rekeying_loses_nothing() {
    let mut network = Network::new(plans());
    let times = Times { rekey: milliseconds(200), ..Times::default() };
    network.change_plans(|plan| plan.times = times);
    network.run(milliseconds(100));
    for _ in 0..5_000 {
        (0..2).for_each(|end| network.say(end));
        network.run(milliseconds(1));
    }
    network.run(milliseconds(20));
    for end in &network.ends {
        let counts = end.counts();
        assert!(counts.keys > 10 && counts.sessions == 1, "{counts:?}");
        assert_eq!(counts.discards.total(), 0);
    }
    assert_eq!(network.opened, network.said);
}

#[test]
fn keys_are_renewed_after_two_minutes_and_expire_after_three() {
    let mut network = Network::new(plans());
    network.run(milliseconds(119_000));
    assert_eq!(network.ends[0].counts().keys, 1);
    network.run(milliseconds(2_000));
    assert!(network.ends.iter().all(|end| end.counts().keys == 2));
    network.fate = |_, _| Fate::Lost;
    network.run(milliseconds(181_000));
    assert!(network.ends.iter().all(|end| !end.can_seal()));
}

#[test]
fn restarted_end_with_reset_clock_is_accepted() {
    let mut network = Network::new(plans());
    network.run(milliseconds(100));
    network.clocks[0] = 0;
    network.restart(0);
    network.run(milliseconds(3_000));
    assert!(network.both_carry());
}

/// Replays every datagram ever sent, from its own address or another.
#[test]
fn replayed_datagrams_have_no_effect() {
    let mut network = Network::new(plans());
    for _ in 0..3 {
        network.run(milliseconds(200));
        (0..2).for_each(|end| network.say(end));
        network.restart(0);
    }
    network.run(milliseconds(3_000));
    let (recorded, before) = (network.record.clone(), (network.sessions(), network.opened));
    for _ in 0..2 {
        for (to, from, datagram) in &recorded {
            network.arrive(*to, *from, datagram.clone());
            network.arrive(*to, *from ^ 1, datagram.clone());
        }
        network.run(milliseconds(10));
    }
    assert_eq!((network.sessions(), network.opened), before);
    assert!(network.both_carry());
}

#[test]
fn unauthenticated_peer_is_counted_and_gets_no_keys() {
    let [left, mut right] = plans();
    let [stranger, _] = plans();
    right.peer = stranger.private.public();
    // An unknown end uses our public key with a private key other than our peer's.
    let mut network = Network::new([left, right]);
    network.run(milliseconds(3_000));
    assert!(network.ends.iter().all(|end| !end.can_seal() && end.sessions() == 0));
    assert!(network.ends[1].counts().discards.of(Discard::OtherPeer) > 0);
    assert!(network.ends[0].counts().discards.of(Discard::BadMac) > 0);
}

#[test]
fn mismatched_preshared_key_is_counted_and_gets_no_keys() {
    let hex = |digit: &str| digit.repeat(64).parse::<PresharedKey>().expect("a key");
    for theirs in [None, Some(hex("2"))] {
        let [mut left, mut right] = plans();
        (left.preshared, right.preshared) = (Some(hex("1")), theirs);
        let mut network = Network::new([left, right]);
        network.run(milliseconds(3_000));
        assert!(network.ends.iter().all(|end| !end.can_seal() && end.sessions() == 0));
        let refused = |end: usize| network.ends[end].counts().discards.of(Discard::OtherSecret);
        assert!(refused(0) + refused(1) > 0);
    }
    let [mut left, mut right] = plans();
    (left.preshared, right.preshared) = (Some(hex("1")), Some(hex("1")));
    let mut network = Network::new([left, right]);
    network.run(milliseconds(3_000));
    assert!(network.both_carry());
}

#[test]
fn other_version_is_counted() {
    let mut network = Network::new(plans());
    network.run(milliseconds(100));
    let mut sealed = network.seal(0, 7);
    sealed[0] ^= 0x70;
    assert_eq!(network.open(1, sealed), Err(Discard::OtherVersion));
    let initiation = network.record.iter().find(|(_, _, datagram)| is_initiation(datagram));
    let (_, from, mut datagram) = initiation.expect("there was one").clone();
    datagram[1] += 1;
    network.arrive(1, from, datagram);
    assert_eq!(network.ends[1].counts().discards.of(Discard::OtherVersion), 2);
}

/// A thousand forged addresses get cookies, and no Diffie-Hellman is spent.
#[test]
fn flood_gets_cookies_while_peer_completes_handshake() {
    let mut network = Network::new(plans());
    network.can_begin = [true, false];
    network.run(Duration::ZERO);
    let (_, _, initiation) = network.record[0].clone();
    for from in 1_000..2_000 {
        network.arrive(1, from, initiation.clone());
    }
    assert_eq!(network.ends[1].counts().cookies, 1_000);
    network.run(milliseconds(100));
    assert!(network.both_carry());
}

#[test]
fn corrupted_or_truncated_handshakes_are_rejected() {
    let mut network = Network::new(plans());
    network.run(milliseconds(60));
    let record = network.record.clone();
    for (to, from, datagram) in record {
        for place in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[place] ^= 1;
            network.arrive(to, from, changed);
            network.arrive(to, from, datagram[..place].to_vec());
        }
    }
    network.run(milliseconds(10));
    assert!(network.ends.iter().all(|end| end.sessions() == 1 && end.counts().keys <= 2));
    assert!(network.both_carry());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the network does for five seconds, ten seconds later both carry, in one session.
    #[test]
    fn ends_converge_to_one_session(fates in prop::collection::vec(0_u8..5, 1..200), restarts in prop::collection::vec((0_u64..5_000, 0_usize..2), 0..3)) {
        let mut network = Network::new(plans());
        let mut restarts = restarts;
        restarts.sort_unstable();
        network.fates = fates;
        let mut at = 0;
        for (restart_at, end) in restarts {
            network.chatter(milliseconds(restart_at - at));
            network.restart(end);
            at = restart_at;
        }
        network.chatter(milliseconds(5_000 - at));
        network.fates.clear();
        network.chatter(milliseconds(10_000));
        prop_assert!(network.both_carry());
        prop_assert!(network.are_in_one_session());
    }
}
