//! The proof for in-transit hosts that always eject packets, or only until they are full.
//!
//! ```text
//!          s0            A ring of five with a host on each switch. Up is towards s0, and from
//!        /    \          s3 to s2: paths turn up again only at s3, from s2 to s4 and back, by h3.
//!      s1      s4
//!       |      |
//!      s2 ──── s3
//! ```

use crate::proof::{least_cycle, turns};
use crate::support::{any_plan, channels_of, endpoint, fabric, pairs, ring, routed, shortest_path};
use gingham_topology::routing::{
    Algorithm, Buffer, Ejection, Form, InTransit, LaneMap, Lanes, Proof, RouteSet, Routes,
    ServiceLevels, SourceRoutes, cycle_witnesses, describe_cycle, prove,
};
use gingham_topology::{ChannelId, Fabric};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn in_transit() -> Algorithm {
    Algorithm::InTransit(InTransit::default())
}

fn until_full(routes: &Routes) -> RouteSet<'_> {
    RouteSet { ejection: Ejection::UntilFull, ..RouteSet::from(routes) }
}

#[test]
fn full_in_transit_host_closes_the_cycle_it_broke() {
    let fabric = ring(5, 1);
    let routes = routed(&fabric, &in_transit(), Form::Source);
    assert!(prove(&fabric, &routes).is_free());
    let Proof::Cycle { buffers } = prove(&fabric, until_full(&routes)) else {
        panic!("round the ring, and through h3");
    };
    // Packets for h3 wait behind one in transit; packets of h3 continue as those in transit do.
    insta::assert_snapshot!(describe_cycle(&fabric, until_full(&routes), &buffers), @"
    s0[2] -> s1[2]   then the next, from h0 to h2
    s1[3] -> s2[2]   then the next, from h1 to h3
    s2[3] -> s3[2]   then the next, from h1 to h3
    s3[1] -> h3[1]   in transit at h3, which sends on by the next, from h4 to h2
    h3[1] -> s3[1]   then the next, from h3 to h0
    s3[3] -> s4[2]   then the next, from h3 to h0
    s4[3] -> s0[3]   then the next, from h4 to h1
    s0[2] -> s1[2]   closes the cycle
    ");
}

#[test]
fn full_hosts_are_harmless_without_in_transit_traffic() {
    let fabric = ring(3, 2);
    let routes = routed(&fabric, &in_transit(), Form::Source);
    assert_eq!(prove(&fabric, until_full(&routes)), prove(&fabric, &routes));
}

#[test]
fn buffer_order_rises_through_a_host_that_can_be_full() {
    // In a ring of four only paths between s1 and s3 may turn, at s2. With two hosts a switch half
    // of them do.
    let fabric = ring(4, 2);
    let routes = routed(&fabric, &in_transit(), Form::Source);
    assert_proved_until_full(&fabric, &routes);
    let transit =
        |(from, to)| routes.path(&fabric, from, to).is_some_and(|p| p.legs(&fabric).count() > 1);
    assert!(pairs(&fabric).any(transit));
}

fn assert_proved_until_full(fabric: &Fabric, routes: &Routes) {
    let turns: BTreeSet<(ChannelId, ChannelId)> = turns(fabric, routes, |_| true);
    match prove(fabric, until_full(routes)) {
        Proof::Free { order } => {
            for (from, to) in &turns {
                assert!(order[from.index()] < order[to.index()], "{from:?} before {to:?}");
            }
        }
        Proof::Cycle { buffers } => {
            let channels = channels_of(&buffers);
            assert_eq!(least_cycle(&turns), Some(channels.clone()));
            let witnesses = cycle_witnesses(fabric, until_full(routes), &buffers);
            for (place, witness) in witnesses.iter().enumerate() {
                let (from, to) = witness.expect("some route makes the dependency");
                let path = routes.path(fabric, from, to).expect("a witness has a path");
                let pair = [channels[place], channels[(place + 1) % channels.len()]];
                assert!(path.channels().windows(2).any(|taken| taken == pair));
            }
        }
    }
}

proptest! {
    #[test]
    fn verdicts_with_full_hosts_hold_on_any_fabric(plan in any_plan()) {
        let fabric = plan.build();
        let routes = routed(&fabric, &in_transit(), Form::Source);
        assert_proved_until_full(&fabric, &routes);
        prop_assert!(prove(&fabric, &routes).is_free());
    }
}

#[test]
fn host_channel_witnesses_are_its_own_or_in_transit_packets() {
    let fabric = ring(5, 1);
    let routes = routed(&fabric, &in_transit(), Form::Source);
    let Proof::Cycle { buffers } = prove(&fabric, until_full(&routes)) else { panic!("a cycle") };
    let witnesses = cycle_witnesses(&fabric, until_full(&routes), &buffers);
    let h3 = endpoint(&fabric, "h3");
    let own = fabric.endpoint_channel(h3);
    let place = channels_of(&buffers).iter().position(|channel| *channel == own);
    assert_eq!(witnesses[place.expect("h3 sends on")], Some((h3, endpoint(&fabric, "h0"))));
}

fn channel(fabric: &Fabric, from: &str, to: &str) -> ChannelId {
    let leads = |channel: &ChannelId| {
        let ends = [fabric.source(*channel).node, fabric.target(*channel).node];
        ends.map(|end| fabric.node(end).name.as_str()) == [from, to]
    };
    ChannelId::first(fabric.channel_count()).find(leads).expect("a cable joins them")
}

#[test]
fn packets_on_all_lanes_share_the_pool_of_a_host() {
    // A line: h0 sends to h3 by h1 and then h2 on lane 1, h3 to h0 by h2 and then h1 on lane 2, all
    // others straight on lane 0. No lane by itself has a cycle.
    let fabric = fabric(4, &[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)]);
    let by_hosts = [
        ["s0", "s1", "h1", "s1", "s2", "h2", "s2", "s3", "h3"],
        ["s3", "s2", "h2", "s2", "s1", "h1", "s1", "s0", "h0"],
    ];
    let straight = routed(&fabric, &shortest_path(), Form::Source);
    let name = |node| fabric.node(node).name.as_str();
    let routes = [Routes::Source(SourceRoutes::of_paths(&fabric, |from, to| {
        let to_name = name(fabric.endpoint(to).node);
        let given = by_hosts.iter().find(|way| way[0] == name(from) && way[8] == to_name);
        if let Some(way) = given {
            return Some(way.windows(2).map(|pair| channel(&fabric, pair[0], pair[1])).collect());
        }
        let sender = fabric.endpoint_ids().find(|sender| {
            *sender != to && fabric.target(fabric.endpoint_channel(*sender)).node == from
        })?;
        Some(straight.path(&fabric, sender, to)?.channels()[1..].to_vec())
    }))];
    let [h0, h3] = ["h0", "h3"].map(|host| endpoint(&fabric, host));
    let proved = |both: bool, ejection| {
        let level = |from, to, _| match (from, to) {
            _ if (from, to) == (h0, h3) => 1,
            _ if (from, to) == (h3, h0) => {
                if both {
                    2
                } else {
                    1
                }
            }
            _ => 0,
        };
        let levels = ServiceLevels::by_pair(&fabric, 1, level);
        let lanes = Lanes::new(&fabric, LaneMap::uniform(&fabric, LaneMap::DEFAULT), levels);
        prove(&fabric, RouteSet { ejection, ..RouteSet::new(&routes, Some(&lanes)) })
    };
    assert!(proved(true, Ejection::Always).is_free());
    // The pool of h1 full of packets on lane 1 for h2, that of h2 of packets on lane 2 for h1.
    let expected = [
        ("h1", "s1", 1),
        ("s1", "s2", 1),
        ("s2", "h2", 1),
        ("h2", "s2", 2),
        ("s2", "s1", 2),
        ("s1", "h1", 2),
    ];
    let expected: BTreeSet<Buffer> = expected
        .map(|(from, to, lane)| Buffer { channel: channel(&fabric, from, to), lane })
        .into();
    let Proof::Cycle { buffers } = proved(true, Ejection::UntilFull) else {
        panic!("through both pools")
    };
    assert_eq!(buffers.into_iter().collect::<BTreeSet<_>>(), expected);
    assert!(!proved(false, Ejection::UntilFull).is_free(), "on one lane as well");
}
