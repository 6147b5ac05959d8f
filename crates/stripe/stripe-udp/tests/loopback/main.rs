//! Two ends over sockets of both address families.
#![cfg(target_os = "linux")]

mod class;
mod order;
mod pair;
mod relay;
mod slots;
mod tcp;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use gingham_stripe::Epoch;
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, OpenError, Source, now};

use pair::{LONGEST_BYTES, Numbers, TIMEOUT, any, end, find_sizes, join, pumped};

const PACKETS: usize = 5_000;

#[test]
fn packets_of_all_lengths_arrive_in_order_over_ipv4_and_ipv6() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    let came = pumped(&mut left, &mut right, &mut Numbers((0..PACKETS).collect()), PACKETS);
    assert!(came.into_iter().eq(0..PACKETS));
    for channel in 0..2 {
        assert!(right.counts(channel).came > 0, "channel {channel} carried nothing");
    }
    assert_eq!((left.too_long(), right.counts(0).strange), (0, 0));
}

/// Some have the first byte of a message, some are empty.
#[test]
fn datagrams_of_unknown_sources_are_counted_and_ignored() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let to = right.local(0).expect("a socket");
    for bytes in [&[3; 40][..], &[]] {
        (0..5).for_each(|_| assert!(stranger.send_to(bytes, to).is_ok()));
    }
    let came = pumped(&mut left, &mut right, &mut Numbers((0..100).collect()), 100);
    assert!(came.into_iter().eq(0..100));
    assert_eq!(right.counts(0).strange, 10);
}

/// A later end takes over the ports, like a restarted process. The kernel may report the closed
/// ports in between.
#[test]
fn restarted_peer_is_accepted() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    let locals: Vec<_> = (0..2).map(|channel| right.local(channel).expect("a socket")).collect();
    assert_eq!(pumped(&mut left, &mut right, &mut Numbers((0..50).collect()), 50).len(), 50);
    drop(right);
    left.transmit(&mut Numbers((50..60).collect()));
    left.receive();
    let mut right = end(&locals);
    join(&mut left, &mut right);
    let numbers = &mut Numbers((60..100_000).collect());
    let came = pumped(&mut left, &mut right, numbers, 100);
    assert!(came.is_sorted_by(|one, next| one < next), "{came:?}");
}

/// Both channels are misdirected for fifteen packets.
#[test]
fn lost_packets_are_retransmitted_unchanged() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    find_sizes(&mut left, &mut right);
    let elsewhere = any().map(|address| UdpSocket::bind(address).expect("a socket"));
    for (channel, socket) in elsewhere.iter().enumerate() {
        left.set_remote(channel, socket.local_addr().expect("an address"));
    }
    let (ends_at, numbers) = (now().after(TIMEOUT), &mut Numbers((0..15).collect()));
    while !numbers.0.is_empty() {
        assert!(now() < ends_at, "they never went");
        left.receive();
        left.transmit(numbers);
    }
    join(&mut left, &mut right);
    let came = pumped(&mut left, &mut right, &mut Numbers((15..60).collect()), 60);
    assert!(came.into_iter().eq(0..60));
    let reception = right.reception();
    assert_eq!((reception.repaired, reception.given_up), (15, 0));
}

/// After 20 ms for sixteen times, then 40 ms, 80 ms and so on: 21 markers per channel in two
/// seconds, instead of a hundred if every call counted as traffic.
#[test]
fn idle_ends_send_markers_ever_more_rarely() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    let ends_at = now().after(Duration::from_secs(2));
    while now() < ends_at {
        for end in [&mut left, &mut right] {
            end.receive();
            end.transmit(&mut Numbers::default());
        }
        left.wait(Some(now().after(Duration::from_millis(5))), &[]).expect("it waits");
    }
    let channels = left.channels() as u64;
    for end in [&left, &right] {
        assert!(end.sending().markers <= 40 * channels, "{}", end.sending().markers);
    }
}

/// The kernel received the packet before the sleep. It begins to timestamp some time after the
/// request, and until then reports the time of reading.
#[test]
fn packet_time_is_kernel_arrival_and_not_time_of_read() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    assert_eq!(pumped(&mut left, &mut right, &mut Numbers((0..5).collect()), 5).len(), 5);
    let ends_at = now().after(TIMEOUT);
    for number in 5.. {
        let numbers = &mut Numbers([number].into());
        while !numbers.0.is_empty() {
            assert!(now() < ends_at, "nothing was read later than it came");
            left.receive();
            left.transmit(numbers);
        }
        let sent_by = now();
        std::thread::sleep(Duration::from_millis(50));
        right.receive();
        let packet = right.next_packet().expect("it is the next, and there");
        if packet.received_at < sent_by.after(Duration::from_millis(25)) {
            break;
        }
        right.transmit(&mut Numbers(VecDeque::new()));
    }
}

/// Packets longer than the base size wait for the limits of the channels.
#[test]
fn channel_sizes_are_found_before_long_packets_are_refused() {
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    assert_eq!(left.longest_bytes(), 1_400);
    let longest =
        (0..PACKETS).find(|number| Numbers::length(*number) == LONGEST_BYTES).expect("one");
    let came = pumped(&mut left, &mut right, &mut Numbers([longest].into()), 1);
    assert_eq!((came, left.too_long()), (vec![longest], 0));
    find_sizes(&mut left, &mut right);
    assert_eq!((left.size(0).frame_bytes, left.size(1).frame_bytes), (1_420, 1_420));
    assert_eq!(left.longest_bytes(), 1_400);
}

#[test]
fn missing_interface_is_reported_with_its_channel() {
    let channel = |interface: &str| ChannelPlan {
        local: any()[0],
        interface: Some(interface.into()),
        mark: None,
        remote: any()[0],
    };
    let open = |interface| {
        let channels = vec![channel("lo"), channel(interface)];
        End::open(&EndPlan::free(1_400), channels, Epoch::new(1))
    };
    assert_eq!(open("lo").expect("every machine has it").channels(), 2);
    let error = open("nowhere").expect_err("there is none");
    assert!(matches!(error, OpenError::Socket { channel: 1, .. }), "{error}");
}

#[test]
fn excessive_packet_length_is_rejected_with_the_maximum() {
    let open = |longest_bytes| {
        let [local, _] = any();
        let channel = ChannelPlan { local, interface: None, mark: None, remote: local };
        End::open(&EndPlan::free(longest_bytes), vec![channel], Epoch::new(1))
    };
    assert!(open(65_471).is_ok());
    let error = open(65_472).expect_err("a copy would have 65,508 bytes");
    assert!(matches!(error, OpenError::LongestPacket { bytes_max: 65_471, .. }), "{error}");
}

#[test]
fn mixed_address_families_are_reported_with_their_channel() {
    let [local, remote] = any();
    let channels = vec![ChannelPlan { local, interface: None, mark: None, remote }];
    let error = End::open(&EndPlan::free(1_400), channels, Epoch::new(1)).expect_err("IPv6");
    assert_eq!(error.to_string(), "channel 0: no IPv4 socket sends to [::1]:0");
}

#[test]
fn packets_above_the_maximum_length_are_not_sent() {
    struct TooLong(Numbers, bool);
    impl Source for TooLong {
        fn next_bytes(&mut self) -> Option<usize> {
            if self.1 { Some(LONGEST_BYTES + 1) } else { self.0.next_bytes() }
        }
        fn take(&mut self, buffer: &mut Vec<u8>) {
            if std::mem::take(&mut self.1) {
                buffer.resize(buffer.len() + LONGEST_BYTES + 1, 0);
            } else {
                self.0.take(buffer);
            }
        }
    }
    let (mut left, mut right) = (end(&any()), end(&any()));
    join(&mut left, &mut right);
    assert_eq!(pumped(&mut left, &mut right, &mut Numbers((0..5).collect()), 5).len(), 5);
    let mut source = TooLong(Numbers((5..10).collect()), true);
    let ends_at = now().after(TIMEOUT);
    while left.too_long() == 0 {
        assert!(now() < ends_at, "it was not found");
        left.receive();
        left.transmit(&mut source);
    }
    let came = pumped(&mut left, &mut right, &mut source.0, 5);
    assert_eq!(came, [5, 6, 7, 8, 9]);
}
