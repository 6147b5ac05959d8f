//! Statistics against closed forms and hand counts.

use crate::support::{
    FORMS, Plan, any_plan, endpoint, fabric, generated, joins_switches, pairs, ring, routed,
    shortest_path, up_down, wild_tables,
};
use gingham_topology::generate::{Generator, Mesh};
use gingham_topology::routing::{
    Algorithm, AllToAll, AssumedSpeed, Detour, DimensionOrder, Form, InTransit, Root, Routes,
    Statistics,
};
use gingham_topology::{ChannelId, Fabric, LinkSpeed, NodeKind};
use proptest::prelude::*;

#[test]
fn odd_ring_statistics_match_the_closed_form() {
    // n switches, one host each: distances 1 to (n - 1)/2 twice from everywhere, hence
    // 1 + (n + 1)/4 switches in the mean, and (n^2 - 1)/8 paths on every channel.
    for (n, mean_switches, paths) in [(3, 2.0, 1), (5, 2.5, 3), (7, 3.0, 6), (9, 3.5, 10_u32)] {
        let fabric = ring(n, 1);
        for form in FORMS {
            let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
            let mut lengths = vec![2 * n as u64; n / 2 + 2];
            lengths[..2].fill(0);
            assert_eq!(statistics.switches.pairs(), lengths);
            assert_eq!(statistics.switches.mean(), Some(mean_switches));
            assert_eq!(statistics.switches.max(), Some(n / 2 + 1));
            assert_eq!(statistics.max_channel_paths(), u64::from(paths));
            assert_eq!(statistics.mean_channel_paths(), Some(f64::from(paths)));
            assert_eq!(statistics.minimal_share(), Some(1.0));
        }
    }
}

#[test]
fn all_to_all_bound_of_a_ring_matches_the_closed_form() {
    // 4 x 3 = 12 paths a channel, 9 destinations.
    let fabric = ring(5, 2);
    let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), Form::Source));
    let bound = statistics.all_to_all.unwrap();
    assert_eq!(statistics.max_channel_paths(), 12);
    assert_eq!(Some(bound.fraction), Some(9.0 / 12.0));
    assert_eq!(bound.bottleneck, statistics.busiest[0]);
    assert_eq!(bound.reference, None, "speeds unknown");
}

#[test]
fn star_is_bounded_by_its_host_links() {
    let fabric = fabric(1, &[0, 0, 0, 0], &[]);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        assert_eq!(statistics.switches.pairs(), [0, 12]);
        assert_eq!(statistics.channel_paths, [3; 8], "every channel, both ways");
        assert_eq!(statistics.all_to_all.map(|bound| bound.fraction), Some(1.0));
        assert_eq!(statistics.mean_channel_paths(), None, "no channels between switches");
        assert!(statistics.busiest.is_empty());
    }
}

#[test]
fn detours_lower_the_share_of_minimal_paths() {
    // On a ring of six only s2 - s4 must go round by the root: 4 hops in place of 2.
    let fabric = ring(6, 1);
    for form in FORMS {
        let routes = routed(&fabric, &up_down(Root::LowestId), form);
        let statistics = Statistics::new(&fabric, &routes);
        assert_eq!(statistics.minimal_share(), Some(28.0 / 30.0));
        // Hops: 12 pairs at 1, 10 at 2, 6 at 3, 2 at 4.
        assert_eq!(statistics.switches.pairs(), [0, 0, 12, 10, 6, 2]);
    }
}

#[test]
fn link_speeds_scale_the_bound() {
    // 4 paths each way over the trunk, 3 destinations.
    let residents = [0, 0, 1, 1].map(|switch| (NodeKind::Host, switch)).to_vec();
    let plan = Plan { switches: 2, residents, cables: vec![(0, 1)], peers: 0 };
    let bound = |speeds: [&str; 5]| {
        let speed = |cable: usize| speeds[cable].parse().ok();
        let fabric = plan.build_with(speed);
        let routes = routed(&fabric, &shortest_path(), Form::Table);
        Statistics::new(&fabric, &routes).all_to_all.unwrap()
    };
    let assert_close = |bound: AllToAll, fraction: f64| {
        assert!((bound.fraction - fraction).abs() < 1e-12, "{bound:?}");
    };
    assert_close(bound(["4xEDR"; 5]), 0.75);
    let slow_trunk = bound(["4xEDR", "4xEDR", "4xEDR", "4xEDR", "1xEDR"]);
    assert_close(slow_trunk, 0.75 / 4.0);
    assert_eq!(slow_trunk.reference, "4xEDR".parse::<LinkSpeed>().ok().map(LinkSpeed::rate));
    // One slow host is the measure for all, for which the trunk is wide enough.
    let slow_host = bound(["1xEDR", "4xEDR", "4xEDR", "4xEDR", "4xEDR"]);
    assert_close(slow_host, 1.0);
    assert_eq!(slow_host.reference, "1xEDR".parse::<LinkSpeed>().ok().map(LinkSpeed::rate));
}

#[test]
fn unknown_speeds_default_to_the_most_common_known_one() {
    let residents = [0, 0, 1, 1].map(|switch| (NodeKind::Host, switch)).to_vec();
    let plan = Plan { switches: 2, residents, cables: vec![(0, 1)], peers: 0 };
    let bound = |speeds: [&str; 5]| {
        let fabric = plan.build_with(|cable: usize| speeds[cable].parse().ok());
        let routes = routed(&fabric, &shortest_path(), Form::Source);
        Statistics::new(&fabric, &routes).all_to_all.unwrap()
    };
    let speed = |text: &str| text.parse::<LinkSpeed>().unwrap();
    let assumed = |text: &str, cables| Some(AssumedSpeed { speed: speed(text), cables });
    // A host as the other three, beside a slow trunk.
    let of_host = bound(["4xEDR", "?", "4xEDR", "4xEDR", "1xEDR"]);
    assert!((of_host.fraction - 0.75 / 4.0).abs() < 1e-12, "{of_host:?}");
    assert_eq!(of_host.reference, Some(speed("4xEDR").rate()));
    assert_eq!(of_host.assumed, assumed("4xEDR", 1));
    // Trunk and two hosts; of equally many the slowest.
    let tie = bound(["4xEDR", "1xEDR", "?", "?", "?"]);
    assert_eq!((tie.fraction, tie.assumed), (0.75, assumed("1xEDR", 3)));
    let none = bound(["?"; 5]);
    assert_eq!((none.fraction, none.reference, none.assumed), (0.75, None, None));
    assert_eq!(bound(["4xEDR"; 5]).assumed, None);
}

#[test]
fn islands_do_not_limit_each_other() {
    // Every host can send at full rate.
    let fabric = fabric(2, &[0, 0, 1, 1], &[]);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        assert_eq!(statistics.all_to_all.map(|bound| bound.fraction), Some(1.0));
    }
}

#[test]
fn bound_of_islands_is_that_of_the_tightest() {
    // Two switches of two hosts each over one trunk: 4 paths, 3 destinations. In addition a star of
    // six hosts, and two hosts joined by a cable.
    let residents = [0, 0, 1, 1, 2, 2, 2, 2, 2, 2].map(|switch| (NodeKind::Host, switch));
    let residents = residents.to_vec();
    let fabric = Plan { switches: 3, residents, cables: vec![(0, 1)], peers: 1 }.build();
    let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), Form::Source));
    let bound = statistics.all_to_all.unwrap();
    assert_eq!((bound.fraction, bound.bottleneck), (0.75, statistics.busiest[0]));
}

#[test]
fn aggregation_nodes_and_routers_are_not_counted() {
    let residents = vec![
        (NodeKind::Host, 0),
        (NodeKind::Host, 1),
        (NodeKind::Aggregation, 0),
        (NodeKind::Router, 1),
    ];
    let fabric = Plan { switches: 2, residents, cables: vec![(0, 1)], peers: 0 }.build();
    let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), Form::Source));
    assert_eq!((statistics.host_pairs, statistics.unreachable_pairs), (2, 0));
    assert_eq!(statistics.max_channel_paths(), 1);
}

#[test]
fn statistics_without_host_pairs_are_empty() {
    for fabric in [fabric(0, &[], &[]), fabric(2, &[0], &[(0, 1)])] {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), Form::Table));
        assert_eq!(statistics.host_pairs, 0);
        assert_eq!(statistics.switches.mean(), None);
        assert_eq!(statistics.switches.max(), None);
        assert_eq!(statistics.minimal_share(), None);
        assert_eq!(statistics.all_to_all, None);
    }
}

proptest! {
    #[test]
    fn counts_match_all_paths_one_by_one(plan in any_plan()) {
        let fabric = plan.build();
        for form in FORMS {
            assert_counted(&fabric, &routed(&fabric, &up_down(Root::LowestId), form));
        }
        assert_counted(&fabric, &routed(&fabric, &in_transit(), Form::Source));
    }

    #[test]
    fn counts_of_random_tables_match_all_paths(
        plan in any_plan(),
        ports in proptest::collection::vec(0..8_u16, 301),
    ) {
        let fabric = plan.build();
        let routes = Routes::Table(wild_tables(&fabric, &ports));
        assert_counted(&fabric, &routes);
        let bound = Statistics::new(&fabric, &routes).all_to_all;
        prop_assert!(bound.is_none_or(|bound| 0.0 < bound.fraction && bound.fraction <= 1.0));
    }

    #[test]
    fn counts_of_dimension_order_match_all_paths(
        dimensions in proptest::collection::vec(1..4_u32, 1..4),
        hosts_per_switch in 1..4_u32,
    ) {
        let mesh = Mesh { dimensions, hosts_per_switch, rails: 1 };
        let fabric = generated(&Generator::Mesh(mesh), 1);
        let order = Algorithm::DimensionOrder(DimensionOrder::default());
        let routes = FORMS.map(|form| routed(&fabric, &order, form));
        for routes in &routes {
            assert_counted(&fabric, routes);
        }
        let [source, table] = routes.map(|routes| Statistics::new(&fabric, &routes));
        prop_assert_eq!(source, table);
    }

    #[test]
    fn fall_back_count_equals_detour_pairs(plan in any_plan()) {
        let fabric = plan.build();
        let routes = routed(&fabric, &in_transit(), Form::Source);
        let detours = Statistics::new(&fabric, &routes).detour_pairs();
        let Routes::Source(routes) = routes else { panic!("asked for source routes") };
        prop_assert_eq!(routes.fall_backs().pairs, detours);
        prop_assert_eq!(routes.fall_backs().switches.is_empty(), detours == 0);
    }
}

fn assert_counted(fabric: &Fabric, routes: &Routes) {
    let statistics = Statistics::new(fabric, routes);
    let mut channel_paths = vec![0; fabric.channel_count()];
    let mut in_transit_paths = vec![0; fabric.endpoints().len()];
    let (mut lengths, mut hosts) = (vec![0; 40], vec![0; 20]);
    let (mut all, mut joined) = (0, 0);
    for (from, to) in pairs(fabric) {
        if !(fabric.is_host_endpoint(from) && fabric.is_host_endpoint(to)) {
            continue;
        }
        all += 1;
        let Some(path) = routes.path(fabric, from, to) else { continue };
        joined += 1;
        lengths[path.switches(fabric)] += 1;
        path.channels().iter().for_each(|channel| channel_paths[channel.index()] += 1);
        let (_, before) = path.channels().split_last().expect("a path has channels");
        let visited = before.iter().filter_map(|on| fabric.endpoint_at(fabric.target(*on)));
        let visited: Vec<_> = visited.collect();
        hosts[visited.len()] += 1;
        for host in visited {
            in_transit_paths[host.index()] += 1;
        }
    }
    for numbers in [&mut lengths, &mut hosts] {
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
    }
    assert_eq!((statistics.host_pairs, statistics.joined_pairs()), (all, joined));
    assert_eq!(statistics.switches.pairs(), &lengths[..]);
    assert_eq!(statistics.in_transit_hosts.pairs(), &hosts[..]);
    assert_eq!(statistics.channel_paths, channel_paths);
    assert_eq!(statistics.in_transit_paths, in_transit_paths);
    let max = ChannelId::first(fabric.channel_count())
        .filter(|channel| joins_switches(fabric, *channel))
        .filter(|channel| fabric.source(*channel).node != fabric.target(*channel).node)
        .map(|channel| channel_paths[channel.index()])
        .max();
    assert_eq!(statistics.max_channel_paths(), max.unwrap_or(0));
}

fn in_transit() -> Algorithm {
    Algorithm::InTransit(InTransit::default())
}

#[test]
fn in_transit_traffic_counts_on_host_channels() {
    // A ring of five, up towards s0: 10 pairs at distance 1, 10 at distance 2; s2 - s4 and back go
    // over h3, whose channels carry its own four paths and these two, each way.
    let fabric = ring(5, 1);
    let statistics = Statistics::new(&fabric, &routed(&fabric, &in_transit(), Form::Source));
    assert_eq!(statistics.distance.pairs(), [0, 10, 10]);
    assert_eq!(statistics.in_transit_hosts.pairs(), [18, 2]);
    assert_eq!(statistics.in_transit_hosts.mean(), Some(0.1));
    assert_eq!(statistics.switches.pairs(), [0, 0, 10, 8, 2], "s3 counts twice on two paths");
    assert_eq!(statistics.minimal_share(), Some(1.0));
    assert_eq!((statistics.detour_pairs(), statistics.detour), (0, None));
    let h3 = endpoint(&fabric, "h3");
    let own = fabric.endpoint_channel(h3);
    assert_eq!(statistics.channel_paths[own.index()], 6);
    assert_eq!(statistics.channel_paths[Fabric::reverse(own).index()], 6);
    assert_eq!(statistics.in_transit_paths[h3.index()], 2);
    assert_eq!(statistics.busiest_in_transit_hosts(), [h3]);
    assert_eq!(statistics.max_channel_paths(), 3, "between switches nothing is as busy");
    let bound = statistics.all_to_all.unwrap();
    assert_eq!((bound.fraction, fabric.cable_of(bound.bottleneck).ends.map(|end| end.node)), {
        (4.0 / 6.0, fabric.cable_of(own).ends.map(|end| end.node))
    });
}

#[test]
fn shared_in_transit_path_counts_once_per_host_pair() {
    let fabric = ring(5, 2);
    let routes = routed(&fabric, &in_transit(), Form::Source);
    assert_counted(&fabric, &routes);
    // Two hosts on s2, two on s4, both ways.
    assert_eq!(Statistics::new(&fabric, &routes).in_transit_paths.iter().sum::<u64>(), 8);
}

#[test]
fn detours_are_counted_by_distance_and_named() {
    // No host on s3: s2 - s4 goes round by s1 and s0.
    let fabric = fabric(5, &[0, 1, 2, 4], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    let statistics = Statistics::new(&fabric, &routed(&fabric, &in_transit(), Form::Source));
    assert_eq!(statistics.least_distance.pairs(), [0, 6, 6]);
    assert_eq!(statistics.minimal.pairs(), [0, 6, 4]);
    assert_eq!(statistics.distance.pairs(), [0, 6, 4, 2]);
    assert_eq!(statistics.detour_pairs(), 2);
    let [from, to] = ["h3", "h2"].map(|name| endpoint(&fabric, name));
    assert_eq!(statistics.detour, Some(Detour { from, to, distance: 3, least: 2 }));
}
