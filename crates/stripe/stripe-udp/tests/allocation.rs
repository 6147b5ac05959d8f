//! Packets over sockets cause no allocation once buffers exist.
#![cfg(target_os = "linux")]

use std::alloc::System;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use gingham_stripe::Epoch;
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source, now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const PACKET_BYTES: usize = 500;
const ROUNDS: usize = 20;
const PACKETS: usize = 10_000;
const TIMEOUT: Duration = Duration::from_secs(100);

struct Nothing(usize);

impl Source for Nothing {
    fn next_bytes(&mut self) -> Option<usize> {
        (self.0 > 0).then_some(PACKET_BYTES)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        self.0 -= 1;
        buffer.resize(buffer.len() + PACKET_BYTES, 0);
    }
}

fn end() -> End {
    let mut plan = EndPlan::free(1_400);
    plan.striping = plan.striping.repaired();
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let channel = ChannelPlan { local, interface: None, mark: None, remote: local };
    End::open(&plan, vec![channel.clone(), channel], Epoch::new(1)).expect("sockets")
}

fn run(left: &mut End, right: &mut End, packets: usize) {
    let (ends_at, mut source, mut came) = (now().after(TIMEOUT), Nothing(packets), 0);
    while came < packets {
        assert!(now() < ends_at, "{came} of {packets} came");
        left.receive();
        left.transmit(&mut source);
        right.receive();
        while right.next_packet().is_some() {
            came += 1;
        }
        right.transmit(&mut Nothing(0));
    }
}

#[test]
fn packets_cause_no_allocation() {
    let (mut left, mut right) = (end(), end());
    for channel in 0..2 {
        left.set_remote(channel, right.local(channel).expect("a socket"));
        right.set_remote(channel, left.local(channel).expect("a socket"));
    }
    // Retransmission buffers are full after the first round: 4,096 packets per channel. If more
    // packets are in flight than ever before, which depends on the machine, buffers are added, up
    // to a bound.
    let allocations = (0..ROUNDS).map(|_| {
        let region = Region::new(GLOBAL);
        run(&mut left, &mut right, PACKETS);
        region.change().allocations + region.change().reallocations
    });
    let least = allocations.min().expect("there are rounds");
    assert!(least < PACKETS / 100, "{least} allocations for {PACKETS} packets");
}
