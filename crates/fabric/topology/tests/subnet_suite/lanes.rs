//! Lanes on a ring of four with routes that close a cycle on one lane.

use crate::support::{clockwise, host, joined, lanes, levels, on_lanes, ring, ring_tables};
use gingham_topology::routing::{
    Buffer, LaneMap, LaneRow, Lanes, Proof, ServiceLevels, describe_cycle, prove,
};
use gingham_topology::subnet::{LaneDump, LevelDump, Lids, join_lanes, join_levels};
use gingham_topology::{Fabric, FindingKind, NodeId};
use std::fmt::Write as _;

const IDENTITY: LaneRow = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Level 1 for pairs with a path from s3 to s0.
fn dateline(from: usize, to: usize) -> u8 {
    u8::from([(2, 0), (3, 0), (3, 1)].contains(&(from, to)))
}

#[test]
fn two_lanes_with_a_dateline_are_deadlock_free() {
    let fabric = ring(0);
    let routes = joined(&fabric, &ring_tables(0)).routes;
    let lanes = lanes(&fabric, IDENTITY, dateline);
    let Proof::Free { order } = prove(&fabric, on_lanes(&routes, &lanes)) else { panic!("free") };
    assert_eq!(order.len(), 2 * fabric.channel_count());
    // By hand: h0 to h2 and h1 to h3 on lane 0, h2 to h0 and h3 to h1 on lane 1.
    let number = |from, lane| order[clockwise(&fabric, from).index() * 2 + lane];
    assert!(number(0, 0) < number(1, 0) && number(1, 0) < number(2, 0));
    assert!(number(2, 1) < number(3, 1) && number(3, 1) < number(0, 1));
    assert_eq!(on_lanes(&routes, &lanes).lane_use(&fabric).lanes, [0, 1]);
}

#[test]
fn both_levels_on_one_lane_close_the_cycle() {
    let fabric = ring(0);
    let routes = joined(&fabric, &ring_tables(0)).routes;
    let lanes = lanes(&fabric, [3; 16], dateline);
    let set = on_lanes(&routes, &lanes);
    let Proof::Cycle { buffers } = prove(&fabric, set) else { panic!("a cycle") };
    assert_eq!(buffers.len(), 4);
    assert!(buffers.iter().all(|buffer| buffer.lane == 3));
    insta::assert_snapshot!(describe_cycle(&fabric, set, &buffers), @"
    s0[2] -> s1[3] lane 3   then the next, from h0 to h2
    s1[2] -> s2[3] lane 3   then the next, from h1 to h3
    s2[2] -> s3[3] lane 3   then the next, from h2 to h0
    s3[2] -> s0[3] lane 3   then the next, from h3 to h1
    s0[2] -> s1[3] lane 3   closes the cycle
    ");
}

#[test]
fn vls_of_several_lanes_have_the_verdict_of_single_lanes() {
    let fabric = ring(0);
    let routes = joined(&fabric, &ring_tables(0)).routes;
    let two = lanes(&fabric, IDENTITY, dateline).with_lanes_per_vl(2);
    assert_eq!((two.count(), two.lanes_per_vl()), (4, 2));
    let Proof::Free { order } = prove(&fabric, on_lanes(&routes, &two)) else { panic!("free") };
    // Every lane that a packet may wait for has a higher number than any lane of its VL.
    let number = |from, lane| order[clockwise(&fabric, from).index() * 4 + lane];
    for (held, wanted) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert!(number(0, held) < number(1, wanted) && number(1, held) < number(2, wanted));
        let (held, wanted) = (2 + held, 2 + wanted);
        assert!(number(2, held) < number(3, wanted) && number(3, held) < number(0, wanted));
    }
    assert_eq!(on_lanes(&routes, &two).lane_use(&fabric).lanes, [0, 1, 2, 3]);
    let closed = lanes(&fabric, [3; 16], dateline).with_lanes_per_vl(2);
    let set = on_lanes(&routes, &closed);
    let Proof::Cycle { buffers } = prove(&fabric, set) else { panic!("a cycle") };
    assert!(buffers.iter().all(|buffer| buffer.lane == 6));
    insta::assert_snapshot!(describe_cycle(&fabric, set, &buffers), @"
    s0[2] -> s1[3] VL 3 (lanes 6 to 7)   then the next, from h0 to h2
    s1[2] -> s2[3] VL 3 (lanes 6 to 7)   then the next, from h1 to h3
    s2[2] -> s3[3] VL 3 (lanes 6 to 7)   then the next, from h2 to h0
    s3[2] -> s0[3] VL 3 (lanes 6 to 7)   then the next, from h3 to h1
    s0[2] -> s1[3] VL 3 (lanes 6 to 7)   closes the cycle
    ");
}

/// All packets on SL 0; s0 moves those of selected input ports to lane 1 towards s1.
fn changing_at_s0(fabric: &Fabric, from_input: impl Fn(u16) -> bool) -> Lanes {
    let mut map = LaneMap::uniform(fabric, [0; 16]);
    for input in (1..=3).filter(|input| from_input(*input)) {
        map.set_switch(NodeId::new(0), input, 2, [1; 16]);
    }
    Lanes::new(fabric, map, ServiceLevels::zero(fabric))
}

#[test]
fn lane_change_by_input_port_breaks_the_cycle() {
    let fabric = ring(0);
    let routes = joined(&fabric, &ring_tables(0)).routes;
    // At port 3 of s0 packets come round the ring: those of h0 stay on lane 0.
    let by_input = changing_at_s0(&fabric, |input| input == 3);
    let Proof::Free { order } = prove(&fabric, on_lanes(&routes, &by_input)) else {
        panic!("free")
    };
    let number = |from, lane| order[clockwise(&fabric, from).index() * 2 + lane];
    let way = [number(0, 0), number(1, 0), number(2, 0), number(3, 0), number(0, 1)];
    assert!(way.is_sorted_by(|a, b| a < b), "once round, and on lane 1 at last: {way:?}");
    // Without regard to the input port lane 1 only replaces lane 0.
    let by_output = changing_at_s0(&fabric, |_| true);
    let Proof::Cycle { buffers } = prove(&fabric, on_lanes(&routes, &by_output)) else {
        panic!("a cycle")
    };
    let lane_of_s0 = buffers.iter().find(|buffer| buffer.channel == clockwise(&fabric, 0));
    assert_eq!(lane_of_s0, Some(&Buffer { channel: clockwise(&fabric, 0), lane: 1 }));
}

#[test]
fn level_mapped_to_lane_15_is_dropped() {
    let fabric = ring(0);
    let routes = joined(&fabric, &ring_tables(0)).routes;
    let mut dropping = [0; 16];
    dropping[1] = 15;
    let mut map = LaneMap::uniform(&fabric, [0; 16]);
    map.set_switch(NodeId::new(3), 3, 2, dropping);
    map.set_endpoint(host(&fabric, 3), dropping);
    let lanes = Lanes::new(&fabric, map, levels(&fabric, dateline));
    let set = on_lanes(&routes, &lanes);
    let drops: Vec<_> = set.lane_use(&fabric).drops.iter().map(|d| d.describe(&fabric)).collect();
    insta::assert_snapshot!(drops.join("\n"), @"
    packets of SL 1 are dropped at h3[1], which maps it to lane 15 (2 pairs, one of them h3 to h0)
    packets of SL 1 are dropped at s3 on the way from port 3 to port 2, which maps it to lane 15 (1 pair, one of them h2 to h0)
    ");
    // Dropped packets wait for nothing.
    assert!(prove(&fabric, set).is_free());
}

#[test]
fn all_paths_of_a_pair_are_proved_jointly() {
    // Each path goes one way round and closes that cycle; with a lane each and datelines for both
    // they are free.
    let fabric = ring(1);
    let routes = joined(&fabric, &ring_tables(1)).routes;
    let both = gingham_topology::routing::RouteSet::new(&routes, None);
    assert!(!prove(&fabric, both).is_free());
    let level = |from: usize, to: usize, lid_offset| match lid_offset {
        0 => dateline(from, to),
        _ => 2 + dateline(to, from),
    };
    let levels = ServiceLevels::by_pair(&fabric, 2, |f, t, a| level(f.index(), t.index(), a));
    let lanes = Lanes::new(&fabric, LaneMap::uniform(&fabric, IDENTITY), levels);
    let set = on_lanes(&routes, &lanes);
    assert!(prove(&fabric, set).is_free());
    assert_eq!(set.lane_use(&fabric).lanes, [0, 1, 2, 3]);
    // The second path on the lanes of the first closes a cycle.
    let levels = ServiceLevels::by_pair(&fabric, 2, |f, t, a| {
        u8::from(a == 0) * dateline(f.index(), t.index())
    });
    let lanes = Lanes::new(&fabric, LaneMap::uniform(&fabric, IDENTITY), levels);
    assert!(!prove(&fabric, on_lanes(&routes, &lanes)).is_free());
}

fn lane_texts() -> [(&'static str, String); 3] {
    let row = "0  1  0  0  0  0  0  0  0  0  0  0  0  0  0  0";
    let strokes = row.replace("  ", "| ");
    let (mut by_manager, mut by_tool) = (String::new(), String::new());
    for s in 0..4 {
        writeln!(
            by_manager,
            "Switch 0x{:016x}, base LID {}, \"s{s}\"\n#in out : 0  1",
            16 + s,
            1 + s
        )
        .expect("a string takes any text");
        for output in 1..4 {
            writeln!(by_tool, "# SL2VL table: Lid {}\n#                 SL: | 0| 1|", 1 + s)
                .expect("a string takes any text");
            for input in 0..4 {
                writeln!(by_manager, "{input}   {output}   : {row} ")
                    .expect("a string takes any text");
                writeln!(by_tool, "ports: in {input:2}, out {output:2}: | {strokes}|")
                    .expect("a string takes any text");
            }
        }
        writeln!(
            by_manager,
            "Channel Adapter 0x{:016x}, base LID {}, \"h{s}\"",
            0x200 + s,
            16 + 4 * s
        )
        .expect("a string takes any text");
        writeln!(by_manager, "0   0   : {row} ").expect("a string takes any text");
        writeln!(by_tool, "# SL2VL table: Lid {}\nports: in  0, out  0: | {strokes}|", 16 + 4 * s)
            .expect("a string takes any text");
    }
    let conf = format!("qos TRUE\nqos_sl2vl {}\n", row.replace("  ", ","));
    [("opensm-sl2vl.dump", by_manager), ("smpquery", by_tool), ("opensm.conf", conf)]
}

#[test]
fn lane_maps_from_three_formats_agree() {
    let fabric = ring(0);
    let lids = Lids::of(&fabric).unwrap();
    let routes = joined(&fabric, &ring_tables(0)).routes;
    for (name, text) in lane_texts() {
        let dump = LaneDump::read(&text).expect(name);
        let (map, findings) = join_lanes(&fabric, &lids, &dump).expect(name);
        assert_eq!(findings, vec![], "{name}");
        let lanes = Lanes::new(&fabric, map, levels(&fabric, dateline));
        assert_eq!(lanes.count(), 2, "{name}");
        assert!(prove(&fabric, on_lanes(&routes, &lanes)).is_free(), "{name}");
    }
}

#[test]
fn missing_lane_map_rows_are_findings_and_use_defaults() {
    let fabric = ring(0);
    let lids = Lids::of(&fabric).unwrap();
    let text = "Switch 0x10, base LID 1, \"s0\"\n1 2 : 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n";
    let (map, findings) = join_lanes(&fabric, &lids, &LaneDump::read(text).unwrap()).unwrap();
    let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::MissingLane; 2]);
    assert!(
        findings[0].text.contains("4 switches (s0, s1, s2 and 1 more)"),
        "{}",
        findings[0].text
    );
    let into = |from: usize| Fabric::reverse(fabric.outgoing(NodeId::new(from), 1).unwrap());
    assert_eq!(map.lane(&fabric, into(0), clockwise(&fabric, 0), 9), Some(2));
    assert_eq!(map.lane(&fabric, into(1), clockwise(&fabric, 1), 9), Some(9));
    assert_eq!(map.lane(&fabric, into(1), clockwise(&fabric, 1), 15), Some(7));
}

#[test]
fn endpoint_levels_take_precedence_over_switch_levels() {
    let fabric = ring(0);
    let lids = Lids::of(&fabric).unwrap();
    // LIDs 1 to 4 are switches, 16, 20, 24, 28 their hosts.
    let text =
        "source_lid,destination_lid,sl\n# by switches\n1,3,4\n1,24,5\n16,3,6\n16,0x18,7\n2, 3, 8\n";
    let levels = |text: &str| join_levels(&fabric, &lids, &LevelDump::read(text).unwrap()).unwrap();
    let (all, findings) = levels(text);
    let level =
        |all: &ServiceLevels, from, to| all.level(host(&fabric, from), host(&fabric, to), 0);
    assert_eq!([level(&all, 0, 2), level(&all, 1, 2), level(&all, 2, 0)], [7, 8, 0]);
    let missing = "no SL for 10 pairs of hosts, such as h0 to h1; they are taken to send on SL 0";
    assert_eq!(findings.iter().map(|f| f.text.as_str()).collect::<Vec<_>>(), [missing]);
    for (without, expected) in [("16,0x18,7\n", 6), ("16,3,6\n16,0x18,7\n", 5)] {
        assert_eq!(level(&levels(&text.replace(without, "")).0, 0, 2), expected);
    }
    let (all, findings) = levels("source_lid,destination_lid,sl\n16,24,1\n16,24,1\n16,24,2\n");
    assert_eq!(level(&all, 0, 2), 1);
    assert_eq!((findings[0].line, findings[0].kind), (Some(4), FindingKind::Disagreement));
}

#[test]
fn path_records_are_read_as_levels() {
    let record = |source, destination, level: &str| {
        format!(
            "PathRecord dump:\n\t\tservice_id..............0x0000000000000000\n\
             \t\tdlid....................{destination}\n\t\tslid....................{source}\n\
             \t\tqos_class...............0x0\n\t\tsl......................{level}\n\
             \t\tmtu.....................0x83\n"
        )
    };
    let text = [record(16, 24, "0xA"), record(20, 28, "3")].concat();
    let rows = LevelDump::read(&text).unwrap().rows;
    let rows: Vec<_> = rows.iter().map(|r| (r.line, r.source, r.destination, r.level)).collect();
    assert_eq!(rows, [(1, 16, 24, 10), (8, 20, 28, 3)]);
    // A truncated answer ends with a record of zeroes.
    let cut = LevelDump::read(&[text, record(0, 0, "0x0")].concat()).unwrap_err();
    assert_eq!(
        (cut.line, cut.message.as_str()),
        (15, "the text looks truncated: this record lacks its LIDs or its SL")
    );
}
