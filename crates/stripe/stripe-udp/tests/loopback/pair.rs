//! Two ends, and packets between them.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use gingham_stripe::{Epoch, SizeState};
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source, now};

pub(crate) const LONGEST_BYTES: usize = 1_400;
/// Far longer than needed, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(100);

#[derive(Default)]
pub(crate) struct Numbers(pub(crate) VecDeque<usize>);

impl Numbers {
    pub(crate) const fn length(number: usize) -> usize {
        8 + (number * 7_919) % (LONGEST_BYTES - 7)
    }
}

impl Source for Numbers {
    fn next_bytes(&mut self) -> Option<usize> {
        self.0.front().map(|number| Self::length(*number))
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        let number = self.0.pop_front().expect("it was asked for");
        let end = buffer.len() + Self::length(number);
        buffer.extend(number.to_be_bytes());
        buffer.resize(end, 0);
    }
}

/// Packets lost in full loopback buffers are retransmitted.
pub(crate) fn end(locals: &[SocketAddr]) -> End {
    let channels = locals.iter().map(|local| channel(*local)).collect();
    End::open(&plan(), channels, Epoch::new(1)).expect("sockets")
}

pub(crate) fn plan() -> EndPlan {
    let longest_bytes = u32::try_from(LONGEST_BYTES).expect("it is short");
    let mut plan = EndPlan::free(longest_bytes);
    plan.striping = plan.striping.repaired();
    plan
}

/// The other end is not known yet.
pub(crate) fn channel(local: SocketAddr) -> ChannelPlan {
    ChannelPlan { local, interface: None, mark: None, remote: local }
}

pub(crate) fn join(one: &mut End, other: &mut End) {
    let ids: Vec<_> = (0..one.channels()).filter(|id| one.is_there(*id)).collect();
    for channel in ids {
        one.set_remote(channel, other.local(channel).expect("a socket"));
        other.set_remote(channel, one.local(channel).expect("a socket"));
    }
}

pub(crate) fn any() -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]
}

/// Until `count` packets were received at the second end; returns their numbers.
pub(crate) fn pumped(
    one: &mut End,
    other: &mut End,
    numbers: &mut Numbers,
    count: usize,
) -> Vec<usize> {
    let (ends_at, mut came) = (now().after(TIMEOUT), Vec::new());
    while came.len() < count {
        assert!(now() < ends_at, "{} of {count} came", came.len());
        one.receive();
        one.transmit(numbers);
        other.receive();
        while let Some(packet) = other.next_packet() {
            let number = packet.bytes.first_chunk().expect("a number");
            assert_eq!(packet.bytes.len(), Numbers::length(usize::from_be_bytes(*number)));
            came.push(usize::from_be_bytes(*number));
        }
        other.transmit(&mut Numbers::default());
        one.wait(Some(now().after(Duration::from_millis(1))), &[]).expect("it waits");
    }
    came
}

pub(crate) fn find_sizes(one: &mut End, other: &mut End) {
    let ends_at = now().after(TIMEOUT);
    let is_known = |end: &End, channel| {
        end.is_in(channel) && end.size(channel).state == SizeState::SearchComplete
    };
    while !(0..one.channels()).all(|channel| is_known(one, channel)) {
        assert!(now() < ends_at, "{:?}", one.size(0));
        assert_eq!(pumped(one, other, &mut Numbers([1].into()), 1), [1]);
    }
}
