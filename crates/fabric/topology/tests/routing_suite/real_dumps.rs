//! Routes of real clusters, if their dumps are available.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use crate::support::{FORMS, pairs, routed, shortest_path, up_down};
use gingham_topology::Fabric;
use gingham_topology::format::{self, Format};
use gingham_topology::routing::{Proof, Root, Statistics, prove, prove_between_hosts};
use std::path::Path;

/// `None` if real inputs are missing.
fn dump(name: &str) -> Option<Fabric> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = root.join("../shared/data/fabrics").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not at hand", path.display());
        return None;
    };
    let text = format::decode(&bytes).expect("a dump is text").text;
    Some(format::read(&text, Format::Ibnetdiscover).expect("a dump reads").fabric)
}

fn assert_routable(fabric: &Fabric) {
    for form in FORMS {
        let routes = routed(fabric, &up_down(Root::SmallestTotalDistance), form);
        let trace = routes.trace(fabric);
        assert_eq!((trace.unreachable_pairs, trace.faults), (0, vec![]));
        let Proof::Free { order } = prove(fabric, &routes) else { panic!("up*/down* is free") };
        for (from, to) in pairs(fabric) {
            let path = routes.path(fabric, from, to).expect("every pair arrives");
            let numbers = path.channels().iter().map(|channel| order[channel.index()]);
            assert!(numbers.is_sorted_by(|before, after| before < after));
        }
        let shortest = Statistics::new(fabric, &routed(fabric, &shortest_path(), form));
        assert_eq!(shortest.minimal_share(), Some(1.0));
        assert!(prove_between_hosts(fabric, &routed(fabric, &shortest_path(), form)).is_free());
        let legal = Statistics::new(fabric, &routes);
        assert!(legal.switches.mean() >= shortest.switches.mean());
        assert!(legal.all_to_all.expect("hosts send").reference.is_some(), "speeds are known");
    }
}

#[test]
fn dgx_with_542_hosts() {
    if let Some(fabric) = dump("dgx-ndr-542.ibnetdiscover") {
        assert_routable(&fabric);
    }
}

#[test]
fn psmn_with_89_hosts() {
    if let Some(fabric) = dump("psmn-x5-89.ibnetdiscover") {
        assert_routable(&fabric);
    }
}
