//! Tables of a subnet manager: forwarding, service level to lane, service levels.
//!
//! Those of the ring of five were written by OpenSM 3.3.23 with its engine `dfsssp` and QoS on.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::Status;
use gingham_topology::generate::{Generator, Torus};
use gingham_topology::routing::{DatelineClass, DimensionOrder, LaneSet, VcClass};
use gingham_topology::subnet::{Lids, write_tables};
use gingham_topology::{Algorithm, ChannelId, Form, Proof, route};
use std::path::{Path, PathBuf};

pub(crate) const RING: &str = r#"
[topology]
file = "ring.ibnetdiscover"

[routing]
tables = "opensm-lfts.dump"
lane_tables = "opensm-sl2vl.dump"
service_levels = "levels.csv"

[network]
preset = "yum-1600"
lanes = { count = 8 }

[[traffic]]
load = 0.2
length = { fixed = "64 B" }

[stop]
time = "20 us"
"#;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../topology/tests/fixtures/opensm-ring")
}

pub(crate) fn result(
    text: &str,
    settings: &[(&str, &str)],
    allow_deadlock: bool,
) -> Result<Compiled, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    compile(&ScenarioSource::parse("ring.toml", text, &folder(), &overrides)?, allow_deadlock)
}

fn compiled(text: &str, settings: &[(&str, &str)]) -> Compiled {
    result(text, settings, false).unwrap()
}

fn error(without: &[&str], settings: &[(&str, &str)]) -> String {
    let kept = RING.lines().filter(|line| !without.iter().any(|key| line.starts_with(key)));
    let text: String = kept.flat_map(|line| [line, "\n"]).collect();
    result(&text, settings, false).unwrap_err().to_string().replace('\n', " ")
}

fn wormhole() -> String {
    let lines = RING.lines().filter(|line| {
        !["lane_tables", "service_levels", "lanes"].iter().any(|key| line.starts_with(key))
    });
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    text.replace("yum-1600", "myrinet-1280")
}

#[test]
fn ring_uses_the_lanes_assigned_by_opensm() {
    let compiled = compiled(RING, &[]);
    assert!(matches!(compiled.proof, Proof::Free { .. }));
    assert!(!compiled.notes.iter().any(|note| note.contains(".dump")), "{:?}", compiled.notes);
    let keys: Vec<&str> = compiled.files.iter().map(|file| file.key.as_str()).collect();
    let expected =
        ["topology.file", "routing.tables", "routing.lane_tables", "routing.service_levels"];
    assert_eq!(keys, expected);
    // levels.csv: h2-0 has LID 6, h3-0 has 8 and h4-0 has 10; SL n runs on lane n here.
    let plan = &compiled.plan;
    let lanes = &plan.lanes.allowed;
    let host = |name: &str| {
        plan.fabric.endpoint_ids().find(|host| plan.fabric.endpoint_name(*host) == name).unwrap()
    };
    for (from, to, level) in [("h2-0", "h3-0", 1), ("h2-0", "h4-0", 5), ("h3-0", "h2-0", 6)] {
        let [from, to] = [from, to].map(host);
        let vc_class = lanes.vc_class_of_pair(from, to);
        assert_eq!(vc_class, VcClass(level));
        assert_eq!(lanes.first(from, vc_class), LaneSet::one(level));
        let path: Vec<ChannelId> = plan.path(gingham_net::PathId::PRIMARY, from, to).unwrap();
        let (set, _) = lanes.onward(&plan.fabric, vc_class, DatelineClass(0), path[0], path[1], to);
        assert_eq!(set, LaneSet::one(level));
    }
}

#[test]
fn packets_arrive_on_the_imported_lanes() {
    let compiled = compiled(RING, &[("stop.time", "2 us"), ("measure.messages", "all")]);
    let mut engine = gingham_engine::start(compiled.plan.clone());
    let mut oracle = gingham_oracle::start(compiled.plan);
    assert_eq!(*engine.advance(u64::MAX), Status::Ended);
    assert_eq!(*oracle.advance(u64::MAX), Status::Ended);
    let delivered = oracle.take_messages();
    assert!(delivered.len() > 5);
    assert_eq!(engine.take_messages(), delivered);
}

#[test]
fn written_tables_read_back_as_the_same_routes() {
    let torus = Torus { dimensions: vec![4, 3], hosts_per_switch: 1, rails: 1 };
    let fabric = Generator::Torus(torus).generate(1).unwrap();
    let algorithm = Algorithm::DimensionOrder(DimensionOrder::default());
    let routes = [route(&fabric, &algorithm, Form::Table).unwrap()];
    let to_switches = gingham_topology::routing::route_to_switches(&fabric, &algorithm).unwrap();
    let lids = Lids::of(&fabric).unwrap();
    let text = write_tables(&fabric, &lids, &routes, &to_switches).unwrap();
    let file = std::env::temp_dir().join(format!("gingham-imported-{}.lfts", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let scenario = format!(
        "[topology.generate.torus]\ndimensions = [4, 3]\nhosts_per_switch = 1\n\
         [routing]\ntables = {file:?}\n\
         [network]\npreset = \"yum-1600\"\nlanes = {{ count = 2, datelines = true }}\n\
         [[traffic]]\nload = 0.1\nlength = {{ fixed = \"64 B\" }}\n[stop]\ntime = \"1 ms\"\n"
    );
    let compiled = compiled(&scenario, &[]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(compiled.plan.routing.paths, routes);
    assert!(matches!(compiled.proof, Proof::Free { .. }));
}

#[test]
fn ring_without_imported_lanes_can_deadlock() {
    let text = error(&["service_levels"], &[]);
    // The only VL in use owns all eight lanes.
    assert!(text.contains("packets that fill the lanes of this cycle"), "{text}");
    assert!(text.contains(" VL 0 (lanes 0 to 7) "), "{text}");
    assert!(text.contains("let the subnet manager route"), "{text}");
    let one = error(&[], &[("traffic.0.service_level", "3")]);
    assert!(one.contains("packets that fill the lanes of this cycle"), "{one}");
    // Each of the VLs 0 to 3 owns two of eight lanes.
    assert!(one.contains(" VL 3 (lanes 6 to 7) "), "{one}");
    let one = error(&[], &[("traffic.0.service_level", "3"), ("network.lanes.per_vl", "1")]);
    assert!(one.contains(" lane 3 "), "{one}");
    let worms = result(&wormhole(), &[], false).unwrap_err().to_string();
    assert!(worms.contains("packets that fill the channels of this cycle"), "{worms}");
    let allowed = result(&wormhole(), &[], true).unwrap();
    assert_eq!(allowed.plan.routing.paths, compiled(RING, &[]).plan.routing.paths);
}

#[test]
fn class_can_use_its_own_service_level() {
    // All pairs on one lane close the cycle.
    let compiled = result(RING, &[("traffic.0.service_level", "9")], true).unwrap();
    assert_eq!(compiled.plan.classes[0].vc_class, Some(VcClass(9)));
    // SL 9 runs on VL 1, which owns the upper half of the lanes.
    let lanes = &compiled.plan.lanes.allowed;
    let host = compiled.plan.fabric.endpoint_ids().next().unwrap();
    assert_eq!(lanes.first(host, VcClass(9)), LaneSet::from_bits(0b1111_0000));
    assert_eq!((lanes.count(), lanes.lanes_per_vl()), (8, 4));
}

/// Omitted lines, settings, and a part of the message.
type Refused = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn invalid_import_settings_are_refused() {
    let cases: &[Refused] = &[
        (
            &[],
            &[("routing.algorithm", "shortest-path")],
            "in `routing.algorithm`: routing.tables take the place",
        ),
        (&[], &[("routing.tables", "none.dump")], "in `routing.tables`: "),
        (&[], &[("routing.tables", "levels.csv")], "levels.csv"),
        (&[], &[("network.lanes.count", "4")], "say network.lanes.count = 8"),
        (
            &[],
            &[("network.lanes.count", "15"), ("network.lanes.per_vl", "2")],
            "in `network.lanes.per_vl`: tables put packets of class `all` on VL 7, and 8 VLs of 2 lanes need 16, while \
             channels have 15: say network.lanes.per_vl = 1 or network.lanes.count = 16",
        ),
        (
            &[],
            &[("network.lanes.per_vl", "3")],
            "and 8 VLs of 3 lanes need 24, while channels have 8: say network.lanes.per_vl = 1",
        ),
        (
            &[],
            &[("network.lanes.count", "4"), ("network.lanes.per_vl", "3")],
            "need 24, while channels have 4: say network.lanes.per_vl = 1 and network.lanes.count = 8",
        ),
        (
            &[],
            &[("network.lanes.per_vl", "0")],
            "in `network.lanes.per_vl`: network.lanes.count is 8, so that a VL owns from 1 to 8 lanes, not 0",
        ),
        (
            &["lane_tables", "service_levels"],
            &[("network.lanes.per_vl", "2")],
            "in `network.lanes.per_vl`: no tables map service levels to VLs: name them with routing.lane_tables",
        ),
        (
            &[],
            &[
                ("network.preset", "santos-4x"),
                ("network.lanes.per_vl", "1"),
                ("traffic.0.length", "{ fixed = \"64 B\" }"),
            ],
            "in `network.lanes.per_vl`: belongs to networks of virtual lanes, and this is",
        ),
        (&[], &[("traffic.0.lanes", "[0]")], "in `traffic[0].lanes`: tables decide on lanes"),
        (&[], &[("traffic.0.lane", "\"of-flow\"")], "in `traffic[0].lane`: tables decide on lanes"),
        (
            &[],
            &[("traffic.0.service_level", "16")],
            "in `traffic[0].service_level`: a service level is from 0 to 15",
        ),
        (
            &[],
            &[("network.lanes.datelines", "true")],
            "in `network.lanes.datelines`: tables decide on lanes",
        ),
        (
            &["lane_tables", "service_levels"],
            &[("traffic.0.service_level", "1")],
            "in `traffic[0].service_level`: no tables make lanes",
        ),
        (
            &["lanes"],
            &[("network.preset", "myrinet-1280")],
            "in `routing.lane_tables`: belongs to networks of virtual lanes",
        ),
        (
            &["tables"],
            &[
                ("routing.alternative", "{ algorithm = \"up-down\", choose = \"at-random\" }"),
                ("routing.tables", "opensm-lfts.dump"),
            ],
            "in `routing.alternative`: a packet that chooses",
        ),
        (&["file"], &[("topology.generate", "{ star = { hosts = 3 } }")], "opensm-lfts.dump"),
    ];
    for (without, settings, expected) in cases {
        let text = error(without, settings);
        assert!(text.contains(*expected), "{settings:?}: {text}");
    }
}

#[test]
fn service_level_on_the_management_lane_is_refused() {
    let map = std::fs::read_to_string(folder().join("opensm-sl2vl.dump")).unwrap();
    // SL 6 is mapped to 15 everywhere: h3-0 sends to h2-0 on it.
    let row = "0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7";
    let dropped = map.replace(row, "0  1  2  3  4  5 15  7  0  1  2  3  4  5  6  7");
    assert_ne!(map, dropped);
    let file = std::env::temp_dir().join(format!("gingham-dropping-{}.dump", std::process::id()));
    std::fs::write(&file, dropped).unwrap();
    let text = error(&[], &[("routing.lane_tables", &file.display().to_string())]);
    std::fs::remove_file(&file).unwrap();
    assert!(text.contains("in `routing.lane_tables`: packets of SL 6 are dropped at "), "{text}");
}

/// One switch and two hosts with two LIDs each.
const TWO_LIDS: &str = "
vendid=0x0
devid=0x0
sysimgguid=0x10
switchguid=0x10(10)
Switch\t2 \"S-10\"\t\t# \"s0\" base port 0 lid 1 lmc 0
[1]\t\"H-20\"[1](21) \t\t# \"h0\" lid 2 4xSDR
[2]\t\"H-30\"[1](31) \t\t# \"h1\" lid 4 4xSDR

vendid=0x0
devid=0x0
sysimgguid=0x20
caguid=0x20
Ca\t1 \"H-20\"\t\t# \"h0\"
[1](21) \t\"S-10\"[1]\t\t# lid 2 lmc 1 \"s0\" lid 1 4xSDR

vendid=0x0
devid=0x0
sysimgguid=0x30
caguid=0x30
Ca\t1 \"H-30\"\t\t# \"h1\"
[1](31) \t\"S-10\"[2]\t\t# lid 4 lmc 1 \"s0\" lid 1 4xSDR
";

#[test]
fn first_lid_is_used_and_lost_packets_are_refused() {
    let name = |kind: &str| {
        std::env::temp_dir().join(format!("gingham-lmc-{}.{kind}", std::process::id()))
    };
    let [net, tables] = ["ibnetdiscover", "lfts"].map(name);
    std::fs::write(&net, TWO_LIDS).unwrap();
    let dump = |lids: &str| {
        format!(
            "Unicast lids [0x0-0x5] of switch Lid 1 guid 0x0000000000000010 (s0):\n  Lid  Out   Destination\n       \
             Port     Info \n{lids}{} valid lids dumped \n",
            lids.lines().count()
        )
    };
    let scenario = format!(
        "[topology]\nfile = {net:?}\n[routing]\ntables = {tables:?}\n[network]\npreset = \"yum-1600\"\n\
         [[traffic]]\nload = 0.1\nlength = {{ fixed = \"64 B\" }}\n[stop]\ntime = \"1 ms\"\n"
    );
    let all = "0x0001 000 \n0x0002 001 \n0x0003 001 \n0x0004 002 \n0x0005 002 \n";
    std::fs::write(&tables, dump(all)).unwrap();
    let compiled = compiled(&scenario, &[]);
    assert_eq!(compiled.plan.routing.paths.len(), 1);
    let described = |note: &String| note.starts_with("the tables have 2 routes for each pair");
    assert!(compiled.notes.iter().any(described), "{:?}", compiled.notes);
    assert!(compiled.plan.routing.paths[0].trace(&compiled.plan.fabric).faults.is_empty());
    std::fs::write(&tables, dump(&all.replace("0x0004 002 \n", ""))).unwrap();
    let error = result(&scenario, &[], false).unwrap_err().to_string();
    for file in [net, tables] {
        std::fs::remove_file(file).unwrap();
    }
    assert!(error.contains("packets for h1 are lost at s0"), "{error}");
    assert!(error.contains("routing.tables"), "{error}");
}

#[test]
fn lane_cycle_error_suggests_datelines() {
    let text = "[topology.generate.ring]\nswitches = 5\nhosts_per_switch = 1\n\
                [routing]\nalgorithm = \"dimension-order\"\n\
                [network]\npreset = \"yum-1600\"\nlanes = { count = 2, datelines = false }\n\
                [[traffic]]\nload = 0.1\nlength = { fixed = \"64 B\" }\n[stop]\ntime = \"1 ms\"\n";
    let error = result(text, &[], false).unwrap_err();
    assert!(matches!(error, LabError::Deadlock(_)));
    assert!(error.to_string().contains("network.lanes.datelines = true"), "{error}");
    // Datelines are in effect: the lanes of classes are the problem.
    let text_of =
        |settings: &[(&str, &str)]| result(text, settings, false).unwrap_err().to_string();
    let overlapping = text_of(&[
        ("network.lanes", "{ count = 4, datelines = true }"),
        ("traffic.0.lanes", "[0, 1, 2]"),
        (
            "traffic.1",
            "{ name = \"b\", lanes = [1, 2, 3], load = 0.1, length = { fixed = \"64 B\" } }",
        ),
    ]);
    assert!(
        overlapping.contains("share all of their lanes or none (traffic.*.lanes, "),
        "{overlapping}"
    );
    let shared = compiled(text, &[("network.lanes.datelines", "true")]);
    assert!(matches!(shared.proof, Proof::Free { .. }));
    assert_eq!(shared.plan.channels[0].flit, Span::from_ps(80_000));
}
