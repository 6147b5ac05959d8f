//! Generated fabrics are unchanged after saving and loading.

use crate::generate_measure::fabric;
use gingham_topology::format::{Format, read, write};
use gingham_topology::{Fabric, Grid};

fn saved_and_loaded(fabric: &Fabric, format: Format) -> Fabric {
    let text = write(fabric, format).expect("the format holds a generated fabric").text;
    read(&text, format).expect("what was written reads back").fabric
}

#[test]
fn grids_are_recognised_from_a_file() {
    for (shape, dimensions, wraps) in [
        ("mesh = { dimensions = [3, 4], hosts_per_switch = 2 }", vec![3, 4], vec![false; 2]),
        ("torus = { dimensions = [3, 2, 4] }", vec![3, 2, 4], vec![true, false, true]),
        ("ring = { switches = 12 }", vec![12], vec![true]),
        ("hypercube = { dimensions = 4 }", vec![2; 4], vec![false; 4]),
    ] {
        let fabric = fabric(shape);
        for format in [Format::Toml, Format::Ibnetdiscover] {
            let loaded = saved_and_loaded(&fabric, format);
            let grid = Grid::recognise(&loaded).unwrap();
            assert_eq!((grid.dimensions(), grid.wraps()), (&dimensions[..], &wraps[..]), "{shape}");
            assert_eq!(grid, Grid::recognise(&fabric).unwrap(), "{shape}");
        }
    }
    // Anynet keeps numbers only: enough for a ring's coordinate.
    let ring = saved_and_loaded(&fabric("ring = { switches = 12 }"), Format::Anynet);
    assert_eq!(Grid::recognise(&ring).unwrap().wraps(), [true]);
}

#[test]
fn every_shape_round_trips_through_a_file() {
    for shape in [
        "two-hosts = { switches = 2 }",
        "star = { hosts = 5 }",
        "mesh = { dimensions = [3, 3] }",
        "k-ary-n-tree = { arity = 3, levels = 2 }",
        "folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 2, cables_per_pair = 2 }",
        "dragonfly = { switches_per_group = 2, global_cables_per_switch = 1 }",
        "irregular = { switches = 8 }",
        "irregular = { switches = 8, rails = 2 }",
        "rail-optimised = { units = 2, nodes_per_unit = 2, rails = 2, radix = 4, levels = 3 }",
        "multi-plane = { planes = 2, leaves = 2, spines = 2, hosts_per_leaf = 2 }",
    ] {
        let fabric = fabric(shape);
        assert_eq!(saved_and_loaded(&fabric, Format::Toml), fabric, "{shape}");
    }
}
