//! Findings of `check` and counts of `summary` in small fabrics.

use gingham_topology::check::{PortUse, check, summary};
use gingham_topology::format::{self, Format};
use gingham_topology::generate::{FoldedClos, Generator, KAryNTree};
use gingham_topology::{
    Address, DraftNode, Fabric, FabricBuilder, FindingKind, Generation, Guid, LinkSpeed, NodeId,
    NodeKind, Severity,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const SWITCH: NodeKind = NodeKind::Switch;
const HOST: NodeKind = NodeKind::Host;

fn fabric(nodes: &[(&str, NodeKind)], joins: &[(&str, &str)]) -> Fabric {
    draft(nodes, joins).0.build()
}

fn draft<'a>(
    nodes: &[(&'a str, NodeKind)],
    joins: &[(&str, &str)],
) -> (FabricBuilder, BTreeMap<&'a str, DraftNode>) {
    let mut builder = FabricBuilder::new();
    let mut drafts = BTreeMap::new();
    for ((name, kind), guid) in nodes.iter().zip(1..) {
        drafts.insert(*name, builder.add_plain(*kind, name, Guid(guid), 8));
    }
    for (a, b) in joins {
        builder.join(drafts[a], drafts[b]).expect("8 ports are enough");
    }
    (builder, drafts)
}

fn findings(fabric: &Fabric) -> Vec<(FindingKind, String)> {
    check(fabric).into_iter().map(|finding| (finding.kind, finding.text)).collect()
}

fn text(kind: FindingKind, text: &str) -> (FindingKind, String) {
    (kind, text.to_owned())
}

const LINE: [(&str, NodeKind); 6] =
    [("s0", SWITCH), ("s1", SWITCH), ("s2", SWITCH), ("h0", HOST), ("h1", HOST), ("h2", HOST)];

/// h0 - s0 - s1 - s2 - h1, h2
const LINE_JOINS: [(&str, &str); 5] =
    [("s0", "s1"), ("s1", "s2"), ("s0", "h0"), ("s2", "h1"), ("s2", "h2")];

#[test]
fn even_fabric_has_no_findings() {
    assert_eq!(findings(&fabric(&LINE, &LINE_JOINS)), []);
}

#[test]
fn all_parts_except_the_largest_are_islands() {
    let nodes = [
        ("s0", SWITCH),
        ("lone", SWITCH),
        ("s2", SWITCH),
        ("s3", SWITCH),
        ("h0", HOST),
        ("h1", HOST),
        ("idle", HOST),
    ];
    let joins = [("s0", "h0"), ("s2", "s3"), ("s3", "h1")];
    let mut found = findings(&fabric(&nodes, &joins));
    found.retain(|(kind, _)| *kind != FindingKind::Unevenness);
    assert_eq!(
        found,
        [
            text(FindingKind::Island, "1 switch and 1 host around s0 are joined to nothing else"),
            text(FindingKind::Island, "lone has no cable"),
            text(FindingKind::UncabledHost, "host idle has no cable"),
        ]
    );
}

#[test]
fn first_of_two_equal_parts_is_the_mainland() {
    let nodes = [("s0", SWITCH), ("s1", SWITCH), ("h0", HOST), ("h1", HOST)];
    let found = findings(&fabric(&nodes, &[("s0", "h0"), ("s1", "h1")]));
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains("around s1"), "{}", found[0].1);
}

#[test]
fn duplicate_guids_and_lids_are_findings() {
    let (mut builder, drafts) = draft(&LINE, &LINE_JOINS);
    let mut address = |name: &str, port, guid: Option<u64>, lid, lmc| {
        let address = Address { guid: guid.map(Guid), lid: Some(lid), lmc: Some(lmc) };
        builder.node_mut(drafts[name]).addresses.insert(port, address);
    };
    address("s0", 0, Some(1), 9, 0); // its own node GUID is no clash
    address("s1", 0, None, 0, 0); // LID 0 is nobody's, and no clash
    address("s2", 0, None, 0, 0);
    address("h0", 1, Some(0x77), 4, 3); // LIDs 4 to 11
    address("h1", 1, Some(0x77), 12, 0);
    address("h2", 1, None, 12, 200); // no such LMC; must not overflow
    builder.node_mut(drafts["s2"]).guid = Some(Guid(2));
    let found = findings(&builder.build());
    assert_eq!(
        found,
        [
            text(FindingKind::DuplicateGuid, "GUID 0000000000000002 belongs to s1 and s2"),
            text(FindingKind::DuplicateGuid, "GUID 0000000000000077 belongs to h0 and h1"),
            text(FindingKind::NoLid, "LID 0 of s1[0] is none of a port; these are 1 to 49151"),
            text(FindingKind::NoLid, "LID 0 of s2[0] is none of a port; these are 1 to 49151"),
            text(FindingKind::DuplicateLid, "LID 9 of s0[0] belongs to h0[1] too"),
            text(FindingKind::DuplicateLid, "LID 12 of h2[1] belongs to h1[1] too"),
        ]
    );
}

#[test]
fn each_kind_of_unevenness_is_one_note() {
    let (mut builder, drafts) = draft(&LINE, &LINE_JOINS);
    let speed = |generation| Some(LinkSpeed::InfiniBand { width: 4, generation });
    let mut add = |a: &str, b: &str, generation| {
        let ends = [a, b].map(|name| (drafts[name], builder.free_port(drafts[name]).unwrap()));
        builder.add_cable(ends, speed(generation), None).unwrap();
    };
    add("s0", "s1", Generation::Hdr);
    add("s0", "h0", Generation::Edr);
    add("s0", "h0", Generation::Qdr);
    add("s0", "h0", Generation::Edr);
    let mut found = findings(&builder.build());
    found.retain(|(kind, _)| *kind != FindingKind::UnknownSpeed);
    assert_eq!(
        found,
        [
            text(
                FindingKind::Unevenness,
                "pairs of switches are joined unevenly: 1 pair by 1 cable (s1 and s2), \
                 1 pair by 2 cables (s0 and s1)"
            ),
            text(
                FindingKind::Unevenness,
                "leaf switches have uneven numbers of uplinks: 1 leaf with 1 (s2), \
                 1 leaf with 2 (s0)"
            ),
            text(
                FindingKind::Unevenness,
                "speeds are mixed at other nodes: 1 cable at 4xQDR (h0[3]), \
                 2 cables at 4xEDR (h0[2])"
            ),
        ]
    );
}

#[test]
fn outliers_are_listed_and_the_majority_by_one_example() {
    // Two cables from each of 24 leaves to the spine, but one from nine of the first ten.
    let names: Vec<String> = (0..24).map(|n| format!("l{n}")).collect();
    let (mut nodes, mut joins) = (vec![("spine", SWITCH)], Vec::new());
    let single = |n: usize| n < 10 && n != 3;
    for (n, name) in names.iter().enumerate() {
        nodes.push((name, SWITCH));
        joins.extend(vec![("spine", name.as_str()); if single(n) { 1 } else { 2 }]);
    }
    let mut builder = FabricBuilder::new();
    let drafts: BTreeMap<&str, DraftNode> = (nodes.iter().zip(1..))
        .map(|((name, kind), guid)| (*name, builder.add_plain(*kind, name, Guid(guid), 60)))
        .collect();
    for (a, b) in joins {
        builder.join(drafts[a], drafts[b]).expect("60 ports are enough");
    }
    let found = findings(&builder.build());
    let expected = "pairs of switches are joined unevenly: 9 pairs by 1 cable (spine and l0; \
                    spine and l1; spine and l2; spine and l4; spine and l5; spine and l6; \
                    spine and l7; spine and l8; and 1 more), 15 pairs by 2 cables (spine and l3)";
    assert_eq!(found, [text(FindingKind::Unevenness, expected)]);
}

fn count(fabric: &Fabric, kind: FindingKind) -> usize {
    check(fabric).iter().filter(|finding| finding.kind == kind).count()
}

fn warnings(fabric: &Fabric) -> Vec<(FindingKind, String)> {
    let mut found = findings(fabric);
    found.retain(|(kind, _)| kind.severity() == Severity::Warning);
    found
}

#[test]
fn narrow_trunk_is_a_warning() {
    let text = include_str!("../fixtures/cases/degraded-width.ibnetdiscover");
    let fabric = format::read(text, Format::Ibnetdiscover).expect("the case reads").fabric;
    let found = warnings(&fabric);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::SlowCable);
    for name in ["spine0[1]", "leaf0[5]", "1xHDR"] {
        assert!(found[0].1.contains(name), "{found:?}");
    }
}

/// Four spines above eight leaves of four hosts, with speeds by the ends of cables.
fn clos(speed: impl Fn(&str, &str) -> &'static str) -> Fabric {
    let mut builder = FabricBuilder::new();
    let add = |builder: &mut FabricBuilder, kind, name: &str, guid| {
        builder.add_plain(kind, name, Guid(guid), 16)
    };
    let spines: Vec<_> =
        (0..4).map(|n| add(&mut builder, SWITCH, &format!("spine{n}"), n + 1)).collect();
    for l in 0..8 {
        let leaf = add(&mut builder, SWITCH, &format!("leaf{l}"), l + 11);
        let hosts: Vec<_> = (0..4)
            .map(|h| add(&mut builder, HOST, &format!("n{l}-{h} mlx5_0"), 100 + 10 * l + h))
            .collect();
        for far in spines.iter().chain(&hosts) {
            let ends =
                [leaf, *far].map(|node| (node, builder.free_port(node).expect("ports are free")));
            let names = [leaf, *far].map(|node| builder.node(node).name.clone());
            let speed = speed(&names[0], &names[1]).parse().ok();
            builder.add_cable(ends, speed, None).expect("ports are free");
        }
    }
    builder.build()
}

#[test]
fn slow_uplink_is_a_warning_and_older_switch_a_note() {
    let one =
        |leaf: &str, far: &str| if (leaf, far) == ("leaf3", "spine2") { "4xHDR" } else { "4xNDR" };
    assert_eq!(count(&clos(one), FindingKind::SlowCable), 1);
    let older_leaf = |leaf: &str, _: &str| if leaf == "leaf3" { "4xHDR" } else { "4xNDR" };
    let older_spine = |_: &str, far: &str| if far == "spine3" { "4xHDR" } else { "4xNDR" };
    let slower_hosts = |_: &str, far: &str| if far.starts_with('n') { "4xHDR" } else { "4xNDR" };
    for speed in [older_leaf as fn(&str, &str) -> &'static str, older_spine, slower_hosts] {
        assert_eq!(warnings(&clos(speed)), []);
    }
    assert_eq!(count(&clos(older_leaf), FindingKind::Unevenness), 1);
}

#[test]
fn host_at_width_1_is_a_warning_but_older_generation_is_not() {
    let host = |speed: &'static str| {
        move |_: &str, far: &str| if far == "n3-1 mlx5_0" { speed } else { "4xHDR" }
    };
    assert_eq!(count(&clos(host("1xHDR")), FindingKind::SlowCable), 1);
    assert_eq!(warnings(&clos(host("4xEDR"))), []);
}

fn cable(fabric: &Fabric, end: &str) -> usize {
    let has_end = |cable: &gingham_topology::Cable| {
        cable.ends.iter().any(|port| fabric.port_name(*port) == end)
    };
    fabric.cables().iter().position(has_end).expect("the cable is there")
}

fn lose(fabric: &Fabric, ends: &[&str]) -> Fabric {
    let cables: BTreeSet<usize> = ends.iter().map(|end| cable(fabric, end)).collect();
    fabric.without(&BTreeSet::<NodeId>::new(), &cables)
}

#[test]
fn leaf_with_fewer_uplinks_than_siblings_is_a_warning() {
    let whole = clos(|_, _| "4xNDR");
    assert_eq!(warnings(&whole), []);
    let found = warnings(&lose(&whole, &["leaf5[2]"]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::MissingUplink);
    assert!(found[0].1.starts_with("leaf5 has 3 uplinks"), "{found:?}");
    assert!(found[0].1.contains("spine1"), "{found:?}");
    assert_eq!(count(&lose(&whole, &["leaf5[1]", "leaf6[2]"]), FindingKind::MissingUplink), 2);
    // A removed spine lowers the uplinks of every leaf.
    let spine = whole.find_node("spine0").unwrap();
    assert_eq!(warnings(&whole.without(&[spine].into(), &BTreeSet::new())), []);
}

#[test]
fn generated_trees_have_no_warnings() {
    for cables_per_pair in 1..3 {
        let shape =
            FoldedClos { leaves: 6, spines: 3, hosts_per_leaf: 4, cables_per_pair, rails: 1 };
        assert_eq!(findings(&Generator::FoldedClos(shape).generate(1).unwrap()), []);
    }
    let tree = KAryNTree { arity: 3, levels: 3, rails: 1 };
    assert_eq!(findings(&Generator::KAryNTree(tree).generate(1).unwrap()), []);
}

/// Nodes n0 to n5 with an adapter on each leaf, for n5 in the order of `last`.
fn rails(last: &[usize]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let leaves: Vec<_> = (0..last.len() as u64)
        .map(|n| builder.add_plain(SWITCH, &format!("leaf{n}"), Guid(n + 1), 16))
        .collect();
    for node in 0..6_u64 {
        for (rail, leaf) in last.iter().enumerate() {
            let guid = Guid(100 + 10 * node + rail as u64);
            let adapter = builder.add_plain(HOST, &format!("n{node} mlx5_{rail}"), guid, 1);
            let leaf = if node == 5 { *leaf } else { rail };
            builder.join(adapter, leaves[leaf]).expect("ports are free");
        }
    }
    builder.build()
}

#[test]
fn swapped_rails_are_one_warning_per_host() {
    for order in [vec![0], vec![0, 1], vec![0, 1, 2]] {
        assert_eq!(count(&rails(&order), FindingKind::SwappedRails), 0, "{order:?}");
    }
    for order in [vec![1, 0], vec![0, 2, 1], vec![1, 2, 0]] {
        let found = warnings(&rails(&order));
        let swapped: Vec<_> =
            found.iter().filter(|(kind, _)| *kind == FindingKind::SwappedRails).collect();
        assert_eq!(swapped.len(), 1, "{order:?}");
        assert!(swapped[0].1.starts_with("cables of n5 "), "{swapped:?}");
    }
}

#[test]
fn description_shared_by_several_systems_is_a_finding() {
    let text = include_str!("../fixtures/cases/slurm-default-names.ibsim");
    let fabric = format::read(text, Format::Ibnetdiscover).expect("the case reads").fabric;
    assert_eq!(count(&fabric, FindingKind::DefaultName), 1);
    assert_eq!(FindingKind::DefaultName.severity(), Severity::Note);
    let nodes = [("s0", SWITCH), ("a", HOST), ("b", HOST), ("c", HOST)];
    let (mut builder, drafts) = draft(&nodes, &[("s0", "a"), ("s0", "b"), ("s0", "c")]);
    for name in ["a", "b", "c"] {
        builder.node_mut(drafts[name]).description = "twin HCA-1".to_owned();
    }
    // Two adapters of one system may share a description.
    builder.node_mut(drafts["a"]).identity.system_guid = Some(Guid(0x77));
    builder.node_mut(drafts["b"]).identity.system_guid = Some(Guid(0x77));
    assert_eq!(warnings(&builder.build()).len(), 1, "c is another system");
    let (mut builder, drafts) = draft(&nodes[..3], &[("s0", "a"), ("s0", "b")]);
    for name in ["a", "b"] {
        builder.node_mut(drafts[name]).description = "twin HCA-1".to_owned();
        builder.node_mut(drafts[name]).identity.system_guid = Some(Guid(0x77));
    }
    assert_eq!(warnings(&builder.build()), []);
}

#[test]
fn summary_of_a_line_of_three_switches() {
    let summary = summary(&fabric(&LINE, &LINE_JOINS));
    assert_eq!(summary.nodes[&SWITCH], 3);
    assert_eq!(summary.nodes[&HOST], 3);
    assert_eq!(summary.nodes[&NodeKind::Router], 0);
    assert_eq!((summary.cables, summary.trunk_cables, summary.parts), (5, 2, 1));
    assert_eq!(summary.cables_by_speed, [(None, 5)].into());
    assert_eq!(summary.ports[&SWITCH], PortUse { used: 7, free: 17 });
    assert_eq!(summary.ports[&HOST], PortUse { used: 3, free: 21 });
    assert_eq!(summary.switches_by_radix, [(8, 3)].into());
    assert_eq!((summary.parallel_pairs, summary.parallel_cables), (0, 0));
    assert_eq!(summary.hosts_per_leaf, Some((1, 2)));
    assert_eq!(summary.switch_diameter, Some(2));
    // h0 to h1 and h2: 3 switches each; h1 to h2: 1. Both directions: (3 + 3 + 1) x 2 / 6.
    let mean = summary.mean_switches_passed.unwrap();
    assert!((mean - 7.0 / 3.0).abs() < 1e-12, "{mean}");
}

#[test]
fn parallel_cables_are_counted_per_pair() {
    let joins = [("s0", "s1"), ("s0", "s1"), ("s1", "s2"), ("s1", "s0"), ("s2", "s1")];
    let summary = summary(&fabric(&LINE[..3], &joins));
    assert_eq!((summary.trunk_cables, summary.parallel_pairs, summary.parallel_cables), (5, 2, 5));
    assert_eq!((summary.hosts_per_leaf, summary.mean_switches_passed), (None, None));
}

#[test]
fn fabric_without_switches_has_no_diameter() {
    let summary = summary(&fabric(&[("a", HOST), ("b", HOST)], &[("a", "b")]));
    assert_eq!((summary.switch_diameter, summary.mean_switches_passed), (None, None));
    assert_eq!(summary.parts, 1);
}

fn by_force(fabric: &Fabric) -> (u32, Option<f64>) {
    let search = |start: usize| -> BTreeMap<usize, u32> {
        let mut distance = BTreeMap::from([(start, 0)]);
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for cable in fabric.cables() {
                let [a, b] = cable.ends.map(|end| end.node);
                for (from, to) in [(a, b), (b, a)] {
                    let is_new = from.index() == at && !distance.contains_key(&to.index());
                    if is_new && fabric.node(to).is_switch() {
                        distance.insert(to.index(), distance[&at] + 1);
                        queue.push_back(to.index());
                    }
                }
            }
        }
        distance
    };
    let from: Vec<_> = fabric.switches().map(|switch| search(switch.index())).collect();
    let diameter = from.iter().flat_map(BTreeMap::values).copied().max().unwrap_or(0);
    let ports: Vec<usize> = fabric
        .cables()
        .iter()
        .filter(|cable| fabric.node(cable.ends[1].node).kind == HOST)
        .map(|cable| cable.ends[0].node.index())
        .collect();
    let (mut hops, mut pairs) = (0.0, 0.0);
    for (i, a) in ports.iter().enumerate() {
        for (j, b) in ports.iter().enumerate() {
            if let Some(distance) = from[*a].get(b).filter(|_| i != j) {
                hops += f64::from(distance + 1);
                pairs += 1.0;
            }
        }
    }
    (diameter, (pairs > 0.0).then_some(hops / pairs))
}

/// Up to 150 switches, for several batches of 64, in a few parts.
fn random_fabric() -> impl Strategy<Value = Fabric> {
    let joins = proptest::collection::vec((any::<usize>(), any::<usize>()), 0..250);
    let hosts = proptest::collection::vec(any::<usize>(), 0..20);
    (1..150_usize, joins, hosts).prop_map(|(count, joins, hosts)| {
        let mut builder = FabricBuilder::new();
        let add = |builder: &mut FabricBuilder, kind, guid: usize| {
            let guid = Guid(u64::try_from(guid).expect("a small number"));
            builder.add_plain(kind, &guid.to_string(), guid, 600)
        };
        let switches: Vec<_> = (0..count).map(|n| add(&mut builder, SWITCH, n)).collect();
        for [a, b] in joins.into_iter().map(|(a, b)| [a % count, b % count]) {
            if a != b {
                builder.join(switches[a], switches[b]).expect("ports are free");
            }
        }
        for (n, at) in hosts.into_iter().enumerate() {
            let host = add(&mut builder, HOST, count + n);
            builder.join(host, switches[at % count]).expect("ports are free");
        }
        builder.build()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn distances_match_a_search_from_every_host(fabric in random_fabric()) {
        let summary = summary(&fabric);
        let (diameter, mean) = by_force(&fabric);
        prop_assert_eq!(summary.switch_diameter, Some(diameter));
        prop_assert_eq!(summary.mean_switches_passed.is_some(), mean.is_some());
        if let Some((ours, theirs)) = summary.mean_switches_passed.zip(mean) {
            prop_assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
        }
    }
}
