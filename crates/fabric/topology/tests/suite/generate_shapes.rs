//! Regular shapes compared with closed forms of the textbooks, and some cables by hand.

use crate::generate_measure::{
    Counts, cables_by_pair, counts, degrees, fabric, node, steps, switch_steps,
};
use gingham_topology::generate::{Dragonfly, Generator};
use gingham_topology::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Far end as `name[port]`.
fn peer_end(fabric: &Fabric, name: &str, port: u16) -> Option<String> {
    let channel = fabric.outgoing(node(fabric, name), port)?;
    Some(fabric.port_name(fabric.target(channel)))
}

#[test]
fn two_hosts_are_separated_by_one_cable_more_than_switches() {
    for switches in 0..4_u32 {
        let fabric = fabric(&format!("two-hosts = {{ switches = {switches} }}"));
        assert_eq!(fabric.cables().len(), switches as usize + 1);
        let far = steps(&fabric, node(&fabric, "h0"))[node(&fabric, "h1").index()];
        assert_eq!(far, switches + 1);
    }
    let one_by_default = fabric("two-hosts = {}");
    assert_eq!(peer_end(&one_by_default, "s0", 1).as_deref(), Some("h0[1]"));
    assert_eq!(peer_end(&one_by_default, "s0", 2).as_deref(), Some("h1[1]"));
}

#[test]
fn star_has_its_hosts_on_one_switch_in_order() {
    let fabric = fabric("star = { hosts = 12 }");
    let expected = Counts { switches: 1, hosts: 12, switch_cables: 0, cables: 12, diameter: 1 };
    assert_eq!(counts(&fabric), expected);
    assert_eq!(peer_end(&fabric, "s0", 12).as_deref(), Some("h11[1]"));
}

/// Boxes with their number of switches.
const BOXES: [(&[u32], u32); 8] = [
    (&[1], 1),
    (&[5], 5),
    (&[2, 2], 4),
    (&[2, 3], 6),
    (&[8, 8], 64),
    (&[3, 1, 4], 12),
    (&[3, 4, 5], 60),
    (&[2, 2, 2, 3], 24),
];

/// `parts`: cables and longest shortest path by dimension.
fn box_counts(switches: u32, hosts_per_switch: u32, parts: &[(u32, u32)]) -> Counts {
    let hosts = (switches * hosts_per_switch) as usize;
    let switch_cables = parts.iter().map(|(cables, _)| *cables as usize).sum();
    Counts {
        switches: switches as usize,
        hosts,
        switch_cables,
        cables: hosts + switch_cables,
        diameter: 1 + parts.iter().map(|(_, steps)| steps).sum::<u32>(),
    }
}

#[test]
fn mesh_counts_match_the_formula() {
    for (dimensions, switches) in BOXES {
        // A dimension of size k: N (k - 1) / k cables, at most k - 1 steps.
        let part = |k: &u32| (switches * (k - 1) / k, k - 1);
        let parts: Vec<_> = dimensions.iter().map(part).collect();
        let fabric = fabric(&format!("mesh = {{ dimensions = {dimensions:?} }}"));
        assert_eq!(counts(&fabric), box_counts(switches, 1, &parts), "{dimensions:?}");
    }
}

#[test]
fn torus_counts_match_the_formula() {
    for (dimensions, switches) in BOXES {
        // A dimension of size k: N cables, except none for size 1 and N / 2 for size 2; at most
        // floor(k / 2) steps.
        let cables = |k| [0, 0, switches / 2].get(k as usize).copied().unwrap_or(switches);
        let parts: Vec<_> = dimensions.iter().map(|k| (cables(*k), k / 2)).collect();
        let text = format!("torus = {{ dimensions = {dimensions:?}, hosts_per_switch = 2 }}");
        let fabric = fabric(&text);
        assert_eq!(counts(&fabric), box_counts(switches, 2, &parts), "{dimensions:?}");
        let degree = dimensions.iter().map(|k| (*k as usize - 1).min(2)).sum::<usize>();
        assert!(degrees(&fabric).iter().all(|d| *d == degree), "{dimensions:?}");
    }
}

#[test]
fn small_tori_have_diameters_of_three_and_five_switches() {
    for (size, switches_on_path) in [(3, 3), (5, 5)] {
        let fabric = fabric(&format!("torus = {{ dimensions = [{size}, {size}] }}"));
        assert_eq!(counts(&fabric).diameter, switches_on_path);
    }
}

#[test]
fn mesh_port_order_is_hosts_then_down_and_up_per_dimension() {
    let fabric = fabric("mesh = { dimensions = [3, 3], hosts_per_switch = 2 }");
    let ports: Vec<_> = (1..=6).map(|port| peer_end(&fabric, "s1-1", port)).collect();
    let expected = ["h1-1-0[1]", "h1-1-1[1]", "s0-1[4]", "s2-1[3]", "s1-0[6]", "s1-2[5]"];
    assert_eq!(ports, expected.map(|name| Some(name.to_owned())));
    assert_eq!(fabric.node(node(&fabric, "s0-0")).ports, 6, "an edge switch is no smaller");
    assert_eq!(peer_end(&fabric, "s0-0", 3), None, "and leaves its outer ports free");
    assert_eq!(peer_end(&fabric, "s2-0", 4), None);
}

#[test]
fn torus_of_three_wraps_over_its_edge() {
    let fabric = fabric("torus = { dimensions = [3, 2] }");
    assert_eq!(peer_end(&fabric, "s2-0", 3).as_deref(), Some("s0-0[2]"));
    assert_eq!(peer_end(&fabric, "s2-0", 4).as_deref(), Some("s2-1[4]"), "size 2 has one port");
}

#[test]
fn ring_equals_one_dimensional_torus() {
    for switches in 1..7 {
        let ring = format!("ring = {{ switches = {switches}, hosts_per_switch = 3 }}");
        let torus = format!("torus = {{ dimensions = [{switches}], hosts_per_switch = 3 }}");
        assert_eq!(fabric(&ring), fabric(&torus));
    }
    let ring = fabric("ring = { switches = 9 }");
    let expected = Counts { switches: 9, hosts: 9, switch_cables: 9, cables: 18, diameter: 5 };
    assert_eq!(counts(&ring), expected);
}

#[test]
fn hypercube_neighbours_differ_in_one_digit() {
    for dimensions in 1..7_u32 {
        let fabric = fabric(&format!("hypercube = {{ dimensions = {dimensions} }}"));
        let switches = 1_usize << dimensions;
        let switch_cables = dimensions as usize * switches / 2;
        let cables = switches + switch_cables;
        let diameter = dimensions + 1;
        let expected = Counts { switches, hosts: switches, switch_cables, cables, diameter };
        assert_eq!(counts(&fabric), expected);
        let measured = switch_steps(&fabric);
        for (a, b) in fabric.switches().flat_map(|a| fabric.switches().map(move |b| (a, b))) {
            let digits = |id: NodeId| fabric.node(id).name.chars();
            let differing = digits(a).zip(digits(b)).filter(|(a, b)| a != b).count();
            assert_eq!(measured[a.index()][b.index()] as usize, differing);
        }
        assert!(
            fabric.nodes()[..switches].iter().all(|node| u32::from(node.ports) == 1 + dimensions)
        );
    }
}

#[test]
fn k_ary_n_tree_counts_match_the_paper() {
    for (k, n) in [(2, 1), (2, 2), (2, 4), (3, 3), (4, 2), (5, 1)] {
        let fabric = fabric(&format!("k-ary-n-tree = {{ arity = {k}, levels = {n} }}"));
        let width = (1..n).fold(1, |width, _| width * k);
        let (switches, hosts) = (n * width, k * width);
        let switch_cables = (n - 1) * hosts;
        let diameter = 2 * u32::try_from(n).unwrap() - 1;
        let cables = n * hosts;
        let expected = Counts { switches, hosts, switch_cables, cables, diameter };
        assert_eq!(counts(&fabric), expected, "k = {k}, n = {n}");
        let ports: usize = fabric.switches().map(|id| usize::from(fabric.node(id).ports)).sum();
        assert_eq!(ports, 2 * switch_cables + hosts, "no port is left without a cable");
    }
}

#[test]
fn tree_hosts_meet_at_their_first_differing_digit() {
    for (k, n) in [(2_usize, 4_u32), (3, 3)] {
        let fabric = fabric(&format!("k-ary-n-tree = {{ arity = {k}, levels = {n} }}"));
        let host_count = k.pow(n);
        for a in 0..host_count {
            let from_a = steps(&fabric, node(&fabric, &format!("h{a}")));
            for b in (0..host_count).filter(|b| *b != a) {
                let place = |digit: u32| k.pow(n - 1 - digit);
                let first = (0..n).find(|d| a / place(*d) != b / place(*d)).unwrap();
                let measured = from_a[node(&fabric, &format!("h{b}")).index()];
                assert_eq!(measured, 2 * (n - first), "h{a} to h{b}");
            }
        }
    }
}

#[test]
fn fat_tree_counts_match_the_paper() {
    // Ports, levels, tapering; hosts, switches by level from the leaves, cables up by level.
    type Case<'a> = ([u32; 3], usize, &'a [usize], &'a [usize]);
    let cases: [Case<'_>; 8] = [
        ([5, 1, 1], 5, &[1], &[]),
        ([4, 2, 1], 8, &[4, 2], &[8]),
        ([4, 3, 1], 16, &[8, 8, 4], &[16, 16]),
        ([6, 3, 1], 54, &[18, 18, 9], &[54, 54]),
        ([4, 4, 1], 32, &[16, 16, 16, 8], &[32, 32, 32]),
        // Three hosts for each of two cables up: 8 ports, 2 up and 6 down.
        ([8, 2, 3], 48, &[8, 2], &[16]),
        ([8, 3, 3], 192, &[32, 16, 8], &[64, 64]),
        // 6 / (2 + 1): 2 up and 4 down.
        ([6, 3, 2], 72, &[18, 12, 6], &[36, 36]),
    ];
    for ([ports, levels, tapering], hosts, switches, cables_up) in cases {
        let fabric = fabric(&format!(
            "fat-tree = {{ ports = {ports}, levels = {levels}, tapering = {tapering} }}"
        ));
        let switch_cables: usize = cables_up.iter().sum();
        let expected = Counts {
            switches: switches.iter().sum(),
            hosts,
            switch_cables,
            cables: hosts + switch_cables,
            diameter: 2 * levels - 1,
        };
        assert_eq!(counts(&fabric), expected, "ports = {ports}, levels = {levels}");
        assert!(cables_by_pair(&fabric).values().all(|cables| *cables == 1));
        for (level, count) in switches.iter().rev().enumerate() {
            let here = |id: &NodeId| fabric.node(*id).name.starts_with(&format!("s{level}-"));
            assert_eq!(fabric.switches().filter(here).count(), *count);
        }
    }
}

#[test]
fn fat_tree_hosts_meet_in_their_smallest_common_subtree() {
    // Leaves of 3 hosts, 2 leaves a subtree of two levels, 4 of these.
    let fabric = fabric("fat-tree = { ports = 4, levels = 3, tapering = 3 }");
    assert_eq!(fabric.endpoints().len(), 24);
    for a in 0..24_usize {
        let from_a = steps(&fabric, node(&fabric, &format!("h{a}")));
        for b in (0..24_usize).filter(|b| *b != a) {
            let level = [3, 6, 24].iter().position(|hosts| a / hosts == b / hosts).unwrap();
            let measured = from_a[node(&fabric, &format!("h{b}")).index()];
            assert_eq!(measured as usize, 2 * (level + 1), "h{a} to h{b}");
        }
    }
    assert_eq!(peer_end(&fabric, "s2-0", 4).as_deref(), Some("s1-0[1]"));
    assert_eq!(peer_end(&fabric, "s1-1", 2).as_deref(), Some("s2-3[4]"));
    assert_eq!(peer_end(&fabric, "s1-1", 4).as_deref(), Some("s0-1[2]"));
}

#[test]
fn fat_tree_of_two_ports_has_the_requested_depth() {
    let fabric = fabric("fat-tree = { ports = 2, levels = 20_000 }");
    // Two switches a level but the top.
    assert_eq!((fabric.switches().len(), fabric.endpoints().len()), (39_999, 2));
}

#[test]
fn fat_tree_of_74_ports_has_101_306_hosts() {
    let fabric = fabric("fat-tree = { ports = 74, levels = 3 }");
    assert_eq!((fabric.switches().len(), fabric.endpoints().len()), (6_845, 101_306));
}

#[test]
fn folded_clos_cables_every_leaf_to_every_spine() {
    for (leaves, spines, hosts_per_leaf, cables_per_pair) in
        [(1, 1, 1, 1), (4, 2, 3, 1), (3, 5, 2, 4), (1, 3, 2, 2), (6, 1, 1, 1)]
    {
        let fabric = fabric(&format!(
            "folded-clos = {{ leaves = {leaves}, spines = {spines}, \
             hosts_per_leaf = {hosts_per_leaf}, cables_per_pair = {cables_per_pair} }}"
        ));
        let switch_cables = leaves * spines * cables_per_pair;
        let hosts = leaves * hosts_per_leaf;
        let diameter = if leaves == 1 { 1 } else { 3 };
        let expected = Counts {
            switches: leaves + spines,
            hosts,
            switch_cables,
            cables: hosts + switch_cables,
            diameter,
        };
        assert_eq!(counts(&fabric), expected);
        let pairs = cables_by_pair(&fabric);
        assert_eq!(pairs.len(), leaves * spines);
        assert!(pairs.values().all(|cables| *cables == cables_per_pair));
        for ([spine, leaf], _) in pairs {
            assert!(fabric.node(spine).name.starts_with("spine"), "roots come first");
            assert!(fabric.node(leaf).name.starts_with("leaf"));
        }
    }
    let fabric =
        fabric("folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 4, cables_per_pair = 2 }");
    assert_eq!(peer_end(&fabric, "leaf1", 5).as_deref(), Some("spine0[3]"));
    assert_eq!(peer_end(&fabric, "leaf1", 8).as_deref(), Some("spine1[4]"));
    assert_eq!(peer_end(&fabric, "leaf0", 7).as_deref(), Some("spine1[1]"));
}

fn cables_by_groups(fabric: &Fabric) -> BTreeMap<[String; 2], usize> {
    let group = |id: NodeId| {
        let name = &fabric.node(id).name;
        name.trim_start_matches('s').split_once('-').expect("s{group}-{switch}").0.to_owned()
    };
    let mut by_groups = BTreeMap::new();
    for (pair, cables) in cables_by_pair(fabric) {
        let groups = pair.map(group);
        if groups[0] != groups[1] {
            *by_groups.entry(groups).or_default() += cables;
        }
    }
    by_groups
}

#[test]
fn dragonfly_connects_all_group_pairs_equally() {
    // (a, p, h, g), rounds floor(a h / (g - 1)), and a bound on the diameter.
    for (a, p, h, g, rounds, diameter_max) in [
        (4, 2, 2, 9, 1, 4),
        (2, 1, 1, 3, 1, 4),
        (4, 1, 2, 5, 2, 4),
        (4, 1, 2, 4, 2, 4),
        (3, 2, 2, 2, 6, 3),
        (4, 1, 2, 1, 0, 2),
        (1, 3, 5, 6, 1, 2),
        (5, 1, 0, 1, 0, 2),
    ] {
        let fabric = fabric(&format!(
            "dragonfly = {{ switches_per_group = {a}, hosts_per_switch = {p}, \
             global_cables_per_switch = {h}, groups = {g} }}"
        ));
        let (switches, hosts) = (a * g, a * p * g);
        let switch_cables = g * a * (a - 1) / 2 + rounds * g * (g - 1) / 2;
        let cables = hosts + switch_cables;
        let measured = counts(&fabric);
        let expected =
            Counts { switches, hosts, switch_cables, cables, diameter: measured.diameter };
        assert_eq!(measured, expected, "({a}, {p}, {h}, {g})");
        assert!(measured.diameter <= diameter_max, "({a}, {p}, {h}, {g}): {measured:?}");
        let by_groups = cables_by_groups(&fabric);
        assert_eq!(by_groups.len(), g * (g - 1) / 2);
        assert!(by_groups.values().all(|cables| *cables == rounds));
        let global: BTreeSet<usize> =
            degrees(&fabric).into_iter().map(|degree| degree - (a - 1)).collect();
        assert!(global.last().unwrap() - global.first().unwrap() <= 1, "uneven: {global:?}");
    }
}

#[test]
fn dragonfly_of_the_paper_has_72_hosts_in_9_groups() {
    let fabric = fabric(
        "dragonfly = { switches_per_group = 4, hosts_per_switch = 2, global_cables_per_switch = 2 }",
    );
    let measured = counts(&fabric);
    assert_eq!((measured.hosts, measured.switches, measured.diameter), (72, 36, 4));
    let ports: BTreeSet<u16> = fabric.switches().map(|id| fabric.node(id).ports).collect();
    assert_eq!(ports, BTreeSet::from([7]));
    // Ports of s3-2: h3-2-0, h3-2-1, s3-0, s3-1, s3-3, then slots 4 and 5, to groups 3 + 4 + 1 = 8
    // (slot 9 - 2 - 4 = 3, at switch 1) and 3 + 5 + 1 = 0 mod 9 (slot 2, switch 1).
    let ends: Vec<_> = (1..=7).map(|port| peer_end(&fabric, "s3-2", port).unwrap()).collect();
    let expected =
        ["h3-2-0[1]", "h3-2-1[1]", "s3-0[4]", "s3-1[4]", "s3-3[5]", "s8-1[7]", "s0-1[6]"];
    assert_eq!(ends, expected);
}

/// From the name `s{group}-{place}`.
fn group_and_place(fabric: &Fabric, id: NodeId) -> (u32, u32) {
    let name = &fabric.node(id).name;
    let (group, place) = name.trim_start_matches('s').split_once('-').expect("s{group}-{place}");
    let number = |text: &str| text.parse().expect("a number");
    (number(group), number(place))
}

fn real(number: usize) -> f64 {
    f64::from(u32::try_from(number).expect("a small fabric"))
}

/// Bound on all-to-all load of local-global-local paths, counted path by path; traffic between two
/// groups is spread evenly over their cables.
fn counted_minimal_bound(fabric: &Fabric, hosts_per_switch: u32) -> f64 {
    let switches: Vec<_> = fabric.switches().map(|id| group_and_place(fabric, id)).collect();
    // Near and far switches of the cables from one group to another.
    let mut global: BTreeMap<(u32, u32), Vec<[u32; 2]>> = BTreeMap::new();
    for (pair, cables) in cables_by_pair(fabric) {
        let [(near, s), (far, t)] = pair.map(|id| group_and_place(fabric, id));
        if near != far {
            for _ in 0..cables {
                global.entry((near, far)).or_default().push([s, t]);
                global.entry((far, near)).or_default().push([t, s]);
            }
        }
    }
    let pairs = f64::from(hosts_per_switch * hosts_per_switch);
    let mut load: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |channel: String, share: f64| *load.entry(channel).or_default() += share;
    for (group, s) in &switches {
        for (other, t) in &switches {
            if group == other {
                if s != t {
                    add(format!("{group}: {s}-{t}"), pairs);
                }
                continue;
            }
            let cables = &global[&(*group, *other)];
            let share = pairs / real(cables.len());
            for (index, [near, far]) in cables.iter().enumerate() {
                if s != near {
                    add(format!("{group}: {s}-{near}"), share);
                }
                add(format!("{group} to {other}, {index}"), share);
                if far != t {
                    add(format!("{other}: {far}-{t}"), share);
                }
            }
        }
    }
    let partners = real(switches.len()) * f64::from(hosts_per_switch) - 1.0;
    partners / load.values().copied().fold(partners, f64::max)
}

#[test]
fn dragonfly_minimal_bound_is_that_of_its_busiest_channel() {
    // The dragonfly of the paper (a = 4, p = h = 2, g = 9, N = 72): a global channel has 8 x 8 = 64
    // pairs; a local one 4 inside the group, 2 x 8 x 2 = 32 outwards and as many inwards, 68 in
    // all. Both are below 71: host links are the limit. With p = 4 and h = 1 (g = 5, N = 80) a
    // global channel has 16 x 16 = 256 pairs: 79 / 256. One group of 4 switches with 2 hosts: local
    // channels have 4 pairs, host links 7: 1.
    for (a, p, h, g, by_hand) in [
        (4, 2, 2, 9, Some(1.0)),
        (4, 4, 1, 5, Some(79.0 / 256.0)),
        (4, 2, 0, 1, Some(1.0)),
        (4, 2, 2, 5, None),
        (4, 3, 2, 4, None),
        (2, 1, 1, 3, None),
        (3, 4, 2, 2, None),
        (1, 3, 5, 6, None),
        (6, 5, 2, 11, None),
    ] {
        let shape = Dragonfly {
            switches_per_group: a,
            hosts_per_switch: p,
            global_cables_per_switch: h,
            groups: Some(g),
            rails: 1,
        };
        let bound = shape.minimal_routing_bound().expect("there are two hosts");
        let fabric = Generator::Dragonfly(shape).generate(1).unwrap();
        let counted = counted_minimal_bound(&fabric, p);
        assert!((bound - counted).abs() < 1e-9, "({a}, {p}, {h}, {g}): {bound} and {counted}");
        assert!(by_hand.is_none_or(|by_hand: f64| (bound - by_hand).abs() < 1e-12), "{bound}");
    }
}

#[test]
fn dragonfly_with_spare_ports_uses_the_first_ones() {
    let fabric =
        fabric("dragonfly = { switches_per_group = 4, global_cables_per_switch = 2, groups = 4 }");
    // Two rounds of 3 slots: of 8 slots, 0 to 5 are used, at switches 0, 0, 1, 2, 2, 3.
    for (switch, cabled) in [("s1-0", 2), ("s1-1", 1), ("s1-2", 2), ("s1-3", 1)] {
        let global = [5, 6].map(|port| peer_end(&fabric, switch, port).is_some());
        assert_eq!(global, [true, cabled == 2], "{switch}");
    }
    // Slot 2 of group 1 leads to group 1 + 2 + 1 = 0 mod 4, to slot 4 - 2 - 2 = 0 of its round.
    assert_eq!(peer_end(&fabric, "s1-1", 5).as_deref(), Some("s0-0[5]"));
}
