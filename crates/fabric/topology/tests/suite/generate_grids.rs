//! Grids recognised from names and cables, and refused ones.

use crate::generate_measure::{fabric, node};
use gingham_topology::{DraftNode, Fabric, FabricBuilder, Grid, GridError, Guid, NodeId, NodeKind};

fn switches(names: &[&str], pairs: &[(usize, usize)]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let add = |(guid, name): (u64, &&str)| builder.add_plain(NodeKind::Switch, name, Guid(guid), 8);
    let nodes: Vec<DraftNode> = (1..).zip(names).map(add).collect();
    for (a, b) in pairs {
        let near = (nodes[*a], builder.free_port(nodes[*a]).expect("few cables"));
        // The highest free port permits a cable from a switch to itself.
        let far_port = (1..=8).rfind(|port| !builder.is_taken(nodes[*b], *port));
        let far = (nodes[*b], far_port.expect("few cables"));
        builder.add_cable([near, far], None, None).expect("the ports are free");
    }
    builder.build()
}

fn refusal(names: &[&str], pairs: &[(usize, usize)]) -> GridError {
    Grid::recognise(&switches(names, pairs)).expect_err("no grid")
}

#[test]
fn coordinates_are_the_numbers_in_the_name() {
    let fabric = fabric("mesh = { dimensions = [3, 12, 2] }");
    let grid = Grid::recognise(&fabric).unwrap();
    let switch = node(&fabric, "s2-10-1");
    let coordinates = [0, 1, 2].map(|dimension| grid.coordinate(switch, dimension));
    assert_eq!(coordinates, [2, 10, 1]);
    assert_eq!(grid.switch_at(&[2, 10, 1]), Some(switch));
    assert_eq!(grid.switch_at(&[2, 12, 1]), None, "outside the box");
    assert_eq!(grid.switch_at(&[2, 10]), None, "too few coordinates");
}

#[test]
fn grid_step_follows_a_cable_to_the_next_coordinate() {
    for shape in ["mesh", "torus"] {
        let fabric = fabric(&format!("{shape} = {{ dimensions = [4, 2, 3] }}"));
        let grid = Grid::recognise(&fabric).unwrap();
        let sizes = [4, 2, 3];
        for (switch, dimension, up) in
            fabric.switches().flat_map(|s| (0..3).flat_map(move |d| [(s, d, true), (s, d, false)]))
        {
            let mut place = [0, 1, 2].map(|d| grid.coordinate(switch, d));
            let is_edge = place[dimension] == if up { sizes[dimension] - 1 } else { 0 };
            let shift = if up { 1 } else { sizes[dimension] - 1 };
            place[dimension] = (place[dimension] + shift) % sizes[dimension];
            let wraps = shape == "torus" && sizes[dimension] > 2;
            let expected = (!is_edge || wraps)
                .then(|| node(&fabric, &format!("s{}-{}-{}", place[0], place[1], place[2])));
            let step = grid.step(switch, dimension, up);
            assert_eq!(step, expected);
            let leads_to =
                |to: NodeId| fabric.channels_from(switch).any(|c| fabric.target(c).node == to);
            assert!(step.is_none_or(leads_to));
        }
    }
}

#[test]
fn coordinate_names_may_have_words_and_start_at_one() {
    let names = ["rack 1, row 1", "rack 1, row 2", "rack 2, row 1", "rack 2, row 2"];
    let fabric = switches(&names, &[(0, 1), (2, 3), (0, 2), (1, 3)]);
    let grid = Grid::recognise(&fabric).unwrap();
    assert_eq!(grid.dimensions(), [2, 2]);
    assert_eq!(grid.switch_at(&[1, 0]), Some(node(&fabric, "rack 2, row 1")));
}

#[test]
fn grid_ignores_hosts_parallel_cables_and_guid_order() {
    let mut builder = FabricBuilder::new();
    let mut add = |kind, name: &str, guid| builder.add_plain(kind, name, Guid(guid), 8);
    let s1 = add(NodeKind::Switch, "s1", 1);
    let s0 = add(NodeKind::Switch, "s0", 2);
    let host = add(NodeKind::Host, "a host of no number", 3);
    for (a, b) in [(s0, s1), (s1, s0), (host, s0)] {
        builder.join(a, b).unwrap();
    }
    let fabric = builder.build();
    let grid = Grid::recognise(&fabric).unwrap();
    assert_eq!((grid.dimensions(), grid.wraps()), (&[2][..], &[false][..]));
    assert_eq!(grid.step(node(&fabric, "s0"), 0, true), Some(node(&fabric, "s1")));
}

#[test]
fn single_switch_is_a_grid_of_size_one() {
    let grid = Grid::recognise(&switches(&["s7"], &[])).unwrap();
    assert_eq!((grid.dimensions(), grid.wraps()), (&[1][..], &[false][..]));
    assert_eq!(grid.step(NodeId::new(0), 0, true), None);
}

#[test]
fn names_without_coordinates_are_refused() {
    let no_number = refusal(&["left", "right"], &[(0, 1)]);
    assert_eq!(no_number, GridError::NoNumbers { switch: "left".into() });
    let differs = refusal(&["s0-0", "s0-1", "s1"], &[]).to_string();
    assert_eq!(differs, r#""s0-0" holds 2 numbers, but "s1" holds 1"#);
    let large = refusal(&["s0", "s5000000000"], &[]);
    assert_eq!(large, GridError::NumberTooLarge { switch: "s5000000000".into() });
    let same = refusal(&["a0", "b0"], &[(0, 1)]).to_string();
    assert_eq!(same, "a0 and b0 have the same coordinates");
    assert_eq!(Grid::recognise(&FabricBuilder::new().build()), Err(GridError::NoSwitches));
}

#[test]
fn missing_grid_switch_is_reported() {
    let inside = refusal(&["s0-0", "s0-1", "s1-1"], &[(0, 1), (1, 2)]).to_string();
    assert_eq!(inside, "no switch stands at [1, 0] of the box [2, 2]");
    let last = refusal(&["s0-0", "s0-1", "s1-0"], &[(0, 1), (0, 2)]).to_string();
    assert_eq!(last, "no switch stands at [1, 1] of the box [2, 2]");
    let far = refusal(&["s0", "s4294967295"], &[(0, 1)]);
    assert!(matches!(far, GridError::EmptyPlace { coordinates, .. } if coordinates == [1]));
}

#[test]
fn cable_between_non_neighbours_is_reported() {
    let square = ["s0-0", "s0-1", "s1-0", "s1-1"];
    let around = [(0, 1), (2, 3), (0, 2), (1, 3)];
    let diagonal = refusal(&square, &[&around[..], &[(0, 3)]].concat()).to_string();
    assert_eq!(diagonal, "the cable s0-0[3] -- s1-1[6] joins no neighbours of a grid [2, 2]");
    let row = ["s0", "s1", "s2", "s3"];
    let skips = refusal(&row, &[(0, 1), (1, 2), (2, 3), (1, 3)]).to_string();
    assert_eq!(skips, "the cable s1[2] -- s3[7] joins no neighbours of a grid [4]");
    let itself = refusal(&["s0"], &[(0, 0)]);
    assert!(matches!(itself, GridError::StrayCable { .. }), "{itself}");
}

#[test]
fn missing_neighbour_cable_is_reported() {
    let missing = refusal(&["s0", "s1", "s2"], &[(0, 1), (0, 2)]).to_string();
    assert_eq!(missing, "s1 and s2 are neighbours in dimension 0 without a cable");
}

#[test]
fn dimension_must_wrap_on_all_lines_or_none() {
    let names = ["s0-0", "s0-1", "s0-2", "s1-0", "s1-1", "s1-2"];
    let mesh = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)];
    let half = refusal(&names, &[&mesh[..], &[(2, 0)]].concat()).to_string();
    let expected = "dimension 1 closes to a ring from s0-2 and does not from s1-2; all of its \
                    lines must be alike";
    assert_eq!(half, expected);
    let whole = switches(&names, &[&mesh[..], &[(2, 0), (5, 3)]].concat());
    assert_eq!(Grid::recognise(&whole).unwrap().wraps(), [false, true]);
}

#[test]
fn other_shapes_are_not_recognised_as_grids() {
    for shape in [
        "k-ary-n-tree = { arity = 2, levels = 3 }",
        "folded-clos = { leaves = 4, spines = 2, hosts_per_leaf = 2 }",
        "dragonfly = { switches_per_group = 4, global_cables_per_switch = 2 }",
        "irregular = { switches = 16 }",
    ] {
        assert!(Grid::recognise(&fabric(shape)).is_err(), "{shape}");
    }
}
