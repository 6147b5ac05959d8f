//! Fabrics of nodes with several adapters.

use crate::generate_measure::{
    assert_sound_parts, cables_by_pair, fabric, generator, node, reached, switch_cables,
};
use gingham_topology::check::check;
use gingham_topology::format::{Format, read, write};
use gingham_topology::generate::{Generator, RailOptimised};
use gingham_topology::{Fabric, NodeId, NodeKind, Severity};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, PartialEq, Eq)]
struct Levels {
    adapters: usize,
    leaves: usize,
    spines: usize,
    cores: usize,
    leaf_spine: usize,
    spine_core: usize,
}

fn level(fabric: &Fabric, id: NodeId) -> &'static str {
    let name = &fabric.node(id).name;
    let levels = ["leaf", "spine", "core"];
    levels.into_iter().find(|level| name.contains(level)).expect("a switch of some level")
}

fn levels(fabric: &Fabric) -> Levels {
    let mut switches = BTreeMap::new();
    for id in fabric.switches() {
        *switches.entry(level(fabric, id)).or_insert(0) += 1;
    }
    let mut cables = BTreeMap::new();
    for ends in switch_cables(fabric) {
        let pair: BTreeSet<&str> = ends.map(|id| level(fabric, id)).into();
        *cables.entry(pair).or_insert(0) += 1;
    }
    let count = |name| switches.get(name).copied().unwrap_or(0);
    let joined = |pair: [&'static str; 2]| cables.get(&pair.into()).copied().unwrap_or(0);
    assert_eq!(cables.values().sum::<usize>(), {
        joined(["leaf", "spine"]) + joined(["spine", "core"])
    });
    Levels {
        adapters: fabric.endpoints().len(),
        leaves: count("leaf"),
        spines: count("spine"),
        cores: count("core"),
        leaf_spine: joined(["leaf", "spine"]),
        spine_core: joined(["spine", "core"]),
    }
}

/// Number and switch, by node.
fn nodes(fabric: &Fabric) -> BTreeMap<String, Vec<(u32, NodeId)>> {
    let mut nodes: BTreeMap<String, Vec<(u32, NodeId)>> = BTreeMap::new();
    for node in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
        let (name, rail) = fabric.node(node).description.split_once(" mlx5_").expect("an adapter");
        let channel = fabric.outgoing(node, 1).expect("an adapter has a cable");
        let switch = fabric.target(channel).node;
        nodes.entry(name.to_owned()).or_default().push((rail.parse().expect("a number"), switch));
    }
    nodes
}

fn parts(fabric: &Fabric) -> usize {
    let mut seen = vec![false; fabric.nodes().len()];
    let mut parts = 0;
    for id in fabric.node_ids() {
        if !seen[id.index()] {
            parts += 1;
            let steps = reached(fabric, id);
            seen.iter_mut().zip(steps).for_each(|(seen, steps)| *seen |= steps.is_some());
        }
    }
    parts
}

#[test]
fn rail_optimised_counts_match_the_nvidia_reference() {
    // DGX B200 reference architecture, table of larger component counts: units; leaves, spines,
    // cores; cables from node to leaf, leaf to spine, spine to core. (Those of 64 units are 512,
    // 512, 256.)
    for (units, levels_of, leaves, spines, cores) in [
        (2, 2, 16, 8, 0),
        (4, 2, 32, 16, 0),
        (8, 2, 64, 32, 0),
        (16, 3, 128, 128, 64),
        (32, 3, 256, 256, 128),
        (64, 3, 512, 512, 256),
    ] {
        let adapters = units * 256;
        let spine_core = if cores == 0 { 0 } else { adapters };
        let fabric =
            fabric(&format!("rail-optimised = {{ units = {units}, levels = {levels_of} }}"));
        let expected = Levels { adapters, leaves, spines, cores, leaf_spine: adapters, spine_core };
        assert_eq!(levels(&fabric), expected, "{units} units");
    }
    let four = fabric("rail-optimised = { units = 4 }");
    assert_eq!(fabric("rail-optimised = {}"), four, "four units unless given");
    assert!(cables_by_pair(&four).values().all(|cables| *cables == 2));
    // DGX H100: one unit has 8 leaves and 4 spines.
    let one = levels(&fabric("rail-optimised = { units = 1 }"));
    assert_eq!((one.leaves, one.spines, one.leaf_spine), (8, 4, 256));
}

#[test]
fn selene_and_one_of_its_blocks_have_the_real_counts() {
    // A block of Selene: 1,120 cables up from 80 spines fill 28 cores of 40 ports.
    let a100 =
        fabric("rail-optimised = { units = 7, nodes_per_unit = 20, radix = 40, levels = 3 }");
    let expected = Levels {
        adapters: 1_120,
        leaves: 56,
        spines: 80,
        cores: 28,
        leaf_spine: 1_120,
        spine_core: 1_120,
    };
    assert_eq!(levels(&a100), expected);
    // Selene's dump names 200 leaves, 320 spines in 4 blocks of 80, and 140 cores.
    let selene = fabric(
        "rail-optimised = { units = 25, nodes_per_unit = 20, radix = 40, levels = 3, units_per_block = 7 }",
    );
    let expected = Levels {
        adapters: 4_000,
        leaves: 200,
        spines: 320,
        cores: 140,
        leaf_spine: 4_000,
        spine_core: 4_480,
    };
    assert_eq!(levels(&selene), expected);
    // As in the dump, a core has one cable to a spine in each of 32 groups.
    let core = node(&selene, "core139");
    let far: BTreeSet<String> = selene
        .channels_from(core)
        .map(|channel| selene.node(selene.target(channel).node).name.clone())
        .collect();
    assert_eq!(far, (0..32).map(|group| format!("spine{group}-9")).collect());
}

#[test]
fn rail_optimised_ports_and_names_are_in_order() {
    let fabric =
        fabric("rail-optimised = { units = 2, nodes_per_unit = 12, rails = 2, radix = 24 }");
    let far = |name: &str, port| {
        let channel = fabric.outgoing(node(&fabric, name), port)?;
        Some(fabric.port_name(fabric.target(channel)))
    };
    // Four leaves: six cables from each to each of two spines.
    assert_eq!(far("su1-leaf0", 8).as_deref(), Some("su1-n07 mlx5_0[1]"));
    assert_eq!(far("su1-leaf1", 8).as_deref(), Some("su1-n07 mlx5_1[1]"));
    assert_eq!(far("su1-leaf0", 13).as_deref(), Some("spine0[13]"));
    assert_eq!(far("su1-leaf1", 24).as_deref(), Some("spine1[24]"));
    let hosts: Vec<_> = fabric.nodes()[6..9].iter().map(|node| node.name.as_str()).collect();
    assert_eq!(hosts, ["su0-n00 mlx5_0", "su0-n00 mlx5_1", "su0-n01 mlx5_0"]);
    assert_eq!(fabric.node(NodeId::new(0)).name, "spine0", "roots come first");
}

#[test]
fn omitted_rail_parameters_are_derived_from_given_ones() {
    let unit = "units = 4, nodes_per_unit = 8, rails = 2";
    for (text, spines, leaf_spine) in [
        // 8 leaves with 8 cables up: 2 cables to each of 4 spines of 16 ports.
        (format!("{unit}, radix = 16"), 4, 64),
        (format!("{unit}, radix = 16, tapering = 2"), 2, 32),
        (format!("{unit}, radix = 16, tapering = 3"), 2, 32),
        (format!("{unit}, radix = 16, uplinks = 1"), 8, 64),
        (format!("{unit}, radix = 16, spines = 8"), 8, 64),
        (format!("{unit}, radix = 16, spines = 3, uplinks = 1"), 3, 24),
        // 3 cables from each of 8 leaves fill a spine of 24 ports: 3 spines, 9 uplinks on each
        // leaf.
        (format!("{unit}, radix = 24"), 3, 72),
    ] {
        let measured = levels(&fabric(&format!("rail-optimised = {{ {text} }}")));
        assert_eq!((measured.spines, measured.leaf_spine), (spines, leaf_spine), "{text}");
    }
    let three = format!("{unit}, radix = 16, levels = 3");
    for (text, spines, cores, spine_core) in [
        // A group has 4 leaves: 2 cables to each of 4 spines, 8 up to 4 cores; 8 spines in 2
        // groups.
        (three.clone(), 8, 4, 64),
        (format!("{three}, cores = 2"), 8, 2, 32),
        (format!("{three}, cores = 8"), 8, 8, 64),
        (format!("{three}, spine_groups = 1"), 8, 4, 64),
        (format!("{three}, units_per_block = 2"), 8, 4, 64),
    ] {
        let measured = levels(&fabric(&format!("rail-optimised = {{ {text} }}")));
        let counts = (measured.spines, measured.cores, measured.spine_core);
        assert_eq!(counts, (spines, cores, spine_core), "{text}");
    }
}

#[test]
fn multi_plane_fabric_is_one_folded_clos_per_adapter() {
    let clos = "leaves = 3, spines = 2, hosts_per_leaf = 4, cables_per_pair = 2";
    let one = fabric(&format!("folded-clos = {{ {clos} }}"));
    let planes = fabric(&format!("multi-plane = {{ planes = 4, {clos} }}"));
    assert_sound_parts(&planes, 4);
    assert_eq!(planes.switches().len(), 4 * one.switches().len());
    assert_eq!(planes.cables().len(), 4 * one.cables().len());
    assert_eq!(parts(&planes), 4);
    for (name, adapters) in nodes(&planes) {
        assert_eq!(adapters.iter().map(|(plane, _)| *plane).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let leaf = format!("leaf{}", name[1..].split('-').next().unwrap());
        for (plane, switch) in adapters {
            assert_eq!(planes.node(switch).name, format!("p{plane}-{leaf}"), "{name}");
        }
    }
    // Zhao et al. 2025, section 5.1: eight planes of 64-port switches in two levels have 16,384
    // GPUs.
    let deepseek = "planes = 8, leaves = 64, spines = 32, hosts_per_leaf = 32";
    assert_eq!(fabric(&format!("multi-plane = {{ {deepseek} }}")).endpoints().len(), 16_384);
}

/// Shapes that take `rails`.
const SHAPES: [&str; 11] = [
    "two-hosts = { switches = 2 }",
    "star = { hosts = 5 }",
    "ring = { switches = 4, hosts_per_switch = 2 }",
    "mesh = { dimensions = [3, 2] }",
    "torus = { dimensions = [3, 3], hosts_per_switch = 2 }",
    "hypercube = { dimensions = 3 }",
    "k-ary-n-tree = { arity = 2, levels = 3 }",
    "fat-tree = { ports = 4, levels = 3 }",
    "folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 2, cables_per_pair = 2 }",
    "dragonfly = { switches_per_group = 2, global_cables_per_switch = 1 }",
    "irregular = { switches = 8 }",
];

#[test]
fn rails_are_copies_that_share_their_hosts() {
    for shape in SHAPES {
        let of = |rails| generator(&shape.replace(" }", &format!(", rails = {rails} }}")));
        let one = generator(shape).generate(3).unwrap();
        assert_eq!(of(1).generate(3).unwrap(), one, "{shape}: one rail is the shape itself");
        let three = of(3).generate(3).unwrap();
        assert_sound_parts(&three, 3);
        assert_eq!(parts(&three), 3, "{shape}");
        assert_eq!(nodes(&three).len(), one.endpoints().len(), "{shape}");
        for rail in 0..3 {
            let port = |end: gingham_topology::PortRef| {
                let node = one.node(end.node);
                let name = if node.is_switch() {
                    format!("r{rail}-{}", node.name)
                } else {
                    format!("{} mlx5_{rail}", node.name)
                };
                (name, end.port)
            };
            for cable in one.cables() {
                let [near, far] = cable.ends.map(port);
                let channel = three.outgoing(node(&three, &near.0), near.1).expect("a cable");
                let end = three.target(channel);
                assert_eq!((three.node(end.node).name.clone(), end.port), far, "{shape}");
            }
        }
    }
}

#[test]
fn adapters_of_a_node_are_recognised_from_a_file() {
    for shape in [
        "rail-optimised = { units = 2, nodes_per_unit = 4, rails = 2, radix = 8 }",
        "multi-plane = { planes = 2, leaves = 2, spines = 2, hosts_per_leaf = 2 }",
        "torus = { dimensions = [3, 3], rails = 2 }",
    ] {
        let fabric = fabric(shape);
        for format in [Format::Toml, Format::Ibnetdiscover] {
            let text = write(&fabric, format).expect("the format holds the fabric").text;
            let loaded = read(&text, format).expect("what was written reads back").fabric;
            let on = |fabric: &Fabric| -> BTreeMap<String, Vec<(u32, String)>> {
                let named = |(rail, switch)| (rail, fabric.node(switch).description.clone());
                let adapters = nodes(fabric).into_iter();
                adapters.map(|(name, on)| (name, on.into_iter().map(named).collect())).collect()
            };
            assert_eq!(on(&loaded), on(&fabric), "{shape} in {format}");
        }
    }
}

#[test]
fn rail_optimised_fabrics_have_no_warnings() {
    for shape in [
        "rail-optimised = { units = 3 }",
        "rail-optimised = { units = 16, levels = 3 }",
        "rail-optimised = { units = 5, nodes_per_unit = 20, radix = 40, levels = 3, units_per_block = 2 }",
    ] {
        let findings = check(&fabric(shape));
        let warnings: Vec<_> =
            findings.iter().filter(|of| of.kind.severity() == Severity::Warning).collect();
        assert!(warnings.is_empty(), "{shape}: {warnings:?}");
    }
}

fn rail_optimised() -> impl Strategy<Value = RailOptimised> {
    let given = |most| prop::option::weighted(0.3, 1..=most);
    let sizes = (1..=6_u32, 1..=8_u32, 1..=4_u32, 2..=3_u32, 4..=24_u32, 1..=3_u32);
    let optional = (given(8_u32), given(3_u32), given(4_u32), given(4_u32), given(8_u32));
    (sizes, optional).prop_map(|(sizes, optional)| {
        let (units, nodes_per_unit, rails, levels, radix, tapering) = sizes;
        let (spines, uplinks, units_per_block, spine_groups, cores) = optional;
        let of_three = |value: Option<u32>| value.filter(|_| levels == 3);
        RailOptimised {
            units,
            nodes_per_unit,
            rails,
            levels,
            radix,
            tapering,
            spines,
            uplinks,
            units_per_block: of_three(units_per_block),
            spine_groups: of_three(spine_groups),
            cores: of_three(cores),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn rail_optimised_fabrics_are_sound_or_name_the_wrong_key(shape in rail_optimised()) {
        let generator = Generator::RailOptimised(shape.clone());
        let fabric = match generator.generate(0) {
            Ok(fabric) => fabric,
            Err(error) => {
                let key = format!(" {}: ", error.parameter());
                prop_assert!(format!("{shape:?}").contains(&key), "{}", error);
                // One unit of one node and one rail fits any radix, with one spine group.
                let smallest = shape.units * shape.nodes_per_unit * shape.rails == 1;
                let is_free = shape.spines.is_none()
                    && shape.uplinks.is_none()
                    && shape.cores.is_none()
                    && shape.spine_groups.is_none_or(|groups| groups == 1);
                prop_assert!(!(smallest && is_free), "{}", error);
                return Ok(());
            }
        };
        assert_sound_parts(&fabric, 1);
        prop_assert_eq!(parts(&fabric), 1);
        let counts = levels(&fabric);
        prop_assert_eq!(counts.adapters, (shape.units * shape.nodes_per_unit * shape.rails) as usize);
        prop_assert_eq!(counts.leaves, (shape.units * shape.rails) as usize);
        prop_assert_eq!(counts.cores > 0, shape.levels == 3);
        for id in fabric.switches() {
            prop_assert_eq!(u32::from(fabric.node(id).ports), shape.radix);
        }
        if let (Some(spines), 2) = (shape.spines, shape.levels) {
            prop_assert_eq!(counts.spines, spines as usize);
        }
        if let Some(cores) = shape.cores {
            prop_assert_eq!(counts.cores, cores as usize);
        }
        // As many cables up from each leaf as tapering requires, unless given.
        let up = counts.leaf_spine / counts.leaves;
        if shape.spines.is_none() || shape.uplinks.is_none() {
            prop_assert!(up >= shape.nodes_per_unit.div_ceil(shape.tapering) as usize);
        }
        if counts.cores > 0 && shape.cores.is_none() {
            prop_assert!(counts.spine_core >= counts.leaf_spine, "no taper at the spines");
        }
        for (name, adapters) in nodes(&fabric) {
            let unit = name.split('-').next().unwrap();
            prop_assert_eq!(adapters.len(), shape.rails as usize);
            for (rail, leaf) in adapters {
                prop_assert_eq!(&fabric.node(leaf).name, &format!("{unit}-leaf{rail}"));
            }
        }
    }
}
