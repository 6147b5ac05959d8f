//! Dumps of real clusters, if available.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use gingham_kernel::{Purpose, Stream};
use gingham_topology::cluster::{Cluster, ClusterSummary, Naming, Role};
use gingham_topology::{Fabric, NodeKind, check, format};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// `None` if the dump is missing.
fn load(name: &str) -> Option<Fabric> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/fabrics");
    let Ok(text) = fs::read_to_string(folder.join(name)) else {
        eprintln!("skipped: {name} is not at hand");
        return None;
    };
    Some(format::read(&text, format::Format::Ibnetdiscover).expect("it can be read").fabric)
}

#[test]
fn dgx_ndr_dump_has_units_of_four_leaves() {
    let Some(fabric) = load("dgx-ndr-542.ibnetdiscover") else { return };
    let cluster = Cluster::of(&fabric, &Naming::default());
    let summary = ClusterSummary::of(&cluster);
    assert_eq!(summary.nodes[&Role::Compute], 119);
    assert_eq!(summary.nodes[&Role::Management], 1);
    assert_eq!((summary.rails, summary.units, summary.planes), (4, 8, 1));
    assert_eq!(summary.leaves_per_unit, Some((3, 4)));
    // Leaves with more than half of their nodes in common are in one unit.
    let nodes_of = nodes_of_leaves(&cluster);
    for (one, nodes) in &nodes_of {
        for (other, others) in &nodes_of {
            let common = nodes.intersection(others).count();
            if 2 * common > nodes.len().max(others.len()) {
                let unit = |leaf| cluster.units.iter().position(|unit| unit.leaves.contains(leaf));
                assert_eq!(unit(one), unit(other));
            }
        }
    }
}

#[test]
fn unnamed_adapters_are_separate_nodes() {
    let Some(fabric) = load("psmn-x5-89.ibnetdiscover") else { return };
    let cluster = Cluster::of(&fabric, &Naming::default());
    let summary = ClusterSummary::of(&cluster);
    assert_eq!(summary.nodes, BTreeMap::from([(Role::Compute, 89)]));
    assert_eq!((summary.rails, summary.units), (1, 6));
    assert!(check::check(&fabric).iter().all(|one| one.kind.name() != "missing-adapter"));
}

#[test]
fn lost_cables_keep_the_units_of_dgx_ndr() {
    let Some(fabric) = load("dgx-ndr-542.ibnetdiscover") else { return };
    let whole = Cluster::of(&fabric, &Naming::default());
    for seed in 0..3 {
        let mut stream = Stream::new(seed, "lost", Purpose::Loss);
        let is_adapter = |cable: usize| {
            let ends = fabric.cables()[cable].ends;
            ends.iter().any(|end| fabric.node(end.node).kind == NodeKind::Host)
        };
        let lost: BTreeSet<usize> = (0..fabric.cables().len())
            .filter(|cable| is_adapter(*cable) && stream.below(20) == 0)
            .collect();
        let broken = fabric.without(&BTreeSet::new(), &lost);
        let cluster = Cluster::of(&broken, &Naming::default());
        let summary = ClusterSummary::of(&cluster);
        assert_eq!((summary.rails, summary.units), (4, 8), "{seed}");
        assert_eq!(summary.nodes[&Role::Compute], ClusterSummary::of(&whole).nodes[&Role::Compute]);
    }
}

fn nodes_of_leaves(cluster: &Cluster) -> BTreeMap<gingham_topology::NodeId, BTreeSet<&str>> {
    let mut nodes_of: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for node in &cluster.nodes {
        for leaf in node.adapters.iter().filter_map(|adapter| adapter.leaf) {
            nodes_of.entry(leaf).or_default().insert(&node.name);
        }
    }
    nodes_of
}
