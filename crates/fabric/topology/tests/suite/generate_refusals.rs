//! Refusals of generators, with their messages, and descriptions of parameters.

use crate::generate_measure::generator;
use gingham_topology::generate::{GenerateError, Generator};

fn refusal(parameters: &str) -> GenerateError {
    generator(parameters).generate(0).expect_err(parameters)
}

const WRONG: [&str; 72] = [
    "two-hosts = { switches = 1000000 }",
    "star = { hosts = 0 }",
    "star = { hosts = 65536 }",
    "ring = { switches = 0 }",
    "ring = { switches = 3, hosts_per_switch = 0 }",
    "mesh = { dimensions = [] }",
    "mesh = { dimensions = [3, 0] }",
    "mesh = { dimensions = [2000, 2000] }",
    "torus = { dimensions = [4000000000, 4000000000, 4000000000, 4000000000, 4000000000] }",
    "torus = { dimensions = [4, 4], hosts_per_switch = 70000 }",
    "torus = { dimensions = [4, 4], hosts_per_switch = 65533 }",
    "mesh = { dimensions = [500], hosts_per_switch = 4000 }",
    "hypercube = { dimensions = 0 }",
    "hypercube = { dimensions = 19 }",
    "k-ary-n-tree = { arity = 1, levels = 3 }",
    "k-ary-n-tree = { arity = 70000, levels = 1 }",
    "k-ary-n-tree = { arity = 40000, levels = 2 }",
    "k-ary-n-tree = { arity = 4, levels = 0 }",
    "k-ary-n-tree = { arity = 4, levels = 4000000000 }",
    "folded-clos = { leaves = 0, spines = 1, hosts_per_leaf = 1 }",
    "folded-clos = { leaves = 1, spines = 0, hosts_per_leaf = 1 }",
    "folded-clos = { leaves = 1, spines = 1, hosts_per_leaf = 0 }",
    "folded-clos = { leaves = 1, spines = 1, hosts_per_leaf = 1, cables_per_pair = 0 }",
    "folded-clos = { leaves = 70000, spines = 1, hosts_per_leaf = 1 }",
    "folded-clos = { leaves = 2, spines = 60000, hosts_per_leaf = 6000 }",
    "folded-clos = { leaves = 500, spines = 500, hosts_per_leaf = 1, cables_per_pair = 100 }",
    "dragonfly = { switches_per_group = 0, global_cables_per_switch = 1 }",
    "dragonfly = { switches_per_group = 4, hosts_per_switch = 0, global_cables_per_switch = 1 }",
    "dragonfly = { switches_per_group = 4, global_cables_per_switch = 2, groups = 10 }",
    "dragonfly = { switches_per_group = 4, global_cables_per_switch = 2, groups = 0 }",
    "dragonfly = { switches_per_group = 1000, global_cables_per_switch = 1000 }",
    "irregular = { switches = 0 }",
    "irregular = { switches = 4, ports = 0 }",
    "irregular = { switches = 4, ports = 65536 }",
    "irregular = { switches = 4, ports = 3, hosts_per_switch = 4 }",
    "irregular = { switches = 4, hosts_per_switch = 0 }",
    "irregular = { switches = 4, cables_per_pair_max = 0 }",
    "irregular = { switches = 4, ports = 5 }",
    "irregular = { switches = 300000 }",
    "star = { hosts = 5, rails = 0 }",
    "star = { hosts = 5, rails = 300000 }",
    "multi-plane = { planes = 0, leaves = 1, spines = 1, hosts_per_leaf = 1 }",
    "multi-plane = { planes = 2, leaves = 0, spines = 1, hosts_per_leaf = 1 }",
    "multi-plane = { planes = 1000, leaves = 64, spines = 32, hosts_per_leaf = 32 }",
    "rail-optimised = { units = 0 }",
    "rail-optimised = { units = 9 }",
    "rail-optimised = { units = 5000, levels = 3 }",
    "rail-optimised = { units = 300, levels = 3 }",
    "rail-optimised = { levels = 4 }",
    "rail-optimised = { levels = 1 }",
    "rail-optimised = { radix = 1 }",
    "rail-optimised = { radix = 70000 }",
    "rail-optimised = { nodes_per_unit = 33 }",
    "rail-optimised = { nodes_per_unit = 64 }",
    "rail-optimised = { nodes_per_unit = 43, tapering = 2 }",
    "rail-optimised = { rails = 100 }",
    "rail-optimised = { tapering = 0 }",
    "rail-optimised = { spines = 16, uplinks = 2, tapering = 2 }",
    "rail-optimised = { spines = 0 }",
    "rail-optimised = { spines = 15 }",
    "rail-optimised = { spines = 33 }",
    "rail-optimised = { uplinks = 3 }",
    "rail-optimised = { spines = 17, uplinks = 2 }",
    "rail-optimised = { cores = 8 }",
    "rail-optimised = { spine_groups = 8 }",
    "rail-optimised = { units_per_block = 2 }",
    "rail-optimised = { levels = 3, spine_groups = 3 }",
    "rail-optimised = { levels = 3, rails = 65 }",
    "rail-optimised = { levels = 3, rails = 40, spine_groups = 1 }",
    "rail-optimised = { levels = 3, units = 40, units_per_block = 33 }",
    "rail-optimised = { levels = 3, units = 16, cores = 63 }",
    "rail-optimised = { levels = 3, units = 16, cores = 66 }",
];

#[test]
#[expect(clippy::too_many_lines, reason = "the snapshot is long")]
fn out_of_range_parameter_error_names_the_expectation() {
    let table: Vec<String> = WRONG.iter().map(|text| refusal(text).to_string()).collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
    switches = 1000000: makes 1,000,002 nodes, expected at most 1,000,000
    hosts = 0: expected at least 1
    hosts = 65536: makes 65,536 ports on one switch, expected at most 65,535
    switches = 0: expected at least 1
    hosts_per_switch = 0: expected at least 1
    dimensions = []: expected at least one dimension
    dimensions = [3, 0]: expected each size to be at least 1
    dimensions = [2000, 2000]: makes 8,000,000 nodes, expected at most 1,000,000
    dimensions = [4000000000, 4000000000, 4000000000, 4000000000, 4000000000]: makes over 1,000,000,000,000 nodes, expected at most 1,000,000
    hosts_per_switch = 70000: makes 70,000 ports on one switch, expected at most 65,535
    dimensions = [4, 4]: makes 1,048,544 nodes, expected at most 1,000,000
    dimensions = [500]: makes 2,000,500 nodes, expected at most 1,000,000
    dimensions = 0: expected at least 1
    dimensions = 19: expected at most 18 (a million nodes)
    arity = 1: expected at least 2
    arity = 70000: makes 70,000 ports on one switch, expected at most 65,535
    arity = 40000: makes 80,000 ports on one switch, expected at most 65,535
    levels = 0: expected at least 1
    levels = 4000000000: makes over 1,000,000,000,000 nodes, expected at most 1,000,000
    leaves = 0: expected at least 1
    spines = 0: expected at least 1
    hosts_per_leaf = 0: expected at least 1
    cables_per_pair = 0: expected at least 1
    leaves = 70000: makes 70,000 ports on one switch, expected at most 65,535
    spines = 60000: makes 66,000 ports on one switch, expected at most 65,535
    leaves = 500: makes 25,000,000 ports on all switches, expected at most 10,000,000
    switches_per_group = 0: expected at least 1
    hosts_per_switch = 0: expected at least 1
    groups = 10: expected at most 9 (switches_per_group x global_cables_per_switch + 1)
    groups = 0: expected at least 1
    global_cables_per_switch = 1000: makes 2,000,002,000 nodes, expected at most 1,000,000
    switches = 0: expected at least 1
    ports = 0: expected at least 1
    ports = 65536: makes 65,536 ports on one switch, expected at most 65,535
    hosts_per_switch = 4: expected at most 3 (the ports of a switch)
    hosts_per_switch = 0: expected at least 1
    cables_per_pair_max = 0: expected at least 1
    ports = 5: expected more ports beside the 4 of hosts, enough for 3 cables to connect 4 switches
    switches = 300000: makes 1,500,000 nodes, expected at most 1,000,000
    rails = 0: expected at least 1
    rails = 300000: makes 1,800,000 nodes, expected at most 1,000,000
    planes = 0: expected at least 1
    leaves = 0: expected at least 1
    planes = 1000: makes 2,144,000 nodes, expected at most 1,000,000
    units = 0: expected at least 1
    units = 9: expected at most 8 (radix / rails: a spine has a cable to every leaf; levels = 3 has room for more)
    units = 5000: makes 1,320,000 nodes, expected at most 1,000,000
    units = 300: expected at most 256 (radix: a core has a cable to every spine group)
    levels = 4: expected at most 3 (leaf, spine and core)
    levels = 1: expected at least 2
    radix = 1: expected at least 2
    radix = 70000: makes 70,000 ports on one switch, expected at most 65,535
    nodes_per_unit = 33: expected at most 32 (radix: a leaf has as many cables up, by tapering)
    nodes_per_unit = 64: expected at most 63 (radix: a leaf has a port for each node of its unit, and at least one up)
    nodes_per_unit = 43: expected at most 42 (radix: a leaf has as many cables up, by tapering)
    rails = 100: expected at most 64 (radix: a spine has a cable to each leaf of a unit)
    tapering = 0: expected at least 1
    tapering = 2: expected 1, since spines and uplinks give the cables up
    spines = 0: expected at least 1
    spines = 15: expected at least 16 (radix: a spine has equally many cables to each leaf of its group)
    spines = 33: expected at most 32 cables up from a leaf, not 33 x 1 (radix - nodes_per_unit)
    uplinks = 3: expected at most 2 (radix: a spine has these cables to each leaf of its group)
    spines = 17: expected at most 32 cables up from a leaf, not 17 x 2 (radix - nodes_per_unit)
    cores = 8: expected none with levels = 2
    spine_groups = 8: expected none with levels = 2
    units_per_block = 2: expected none with levels = 2
    spine_groups = 3: expected a divisor of rails = 8
    rails = 65: expected at most 64 (radix: a core has a cable to every spine group)
    spine_groups = 1: expected at least 2 (radix: a spine has a cable to each leaf of a unit)
    units_per_block = 33: expected at most 32 (radix: a spine has a cable to each leaf of its group, and as many to cores)
    cores = 63: expected a multiple of 2 (the core groups that radix asks for)
    cores = 66: expected at most 64 (radix: ports up of a spine, times core groups)
    "#);
    for text in WRONG {
        let parameter = refusal(text).parameter();
        assert!(text.contains(parameter), "{parameter} is no key of {text}");
    }
}

#[test]
fn unknown_keys_and_shapes_are_refused() {
    for text in [
        "torus = { dimensions = [3], hosts = 2 }",
        "torus = {}",
        "torus = { dimensions = [-1] }",
        "multi-plane = { planes = 2, leaves = 1, spines = 1, hosts_per_leaf = 1, rails = 2 }",
        "k-ary-tree = { arity = 2, levels = 2 }",
    ] {
        assert!(toml::from_str::<Generator>(text).is_err(), "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "the snapshot is long")]
fn each_parameter_is_described_in_one_sentence() {
    let schema = schemars::schema_for!(Generator);
    let definitions = schema.as_value()["$defs"].as_object().unwrap();
    let mut lines = Vec::new();
    for (shape, definition) in definitions {
        lines.push(format!("{shape}: {}", definition["description"].as_str().unwrap()));
        for (key, property) in definition["properties"].as_object().unwrap() {
            let text = property["description"].as_str().unwrap();
            let is_sentence = text.ends_with('.') && !text.contains('\n');
            assert!(is_sentence, "{shape}.{key}: {text}");
            lines.push(format!("  {key}: {text}"));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    TwoHosts: Two hosts with a row of switches between them.
      switches: Number of switches in a row between the two hosts, from 0 (a direct cable) to 999,998.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Star: One switch with all hosts.
      hosts: Number of hosts on the switch, from 1 to 65,535.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Ring: Switches in a ring.
      switches: Number of switches in the ring, at least 1; two switches are joined by one cable.
      hosts_per_switch: Number of hosts on each switch, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Mesh: Grid of switches with open edges.
      dimensions: Number of switches in each of 1 to 32 dimensions, such as [8, 8]; each number is at least 1.
      hosts_per_switch: Number of hosts on each switch, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Torus: Grid of switches whose opposite edges are joined.
      dimensions: Number of switches in each of 1 to 32 dimensions, at least 1; one cable joins 2 switches.
      hosts_per_switch: Number of hosts on each switch, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Hypercube: Mesh of two switches in each dimension.
      dimensions: Number of dimensions, from 1 to 18; each dimension doubles the number of switches.
      hosts_per_switch: Number of hosts on each switch, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    KAryNTree: Fat tree of equal switches by Petrini and Vanneschi.
      arity: Number of downward cables of each switch (k), at least 2.
      levels: Number of switch levels (n), at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    FatTree: Fat tree of switches with equal numbers of ports.
      ports: Number of ports of each switch: an even number, at least 2.
      levels: Number of switch levels, at least 1.
      tapering: Ratio of hosts to upward cables on a leaf, at least 1; 2 is an oversubscription of 2 : 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    FoldedClos: Leaf switches, each cabled to every spine switch.
      leaves: Number of leaf switches, at least 1.
      spines: Number of spine switches, at least 1.
      hosts_per_leaf: Number of hosts on each leaf switch, at least 1.
      cables_per_pair: Number of parallel cables between each leaf and each spine, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    RailOptimised: Scalable units of nodes with several adapters, one on each leaf switch of the unit.
      units: Number of scalable units, at least 1.
      nodes_per_unit: Number of nodes in each unit, at least 1.
      rails: Number of adapters per node, and of leaf switches per unit, at least 1.
      levels: Number of switch levels: 2 (leaf and spine) or 3 (leaf, spine and core).
      radix: Number of ports of each switch, from 2 to 65,535.
      tapering: Ratio of nodes to upward cables on a leaf, at least 1; 2 is an oversubscription of 2 : 1.
      spines: Number of spine switches in each spine group; by default as few as possible.
      uplinks: Number of cables from each leaf to each spine of its group; by default from `tapering`.
      units_per_block: Number of units that share spines (three levels); by default the largest possible number.
      spine_groups: Number of spine groups per block (three levels), a divisor of `rails`; by default `rails`.
      cores: Number of core switches (three levels); by default enough to avoid tapering at the spines.
    MultiPlane: Disjoint folded Clos networks, with one adapter of every node in each network.
      planes: Number of planes, and of adapters per node, at least 1.
      leaves: Number of leaf switches in each plane, at least 1.
      spines: Number of spine switches in each plane, at least 1.
      hosts_per_leaf: Number of nodes on each leaf switch, at least 1.
      cables_per_pair: Number of parallel cables between each leaf and each spine, at least 1.
    Dragonfly: Fully connected groups of fully connected switches.
      switches_per_group: Number of switches in each group (a), at least 1.
      hosts_per_switch: Number of hosts on each switch (p), at least 1.
      global_cables_per_switch: Number of cables from each switch to other groups (h); 0 requires a single group.
      groups: Number of groups (g), from 1 to a h + 1; by default a h + 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    Irregular: Randomly connected switches, as in the studies of Myrinet clusters.
      switches: Number of switches, at least 1.
      ports: Number of ports of each switch, from 1 to 65,535.
      hosts_per_switch: Number of hosts on each switch, from 1 to `ports`.
      cables_per_pair_max: Maximum number of parallel cables between two switches, at least 1.
      rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    "#);
}
