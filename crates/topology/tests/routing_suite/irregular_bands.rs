//! Up*/down* on random irregular fabrics, against bands from an independent model.
//!
//! Means over ten fabrics of a size, between different switches: hops of the shortest legal
//! path, and the share of pairs for which it is as short as any.

use crate::support::{generated, hops, pairs, routed, switch_of, up_down};
use gingham_topology::Fabric;
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{Form, Root};

fn irregular(switches: u32, seed: u64) -> Fabric {
    let shape = Irregular { switches, ports: 5, hosts_per_switch: 1, cables_per_pair_max: 1 };
    generated(&Generator::Irregular(shape), seed)
}

/// Mean hops, and the share of minimal paths.
fn measure(fabric: &Fabric) -> (f64, f64) {
    let routes = routed(fabric, &up_down(Root::LowestId), Form::Source);
    let shortest = hops(fabric);
    let (mut total, mut minimal, mut count) = (0, 0, 0);
    for (from, to) in pairs(fabric) {
        let ends = [from, to].map(|end| switch_of(fabric, end).expect("on a switch").index());
        let path = routes.path(fabric, from, to).expect("the fabric is connected");
        let taken = path.switches(fabric) - 1;
        total += u32::try_from(taken).expect("a small number");
        minimal += u32::from(Some(taken) == shortest[ends[0]][ends[1]]);
        count += 1;
    }
    (f64::from(total) / f64::from(count), f64::from(minimal) / f64::from(count))
}

#[test]
fn legal_paths_are_as_long_and_as_often_minimal_as_expected() {
    for (switches, hops, minimal) in
        [(8, 1.45, 0.986), (16, 2.14, 0.858), (32, 2.99, 0.731), (64, 3.95, 0.612)]
    {
        let runs: Vec<_> = (0..10).map(|seed| measure(&irregular(switches, seed))).collect();
        let mean = |value: fn(&(f64, f64)) -> f64| runs.iter().map(value).sum::<f64>() / 10.0;
        let (mean_hops, share) = (mean(|run| run.0), mean(|run| run.1));
        assert!((mean_hops - hops).abs() < 0.12, "{switches}: {mean_hops}, expected {hops}");
        assert!((share - minimal).abs() < 0.05, "{switches}: {share}, expected {minimal}");
    }
}
