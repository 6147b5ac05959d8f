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
    let fabric = triangle();
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table).unwrap();
    let mut plan = packets_plan(fabric, 1);
    let decision = Decision::ByLoad { threshold_bytes };
    plan.routing = RoutingScheme::over_switches(routes, vec![EndpointId::new(4)], decision);
    sends(&mut plan, 0, 0, &[(0, 3, 640)]);
    sends(&mut plan, 1, 0, &[(0, 3, 640)]);
    let small: Vec<_> = times.iter().map(|time| (*time, 3, 10)).collect();
    sends(&mut plan, 2, 0, &small);
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
    //   at 200:     640 B out and 640 B waiting, x 2 = 2,560        over s2: 3 switches
    //   at 6,600:   1,280 B out, x 2 = 2,560
    //   at 6,700:   640 B out, x 2 = 1,280
    //   at 13,300:  nothing                                         direct: 2 switches
    let times = [200, 6_600, 6_700, 13_300];
    assert_eq!(switches_of_h2(plan(0, &times), 4), [3, 3, 3, 2]);
    assert_eq!(switches_of_h2(plan(1_279, &times), 4), [3, 3, 3, 2]);
    assert_eq!(switches_of_h2(plan(1_280, &times), 4), [3, 3, 2, 2]);
    assert_eq!(switches_of_h2(plan(2_559, &times), 4), [3, 3, 2, 2]);
    // The first packet is direct and waits at s0: 1,290 B x 2 at 6,600.
    assert_eq!(switches_of_h2(plan(2_560, &times), 4), [2, 3, 2, 2]);
    assert_eq!(switches_of_h2(plan(2_580, &times), 4), [2, 2, 2, 2]);
}

#[test]
fn only_waiting_packets_count_without_credits() {
    let mut plan = plan(0, &[200, 6_600]);
    pausing(&mut plan, [60_000, 30_000]);
    assert_eq!(switches_of_h2(plan, 2), [3, 2]);
}
