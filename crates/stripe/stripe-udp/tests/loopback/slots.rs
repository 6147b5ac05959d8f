//! Channels that change under traffic.

use gingham_stripe::{ChannelError, Epoch, RepairPlan, RepairRequests, SizeState};
use gingham_stripe_udp::{End, EndPlan, EtherTypes, EthernetPlan, OpenError, SlotError};

use crate::pair::{Numbers, TIMEOUT, any, channel, join, plan, pumped};

const CAP: usize = 8;
/// Packets offered ahead of those received. The sender remembers 4,096 packets of each channel,
/// some milliseconds at loopback speed: otherwise a packet can be forgotten before its lost copy is
/// requested again.
const AHEAD: usize = 1_000;

/// Two of eight possible channels. Copies are retried and awaited without limit, however busy the
/// machine is.
fn end() -> End {
    let mut plan = EndPlan { channels_max: Some(CAP), ..plan() };
    plan.striping.sender.repair = Some(RepairPlan { tries_max: u8::MAX, ..RepairPlan::default() });
    let receiver = &mut plan.striping.receiver;
    receiver.wait = TIMEOUT;
    let repair = RepairRequests { wait: TIMEOUT, ..RepairRequests::default() };
    receiver.guaranteed.as_mut().expect("the order is free").repair = Some(repair);
    End::open(&plan, any().map(channel).to_vec(), Epoch::new(1)).expect("sockets")
}

fn add(left: &mut End, right: &mut End, id: usize) {
    left.add_channel(id, channel(any()[id % 2])).expect("a socket");
    let mut plan = channel(any()[id % 2]);
    plan.remote = left.local(id).expect("a socket");
    right.add_channel(id, plan).expect("a socket");
    left.set_remote(id, right.local(id).expect("a socket"));
}

/// Each removed channel has all packets in flight in both directions, since sockets close at once.
#[test]
fn hundred_channels_change_under_load_without_loss() {
    let (mut left, mut right) = (end(), end());
    join(&mut left, &mut right);
    let (mut numbers, mut came) = (Numbers::default(), Vec::new());
    let mut offered = 0;
    let (mut added, mut removed, mut word) = (0, 0, 1_u64);
    while added < 100 || removed < 100 {
        numbers.0.extend(offered..came.len() + AHEAD);
        offered = came.len() + AHEAD;
        came.extend(pumped(&mut left, &mut right, &mut numbers, 200));
        left.receive();
        left.transmit(&mut numbers);
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = (word >> 33) as usize % CAP;
        if !left.is_there(id) {
            add(&mut left, &mut right, id);
            added += 1;
        } else if left.remove_channel(id).is_ok() {
            right.remove_channel(id).expect("both have the same channels");
            removed += 1;
        }
    }
    let rest = offered - came.len();
    came.extend(pumped(&mut left, &mut right, &mut numbers, rest));
    assert!(came.iter().copied().eq(0..came.len()), "out of order or lost");
    assert_eq!(right.reception().given_up, 0);
    assert!(right.reception().repaired > 0, "nothing was on its way on any");
    for id in 0..CAP {
        assert_eq!(left.is_there(id), left.local(id).is_some(), "channel {id}");
    }
}

#[test]
fn moved_channel_has_a_new_socket_and_carries_packets() {
    let (mut left, mut right) = (end(), end());
    for id in 2..CAP {
        add(&mut left, &mut right, id);
    }
    join(&mut left, &mut right);
    assert_eq!(pumped(&mut left, &mut right, &mut Numbers((0..50).collect()), 50).len(), 50);
    let (before, counted) = (left.local(3), left.counts(3));
    let mut plan = channel(any()[1]);
    plan.remote = right.local(3).expect("a socket");
    left.move_channel(3, plan).expect("a socket");
    right.set_remote(3, left.local(3).expect("a socket"));
    assert_ne!(left.local(3), before);
    assert_ne!(left.size(3).state, SizeState::SearchComplete);
    let came = pumped(&mut left, &mut right, &mut Numbers((50..3_000).collect()), 2_950);
    assert!(came.into_iter().eq(50..3_000));
    assert!(left.counts(3).sent > counted.sent);
}

#[test]
fn invalid_channel_ids_are_rejected() {
    let mut left = end();
    let [local, _] = any();
    let refused = |error: SlotError| match error {
        SlotError::Channel(error) => error,
        SlotError::Kind { .. } | SlotError::Socket { .. } => panic!("{error}"),
    };
    for id in [CAP, 64, usize::MAX] {
        let above = ChannelError::AboveCap { id, cap: CAP };
        assert_eq!(refused(left.add_channel(id, channel(local)).unwrap_err()), above);
        assert_eq!(refused(left.move_channel(id, channel(local)).unwrap_err()), above);
        assert_eq!(left.remove_channel(id), Err(above));
        assert!(!left.is_there(id));
    }
    let there = ChannelError::AlreadyThere { id: 1 };
    assert_eq!(refused(left.add_channel(1, channel(local)).unwrap_err()), there);
    let absent = ChannelError::NotThere { id: 2 };
    assert_eq!(refused(left.move_channel(2, channel(local)).unwrap_err()), absent);
    assert_eq!(left.remove_channel(2), Err(absent));
    assert_eq!(left.remove_channel(0), Ok(()));
    assert_eq!(left.remove_channel(1), Err(ChannelError::Last { id: 1 }));
    // Another kind of link, or a socket that cannot be opened: nothing is added, or the channel
    // stays.
    let mut nowhere = channel(local);
    nowhere.interface = Some("nowhere".into());
    let frames = EthernetPlan {
        waiting_bytes: 1 << 16,
        interface: "lo".into(),
        peer: "02:00:00:00:00:01".parse().expect("an address"),
        ether_types: EtherTypes::default(),
        longest_bytes: 1_500,
        is_offloaded: false,
    };
    let error = left.add_channel(2, frames).unwrap_err();
    assert!(matches!(error, SlotError::Kind { id: 2 }), "{error}");
    let error = left.add_channel(2, nowhere.clone()).unwrap_err();
    assert!(matches!(error, SlotError::Socket { id: 2, .. }), "{error}");
    assert!(!left.is_there(2) && left.add_channel(2, channel(local)).is_ok());
    assert!(left.move_channel(2, nowhere).is_err() && left.is_there(2));
    let plan = EndPlan { channels_max: Some(1), ..plan() };
    let error = End::open(&plan, any().map(channel).to_vec(), Epoch::new(1)).unwrap_err();
    assert!(matches!(error, OpenError::AboveCap { channels: 2, cap: 1 }), "{error}");
}
