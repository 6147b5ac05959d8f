//! What generators refuse, in the words that a user reads, and how parameters are described.

use crate::generate_measure::generator;
use gingham_topology::generate::{GenerateError, Generator};

fn refusal(parameters: &str) -> GenerateError {
    generator(parameters).generate(0).expect_err(parameters)
}

/// Parameters of which one is wrong.
const WRONG: [&str; 39] = [
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
];

#[test]
fn parameters_out_of_range_are_named_with_what_was_expected() {
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
        "k-ary-tree = { arity = 2, levels = 2 }",
    ] {
        assert!(toml::from_str::<Generator>(text).is_err(), "{text}");
    }
}

#[test]
fn every_parameter_is_described_in_one_sentence() {
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
    Star: One switch with all hosts on it.
      hosts: Number of hosts on the switch, from 1 to 65,535.
    Ring: Switches in a ring.
      switches: Number of switches in the ring, from 1 (two are joined by one cable).
      hosts_per_switch: Number of hosts on each switch, from 1.
    Mesh: A grid of switches with open edges.
      dimensions: Number of switches in each of 1 to 32 dimensions, such as [8, 8], from 1.
      hosts_per_switch: Number of hosts on each switch, from 1.
    Torus: A grid of switches whose edges are joined to the opposite ones.
      dimensions: Number of switches in each of 1 to 32 dimensions, from 1 (2 are joined by one cable).
      hosts_per_switch: Number of hosts on each switch, from 1.
    Hypercube: A mesh of two switches in each dimension.
      dimensions: Number of dimensions, from 1 to 18; each doubles the number of switches.
      hosts_per_switch: Number of hosts on each switch, from 1.
    KAryNTree: A fat tree of equal switches by Petrini and Vanneschi.
      arity: Number of cables from each switch downwards (k), from 2.
      levels: Number of levels of switches (n), from 1.
    FatTree: A fat tree of switches with equally many ports.
      ports: Number of ports of each switch, even, from 2.
      levels: Number of levels of switches, from 1.
      tapering: Hosts on a leaf for each of its cables up, from 1: 2 is an oversubscription of 2 : 1.
    FoldedClos: Leaf switches, each cabled to every spine switch.
      leaves: Number of leaf switches, from 1.
      spines: Number of spine switches, from 1.
      hosts_per_leaf: Number of hosts on each leaf switch, from 1.
      cables_per_pair: Number of parallel cables between each leaf and each spine, from 1.
    Dragonfly: Fully joined groups of switches that are fully joined to each other.
      switches_per_group: Number of switches in each group (a), from 1.
      hosts_per_switch: Number of hosts on each switch (p), from 1.
      global_cables_per_switch: Number of cables from each switch to other groups (h), from 0 (then there is one group).
      groups: Number of groups (g), from 1 to a h + 1, which is the default.
    Irregular: Switches joined at random, as in the studies of Myrinet clusters.
      switches: Number of switches, from 1.
      ports: Number of ports of each switch, from 1 to 65,535.
      hosts_per_switch: Number of hosts on each switch, from 1 to the number of its ports.
      cables_per_pair_max: Largest number of parallel cables between two switches, from 1.
    "#);
}
