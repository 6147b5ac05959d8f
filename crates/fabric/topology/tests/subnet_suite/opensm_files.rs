//! Output of OpenSM (3.3.23) and the real tools for a generated ring of five, simulated by ibsim
//! and routed by the engine `dfsssp` with QoS on: two lanes are needed, pairs balanced over eight.

use gingham_topology::Fabric;
use gingham_topology::format::{self, Format};
use gingham_topology::routing::{Lanes, Proof, RouteSet, prove};
use gingham_topology::subnet::{
    ForwardingTables, LaneDump, LevelDump, Lids, TableDump, join, join_lanes, join_levels,
    write_tables,
};

const LFTS_DUMP: &str = include_str!("../fixtures/opensm-ring/opensm-lfts.dump");

fn fabric() -> Fabric {
    let text = include_str!("../fixtures/opensm-ring/ring.ibnetdiscover");
    format::read(text, Format::Ibnetdiscover).expect("a dump").fabric
}

fn forwarding(fabric: &Fabric, text: &str) -> ForwardingTables {
    let lids = Lids::of(fabric).expect("the case is sound");
    join(fabric, &lids, &TableDump::read(text).expect("the case is sound"))
        .expect("the case is sound")
}

#[test]
fn three_dumps_of_one_subnet_give_the_same_routes() {
    let fabric = fabric();
    let expected = forwarding(&fabric, LFTS_DUMP);
    assert_eq!(expected.findings, vec![]);
    let trace = expected.routes[0].trace(&fabric);
    assert_eq!((trace.arrived_pairs, trace.faults.len()), (20, 0));
    for text in [
        include_str!("../fixtures/opensm-ring/dump_lfts.txt"),
        include_str!("../fixtures/opensm-ring/opensm.fdbs"),
    ] {
        assert_eq!(forwarding(&fabric, text), expected);
    }
}

#[test]
fn opensm_dump_is_rewritten_byte_for_byte() {
    let fabric = fabric();
    let ForwardingTables { routes, to_switches, .. } = forwarding(&fabric, LFTS_DUMP);
    let lids = Lids::of(&fabric).unwrap();
    let written = write_tables(&fabric, &lids, &routes, &to_switches).unwrap();
    assert_eq!(written, LFTS_DUMP);
}

#[test]
fn opensm_levels_and_lanes_make_the_ring_deadlock_free() {
    let fabric = fabric();
    let lids = Lids::of(&fabric).unwrap();
    let routes = forwarding(&fabric, LFTS_DUMP).routes;
    let Proof::Cycle { buffers } = prove(&fabric, &routes[0]) else { panic!("one lane") };
    assert_eq!(buffers.len(), 5);
    let map = LaneDump::read(include_str!("../fixtures/opensm-ring/opensm-sl2vl.dump")).unwrap();
    let (map, findings) = join_lanes(&fabric, &lids, &map).unwrap();
    assert_eq!(findings, vec![]);
    let levels = LevelDump::read(include_str!("../fixtures/opensm-ring/levels.csv")).unwrap();
    let (levels, findings) = join_levels(&fabric, &lids, &levels).unwrap();
    assert_eq!(findings, vec![]);
    let lanes = Lanes::new(&fabric, map, levels);
    let set = RouteSet::new(&routes, Some(&lanes));
    assert!(prove(&fabric, set).is_free());
    assert_eq!(set.lane_use(&fabric).lanes, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(set.lane_use(&fabric).drops, vec![]);
}
