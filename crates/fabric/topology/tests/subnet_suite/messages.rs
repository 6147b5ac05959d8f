//! Messages for invalid files: each mistake, with the message below it.

use crate::support::{ring, ring_tables};
use gingham_topology::format::FormatError;
use gingham_topology::subnet::{
    LaneDump, LevelDump, Lids, TableDump, arbitration, conf, join, join_lanes, join_levels,
};
use gingham_topology::{Fabric, FabricBuilder, Node};
use std::fmt::Write as _;

fn of_tables(fabric: &Fabric, text: &str) -> Result<(), FormatError> {
    join(fabric, &Lids::of(fabric)?, &TableDump::read(text)?).map(|_| ())
}

fn of_lanes(fabric: &Fabric, text: &str) -> Result<(), FormatError> {
    join_lanes(fabric, &Lids::of(fabric)?, &LaneDump::read(text)?).map(|_| ())
}

fn of_levels(fabric: &Fabric, text: &str) -> Result<(), FormatError> {
    join_levels(fabric, &Lids::of(fabric)?, &LevelDump::read(text)?).map(|_| ())
}

fn shown(cases: &[(&str, Result<(), FormatError>)]) -> String {
    cases.iter().fold(String::new(), |mut text, (case, result)| {
        let error = result.as_ref().expect_err(case);
        writeln!(text, "{case}\n  {error}").expect("a string takes any text");
        text
    })
}

#[test]
fn tables() {
    let fabric = ring(0);
    let whole = ring_tables(0);
    let case = |from: &str, to: &str| {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{from}");
        of_tables(&fabric, &text)
    };
    let half = &whole[..whole.len() * 2 / 5];
    let lines: Vec<&str> = whole.lines().collect();
    let mut fewer_tables = lines[..24].join("\n");
    fewer_tables.push('\n');
    let cut_between = &whole[..=half.rfind('\n').unwrap()];
    insta::assert_snapshot!(shown(&[
        ("nothing", of_tables(&fabric, "")),
        ("something else", of_tables(&fabric, "vendid=0x2c9\n")),
        ("no entry", of_tables(&fabric, "# nothing\n")),
        ("cut within a line", of_tables(&fabric, half)),
        ("cut between lines", of_tables(&fabric, cut_between)),
        ("cut between tables", of_tables(&fabric, &fewer_tables)),
        ("a line is missing", case("0x0010 001 \n", "")),
        ("an entry without a table", of_tables(&fabric, "0x0001 001\n")),
        ("a switch without GUID", case("guid 0x0000000000000010", "guid s0")),
        ("another fabric", case("guid 0x0000000000000010", "guid 0x0000000000000099")),
        ("renumbered LIDs", case("portguid 0x0000000000000010", "portguid 0x0000000000000011")),
        ("a port out of range", case("0x0010 001", "0x0010 007")),
        ("a port that is no number", case("0x0010 001", "0x0010 0x1")),
        ("a port beyond a byte", case("0x0010 001", "0x0010 256")),
        ("a multicast LID", case("0x0010 001", "0xc001 001")),
        ("not a table", case("0x0010 001", "0x0010 : (")),
    ]));
}

#[test]
fn fdbs() {
    let fabric = ring(0);
    let table = |guid: u32, rows: usize| {
        let heading = format!("dump_ucast_routes: Switch 0x{guid:016x}");
        let rows = (1..=rows).map(|lid| format!("0x{lid:04X} : 001  : 01   : yes"));
        let columns = "LID    : Port : Hops : Optimal".to_owned();
        let lines: Vec<String> = [heading, columns].into_iter().chain(rows).collect();
        lines.join("\n") + "\n"
    };
    let short = [table(0x10, 4), table(0x11, 4), table(0x12, 2)].concat();
    insta::assert_snapshot!(shown(&[
        ("the last table is cut", of_tables(&fabric, &short)),
        ("a strange port", of_tables(&fabric, &table(0x10, 1).replace(": 001 ", ": many "))),
        ("a heading without GUID", of_tables(&fabric, &table(0x10, 1).replace("Switch", "switch"))),
    ]));
}

#[test]
fn fabrics() {
    let twice = |change: fn(&mut Node)| {
        let mut builder = FabricBuilder::new();
        let fabric = ring(0);
        for node in fabric.node_ids() {
            let mut node = fabric.node(node).clone();
            change(&mut node);
            builder.add_node(node);
        }
        of_tables(&builder.build(), &ring_tables(0))
    };
    insta::assert_snapshot!(shown(&[
        (
            "two switches with one LID",
            twice(|node| node.addresses.values_mut().for_each(|a| a.lid = a.lid.map(|l| l.max(2)))),
        ),
        (
            "LIDs of which the last is for multicast",
            twice(|node| node.addresses.values_mut().for_each(|a| {
                a.lid = a.lid.map(|l| 2 * l + 0xbffb);
                a.lmc = Some(1);
            })),
        ),
    ]));
}

#[test]
fn lanes() {
    let fabric = ring(0);
    let row = "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7";
    let case = |text: &str| of_lanes(&fabric, text);
    insta::assert_snapshot!(shown(&[
        ("nothing", case("")),
        ("something else", case("hello\n")),
        ("cut", case(&format!("Switch 0x10, x\n1 2 : {row}"))),
        ("fifteen lanes", case("Switch 0x10, x\n1 2 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6\n")),
        ("lane 16", case(&format!("Switch 0x10, x\n1 2 : {}\n", row.replace("7 0", "16 0")))),
        ("a row without a table", case(&format!("1 2 : {row}\n"))),
        ("another fabric", case(&format!("Switch 0x99, x\n1 2 : {row}\n"))),
        ("another LID", case(&format!("# SL2VL table: Lid 9\nports: in 1, out 2: {row}\n"))),
        ("a port out of range", case(&format!("Switch 0x10, x\n1 9 : {row}\n"))),
        ("conf: fifteen lanes", case("qos TRUE\nqos_sl2vl 0,1,2\n")),
        ("conf: neither true nor false", case("qos maybe\n")),
        ("conf: a strange weight", conf::QosConf::read("qos_vlarb_low 0:256\n").map(|_| ())),
        ("conf: no line", conf::QosConf::read("lmc 0\n").map(|_| ())),
        ("arbitration: nothing", arbitration::read("# nothing\n").map(|_| ())),
    ]));
}

#[test]
fn levels() {
    let fabric = ring(0);
    let case = |rows: &str| of_levels(&fabric, &format!("source_lid,destination_lid,sl\n{rows}"));
    insta::assert_snapshot!(shown(&[
        ("nothing", of_levels(&fabric, "")),
        ("no heading", of_levels(&fabric, "16,20,1\n")),
        ("no row", case("")),
        ("an unknown LID", case("16,21,1\n")),
        ("SL 16", case("16,20,16\n")),
        ("a LID beyond 16 bits", case("70000,20,1\n")),
        ("two columns", case("16,20\n")),
        ("no number", case("16,h1,1\n")),
        ("cut", case("16,20,1")),
        ("a record without SL", of_levels(&fabric, "PathRecord dump:\n\tslid..16\n\tdlid..20\n")),
    ]));
}
