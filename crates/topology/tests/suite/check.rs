//! What `check` finds in small fabrics, and what `summary` counts in them.

use gingham_topology::check::{PortUse, check, summary};
use gingham_topology::{
    Address, DraftNode, Fabric, FabricBuilder, FindingKind, Generation, Guid, LinkSpeed, NodeKind,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const SWITCH: NodeKind = NodeKind::Switch;
const HOST: NodeKind = NodeKind::Host;

/// A fabric of named nodes with 8 ports each, and joins by name.
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
fn an_even_fabric_has_no_findings() {
    assert_eq!(findings(&fabric(&LINE, &LINE_JOINS)), []);
}

#[test]
fn islands_are_all_parts_but_the_largest() {
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
fn of_two_equal_parts_the_first_is_the_mainland() {
    let nodes = [("s0", SWITCH), ("s1", SWITCH), ("h0", HOST), ("h1", HOST)];
    let found = findings(&fabric(&nodes, &[("s0", "h0"), ("s1", "h1")]));
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains("around s1"), "{}", found[0].1);
}

#[test]
fn guids_and_lids_belong_to_one_device() {
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
fn unevenness_is_one_note_of_each_kind() {
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
fn what_is_unlike_most_is_named_and_of_most_one() {
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

#[test]
fn a_line_of_three_switches_in_numbers() {
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
fn parallel_cables_count_as_long_as_there_are_two() {
    let joins = [("s0", "s1"), ("s0", "s1"), ("s1", "s2"), ("s1", "s0"), ("s2", "s1")];
    let summary = summary(&fabric(&LINE[..3], &joins));
    assert_eq!((summary.trunk_cables, summary.parallel_pairs, summary.parallel_cables), (5, 2, 5));
    assert_eq!((summary.hosts_per_leaf, summary.mean_switches_passed), (None, None));
}

#[test]
fn a_fabric_without_switches_has_no_diameter() {
    let summary = summary(&fabric(&[("a", HOST), ("b", HOST)], &[("a", "b")]));
    assert_eq!((summary.switch_diameter, summary.mean_switches_passed), (None, None));
    assert_eq!(summary.parts, 1);
}

/// Distances by a search from every host cable: greatest between switches, and the mean of
/// switches passed.
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

/// Up to 150 switches, so that there are several batches of 64, in up to a few parts.
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
    fn distances_agree_with_a_search_from_every_host(fabric in random_fabric()) {
        let summary = summary(&fabric);
        let (diameter, mean) = by_force(&fabric);
        prop_assert_eq!(summary.switch_diameter, Some(diameter));
        prop_assert_eq!(summary.mean_switches_passed.is_some(), mean.is_some());
        if let Some((ours, theirs)) = summary.mean_switches_passed.zip(mean) {
            prop_assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
        }
    }
}
