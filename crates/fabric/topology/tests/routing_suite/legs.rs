//! Proofs of paths with two legs over an intermediate switch.

use gingham_topology::generate::{Generator, Mesh, Torus};
use gingham_topology::routing::{
    Algorithm, DatelineRule, Datelines, DimensionOrder, Form, LaneSet, Lanes, RouteSet, VcClass,
    prove_between_hosts, route,
};

fn is_free(generator: &Generator, lanes: impl Fn(&gingham_topology::Fabric) -> Lanes) -> bool {
    let fabric = generator.generate(1).expect("lawful parameters");
    let algorithm = Algorithm::DimensionOrder(DimensionOrder::default());
    let [by_table, by_source] = [Form::Table, Form::Source].map(|form| {
        let routes = [route(&fabric, &algorithm, form).expect("the algorithm applies")];
        let lanes = lanes(&fabric);
        let set = RouteSet { over_switches: true, ..RouteSet::new(&routes, Some(&lanes)) };
        prove_between_hosts(&fabric, set).is_free()
    });
    assert_eq!(by_table, by_source);
    by_table
}

fn mesh() -> Generator {
    Generator::Mesh(Mesh { dimensions: vec![3, 3], hosts_per_switch: 1, rails: 1 })
}

fn torus() -> Generator {
    Generator::Torus(Torus { dimensions: vec![5], hosts_per_switch: 1, rails: 1 })
}

/// Dimension order may turn from Y to X at the intermediate switch: all turns of a mesh.
#[test]
fn each_leg_over_a_mesh_needs_lanes_of_its_own() {
    let free = |count| Lanes::free(&[LaneSet::first_n(count)]);
    assert!(!is_free(&mesh(), |_| free(1)));
    assert!(!is_free(&mesh(), |_| free(2)));
    assert!(is_free(&mesh(), |_| free(2).with_legs(2)));
    // One lane cannot be divided.
    assert!(!is_free(&mesh(), |_| free(1).with_legs(2)));
}

#[test]
fn datelines_begin_anew_with_each_leg() {
    let with = |count| {
        move |fabric: &gingham_topology::Fabric| {
            let datelines = Datelines::new(fabric, DatelineRule::default()).unwrap();
            Lanes::by_datelines(datelines, &[LaneSet::first_n(count)])
        }
    };
    assert!(!is_free(&torus(), |fabric| with(2)(fabric).with_legs(2)));
    assert!(is_free(&torus(), |fabric| with(4)(fabric).with_legs(2)));
    assert!(!is_free(&torus(), with(4)));
}

#[test]
fn lanes_of_a_vc_class_are_divided_among_legs() {
    let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
    let lanes = Lanes::free(&[set(&[0, 1]), set(&[2, 3, 4])]).with_legs(2);
    let fabric = mesh().generate(1).expect("lawful parameters");
    let host = fabric.endpoint_ids().next().expect("a mesh with hosts");
    let on = |class, leg| lanes.first(host, lanes.on_leg(class, leg));
    let [first, second] = [VcClass(0), VcClass(1)];
    assert_eq!([on(first, 0), on(first, 1), on(first, 2)], [set(&[0]), set(&[1]), set(&[1])]);
    assert_eq!([on(second, 0), on(second, 1)], [set(&[2]), set(&[3, 4])]);
    assert_eq!(lanes.anywhere(&fabric, Some(second)), set(&[2, 3, 4]));
    let undivided = Lanes::free(&[set(&[0, 1])]);
    assert_eq!(undivided.on_leg(first, 3), first);
}
