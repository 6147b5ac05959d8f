//! Trees, their levels, and the oversubscription of their switches.

use crate::support::{fabric, generated, ring, routed, up_down};
use gingham_topology::format::{self, Format};
use gingham_topology::generate::{FoldedClos, Generator, KAryNTree, Torus};
use gingham_topology::routing::{Form, Root, Statistics, TreeLevel, TreeShape, trees};
use gingham_topology::{Fabric, FabricBuilder, Generation, Guid, LinkSpeed, NodeKind};

/// Number of switches, smallest and largest oversubscription, and the switch with the largest.
type Level = (usize, Option<(f64, f64, String)>);

fn shapes(fabric: &Fabric) -> Vec<Vec<Level>> {
    let level = |level: TreeLevel| {
        let ratio = level.oversubscription;
        let shapes = ratio.map(|of| (of.min, of.max, fabric.node(of.narrowest).name.clone()));
        (level.switches.len(), shapes)
    };
    let shapes = |tree: TreeShape| tree.levels.into_iter().map(level).collect();
    trees(fabric).into_iter().map(shapes).collect()
}

fn level(count: usize, min: f64, max: f64, narrowest: &str) -> Level {
    (count, Some((min, max, narrowest.to_owned())))
}

#[test]
fn intact_tree_has_equal_width_above_and_below() {
    for (arity, levels) in [(2, 2), (3, 3), (2, 4)] {
        let fabric = generated(&Generator::KAryNTree(KAryNTree { arity, levels, rails: 1 }), 0);
        let width = (arity as usize).pow(levels - 1);
        let below = (1..levels).map(|number| level(width, 1.0, 1.0, &format!("s{number}-0")));
        let all: Vec<Level> = [(width, None)].into_iter().chain(below).collect();
        assert_eq!(shapes(&fabric), [all], "{arity}-ary {levels}-tree");
    }
}

#[test]
fn three_hosts_on_two_uplinks_are_oversubscribed_1_5_to_1() {
    let shape =
        FoldedClos { leaves: 4, spines: 2, hosts_per_leaf: 3, cables_per_pair: 1, rails: 1 };
    let fabric = generated(&Generator::FoldedClos(shape), 0);
    assert_eq!(shapes(&fabric), [vec![(2, None), level(4, 1.5, 1.5, "leaf0")]]);
}

#[test]
fn leaf_with_a_lost_cable_is_the_narrowest() {
    // Spines s0 and s1 over leaves s2 to s5; s3 has lost its cable to s1.
    let cables = [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 4), (1, 5)];
    let lost = fabric(6, &[2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5], &cables);
    assert_eq!(shapes(&lost), [vec![(2, None), level(4, 1.5, 3.0, "s3")]]);
}

#[test]
fn switch_with_nothing_below_has_no_ratio() {
    let cables = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)];
    let idle = fabric(5, &[2, 2, 2, 3, 3, 3], &cables);
    assert_eq!(shapes(&idle), [vec![(2, None), level(3, 1.5, 1.5, "s2")]]);
}

#[test]
fn single_switch_has_one_level_and_islands_are_separate() {
    assert_eq!(shapes(&fabric(1, &[0, 0, 0], &[])), [vec![(1, None)]]);
    // An unused switch is no tree.
    assert_eq!(shapes(&fabric(2, &[0, 0], &[])), [vec![(1, None)]]);
    let two = fabric(4, &[0, 2, 2, 3], &[(1, 2), (1, 3)]);
    let of_tree = vec![(1, None), level(2, 1.0, 2.0, "s2")];
    assert_eq!(shapes(&two), [vec![(1, None)], of_tree]);
}

#[test]
fn grids_and_rings_have_no_levels() {
    let torus = Torus { dimensions: vec![4, 4], hosts_per_switch: 2, rails: 1 };
    assert_eq!(shapes(&generated(&Generator::Torus(torus), 0)), Vec::<Vec<Level>>::new());
    assert_eq!(shapes(&ring(6, 2)), Vec::<Vec<Level>>::new());
}

#[test]
fn tops_at_two_heights_form_three_levels() {
    let text = include_str!("../fixtures/cases/tops-at-two-heights.ibsim");
    let fabric = format::read(text, Format::Ibnetdiscover).expect("the case reads").fabric;
    let levels: Vec<Vec<usize>> = trees(&fabric)
        .iter()
        .map(|tree| tree.levels.iter().map(|level| level.switches.len()).collect())
        .collect();
    assert_eq!(levels, [[2, 6, 9]], "cores, tops of pods beside spines, leaves");
    let busiest = |root| {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &up_down(root), Form::Table));
        (statistics.max_channel_paths(), statistics.minimal_share())
    };
    let roots = include_str!("../fixtures/cases/tops-at-two-heights.roots");
    let named = busiest(Root::Named(roots.lines().map(str::to_owned).collect()));
    assert_eq!(busiest(Root::TopSwitches), named);
    assert_eq!(named.1, Some(1.0), "no path is longer than the cables ask for");
    assert!(busiest(Root::LowestId).0 > named.0);
}

/// One leaf has two hosts at 2 GB/s, the other three. Cables up have 4 GB/s.
fn mixed(is_last_known: bool) -> Fabric {
    let mut builder = FabricBuilder::new();
    let add = |builder: &mut FabricBuilder, kind, name: &str, guid| {
        builder.add_plain(kind, name, Guid(guid), 8)
    };
    let spine = add(&mut builder, NodeKind::Switch, "spine", 1);
    let speed = |generation| Some(LinkSpeed::InfiniBand { width: 4, generation });
    for (leaf, hosts) in [(2, 2), (3, 3)] {
        let node = add(&mut builder, NodeKind::Switch, &format!("leaf{leaf}"), leaf);
        let ends = [spine, node].map(|node| (node, builder.free_port(node).expect("8 ports")));
        builder.add_cable(ends, speed(Generation::Qdr), None).expect("the ports are free");
        for host in 0..hosts {
            let name = format!("h{leaf}{host}");
            let far = add(&mut builder, NodeKind::Host, &name, 10 * leaf + host);
            let ends = [node, far].map(|node| (node, builder.free_port(node).expect("8 ports")));
            let is_known = is_last_known || (leaf, host) != (3, 2);
            let of_host = speed(Generation::Ddr).filter(|_| is_known);
            builder.add_cable(ends, of_host, None).expect("the ports are free");
        }
    }
    builder.build()
}

#[test]
fn rates_count_if_every_cable_speed_is_known() {
    // 2 and 3 hosts of 2 GB/s over 4 GB/s, or cables over one.
    assert_eq!(shapes(&mixed(true)), [vec![(1, None), level(2, 1.0, 1.5, "leaf3")]]);
    assert_eq!(shapes(&mixed(false)), [vec![(1, None), level(2, 2.0, 3.0, "leaf3")]]);
}
