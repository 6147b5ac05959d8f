//! Bisection against closed forms, and all matchings of small fabrics.

use gingham_topology::generate::{FoldedClos, Generator, Star};
use gingham_topology::routing::{
    Algorithm, Bisection, Form, Routes, Sharing, ShortestPath, Statistics, route,
};
use gingham_topology::{EndpointId, Fabric, FabricBuilder, Guid, NodeKind};

const FORMS: [Form; 2] = [Form::Source, Form::Table];

fn routed(fabric: &Fabric, form: Form) -> Routes {
    route(fabric, &Algorithm::ShortestPath(ShortestPath::default()), form).expect("shortest paths")
}

/// Two switches with `hosts` hosts each, one cable between them.
fn dumbbell(hosts: u64) -> Fabric {
    let mut builder = FabricBuilder::new();
    let sides = [1, 2].map(|n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(n), 40));
    builder.join(sides[0], sides[1]).expect("the case is sound");
    for n in 0..2 * hosts {
        let host = builder.add_plain(NodeKind::Host, &format!("h{n}"), Guid(100 + n), 1);
        builder.join(sides[usize::from(n >= hosts)], host).expect("the case is sound");
    }
    builder.build()
}

fn folded_clos(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Fabric {
    let generator = FoldedClos { leaves, spines, hosts_per_leaf, cables_per_pair: 1, rails: 1 };
    Generator::FoldedClos(generator).generate(1).expect("lawful parameters")
}

#[test]
fn bisection_at_one_switch_is_full() {
    let fabric = Generator::Star(Star { hosts: 9, rails: 1 }).generate(1).unwrap();
    for form in FORMS {
        let measured = Bisection::new(&fabric, &routed(&fabric, form), 50, 1).unwrap();
        assert_eq!((measured.samples, measured.flows), (50, 4), "one of nine sits out");
        assert_eq!((measured.bandwidth.mean, measured.bandwidth.half_width), (1.0, 0.0));
        assert_eq!((measured.busiest.mean, measured.busiest.half_width), (1.0, 0.0));
    }
}

#[test]
fn one_host_per_leaf_has_full_bisection_in_a_folded_clos() {
    let fabric = folded_clos(8, 2, 1);
    let measured = Bisection::new(&fabric, &routed(&fabric, Form::Table), 200, 1).unwrap();
    assert_eq!((measured.bandwidth.mean, measured.busiest.mean), (1.0, 1.0));
}

/// Mean share and mean load of the busiest channel.
fn over_all_matchings(fabric: &Fabric, routes: &Routes) -> (f64, f64) {
    let mut hosts: Vec<EndpointId> = fabric.endpoint_ids().collect();
    let (mut shares, mut busiest, mut count) = (0.0, 0.0, 0.0);
    permute(&mut hosts, 0, &mut |order| {
        let pairs = order[..order.len() / 2].iter().zip(&order[order.len() / 2..]);
        let paths: Vec<_> =
            pairs.map(|(a, b)| routes.path(fabric, *a, *b).expect("the case is sound")).collect();
        let load = |channel| paths.iter().filter(|p| p.channels().contains(channel)).count();
        let worst = paths
            .iter()
            .map(|path| path.channels().iter().map(load).max().expect("the case is sound"));
        let worst: Vec<f64> =
            worst.map(|load| f64::from(u32::try_from(load).expect("the case is sound"))).collect();
        shares += worst.iter().map(|load| 1.0 / load).sum::<f64>()
            / f64::from(u32::try_from(worst.len()).expect("the case is sound"));
        busiest += worst.iter().copied().fold(0.0, f64::max);
        count += 1.0;
    });
    (shares / count, busiest / count)
}

fn permute(items: &mut [EndpointId], from: usize, visit: &mut impl FnMut(&[EndpointId])) {
    if from == items.len() {
        return visit(items);
    }
    for other in from..items.len() {
        items.swap(from, other);
        permute(items, from + 1, visit);
        items.swap(from, other);
    }
}

/// Within three half-widths (six deviations).
fn assert_near(measured: gingham_topology::routing::SampleMean, expected: f64) {
    let off = (measured.mean - expected).abs();
    assert!(off <= 3.0 * measured.half_width, "{measured:?}, expected {expected}");
}

#[test]
fn dumbbell_bisection_matches_the_closed_form() {
    // Of four hosts a, b | c, d the pairing a-b, c-d (1/3) shares nothing. Otherwise both flows
    // cross: in one direction (1/2) they share the cable. 1/3 + 2/3 (1/2 + 1/2 1/2) = 5/6.
    let fabric = dumbbell(2);
    let routes = routed(&fabric, Form::Table);
    let measured = Bisection::new(&fabric, &routes, 20_000, 7).unwrap();
    assert_near(measured.bandwidth, 5.0 / 6.0);
    // Two flows on the cable with probability 2/3 x 1/2.
    assert_near(measured.busiest, 4.0 / 3.0);
    let (shares, busiest) = over_all_matchings(&fabric, &routes);
    assert!((shares - 5.0 / 6.0).abs() < 1e-12 && (busiest - 4.0 / 3.0).abs() < 1e-12);
}

#[test]
fn random_matchings_estimate_the_mean_of_all_matchings() {
    for fabric in [folded_clos(3, 2, 2), folded_clos(2, 1, 3), dumbbell(3)] {
        for form in FORMS {
            let routes = routed(&fabric, form);
            let measured = Bisection::new(&fabric, &routes, 5_000, 3).unwrap();
            let (shares, busiest) = over_all_matchings(&fabric, &routes);
            assert_near(measured.bandwidth, shares);
            assert_near(measured.busiest, busiest);
        }
    }
}

#[test]
fn bisection_depends_only_on_the_seed() {
    let fabric = dumbbell(3);
    let measure = |seed| Bisection::new(&fabric, &routed(&fabric, Form::Table), 20, seed);
    assert_eq!(measure(1), measure(1));
    assert_ne!(measure(1), measure(2));
    assert_eq!(Bisection::new(&fabric, &routed(&fabric, Form::Table), 1, 1), None);
    let alone = Generator::Star(Star { hosts: 1, rails: 1 }).generate(1);
    assert_eq!(alone.ok().and_then(|f| Bisection::new(&f, &routed(&f, Form::Table), 9, 1)), None);
}

#[test]
fn pairs_sharing_a_channel_are_counted_with_examples() {
    let fabric = dumbbell(3);
    let routes = routed(&fabric, Form::Table);
    let busiest = Statistics::new(&fabric, &routes).busiest[0];
    let sharing = Sharing::new(&fabric, &routes, busiest, 4);
    assert_eq!((sharing.pairs, sharing.examples.len()), (9, 4), "three hosts send to three");
    let side = |endpoint: &EndpointId| endpoint.index() / 3;
    assert!(sharing.examples.iter().all(|(from, to)| side(from) != side(to)));
    let own = fabric.endpoint_channel(EndpointId::new(0));
    assert_eq!(Sharing::new(&fabric, &routes, own, 0).pairs, 5, "a host's own channel");
}
