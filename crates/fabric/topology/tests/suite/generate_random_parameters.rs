//! Random parameters: generated fabrics are sound, and their text forms read back.

use crate::generate_measure::assert_sound;
use gingham_topology::generate::{
    Dragonfly, FatTree, FoldedClos, Generator, Hypercube, Irregular, KAryNTree, Mesh, MultiPlane,
    RailOptimised, Ring, Star, Torus, TwoHosts,
};
use gingham_topology::{Grid, NodeKind};
use proptest::prelude::*;

fn boxes() -> impl Strategy<Value = (Vec<u32>, u32)> {
    (prop::collection::vec(1..=4_u32, 1..=4), 1..=3_u32)
}

fn grids() -> impl Strategy<Value = Generator> {
    prop_oneof![
        boxes().prop_map(|(dimensions, hosts_per_switch)| {
            Generator::Mesh(Mesh { dimensions, hosts_per_switch, rails: 1 })
        }),
        boxes().prop_map(|(dimensions, hosts_per_switch)| {
            Generator::Torus(Torus { dimensions, hosts_per_switch, rails: 1 })
        }),
        (1..=12_u32, 1..=3_u32).prop_map(|(switches, hosts_per_switch)| {
            Generator::Ring(Ring { switches, hosts_per_switch, rails: 1 })
        }),
        (1..=6_u32, 1..=3_u32).prop_map(|(dimensions, hosts_per_switch)| {
            Generator::Hypercube(Hypercube { dimensions, hosts_per_switch, rails: 1 })
        }),
    ]
}

fn trees() -> impl Strategy<Value = Generator> {
    prop_oneof![
        (2..=4_u32, 1..=4_u32).prop_map(|(arity, levels)| Generator::KAryNTree(KAryNTree {
            arity,
            levels,
            rails: 1
        })),
        (1..=4_u32, 1..=3_u32, 1..=7_u32).prop_map(|(half, levels, tapering)| {
            let tapering = tapering.min(2 * half - 1);
            Generator::FatTree(FatTree { ports: 2 * half, levels, tapering, rails: 1 })
        }),
        (1..=6_u32, 1..=4_u32, 1..=4_u32, 1..=3_u32).prop_map(
            |(leaves, spines, hosts_per_leaf, cables_per_pair)| {
                let clos = FoldedClos { leaves, spines, hosts_per_leaf, cables_per_pair, rails: 1 };
                Generator::FoldedClos(clos)
            }
        ),
    ]
}

fn dragonflies() -> impl Strategy<Value = Generator> {
    let groups = prop::option::of(any::<prop::sample::Index>());
    (1..=4_u32, 1..=3_u32, 0..=3_u32, groups).prop_map(|(a, p, h, groups)| {
        let group_counts: Vec<u32> = (1..=a * h + 1).collect();
        let groups = groups.map(|groups| *groups.get(&group_counts));
        Generator::Dragonfly(Dragonfly {
            switches_per_group: a,
            hosts_per_switch: p,
            global_cables_per_switch: h,
            groups,
            rails: 1,
        })
    })
}

fn irregulars() -> impl Strategy<Value = Generator> {
    (1..=20_u32, 2..=8_u32, 1..=4_u32, 1..=3_u32).prop_map(
        |(switches, free, hosts_per_switch, cables_per_pair_max)| {
            Generator::Irregular(Irregular {
                switches,
                ports: free + hosts_per_switch,
                hosts_per_switch,
                cables_per_pair_max,
                rails: 1,
            })
        },
    )
}

fn generators() -> impl Strategy<Value = Generator> {
    prop_oneof![
        1 => (0..=5_u32).prop_map(|switches| Generator::TwoHosts(TwoHosts { switches, rails: 1 })),
        1 => (1..=40_u32).prop_map(|hosts| Generator::Star(Star { hosts, rails: 1 })),
        4 => grids(),
        2 => trees(),
        2 => dragonflies(),
        3 => irregulars(),
    ]
}

fn of_adapters() -> impl Strategy<Value = Generator> {
    let planes = (1..=4_u32, 1..=4_u32, 1..=3_u32, 1..=3_u32, 1..=2_u32).prop_map(
        |(planes, leaves, spines, hosts_per_leaf, cables_per_pair)| {
            let of = MultiPlane { planes, leaves, spines, hosts_per_leaf, cables_per_pair };
            Generator::MultiPlane(of)
        },
    );
    let units =
        (1..=4_u32, 2..=3_u32, prop::option::of(1..=9_u32)).prop_map(|(units, levels, spines)| {
            let of = RailOptimised { units, levels, spines, ..RailOptimised::default() };
            Generator::RailOptimised(of)
        });
    let rails =
        (1..=9_u32, 1..=4_u32).prop_map(|(hosts, rails)| Generator::Star(Star { hosts, rails }));
    prop_oneof![planes, units, rails]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_fabrics_are_sound(generator in generators(), seed in any::<u64>()) {
        let fabric = generator.generate(seed).unwrap();
        assert_sound(&fabric);
        prop_assert_eq!(&fabric, &generator.generate(seed).unwrap());
        // Hosts are on the first ports of their switch, in order.
        for switch in fabric.switches() {
            let far = |channel| fabric.target(channel).node;
            let ends: Vec<_> = fabric.channels_from(switch).map(far).collect();
            if matches!(generator, Generator::TwoHosts(_) | Generator::KAryNTree(_) | Generator::FatTree(_)) {
                continue;
            }
            let is_host = |node: &_| fabric.node(*node).kind == NodeKind::Host;
            let hosts: Vec<_> = ends.iter().copied().filter(is_host).collect();
            prop_assert!(hosts.is_sorted());
            prop_assert_eq!(&ends[..hosts.len()], &hosts[..]);
        }
    }

    #[test]
    fn written_generator_parameters_read_back(generator in prop_oneof![generators(), of_adapters()]) {
        let text = toml::to_string(&generator).unwrap();
        let read: Generator = toml::from_str(&text).unwrap();
        prop_assert_eq!(&read, &generator);
        prop_assert!(text.contains(generator.name()), "{} in {}", generator.name(), text);
    }

    #[test]
    fn generated_grid_is_recognised(generator in grids()) {
        let grid = Grid::recognise(&generator.generate(0).unwrap()).unwrap();
        let (dimensions, wraps) = match &generator {
            Generator::Mesh(mesh) => (mesh.dimensions.clone(), false),
            Generator::Torus(torus) => (torus.dimensions.clone(), true),
            Generator::Ring(ring) => (vec![ring.switches], true),
            Generator::Hypercube(cube) => (vec![2; cube.dimensions as usize], false),
            other => panic!("{} is no grid", other.name()),
        };
        let wraps: Vec<bool> = dimensions.iter().map(|size| wraps && *size > 2).collect();
        prop_assert_eq!(grid.dimensions(), &dimensions);
        prop_assert_eq!(grid.wraps(), &wraps);
    }
}
