//! Buffered packets take no more memory than they are charged, however short they are.
#![cfg(target_os = "linux")]

use std::alloc::System;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use gingham_stripe::{Discard, Epoch};
use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source, now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A TCP acknowledgement over IPv4 without options.
const PACKET_BYTES: usize = 40;
const MEMORY_BYTES: usize = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(100);
/// Overhead of an allocation on a 64-bit machine, and its rounding.
const KEPT_BYTES: usize = 8;
const STEP_BYTES: usize = 16;

struct Endless;

impl Source for Endless {
    fn next_bytes(&mut self) -> Option<usize> {
        Some(PACKET_BYTES)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        buffer.resize(buffer.len() + PACKET_BYTES, 0);
    }
}

struct Nothing;

impl Source for Nothing {
    fn next_bytes(&mut self) -> Option<usize> {
        None
    }

    fn take(&mut self, _: &mut Vec<u8>) {}
}

fn end() -> End {
    let mut plan = EndPlan::free(1_400);
    plan.striping.receiver.buffer_bytes_max = MEMORY_BYTES as u64;
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let channel = ChannelPlan { local, interface: None, mark: None, remote: local };
    End::open(&plan, vec![channel.clone(), channel], Epoch::new(1)).expect("sockets")
}

/// Includes the overhead of the allocator.
fn live_bytes(stats: &Stats) -> usize {
    let allocations = stats.allocations - stats.deallocations;
    stats.bytes_allocated - stats.bytes_deallocated + allocations * (KEPT_BYTES + STEP_BYTES - 1)
}

/// The sender continues without credit until the buffer is full: only buffered packets are
/// allocated.
#[test]
fn buffer_of_tiny_packets_stays_within_its_cap() {
    let (mut left, mut right) = (end(), end());
    for channel in 0..2 {
        left.set_remote(channel, right.local(channel).expect("a socket"));
        right.set_remote(channel, left.local(channel).expect("a socket"));
    }
    let (ends_at, region) = (now().after(TIMEOUT), Region::new(GLOBAL));
    while right.reception().discards.of(Discard::BufferFull) == 0 {
        assert!(now() < ends_at, "{:?}", right.reception());
        left.receive();
        left.transmit(&mut Endless);
        right.receive();
        right.transmit(&mut Nothing);
    }
    let live = live_bytes(&region.change());
    assert!(live <= MEMORY_BYTES, "{live} bytes");
    assert!(live > MEMORY_BYTES / 2, "{live} bytes, so that it is not full");
}
