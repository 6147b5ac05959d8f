//! Hosts that stop their senders when their pools are full, and a deadlock of these.

use super::common::{
    along, channel, deliveries, in_transit, quiet_plan, scheduled, spilling, stop_at, stopping,
    story,
};
use super::{DETECTION, measured, over_h1};
use gingham_kernel::Time;
use gingham_net::{Plan, Status};
use gingham_oracle::start;
use gingham_topology::{ChannelId, FabricBuilder, Guid, NodeKind};
use std::sync::Arc;

/// Slow hosts: a worm that h0 begins at 0 is ready at 170 + 60 + 440 = 670.
fn slow_hosts(pool_bytes: u64) -> Plan {
    let mut plan = over_h1();
    in_transit(&mut plan, [DETECTION, 440, pool_bytes]);
    stopping(&mut plan);
    plan
}

#[test]
fn worm_without_pool_space_blocks_its_port() {
    let mut plan = slow_hosts(5);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    scheduled(&mut plan, 2, 1, &[(200, 5)]);
    // First: ready at 670, gone at 720, at h2 from 840 to 880. Second: at h1 from 320 to 360, has
    // space at 720 and, already recognised, is ready at 720 + 440 = 1,160: at h2 from 1,330 to
    // 1,370. Third, for h1: requests at 235, granted at 335, at h1 from 470 to 510 behind the
    // second, consumed at 720.
    let stories: Vec<_> = deliveries(plan.clone(), 3).iter().map(story).collect();
    let expected = [(2, 200, 720, 720), (0, 0, 840, 880), (3, 0, 1_330, 1_370)];
    assert_eq!(stories, expected);
    let measured = measured(plan, 1);
    assert_eq!((measured.reinjected_packets, measured.pool_peak_bytes), (2, 5));
    assert_eq!((measured.spilled_packets, measured.wait_mean_ps), (0, Some(0.0)));
}

#[test]
fn pool_space_freed_before_detection_adds_no_delay() {
    let mut plan = slow_hosts(5);
    in_transit(&mut plan, [500, 0, 5]);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    // Ready at 670 and gone at 720; the second, read at 320, is recognised at 820: at h2 from 990
    // to 1,030.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 840, 880), (3, 0, 990, 1_030)]);
}

#[test]
fn long_waiting_worm_stops_its_sender() {
    let mut plan = slow_hosts(30);
    scheduled(&mut plan, 0, 2, &[(0, 30)]);
    scheduled(&mut plan, 3, 2, &[(0, 30)]);
    // The first is ready at 670. The second is off at 535, at h1 from 570 on: with 17 flits at 730
    // the port requests STOP. h1's cable has just started a flit; STOP goes at 740, received at s0
    // at 775: 24 flits have started, the port is full. The first loses 10 to STOP: off at 805 to
    // 1,105, at h2 from 840 to 1,130; its tail has left h1 at 980. The second takes its space, all
    // 24 leave the port, and GO goes at once: received at 1,015, 240 after STOP. The second is
    // ready at 980 + 440 = 1,420: at h2 from 1,590 to 1,880.
    let into = channel(&plan.fabric, "s0", "h1");
    let stories: Vec<_> = deliveries(plan.clone(), 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 840, 1_130), (3, 0, 1_590, 1_880)]);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let count = simulation.channel_counts()[into.index()];
    assert_eq!((count.stops, count.stopped_ps), (1, 240));
    // Flit i of 24 stands in the port from 570 + 10 i to 980.
    assert_eq!(count.occupancy_flit_ps, (0..24).map(|i| 980 - 570 - 10 * i).sum::<u128>());
}

/// Ring of four switches, each with a host that sends three messages to the host two switches on,
/// and an in-transit host `x` for messages from the previous switch.
///
/// ```text
///   h0 ─ s0 ──► s1 ─ x1 ─ s1 ──► s2 ─ h2        first leg and second leg of different messages share each
///               h1 ─ s1 ──► s2 ─ x2 ─ s2 ──► s3      channel from switch to switch
/// ```
fn ring(pool_bytes: u64, lengths: [u32; 3]) -> Plan {
    let mut builder = FabricBuilder::new();
    let switches: Vec<_> = (0..4_u64)
        .map(|n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(0x100 + n), 8))
        .collect();
    for (base, kind) in [(0x200, 'h'), (0x300, 'x')] {
        for (n, switch) in (0_u64..).zip(&switches) {
            let guid = Guid(base + n);
            let host = builder.add_plain(NodeKind::Host, &format!("{kind}{n}"), guid, 1);
            builder.join(host, *switch).unwrap();
        }
    }
    for n in 0..4 {
        builder.join(switches[n], switches[(n + 1) % 4]).unwrap();
    }
    let mut plan = quiet_plan(builder.build());
    let names: Vec<[String; 6]> = (0..4)
        .map(|n| {
            let [one, two] = [(n + 1) % 4, (n + 2) % 4];
            let switch = |n: usize| format!("s{n}");
            [switch(n), switch(one), format!("x{one}"), switch(one), switch(two), format!("h{two}")]
        })
        .collect();
    let names: Vec<[&str; 6]> =
        names.iter().map(|path| path.each_ref().map(String::as_str)).collect();
    let paths: Vec<&[&str]> = names.iter().map(<[&str; 6]>::as_slice).collect();
    along(&mut plan, &paths);
    // The second message of each host takes the channel to the next switch before the first is sent
    // on there.
    in_transit(&mut plan, [60, 2_000, pool_bytes]);
    for host in 0..4 {
        scheduled(&mut plan, host, (host + 2) % 4, &lengths.map(|bytes| (0, bytes)));
    }
    plan.stop = stop_at(1_000_000);
    plan
}

fn ends_as(plan: &Plan) -> Status {
    let mut simulation = start(Arc::new(plan.clone()));
    while *simulation.advance(50) == Status::Running {
        simulation.assert_invariants();
    }
    simulation.status().clone()
}

#[test]
fn back_pressure_of_pools_causes_deadlock() {
    let mut plan = ring(150, [100; 3]);
    stopping(&mut plan);
    let Status::Deadlocked(cycle) = ends_as(&plan) else { panic!("the pools hold one worm each") };
    // Around the ring: the port of x1 waits for s1's input from x1, that for the output to s2, held
    // by s1's input from h1; that is stopped by s2's input from s1, and that by the port of x2.
    let around = (0..4).flat_map(|n| {
        let next = (n + 1) % 4;
        let [here, there] = [n, next].map(|n| [format!("s{n}"), format!("x{n}"), format!("h{n}")]);
        let on = |from: &str, to: &str| channel(&plan.fabric, from, to);
        [
            on(&here[0], &here[1]),
            on(&here[1], &here[0]),
            on(&here[2], &here[0]),
            on(&here[0], &there[0]),
        ]
    });
    let around: Vec<ChannelId> = around.collect();
    let channels: Vec<ChannelId> = cycle.buffers.iter().map(|input| input.channel).collect();
    let start = around.iter().position(|channel| *channel == channels[0]).unwrap();
    let expected: Vec<_> = (0..16).map(|step| around[(start + step) % 16]).collect();
    assert_eq!(channels, expected);
}

#[test]
fn large_or_spilling_pools_do_not_deadlock() {
    let mut plan = ring(300, [100; 3]);
    stopping(&mut plan);
    assert_eq!(ends_as(&plan), Status::Finished);
    let mut plan = ring(150, [100; 3]);
    spilling(&mut plan, [1_000, 3]);
    assert_eq!(ends_as(&plan), Status::Finished);
    let spilled: u64 = (0..8).map(|host| measured(plan.clone(), host).spilled_packets).sum();
    assert!(spilled > 0, "the pools were too small");
}

#[test]
fn waiting_for_an_unready_worm_is_no_deadlock() {
    // The 8: at x1 from 305 on, ready at 2,365, gone at 2,445. The 5: off s0 at 325 to 375, at x1
    // from 495 on, ready at 2,555, gone at 2,605. Until then the 100 wait at x1, which holds 104,
    // not 105, and hold the channel from s0 to s1, required by the 8 of x0. This resembles the
    // knot, but the cable of x1 is not stopped: 13 fit into the buffer at its end.
    let mut plan = ring(104, [8, 5, 100]);
    stopping(&mut plan);
    plan.stop = stop_at(64 * 2_500);
    let mut simulation = start(Arc::new(plan));
    while simulation.now() < Time::from_ps(2_600) {
        assert_eq!(*simulation.advance(1), Status::Running);
    }
    assert_eq!(simulation.collector().delivered_messages(), 0);
    assert_eq!(*simulation.advance(u64::MAX), Status::Finished);
}
