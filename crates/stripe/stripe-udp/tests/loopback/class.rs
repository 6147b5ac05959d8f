//! Traffic classes of packets and messages.

use std::collections::VecDeque;
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use gingham_stripe::Epoch;
use gingham_stripe_udp::{End, EndPlan, Source, now};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};

use crate::pair::{Numbers, TIMEOUT, any, channel, end, find_sizes, join, plan, pumped};

/// Packets of a number and the outer ECN field.
#[derive(Default)]
struct Marked(VecDeque<[u8; 2]>);

impl Source for Marked {
    fn next_bytes(&mut self) -> Option<usize> {
        self.0.front().map(|packet| packet.len())
    }

    fn next_traffic_class(&mut self) -> Option<u8> {
        self.0.front().map(|[_, class]| *class)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        buffer.extend(self.0.pop_front().expect("it was asked for"));
    }
}

/// Over both address families, in runs of any length.
#[test]
fn ecn_field_is_delivered_with_each_packet() {
    for local in any() {
        let (mut left, mut right) = (end(&[local]), end(&[local]));
        join(&mut left, &mut right);
        find_sizes(&mut left, &mut right);
        let expected: Vec<_> = (0..200).map(|number: u8| [number, number / 7 % 4]).collect();
        let (ends_at, mut came) = (now().after(TIMEOUT), Vec::new());
        let marked = &mut Marked(expected.iter().copied().collect());
        while came.len() < expected.len() {
            assert!(now() < ends_at, "{} came", came.len());
            left.transmit(marked);
            right.receive();
            while let Some(packet) = right.next_packet() {
                came.push([packet.bytes[0], packet.ecn]);
                assert_eq!(packet.bytes.len(), 2);
            }
            right.transmit(&mut Marked::default());
            left.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
            left.receive();
        }
        assert_eq!(came, expected);
        let marks = expected.iter().filter(|[_, ecn]| *ecn == 3).count() as u64;
        assert_eq!(right.counts(0).marked, marks);
        // Several packets were sent per call.
        assert!(left.counts(0).sends < left.counts(0).sent, "{:?}", left.counts(0));
        pumped(&mut left, &mut right, &mut Numbers((0..50).collect()), 50);
        assert_eq!(right.counts(0).marked, marks);
    }
}

/// Fifteen packets are misdirected and then sent again.
#[test]
fn retransmissions_are_not_ecn_capable() {
    let local = any()[0];
    let (mut left, mut right) = (end(&[local]), end(&[local]));
    join(&mut left, &mut right);
    find_sizes(&mut left, &mut right);
    let elsewhere = UdpSocket::bind(local).expect("a socket");
    setsockopt(&elsewhere, sockopt::IpRecvTos, &true).expect("an option");
    left.set_remote(0, elsewhere.local_addr().expect("an address"));
    let (ends_at, lost) =
        (now().after(TIMEOUT), &mut Marked((0..15).map(|one| [one, 2]).collect()));
    while !lost.0.is_empty() {
        assert!(now() < ends_at, "they never went");
        left.receive();
        left.transmit(lost);
    }
    let mut classes = classes(&elsewhere);
    classes.retain(|class| *class == 2);
    assert_eq!(classes.len(), 15);
    join(&mut left, &mut right);
    let mut came = Vec::new();
    while came.len() < 15 {
        assert!(now() < ends_at, "{} came", came.len());
        left.receive();
        left.transmit(&mut Marked::default());
        right.receive();
        came.extend(std::iter::from_fn(|| right.next_packet()).map(|one| [one.bytes[0], one.ecn]));
        right.transmit(&mut Marked::default());
        left.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }
    assert!(came.into_iter().eq((0..15).map(|one| [one, 0])));
}

fn classes(socket: &UdpSocket) -> Vec<u8> {
    let (mut classes, mut bytes) = (Vec::new(), [0; 2_048]);
    let mut room = nix::cmsg_space!(u8);
    loop {
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        let (fd, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        let Ok(came) = recvmsg::<()>(fd, &mut buffers, Some(&mut room), flags) else {
            return classes;
        };
        classes.extend(came.cmsgs().expect("there was room").filter_map(|one| match one {
            ControlMessageOwned::Ipv4Tos(class) => Some(class),
            _ => None,
        }));
    }
}

/// Messages are resets of the protocol here.
#[test]
fn messages_have_the_dscp_and_no_ecn() {
    let listener = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    setsockopt(&listener, sockopt::IpRecvTos, &true).expect("an option");
    let plan = EndPlan { dscp: 46, ..plan() };
    let mut one = channel((Ipv4Addr::LOCALHOST, 0).into());
    one.remote = listener.local_addr().expect("an address");
    let mut end = End::open(&plan, vec![one], Epoch::new(1)).expect("a socket");
    end.transmit(&mut Marked::default());
    let classes = classes(&listener);
    assert!(!classes.is_empty() && classes.iter().all(|class| *class == 46 << 2), "{classes:?}");
}
