//! Nodes, rails and units of small clusters with faults.

use crate::support::Shape;
use gingham_topology::cluster::{Basis, Cluster, ClusterSummary, Naming, Role};
use gingham_topology::{Fabric, FabricBuilder, FindingKind, Guid, NodeKind, check};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn rail_optimised_cluster_has_its_nodes_rails_and_units() {
    let fabric = Shape { units: 3, nodes: 4, rails: 2, spines: 2 }.build();
    let cluster = Cluster::of(&fabric, &Naming::default());
    let summary = ClusterSummary::of(&cluster);
    assert_eq!(summary.nodes, BTreeMap::from([(Role::Compute, 12)]));
    assert_eq!((summary.rails, summary.units), (2, 3));
    assert_eq!(summary.nodes_per_unit, Some((4, 4)));
    assert_eq!(summary.leaves_per_unit, Some((2, 2)));
    // No cable joins the spines of different rails.
    assert_eq!(summary.planes, 2);
    let node = &cluster.nodes[cluster.find("n05").expect("it is there")];
    assert_eq!(node.adapters[1].number, Some(1));
    assert_eq!(node.adapters[1].basis, Basis::Description);
    assert!(check::check(&fabric).iter().all(|one| one.kind != FindingKind::MissingAdapter));
}

#[test]
fn missing_cable_is_a_finding_and_keeps_the_unit() {
    let shape = Shape { units: 2, nodes: 5, rails: 3, spines: 2 };
    let fabric = shape.without(|node, rail| node == 7 && rail == 1);
    let cluster = Cluster::of(&fabric, &Naming::default());
    assert_eq!(ClusterSummary::of(&cluster).units, 2);
    let findings = check::check(&fabric);
    let missing: Vec<_> =
        findings.iter().filter(|one| one.kind == FindingKind::MissingAdapter).collect();
    assert_eq!(missing.len(), 1);
    assert!(missing[0].text.starts_with("n07 "), "{}", missing[0].text);
}

#[test]
fn user_rule_names_nodes_and_adapters() {
    let fabric = Shape { units: 2, nodes: 2, rails: 2, spines: 1 }.build();
    let mut naming = Naming::default();
    for id in fabric.node_ids() {
        if let Some((host, adapter)) = fabric.node(id).description.split_once(' ') {
            // The nodes of each unit become one system with four adapters.
            let unit = usize::from(host > "n01");
            let number: usize = adapter.trim_start_matches("mlx5_").parse().expect("a number");
            let second = usize::from(host == "n01" || host == "n03");
            let names = (format!("box{unit}"), Some(format!("ib{}", 2 * second + number)));
            naming.by_rule.insert(id, names);
        }
    }
    let cluster = Cluster::of(&fabric, &naming);
    let names: Vec<&str> = cluster.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["box0", "box1"]);
    assert_eq!(cluster.nodes[0].adapters.len(), 4);
    assert!(cluster.nodes[0].adapters.iter().all(|adapter| adapter.basis == Basis::Rule));
    assert_eq!(cluster.rails.len(), 4);
}

#[test]
fn unnamed_devices_of_one_system_form_one_node() {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_plain(NodeKind::Switch, "s0", Guid(1), 4);
    for (number, name) in ["MT4129 ConnectX7   Mellanox Technologies"; 2].into_iter().enumerate() {
        let adapter = builder.add_plain(NodeKind::Host, name, Guid(10 + number as u64), 1);
        builder.node_mut(adapter).identity.system_guid = Some(Guid(99));
        builder.join(switch, adapter).expect("there are free ports");
    }
    let named = builder.add_plain(NodeKind::Host, "n1 mlx5_0", Guid(20), 1);
    builder.join(switch, named).expect("there are free ports");
    let cluster = Cluster::of(&builder.build(), &Naming::default());
    let roles: Vec<_> = cluster.nodes.iter().map(|node| (node.adapters.len(), node.role)).collect();
    assert!(roles.contains(&(2, Role::Unnamed)), "{roles:?}");
    assert!(roles.contains(&(1, Role::Compute)), "{roles:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every node keeps its adapters if a few cables are missing, and every unit keeps its nodes.
    #[test]
    fn few_missing_cables_keep_units_and_rails(
        units in 2..5_usize,
        nodes in 6..12_usize,
        rails in 2..6_usize,
        seed in 0..1000_usize,
    ) {
        let shape = Shape { units, nodes, rails, spines: 1 };
        // About one cable in twenty, at most one of a node.
        let is_lost = |node: usize, rail: usize| {
            (node * 31 + seed) % 20 < rails && (node * 31 + seed) % 20 == rail
                && (node + seed).is_multiple_of(4)
        };
        let fabric = shape.without(is_lost);
        let cluster = Cluster::of(&fabric, &Naming::default());
        prop_assert_eq!(cluster.compute().count(), units * nodes);
        prop_assert_eq!(cluster.rails.len(), rails);
        let summary = ClusterSummary::of(&cluster);
        prop_assert_eq!(summary.units, units);
        for (number, node) in cluster.nodes.iter().enumerate() {
            let with = cluster.units[node.unit.expect("it has cables")].nodes.iter();
            let unit_of = |node: usize| node / nodes;
            let expected: BTreeSet<usize> =
                (0..units * nodes).filter(|other| unit_of(*other) == unit_of(number)).collect();
            prop_assert_eq!(with.copied().collect::<BTreeSet<_>>(), expected);
            for adapter in &node.adapters {
                prop_assert_eq!(adapter.rail, adapter.number.map(|number| number as usize));
            }
        }
    }
}

#[test]
fn planes_are_no_islands_and_disjoint_halves_no_planes() {
    let islands = |fabric: &Fabric| {
        let findings = check::check(fabric);
        findings.iter().filter(|finding| finding.kind == FindingKind::Island).count()
    };
    let planes = Shape { units: 2, nodes: 3, rails: 2, spines: 1 }.build();
    assert_eq!(Cluster::of(&planes, &Naming::default()).planes.len(), 2);
    assert_eq!(islands(&planes), 0);
    // Leaves of one rail without spines.
    let halves = Shape { units: 2, nodes: 3, rails: 1, spines: 0 }.build();
    assert_eq!(Cluster::of(&halves, &Naming::default()).planes.len(), 0);
    assert_eq!(islands(&halves), 1);
}
