//! Hosts that select a path by the loads of the outputs at their first switch.

use crate::common::deliveries;
use crate::common::packets::{packets_plan, pausing, sends};
use gingham_net::{Decision, Plan, RoutingScheme};
use gingham_topology::routing::{Algorithm, Form, UpDown, route};
use gingham_topology::{EndpointId, Fabric, FabricBuilder, Guid, NodeKind};

/// h0, h1 and h2 on s0, h3 on s1, h4 on s2; every switch is joined with the two others.
fn triangle() -> Fabric {
    let mut builder = FabricBuilder::new();
    let switches = [0, 1, 2].map(|index| {
        builder.add_plain(NodeKind::Switch, &format!("s{index}"), Guid(0x100 + index), 8)
    });
    for (index, switch) in [0, 0, 0, 1, 2].into_iter().enumerate() {
        let guid = Guid(0x200 + index as u64);
        let host = builder.add_plain(NodeKind::Host, &format!("h{index}"), guid, 1);
        builder.join(host, switches[switch]).unwrap();
    }
    for [a, b] in [[0, 1], [0, 2], [1, 2]] {
        builder.join(switches[a], switches[b]).unwrap();
    }
    builder.build()
}

/// h0 and h1 send 640 B each to h3 at 0, h2 sends 10 B at each of `times`.
fn plan(threshold_bytes: u64, times: &[u64]) -> Plan {
    let mut plan = plan_over(triangle(), threshold_bytes);
    sends(&mut plan, 0, 0, &[(0, 3, 640)]);
    sends(&mut plan, 1, 0, &[(0, 3, 640)]);
    let small: Vec<_> = times.iter().map(|time| (*time, 3, 10)).collect();
    sends(&mut plan, 2, 0, &small);
    plan
}

/// Plan without traffic; alternative paths lead over s2.
fn plan_over(fabric: Fabric, threshold_bytes: u64) -> Plan {
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table).unwrap();
    let mut plan = packets_plan(fabric, 1);
    let decision = Decision::ByLoad { threshold_bytes };
    plan.routing = RoutingScheme::over_switches(routes, vec![EndpointId::new(4)], decision);
    plan
}

/// Switches that each packet of h2 visited, in the order of the messages.
fn switches_of_h2(plan: Plan, messages: usize) -> Vec<u16> {
    let mut found = deliveries(plan, 2 + messages);
    found.retain(|one| one.message.source == EndpointId::new(2));
    found.sort_by_key(|one| one.message.id());
    found.iter().map(|one| one.hops).collect()
}

#[test]
fn blocks_out_and_waiting_bytes_divert_packets() {
    // Both packets arrive at s0 from 25 on and are ready at 125. That of h0 starts at 125 and takes
    // 10 blocks at s1 until 150 + 100 + 6,400 + 25 = 6,675; that of h1 waits until 6,525, and takes
    // its blocks until 6,550 + 100 + 6,400 + 25 = 13,075.
    //   at 200:     640 B out and 640 B waiting: 1,280 x 1 hop      over s2: 3 switches
    //   at 6,600:   1,280 B out
    //   at 6,700:   640 B out
    //   at 13,300:  nothing                                         direct: 2 switches
    let times = [200, 6_600, 6_700, 13_300];
    assert_eq!(switches_of_h2(plan(0, &times), 4), [3, 3, 3, 2]);
    assert_eq!(switches_of_h2(plan(639, &times), 4), [3, 3, 3, 2]);
    assert_eq!(switches_of_h2(plan(640, &times), 4), [3, 3, 2, 2]);
    assert_eq!(switches_of_h2(plan(1_279, &times), 4), [3, 3, 2, 2]);
    // The first packet is direct and waits at s0: 1,290 B at 6,600.
    assert_eq!(switches_of_h2(plan(1_280, &times), 4), [2, 3, 2, 2]);
    assert_eq!(switches_of_h2(plan(1_290, &times), 4), [2, 2, 2, 2]);
    assert_eq!(switches_of_h2(plan(u64::MAX, &times), 4), [2, 2, 2, 2]);
}

#[test]
fn load_of_an_alternative_path_counts_for_each_hop() {
    // At 200, 640 B are out at s1, and `bytes` from h1 at s2, which lies two hops before s1.
    let switches = |bytes| {
        let mut plan = plan_over(triangle(), 0);
        sends(&mut plan, 0, 0, &[(0, 3, 640)]);
        sends(&mut plan, 1, 0, &[(0, 4, bytes)]);
        sends(&mut plan, 2, 0, &[(200, 3, 10)]);
        switches_of_h2(plan, 1)
    };
    assert_eq!(switches(320), [2], "640 x 1 is not more than 320 x 2");
    assert_eq!(switches(256), [3], "640 x 1 is more than 256 x 2");
}

#[test]
fn packets_for_a_host_of_the_first_switch_are_direct() {
    // 640 B wait at s0 for h2 from 125 on, with 640 B before them.
    let mut plan = plan_over(triangle(), 0);
    sends(&mut plan, 0, 0, &[(0, 2, 640), (0, 2, 10)]);
    sends(&mut plan, 1, 0, &[(0, 2, 640)]);
    let found = deliveries(plan, 3);
    assert!(found.iter().all(|one| one.hops == 1), "{found:?}");
}

#[test]
fn only_waiting_packets_count_without_credits() {
    let mut plan = plan(0, &[200, 6_600]);
    pausing(&mut plan, [60_000, 30_000]);
    assert_eq!(switches_of_h2(plan, 2), [3, 2]);
}
