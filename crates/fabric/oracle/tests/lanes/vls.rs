//! VLs of imported tables that own several lanes each.
//!
//! SL 0 uses VL 0 and SL 1 uses VL 1. With two lanes per VL, VL 0 owns lanes 0 and 1, VL 1 lanes 2
//! and 3.

use crate::common::row;
use crate::packets::by_message;
use crate::{lane_plan, lanes, packets};
use gingham_net::scheduler::{InfiniBand, TableSlot};
use gingham_net::{Plan, Scheduler};
use gingham_topology::routing::{LaneMap, LaneSet, Lanes, ServiceLevels, VcClass};

/// Hosts 0, 1 and 2 send packets of `flits` flits to host 4 on SL 0, and host 3 one on SL 1.
fn three_and_one(flits: u32, lanes_per_vl: u8) -> Plan {
    let mut plan = lane_plan(row(1, &[0; 5]), 4);
    for from in 0..4 {
        packets(&mut plan, from, 4, &[(0, flits)]);
        plan.classes[from].vc_class = Some(VcClass(u8::from(from == 3)));
    }
    let map = LaneMap::uniform(&plan.fabric, LaneMap::DEFAULT);
    let levels = ServiceLevels::zero(&plan.fabric);
    let both = [VcClass(0), VcClass(1)];
    plan.lanes.allowed =
        Lanes::by_tables(&plan.fabric, map, levels, false, &both).with_lanes_per_vl(lanes_per_vl);
    plan
}

#[test]
fn packet_waits_for_a_lane_of_its_own_vl() {
    // All heads are there at 4 and request at 6. h0 and h1 are granted lanes 0 and 1, h3 lane 2; h2
    // waits beside the free lane 3. Ports take turns: h0 at 7, 10, ... 22, h1 at 8, 11, ... 23, h3
    // at 9, 12, ... At 22 h0's tail releases lane 0 to h2. At 23 it is h1's turn, at 24 h2's, at 25
    // h3's, for its tail; h2 goes on to 30. A flit that crosses at t is whole at 10 t + 45.
    let [h0, h1, h2, h3] = [(0, 0, 115, 265), (1, 0, 125, 275), (2, 0, 285, 345), (3, 0, 135, 295)];
    assert_eq!(by_message(three_and_one(6, 2), 4), [h0, h1, h2, h3]);
}

#[test]
fn vl_of_one_lane_carries_one_packet_at_a_time() {
    // h0 is granted lane 0, h3 lane 1: h0 at 7, 9, ... 17, h3 at 8, 10, ... 16. At 17 h0's tail
    // releases lane 0 to h1. At 18 it is h1's turn, at 19 h3's, for its tail; h1 goes on to 24, h2
    // from 25 to 30.
    let [h0, h1, h2, h3] = [(0, 0, 115, 215), (1, 0, 225, 285), (2, 0, 295, 345), (3, 0, 125, 235)];
    assert_eq!(by_message(three_and_one(6, 1), 4), [h0, h1, h2, h3]);
}

#[test]
fn lanes_of_a_vl_share_the_weight_of_its_slots() {
    // Slots of one unit, 64 B: VLs take turns by packets of four flits, and lanes of VL 0 within
    // its turns. At 6 h0 is granted lane 0, h1 lane 1, h3 lane 2; h2 lane 0 at 10.
    let slot = |lane| TableSlot { lane, weight: 1 };
    let tables = InfiniBand { low: Some(vec![slot(0), slot(1)]), ..InfiniBand::default() };
    let mut plan = three_and_one(4, 2);
    lanes(&mut plan, |lanes| {
        lanes.cut_through = LaneSet::first_n(4);
        lanes.crossbar_output = Some(Scheduler::InfiniBand(tables));
    });
    // h0 crosses from 7 to 10, h3 on VL 1 from 11 to 14, h1 on lane 1, behind lane 0, from 15 to
    // 18, h2 from 19 to 22.
    let [h0, h1, h2, h3] = [(0, 0, 115, 145), (1, 0, 195, 225), (2, 0, 235, 265), (3, 0, 155, 185)];
    assert_eq!(by_message(plan, 4), [h0, h1, h2, h3]);
}
