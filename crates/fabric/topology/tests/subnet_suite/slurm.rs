//! Slurm's topology files, read back by an independent reader.

use gingham_topology::format::slurm::{self, Below, Form, Topology};
use gingham_topology::format::{self, Format, Written};
use gingham_topology::generate::{FoldedClos, Generator, Irregular, KAryNTree};
use gingham_topology::{Fabric, FabricBuilder, Guid, NodeKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
struct Conf {
    nodes: BTreeMap<String, BTreeSet<String>>,
    children: BTreeMap<String, BTreeSet<String>>,
}

impl Conf {
    /// Panics if slurmctld would stop.
    fn read(text: &str) -> Self {
        let mut conf = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, below) = line.split_once(' ').expect("a name and what is below");
            let name = name.strip_prefix("SwitchName=").expect("a switch").to_owned();
            let (key, list) = below.split_once('=').expect("a key and a list");
            let list: Vec<String> = list.split(',').map(str::to_owned).collect();
            let set: BTreeSet<String> = list.iter().cloned().collect();
            assert_eq!(set.len(), list.len(), "{line}");
            assert!(set.iter().all(|name| !name.is_empty()), "{line}");
            let place = match key {
                "Nodes" => &mut conf.nodes,
                "Switches" => &mut conf.children,
                _ => panic!("{line}"),
            };
            assert!(place.insert(name, set).is_none(), "{line}");
        }
        conf.validate();
        conf
    }

    /// Each child is a switch of the file and has one parent, and each node is at one switch.
    fn validate(&self) {
        let switches: BTreeSet<_> = self.nodes.keys().chain(self.children.keys()).collect();
        assert_eq!(switches.len(), self.nodes.len() + self.children.len());
        let children: Vec<_> = self.children.values().flatten().collect();
        assert!(children.iter().all(|child| switches.contains(child)), "{self:?}");
        assert_eq!(children.iter().collect::<BTreeSet<_>>().len(), children.len(), "{self:?}");
        let hosts: Vec<_> = self.nodes.values().flatten().collect();
        assert_eq!(hosts.iter().collect::<BTreeSet<_>>().len(), hosts.len(), "{self:?}");
    }

    fn groups(&self) -> BTreeSet<BTreeSet<String>> {
        self.nodes.values().cloned().collect()
    }

    fn hosts(&self) -> BTreeSet<String> {
        self.nodes.values().flatten().cloned().collect()
    }

    fn switch_of(&self) -> BTreeMap<&str, &str> {
        let pairs = self.nodes.iter();
        pairs.flat_map(|(switch, nodes)| nodes.iter().map(|node| (&**node, &**switch))).collect()
    }
}

fn written(fabric: &Fabric) -> Written {
    format::write(fabric, Format::Slurm).expect("any fabric can be written")
}

fn case(text: &str) -> Fabric {
    format::read(text, Format::Ibnetdiscover).expect("the case reads").fabric
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn is_noted(written: &Written, count: &str) -> bool {
    written.notes.iter().any(|note| note.starts_with(count))
}

#[test]
fn rails_of_the_same_nodes_merge_into_one_switch() {
    let written = written(&case(include_str!("../fixtures/cases/slurm-rails.ibsim")));
    let conf = Conf::read(&written.text);
    assert_eq!(conf.groups(), [set(&["n1", "n2"])].into());
    assert_eq!(conf.children["spine"], set(&["r1"]));
    assert!(is_noted(&written, "2 leaves "), "{:?}", written.notes);
}

#[test]
fn adapters_with_a_default_description_are_no_node() {
    let fabric = case(include_str!("../fixtures/cases/slurm-default-names.ibsim"));
    for format in [Format::Slurm, Format::SlurmBlock, Format::SlurmYaml] {
        let refused = format::write(&fabric, format).expect_err("Slurm refuses no nodes");
        assert!(refused.message.contains("(3 adapters "), "{refused}");
    }
}

#[test]
fn switches_without_nodes_are_omitted() {
    let written = written(&case(include_str!("../fixtures/cases/slurm-empty-leaf.ibsim")));
    let conf = Conf::read(&written.text);
    assert_eq!(conf.groups(), [set(&["n1"])].into());
    assert_eq!(conf.children["top"], set(&["leaf1"]));
    assert!(is_noted(&written, "1 switch with no node below"), "{:?}", written.notes);
}

/// Below a spine, with these adapters.
fn two_leaves(first: &[&str], second: &[&str]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut add = |kind, name: &str, guid| builder.add_plain(kind, name, Guid(guid), 40);
    let spine = add(NodeKind::Switch, "spine", 1);
    let leaves = [add(NodeKind::Switch, "l1", 2), add(NodeKind::Switch, "l2", 3)];
    for leaf in leaves {
        builder.join(spine, leaf).expect("ports are free");
    }
    let mut guid = 10;
    for (leaf, adapters) in leaves.into_iter().zip([first, second]) {
        for adapter in adapters {
            let host = builder.add_plain(NodeKind::Host, adapter, Guid(guid), 1);
            builder.join(leaf, host).expect("ports are free");
            guid += 1;
        }
    }
    builder.build()
}

#[test]
fn placeholders_and_shared_descriptions_are_no_nodes() {
    let names =
        ["localhost HCA-1", "ubuntu mlx5_0", "", "MT4129 ConnectX7   Mellanox Technologies"];
    let first = [&names[..], &["n1 HCA-1", "twin HCA-1"]].concat();
    let written = written(&two_leaves(&first, &["n2 HCA-1", "twin HCA-1"]));
    let conf = Conf::read(&written.text);
    assert_eq!(conf.groups(), [set(&["n1"]), set(&["n2"])].into());
    assert!(is_noted(&written, "4 adapters whose"), "{:?}", written.notes);
    assert!(is_noted(&written, "2 adapters of several"), "{:?}", written.notes);
}

#[test]
fn server_on_two_leaves_does_not_merge_them() {
    let first = ["a1 x0", "a2 x0", "a3 x0", "login x0"];
    let second = ["b1 x0", "b2 x0", "b3 x0", "b4 x0", "login x1"];
    let written = written(&two_leaves(&first, &second));
    let groups = [set(&["a1", "a2", "a3"]), set(&["b1", "b2", "b3", "b4", "login"])];
    assert_eq!(Conf::read(&written.text).groups(), groups.into());
    assert!(is_noted(&written, "1 node on several"), "{:?}", written.notes);
}

#[test]
fn unnamed_adapters_do_not_split_the_rails() {
    let first = ["n1 x0", "n2 x0", "n3 x0", "", "", "", ""];
    let written = written(&two_leaves(&first, &["n1 x1", "n2 x1", "n3 x1"]));
    assert_eq!(Conf::read(&written.text).groups(), [set(&["n1", "n2", "n3"])].into());
    assert!(is_noted(&written, "2 leaves merged into 1 switch"), "{:?}", written.notes);
}

#[test]
fn blocks_list_compute_nodes_and_the_smallest_size() {
    let first = ["n1 x0", "n2 x0", "n3 x0", "oss1 x0"];
    let fabric = two_leaves(&first, &["m1 x0", "m2 x0", "login x0"]);
    let written = format::write(&fabric, Format::SlurmBlock).expect("there are compute nodes");
    insta::assert_snapshot!(written.text, @r"
    # Written by gingham; for TopologyPlugin=topology/block.
    BlockName=l1 Nodes=n1,n2,n3
    BlockName=l2 Nodes=m1,m2
    BlockSizes=2
    ");
    assert!(is_noted(&written, "2 hosts of other roles"), "{:?}", written.notes);
    assert!(is_noted(&written, "blocks of 2 to 3 nodes"), "{:?}", written.notes);
}

#[test]
fn topologies_of_several_fabrics_share_a_yaml_file() {
    let compute = two_leaves(&["n1 x0", "n2 x0"], &["m1 x0", "m2 x0"]);
    let storage = two_leaves(&["n1 x8"], &["oss1 x0"]);
    let named = |name: &str, fabric, form| {
        (name.to_owned(), Topology::of(fabric, form).expect("there are nodes"))
    };
    let topologies =
        [named("compute", &compute, Form::Block), named("storage", &storage, Form::Tree)];
    let written = slurm::yaml(&topologies).expect("the names differ");
    insta::assert_snapshot!(written.text, @r#"
    # Written by gingham; topology.yaml of Slurm 25.05.
    ---
    - topology: "compute"
      cluster_default: true
      block:
        block_sizes:
          - 2
        blocks:
          - block: "l1"
            nodes: "n1,n2"
          - block: "l2"
            nodes: "m1,m2"
    - topology: "storage"
      cluster_default: false
      tree:
        switches:
          - switch: "l2"
            nodes: "oss1"
          - switch: "l1"
            nodes: "n1"
          - switch: "spine"
            children: "l1,l2"
    "#);
    let twice = [named("a", &compute, Form::Tree), named("a", &storage, Form::Tree)];
    assert!(slurm::yaml(&twice).is_err());
    assert!(slurm::yaml(&[named("a b", &compute, Form::Tree)]).is_err());
    assert!(slurm::yaml(&[]).is_err());
}

#[test]
fn missing_cable_does_not_split_the_rails() {
    let written = written(&two_leaves(&["n1 x0", "n2 x0", "n3 x0"], &["n1 x1", "n3 x1"]));
    assert_eq!(Conf::read(&written.text).groups(), [set(&["n1", "n2", "n3"])].into());
}

#[test]
fn sanitised_node_names_stay_distinct() {
    let conf = Conf::read(&written(&two_leaves(&["n:1 x0", "n_1 x0"], &["n,1 x0"])).text);
    assert_eq!(conf.hosts().len(), 3);
}

/// Units of nodes with an adapter on each leaf, below common spines; some nodes lack one cable.
#[derive(Debug, Clone)]
struct MultiRail {
    units: usize,
    nodes: usize,
    rails: usize,
    spines: usize,
    spare_leaves: usize,
    is_joined: bool,
}

impl MultiRail {
    fn build(&self) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut guid = 0;
        let mut add = |builder: &mut FabricBuilder, kind, name: &str| {
            guid += 1;
            builder.add_plain(kind, name, Guid(guid), 64)
        };
        let planes = if self.is_joined { 1 } else { self.rails };
        let spines: Vec<Vec<_>> = (0..planes)
            .map(|plane| {
                let name = |spine| format!("spine{plane}-{spine}");
                let spines = (0..self.spines).map(name);
                spines.map(|name| add(&mut builder, NodeKind::Switch, &name)).collect()
            })
            .collect();
        for unit in 0..self.units + self.spare_leaves {
            for rail in 0..self.rails {
                let leaf = add(&mut builder, NodeKind::Switch, &format!("leaf{unit}-{rail}"));
                for spine in &spines[rail % planes] {
                    builder.join(leaf, *spine).expect("ports are free");
                }
                let is_missing = |node: usize| node == 3 && rail == unit % self.rails;
                let nodes = if unit < self.units { self.nodes } else { 0 };
                for node in (0..nodes).filter(|node| !is_missing(*node) || self.rails == 1) {
                    let name = format!("n{unit}-{node} mlx5_{rail}");
                    let adapter = add(&mut builder, NodeKind::Host, &name);
                    builder.join(leaf, adapter).expect("ports are free");
                }
            }
        }
        builder.build()
    }

    fn groups(&self) -> BTreeSet<BTreeSet<String>> {
        let unit = |unit| (0..self.nodes).map(|node| format!("n{unit}-{node}")).collect();
        (0..self.units).map(unit).collect()
    }
}

fn rails() -> impl Strategy<Value = MultiRail> {
    let counts = (1..5_usize, 1..9_usize, 1..5_usize, 1..4_usize, 0..3_usize, any::<bool>());
    counts.prop_map(|(units, nodes, rails, spines, spare_leaves, is_joined)| MultiRail {
        units,
        nodes,
        rails,
        spines,
        spare_leaves,
        is_joined,
    })
}

fn generated() -> impl Strategy<Value = Generator> {
    prop_oneof![
        (1..6_u32, 0..4_u32, 1..5_u32).prop_map(|(leaves, spines, hosts_per_leaf)| {
            let spines = spines.max(u32::from(leaves > 1));
            let cables_per_pair = 1;
            Generator::FoldedClos(FoldedClos {
                leaves,
                spines,
                hosts_per_leaf,
                cables_per_pair,
                rails: 1,
            })
        }),
        (2..4_u32, 1..4_u32).prop_map(|(arity, levels)| Generator::KAryNTree(KAryNTree {
            arity,
            levels,
            rails: 1
        })),
        (2..12_u32).prop_map(|switches| Generator::Irregular(Irregular {
            switches,
            ports: 8,
            hosts_per_switch: 2,
            cables_per_pair_max: 2,
            rails: 1
        })),
    ]
}

fn leaves_of(fabric: &Fabric) -> BTreeMap<String, BTreeSet<usize>> {
    let mut leaves: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for cable in fabric.cables() {
        let [switch, host] = cable.ends.map(|end| end.node);
        if fabric.node(host).kind == NodeKind::Host {
            let name = &fabric.node(host).description;
            let name = name.split(' ').next().expect("a first word").to_owned();
            leaves.entry(name).or_default().insert(switch.index());
        }
    }
    leaves
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn slurm_groups_are_the_units_of_rails(rails in rails()) {
        let fabric = rails.build();
        let conf = Conf::read(&written(&fabric).text);
        prop_assert_eq!(conf.groups(), rails.groups());
        let blocks = Topology::of(&fabric, Form::Block).expect("there are compute nodes");
        let nodes = |below: &Below| match below {
            Below::Nodes(nodes) => nodes.iter().cloned().collect::<BTreeSet<String>>(),
            Below::Switches(switches) => panic!("{switches:?} in a block"),
        };
        let groups: BTreeSet<_> = blocks.entries.iter().map(|entry| nodes(&entry.below)).collect();
        prop_assert_eq!(&groups, &rails.groups());
        prop_assert_eq!(blocks.block_size, groups.iter().map(BTreeSet::len).min());
    }

    #[test]
    fn nodes_of_one_switch_stay_together(generator in generated(), seed in 0..100_u64) {
        let Ok(fabric) = generator.generate(seed) else { return Ok(()) };
        let conf = Conf::read(&written(&fabric).text);
        let leaves = leaves_of(&fabric);
        prop_assert_eq!(conf.hosts(), leaves.keys().cloned().collect());
        let switch_of = conf.switch_of();
        for (one, at) in &leaves {
            for (other, there) in &leaves {
                prop_assert_eq!(switch_of[&**one] == switch_of[&**other], at == there);
            }
        }
    }

    #[test]
    fn any_cabling_gives_a_valid_slurm_file(
        joins in proptest::collection::vec((0..9_usize, 0..9_usize), 0..14),
        adapters in proptest::collection::vec((0..12_usize, 0..9_usize), 0..40),
    ) {
        let mut builder = FabricBuilder::new();
        let mut add = |kind, name: &str, guid: usize| {
            builder.add_plain(kind, name, Guid(guid as u64), 200)
        };
        let switches: Vec<_> = (0..9).map(|n| add(NodeKind::Switch, &format!("top{n}"), n + 1)).collect();
        let hosts: Vec<_> = adapters
            .iter()
            .enumerate()
            .map(|(n, (host, at))| (add(NodeKind::Host, &format!("n{host} x{n}"), n + 100), *at))
            .collect();
        for (a, b) in joins.into_iter().filter(|(a, b)| a != b) {
            builder.join(switches[a], switches[b]).expect("ports are free");
        }
        for (host, at) in hosts {
            builder.join(switches[at], host).expect("ports are free");
        }
        let fabric = builder.build();
        if fabric.nodes().iter().all(|node| node.kind == NodeKind::Switch) {
            prop_assert!(format::write(&fabric, Format::Slurm).is_err());
            return Ok(());
        }
        let conf = Conf::read(&written(&fabric).text);
        let leaves = leaves_of(&fabric);
        prop_assert_eq!(conf.hosts(), leaves.keys().cloned().collect());
        let switch_of = conf.switch_of();
        for (one, at) in &leaves {
            for (other, there) in leaves.iter().filter(|(_, there)| at.len() == 1 || there.len() == 1) {
                if at == there {
                    prop_assert_eq!(switch_of[&**one], switch_of[&**other]);
                }
            }
        }
    }
}
