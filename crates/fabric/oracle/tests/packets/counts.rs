//! Counts of channels and buffers, byte by byte.

use crate::common::packets::{packets_plan, sends};
use crate::common::{chain, channel, stop_at};
use gingham_kernel::Time;
use gingham_net::measure::ChannelCount;
use gingham_net::{Plan, Status};
use gingham_oracle::start;
use std::sync::Arc;

/// 64 bytes over a switch: first cable from 0 to 640, buffer from 25 to 765, second cable from 125
/// to 765.
fn plan() -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 64)]);
    plan
}

/// Counts of both cables after a run until `ps`.
fn at_the_end(ps: u64) -> [ChannelCount; 2] {
    let mut plan = plan();
    plan.stop = stop_at(ps);
    let ways = [channel(&plan.fabric, "h0", "s0"), channel(&plan.fabric, "s0", "h1")];
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {}
    assert_eq!(simulation.now(), Time::from_ps(ps));
    let counts = simulation.channel_counts();
    ways.map(|channel| counts[channel.index()])
}

#[test]
fn bytes_are_counted_at_their_start() {
    // Bytes 0 to 9 start before 100; byte 10, at 100, counts.
    let [first, second] = at_the_end(100);
    assert_eq!((first.data_flits, second.data_flits), (11, 0));
    // 1 at 125 and every 10 ps; byte 63 starts at 630 on the first cable.
    let [first, second] = at_the_end(639);
    assert_eq!((first.data_flits, second.data_flits), (64, 52));
    let [first, second] = at_the_end(1_000);
    assert_eq!((first.data_flits, second.data_flits), (64, 64));
}

#[test]
fn buffer_is_occupied_from_first_byte_to_departed_tail() {
    let filled = |ps| at_the_end(ps).map(|count| count.occupancy_flit_ps);
    assert_eq!(filled(25), [0, 0]);
    assert_eq!(filled(26), [64, 0]);
    assert_eq!(filled(700), [64 * 675, 0]);
    assert_eq!(filled(2_000), [64 * 740, 0]);
}

#[test]
fn section_excludes_its_end_instant() {
    // Sections of 160 ps count from 320 on. By then byte 31 has started on the first cable, and
    // byte 19 on the second, at 125 + 190.
    let mut plan = plan();
    plan.stop = stop_at(10_240);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let ways = [channel(&plan.fabric, "h0", "s0"), channel(&plan.fabric, "s0", "h1")];
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {}
    let report = simulation.collector().report();
    let counts = ways.map(|channel| report.channel(channel).unwrap().count);
    assert_eq!(counts.map(|count| count.data_flits), [64 - 32, 64 - 20]);
    assert_eq!(counts.map(|count| count.occupancy_flit_ps), [64 * (765 - 320), 0]);
}
