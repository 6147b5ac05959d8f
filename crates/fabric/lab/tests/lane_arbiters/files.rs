//! Tables of InfiniBand from files of a real fabric.

use crate::support::compiled_in;
use gingham_lab::Compiled;
use gingham_net::Scheduler;
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables};
use std::fs;
use std::path::Path;

fn beside(case: &str, text: &str, lanes: &str) -> Result<Compiled, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lane_arbiters").join(case);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tables"), text).unwrap();
    let cut = "forwarding = \"virtual-cut-through\"";
    compiled_in(&folder, &format!("{cut}\n{lanes}")).map_err(|error| error.to_string())
}

fn both(count: usize) -> String {
    let of = "{ infiniband = { file = \"tables\" } }";
    format!("count = {count}\nlink_output = {of}\nadapter_port = {of}")
}

fn tables(compiled: &Compiled) -> [ArbitrationTables; 2] {
    let lanes = &compiled.plan.lanes;
    [&lanes.link_output, &lanes.adapter_port].map(|scheduler| match scheduler {
        Scheduler::InfiniBand(tables) => tables.arbitration(lanes.count),
        other => panic!("not a table: {other:?}"),
    })
}

fn slots(of: &[(u8, u8)]) -> Vec<ArbitrationSlot> {
    of.iter().map(|&(lane, weight)| ArbitrationSlot { lane, weight }).collect()
}

const CONF: &str = "qos TRUE\nqos_high_limit 2\nqos_vlarb_high 0:4,1:0\nqos_vlarb_low 0:1,1:2,2:3\n\
                    qos_ca_high_limit 255\nqos_ca_vlarb_low 0:7,2:1,1:8\n";

#[test]
fn opensm_conf_lines_apply_to_switches_and_adapters() {
    let compiled = beside("conf", CONF, &both(3)).unwrap();
    let high = slots(&[(0, 4), (1, 0)]);
    let low = slots(&[(0, 1), (1, 2), (2, 3)]);
    let adapter = slots(&[(0, 7), (2, 1), (1, 8)]);
    let [link, port] = tables(&compiled);
    assert_eq!(link, ArbitrationTables { high_limit: 2, high: high.clone(), low });
    assert_eq!(port, ArbitrationTables { high_limit: 255, high, low: adapter });
    let [read, _] = &compiled.files[..] else { panic!("each place has read it") };
    assert_eq!(read.key, "network.lanes.link_output.infiniband.file");
}

#[test]
fn explicit_high_limit_overrides_the_file() {
    let of = "link_output = { infiniband = { file = \"tables\", high_limit = 9 } }";
    let lines = format!("count = 3\n{of}\nadapter_port = \"infiniband\"");
    let compiled = beside("limit", CONF, &lines).unwrap();
    assert_eq!(tables(&compiled)[0].high_limit, 9);
}

#[test]
fn slots_of_missing_lanes_are_skipped_and_noted() {
    let compiled = beside("lanes", CONF, &both(2)).unwrap();
    assert_eq!(tables(&compiled)[1].low, slots(&[(0, 7), (1, 8)]));
    let note = "`network.lanes.link_output.infiniband.file`: slots of lane 2 are passed over: the network has 2 \
                (network.lanes.count)";
    assert!(compiled.notes.iter().any(|other| other == note), "{:?}", compiled.notes);
}

#[test]
fn tables_with_qos_off_are_noted() {
    let off = CONF.replace("qos TRUE", "qos FALSE");
    let compiled = beside("off", &off, &both(3)).unwrap();
    assert!(
        compiled.notes.iter().any(|note| note.contains("has `qos FALSE`")),
        "{:?}",
        compiled.notes
    );
}

/// Two ports with equal weights; additional slots of the second are skipped.
const PORTS: &str = "# VLArbitration tables: Lid 2 port 1 LowCap 8 HighCap 8\n\
                     # Low priority VL Arbitration Table:\n\
                     VL    : |0x0 |0x1 |\n\
                     WEIGHT: |0x0 |0x4 |\n\
                     # High priority VL Arbitration Table:\n\
                     VL    : |0x0 |\n\
                     WEIGHT: |0x10|\n\
                     # VLArbitration tables: Lid 3 port 7 LowCap 8 HighCap 8\n\
                     # Low priority VL Arbitration Table:\n\
                     VL    : |0x0 |0x1 |0x0 |\n\
                     WEIGHT: |0x0 |0x4 |0x0 |\n\
                     # High priority VL Arbitration Table:\n\
                     VL    : |0x0 |\n\
                     WEIGHT: |0x10|\n";

#[test]
fn equal_port_tables_are_merged() {
    let compiled = beside("ports", PORTS, &both(2)).unwrap();
    let expected =
        ArbitrationTables { high_limit: 0, high: slots(&[(0, 16)]), low: slots(&[(1, 4)]) };
    assert_eq!(tables(&compiled), [expected.clone(), expected]);
    assert!(
        compiled.notes.iter().any(|note| note.contains("does not print the limit")),
        "{:?}",
        compiled.notes
    );
}

#[test]
fn differing_port_tables_are_refused() {
    let (agree, differ) = PORTS.rsplit_once("0x10").unwrap();
    let message = beside("differ", &format!("{agree}0x11{differ}"), &both(2)).unwrap_err();
    let expected = "port 7 of LID 3 (line 8) has other tables than port 1 of LID 2 (line 1), and one table holds for all \
                    ports here: leave in the file only ports that agree";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn missing_or_malformed_table_file_is_refused() {
    let missing = "count = 2\nlink_output = { infiniband = { file = \"other\" } }";
    let message = beside("missing", CONF, missing).unwrap_err();
    assert!(
        message.contains("`network.lanes.link_output.infiniband.file`")
            && message.contains("cannot be read"),
        "{message}"
    );
    let message = beside("wrong", "qos TRUE\nqos_vlarb_high 0:4,16:1\n", &both(2)).unwrap_err();
    assert!(
        message.contains("tables:2") && message.contains("at most 64 pairs such as 0:4"),
        "{message}"
    );
    let both = "count = 2\nlink_output = { infiniband = { file = \"tables\", low = [] } }";
    let message = beside("both", CONF, both).unwrap_err();
    assert!(message.contains("leave out one of both"), "{message}");
    let beyond = "qos TRUE\nqos_vlarb_high 3:1\nqos_vlarb_low 2:1\n";
    let lines = "count = 2\nlink_output = { infiniband = { file = \"tables\" } }";
    let message = beside("beyond", beyond, lines).unwrap_err();
    assert!(message.contains("all weights are zero"), "{message}");
}
