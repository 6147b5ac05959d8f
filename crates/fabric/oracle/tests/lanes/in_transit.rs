//! In-transit hosts over virtual lanes: packets are re-injected flit by flit.
//!
//! One switch; traffic to `h2` goes over `h1`. T_d + T_r = 60 + 40 ps, and a flit has 16 B.
//!
//! ```text
//!   h0 ──┐      ┌── h1 in transit
//!        ├─ s0 ─┤
//!   h3 ──┘      └── h2
//! ```
//!
//! A packet that h0 begins at tick 0 is whole at h1 at 115, ready at 215; it begins at tick 22,
//! whole at h2 at 335.

use crate::common::{FLIT, along, deliveries, in_transit, row, spilling, stop_at, story};
use crate::packets::by_message;
use crate::{lane_plan, lanes, on_lanes, packets, start};
use gingham_kernel::Span;
use gingham_net::measure::TransitReport;
use gingham_net::{Injection, Plan, Status, WhenFull};
use gingham_topology::EndpointId;
use gingham_topology::routing::LaneSet;
use proptest::prelude::*;
use std::sync::Arc;

/// Traffic to h2 over h1, with a pool of `pool_bytes` bytes.
fn over_h1(count: u8, pool_bytes: u64) -> Plan {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), count);
    along(&mut plan, &[&["s0", "h1", "s0", "h2"]]);
    in_transit(&mut plan, [60, 40, pool_bytes]);
    spilling(&mut plan, [100, 1]);
    plan
}

/// Counts of h1 in 10,000 ps.
fn measured(mut plan: Plan) -> TransitReport {
    plan.stop = stop_at(10_000);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    simulation.assert_invariants();
    simulation.collector().report().transit(EndpointId::new(1))
}

#[test]
fn lone_packet_is_reinjected_when_ready() {
    let mut plan = over_h1(1, 1_000);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    let found = deliveries(plan.clone(), 1);
    assert_eq!(story(&found[0]), (0, 0, 335, 355));
    assert_eq!((found[0].hops, found[0].in_transit_hosts, found[0].wire_bytes), (2, 1, 48));
    // It was ready at 215 and began at 220.
    let counted = measured(plan);
    assert_eq!((counted.reinjected_packets, counted.spilled_packets), (1, 0));
    assert_eq!((counted.pool_peak_bytes, counted.wait_mean_ps), (48, Some(5.0)));
}

#[test]
fn in_transit_packet_interleaves_with_an_own_packet() {
    // h1 is in the middle of 40 own flits on lane 0; from 22 on it sends the packet on lane 1 at
    // every other tick. At s0 the head crosses at 29, lane 1 again at 31 and 33, as lane 0 has a
    // flit at 30 and 32. The last is on the cable at 34.
    for injection in [Injection::OneALane, Injection::OneAtATime] {
        let mut plan = over_h1(2, 1_000);
        lanes(&mut plan, |lanes| lanes.injection = injection);
        packets(&mut plan, 0, 2, &[(0, 3)]);
        packets(&mut plan, 1, 3, &[(0, 40)]);
        on_lanes(&mut plan, &[LaneSet::one(1), LaneSet::one(0)]);
        assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 335, 375), "{injection:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Closed form of the specification, over one and two hosts.
    #[test]
    fn times_match_the_closed_form(
        two_hosts in any::<bool>(),
        stops in any::<bool>(),
        flits in 1_u32..30,
        delay_ps in 0_u64..80,
        adapter_ps in (0_u64..100, 0_u64..100),
        routing_cycles in 0_u32..4,
    ) {
        let mut plan = over_h1(2, 1_000);
        if two_hosts {
            along(&mut plan, &[&["s0", "h1", "s0", "h3", "s0", "h2"]]);
        }
        in_transit(&mut plan, [adapter_ps.0, adapter_ps.1, 1_000]);
        if stops {
            plan.in_transit.when_full = WhenFull::Stop;
        }
        for cable in &mut plan.channels {
            cable.delay = Span::from_ps(delay_ps);
        }
        let delay_cycles = delay_ps.div_ceil(FLIT);
        lanes(&mut plan, |lanes| {
            lanes.routing_cycles = routing_cycles;
            lanes.depths_flits = [flits.min(u32::try_from(2 * delay_cycles + 3).unwrap()); 16];
        });
        packets(&mut plan, 0, 2, &[(0, flits)]);
        let (hosts, switches) = if two_hosts { (2, 3) } else { (1, 2) };
        let adapter_ps = adapter_ps.0 + adapter_ps.1;
        let (at_host, last_ps) = if stops {
            (delay_cycles + adapter_ps.div_ceil(FLIT), delay_cycles * FLIT)
        } else {
            ((delay_ps + adapter_ps).div_ceil(FLIT), delay_ps)
        };
        let cycles = switches * (4 + u64::from(routing_cycles) + delay_cycles) + hosts * (1 + at_host);
        let head = (cycles + 1) * FLIT + last_ps;
        let tail = (cycles + u64::from(flits)) * FLIT + last_ps;
        prop_assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, head, tail));
    }
}

#[test]
fn slow_feeder_leaves_bubbles() {
    let mut plan = over_h1(1, 1_000);
    in_transit(&mut plan, [0, 0, 1_000]);
    let cable = crate::common::channel(&plan.fabric, "h0", "s0");
    crate::common::cable_flit(&mut plan, cable, 30);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    // Flits begin at 0, 30, 60, there at s0 at 55, 85, 115, ticks 6, 9, 12. On the cable to h1 at
    // 10, 11, 14: whole at 135, 145, 175. They begin at 14, 15, 18, there at s0 at 18, 19, 22, on
    // the cable to h2 at 22, 23 and, crossing at 23, 24.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 255, 275));
}

#[test]
fn packet_without_pool_space_spills_to_memory() {
    let mut plan = over_h1(1, 47);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    // Tail at h1 at 135: ready at 135 + 100 + 2 x 48 x 1 = 331, tick 34, twelve ticks later than
    // from the pool.
    assert_eq!(story(&deliveries(plan.clone(), 1)[0]), (0, 0, 455, 475));
    let counted = measured(plan);
    assert_eq!((counted.reinjected_packets, counted.spilled_packets), (1, 1));
}

#[test]
fn in_transit_packets_precede_own_in_order_of_readiness() {
    let mut plan = over_h1(1, 1_000);
    packets(&mut plan, 0, 2, &[(0, 2), (0, 2)]);
    // h1's own, from 200 on: four flits from 20 to 23, and four more.
    packets(&mut plan, 1, 3, &[(200, 4), (200, 4)]);
    // The first in transit is ready at 215; the second crosses at 11, behind the first's tail (8):
    // whole at 155, ready at 255. h1 sends its own from 20 to 23, the first in transit at 24 and
    // 25, the second at 26 and 27, and its other own from 28 on.
    let found = by_message(plan, 4);
    let entered: Vec<_> = found.iter().map(|found| (found.0, found.1)).collect();
    assert_eq!(entered, [(0, 0), (0, 20), (1, 200), (1, 280)]);
    // The first in transit is there at s0 at 28, behind a tail that crosses at 30: crosses at 33,
    // on the cable to h2 at 34: whole at 375 and 385.
    assert_eq!((found[0].2, found[0].3), (375, 385));
}

#[test]
fn in_transit_packets_share_the_link_over_two_lanes() {
    let mut plan = over_h1(2, 1_000);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    packets(&mut plan, 1, 3, &[(200, 6)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    // h1's own begins at 20 and 21 on lane 1; from 22 on lanes take turns, lane 0 first. In
    // transit: on the cable at 22, 24, 26; there at 26, 28, 30. Own: on the cable at 20, 21, 23,
    // 25, 27, 28; there at 24, 25, 27, 29, 31, 32; granted at 26, crosses at 27, 28. At 29 both
    // could cross, and lane 0 does; then lane 1 at 30 (its third), lane 0 at 31 (its second), lane
    // 1 at 32, lane 0 at 33. To h2: 30, 32, 34: whole at 335 and 375.
    let found = by_message(plan, 2);
    assert_eq!(found[0], (0, 0, 335, 375));
}

#[test]
fn packets_leave_in_order_of_readiness_not_arrival() {
    let mut plan = over_h1(1, 32);
    packets(&mut plan, 0, 2, &[(0, 3), (0, 2)]);
    packets(&mut plan, 1, 3, &[(200, 30)]);
    // The first spills: ready at 135 + 100 + 2 x 48 = 331. The second, whole at h1 at 165, is ready
    // at 265. h1 sends its own from 20 to 49, the second at 50 and 51, the first from 52 to 54.
    // Own: crosses s0 from 27 to 56. Second: behind that tail, on the cable to h2 at 60. First:
    // behind the second's tail, which crosses at 60, at 64.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 675, 695), (0, 30, 635, 645), (1, 200, 315, 605)]);
}

fn stopping(count: u8, pool_bytes: u64) -> Plan {
    let mut plan = over_h1(count, pool_bytes);
    plan.in_transit.when_full = WhenFull::Stop;
    plan
}

#[test]
fn flits_reach_stopping_hosts_at_ticks() {
    let mut plan = stopping(1, 48);
    packets(&mut plan, 0, 2, &[(0, 3)]);
    // On the cable to h1 at 8, there at 12: ready at 220, tick 22, as without lane buffers. Whole
    // at h2 at 335 and 355, consumed at ticks 34 and 36.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 340, 360));
}

#[test]
fn packet_without_pool_space_waits_at_its_lane_head() {
    let mut plan = stopping(1, 48);
    packets(&mut plan, 0, 2, &[(0, 3), (0, 3)]);
    // First: as if alone; its tail begins at 24 and has left at 250. Second: crosses at 12, behind
    // the tail (9), there at h1 at 17. The pool is full until 250: ready at max(170 + 60, 250) + 40
    // = 290, on the cable at 29, there at h2 at 41.
    assert_eq!(by_message(plan, 2), [(0, 0, 340, 360), (0, 30, 410, 430)]);
}

#[test]
fn packet_behind_a_waiting_one_is_delivered_after_it() {
    let mut plan = stopping(1, 48);
    packets(&mut plan, 0, 2, &[(0, 3), (0, 3)]);
    packets(&mut plan, 0, 1, &[(1, 2)]);
    // Third in h0's queue: crosses at 17 and 18, behind the second's tail (14), there at h1 at 22
    // and 23. It leaves the buffer with the second, at 25.
    let found = by_message(plan, 3);
    assert_eq!(found[2], (0, 60, 250, 250));
}

#[test]
fn other_lane_passes_a_waiting_packet() {
    let mut plan = stopping(2, 48);
    packets(&mut plan, 0, 2, &[(0, 3), (0, 3)]);
    packets(&mut plan, 0, 1, &[(300, 2)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    plan.in_transit.programming = Span::from_ps(400);
    // The pool is taken from 120 to 580 + 30; the packet to h1 passes: there at ticks 34 + 8 = 42
    // and 43.
    let found = by_message(plan, 3);
    assert_eq!(found.iter().find(|found| found.1 == 300), Some(&(0, 300, 420, 430)));
}

#[test]
fn full_host_lane_buffer_blocks_the_switch() {
    // Two flits fit a lane buffer. The second packet has no space in the pool.
    let mut plan = stopping(1, 64);
    lanes(&mut plan, |lanes| {
        lanes.depths_flits = [2; 16];
        lanes.output_depths_flits = [1; 16];
    });
    plan.in_transit.programming = Span::from_ps(2_000);
    packets(&mut plan, 0, 2, &[(0, 4), (0, 4)]);
    plan.stop = stop_at(1_500);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    simulation.assert_invariants();
    let fabric = &simulation.plan().fabric;
    let count = |from, to| {
        let channel = crate::common::channel(fabric, from, to);
        simulation.channel_counts()[channel.index()].data_flits
    };
    // Of the second, two flits stand at h1, one in the output lane, the fourth in the lane buffer
    // before it.
    assert_eq!((count("h0", "s0"), count("s0", "h1"), count("h1", "s0")), (8, 6, 0));
}

#[test]
fn pool_space_at_the_next_tick_is_no_deadlock() {
    // At 13 ps a flit the first packet leaves h1 from 220 until 259; the second, there at tick 18,
    // has space at 260. The waits are examined before, at 7 x 37.
    let mut plan = stopping(1, 48);
    let cable = crate::common::channel(&plan.fabric, "h1", "s0");
    crate::common::cable_flit(&mut plan, cable, 13);
    packets(&mut plan, 0, 2, &[(0, 3), (0, 3)]);
    plan.stop = stop_at(7 * 64);
    let mut simulation = start(Arc::new(plan));
    assert_eq!(*simulation.advance(u64::MAX), Status::Finished);
}
