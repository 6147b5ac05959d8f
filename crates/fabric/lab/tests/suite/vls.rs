//! VLs of imported tables that own several lanes.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::imported::{RING, folder};
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::Delivery;
use gingham_topology::routing::{LaneSet, Proof, VcClass};
use std::path::PathBuf;
use std::sync::Arc;

/// Lines of `opensm.conf` in a temporary file, deleted on drop.
struct Conf(PathBuf);

impl Conf {
    /// Maps every level to the VL at its index in `row`.
    fn new(name: &str, row: &str, arbitration: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("gingham-vls-{name}-{}.conf", std::process::id()));
        std::fs::write(&path, format!("qos TRUE\nqos_sl2vl {row}\n{arbitration}")).unwrap();
        Self(path)
    }
}

impl Drop for Conf {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

const ALL_TO_0: &str = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
const EVEN_AND_ODD: &str = "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1";

fn result(text: &str, allow_deadlock: bool) -> Result<Compiled, LabError> {
    let source = ScenarioSource::parse("vls.toml", text, &folder(), &Overrides::default())?;
    compile(&source, allow_deadlock)
}

fn mesh(lanes: &str, routing: &str) -> Compiled {
    let text = format!(
        "topology.generate.mesh.dimensions = [8, 8]\nrouting = {{ algorithm = \"dimension-order\"{routing} }}\n\
         network = {{ preset = \"booksim-iq\", lanes = {{ {lanes} }} }}\nmeasure.messages = \"all\"\n\
         stop = {{ time = \"1200 ns\", warm_up = \"0 ps\" }}\n\
         [[traffic]]\nload = 1.0\narrivals = \"bernoulli\"\nlength = {{ fixed = \"16 B\" }}\n"
    );
    result(&text, false).unwrap()
}

fn deliveries(compiled: &Compiled) -> Vec<Delivery> {
    let mut engine = gingham_engine::start(Arc::clone(&compiled.plan));
    engine.advance(u64::MAX);
    engine.assert_invariants();
    engine.take_messages()
}

#[test]
fn vl_of_several_lanes_carries_as_much_as_plain_lanes() {
    let conf = Conf::new("mesh", ALL_TO_0, "");
    let tables = format!(", lane_tables = {:?}", conf.0);
    let on_tables = |lanes: &str| deliveries(&mesh(lanes, &tables));
    let [one, two, four] = [1, 2, 4].map(|per_vl| {
        let found = on_tables(&format!("count = 4, per_vl = {per_vl}"));
        let plain = deliveries(&mesh(&format!("count = {per_vl}"), ""));
        assert!(found == plain, "{per_vl} lanes: {} and {}", found.len(), plain.len());
        found
    });
    assert!(on_tables("count = 4") == four);
    // One lane waits for its credits between two packets. Two lanes carry 1.99 times as much here.
    let [one, two, four] = [one, two, four].map(|found| found.len());
    assert!(two * 10 > one * 18 && four * 10 > one * 18, "{one}, {two} and {four} packets");
}

#[test]
fn oracle_agrees_on_vls_of_several_lanes() {
    let conf = Conf::new("oracle", EVEN_AND_ODD, "");
    let tables = format!(", lane_tables = {:?}", conf.0);
    let text = format!(
        "topology.generate.mesh.dimensions = [3, 3]\nrouting = {{ algorithm = \"dimension-order\"{tables} }}\n\
         network = {{ preset = \"booksim-iq\", lanes.count = 4 }}\nmeasure.messages = \"all\"\n\
         stop = {{ time = \"500 ns\", warm_up = \"0 ps\" }}\n\
         [[traffic]]\nname = \"even\"\nservice_level = 0\nload = 0.5\nlength = {{ fixed = \"16 B\" }}\n\
         [[traffic]]\nname = \"odd\"\nservice_level = 3\nload = 0.3\nlength = {{ fixed = \"48 B\" }}\n"
    );
    let compiled = result(&text, false).unwrap();
    let lanes = &compiled.plan.lanes.allowed;
    let host = compiled.plan.fabric.endpoint_ids().next().unwrap();
    assert_eq!(lanes.first(host, VcClass(0)), LaneSet::from_bits(0b0011));
    assert_eq!(lanes.first(host, VcClass(3)), LaneSet::from_bits(0b1100));
    let mut oracle = gingham_oracle::start(Arc::clone(&compiled.plan));
    oracle.advance(u64::MAX);
    let found = oracle.take_messages();
    assert!(found.len() > 500, "{}", found.len());
    assert!(deliveries(&compiled) == found);
}

fn ring(lanes: &str, row: Option<&Conf>, allow_deadlock: bool) -> Result<Compiled, LabError> {
    let text = RING.replace("count = 8", lanes);
    let text = match row {
        Some(Conf(path)) => {
            text.replace("\"opensm-sl2vl.dump\"", &format!("\"{}\"", path.display()))
        }
        None => text,
    };
    result(&text, allow_deadlock)
}

#[test]
fn deadlock_proof_is_equal_for_one_and_two_lanes_per_vl() {
    for (lanes, count) in [("count = 8, per_vl = 1", 8), ("count = 16, per_vl = 2", 16)] {
        let Proof::Free { order } = ring(lanes, None, false).unwrap().proof else {
            panic!("{lanes}")
        };
        assert_eq!(order.len(), count * 20, "{lanes}");
    }
    // All levels on one VL, so that they close a cycle.
    let row = Conf::new("ring", ALL_TO_0, "");
    for (lanes, ends) in [
        ("count = 2, per_vl = 1", "]"),
        ("count = 2, per_vl = 2", " VL 0 (lanes 0 to 1)"),
        ("count = 4", " VL 0 (lanes 0 to 3)"),
    ] {
        let Err(LabError::Deadlock(report)) = ring(lanes, Some(&row), false) else {
            panic!("{lanes}")
        };
        assert_eq!(report.channels.len(), 5, "{lanes}: {:?}", report.channels);
        assert!(report.channels.iter().any(|name| name.ends_with(ends)), "{:?}", report.channels);
        assert!(matches!(ring(lanes, Some(&row), true).unwrap().proof, Proof::Cycle { .. }));
    }
}

#[test]
fn lanes_are_divided_among_used_vls_and_noted() {
    let even_odd = Conf::new("shared", EVEN_AND_ODD, "");
    for (count, expected) in [(2, 1), (3, 1), (4, 2), (16, 8)] {
        let compiled = ring(&format!("count = {count}"), Some(&even_odd), true).unwrap();
        assert_eq!(compiled.plan.lanes.allowed.lanes_per_vl(), expected, "{count} lanes");
        let described = compiled.notes.iter().find(|note| note.contains("network.lanes.per_vl"));
        assert_eq!(described.is_some(), expected > 1, "{:?}", compiled.notes);
    }
    let compiled = ring("count = 5", Some(&even_odd), true).unwrap();
    let expected = [
        "tables use VLs up to 1, and channels have 5 lanes, so that each VL owns 2 lanes: a packet takes any lane of its VL \
         (network.lanes.per_vl)",
        "no class uses lane 4 (network.lanes.count)",
    ];
    for note in expected {
        assert!(compiled.notes.iter().any(|described| described == note), "{:?}", compiled.notes);
    }
}

#[test]
fn vl_arbitration_serves_vls_and_names_unserved_ones() {
    let arbitrated = "count = 4, depth = 100, forwarding = \"virtual-cut-through\", crossbar_output = { infiniband = \
                      { low = [{ lane = 0, weight = 1 }, { lane = 1, weight = 4 }] } }";
    let row = Conf::new("arbitrated", EVEN_AND_ODD, "");
    // VL 1 owns lanes 2 and 3, which have no slots of their own.
    let compiled = ring(arbitrated, Some(&row), true).unwrap();
    assert_eq!(compiled.plan.lanes.allowed.lanes_per_vl(), 2);
    let without = arbitrated.replace("{ lane = 0, weight = 1 }, ", "");
    let described = ring(&without, Some(&row), true).unwrap_err().to_string();
    let expected = "on VL 0, which is never served here: give the VL a weight";
    assert!(
        described.contains("in `network.lanes.crossbar_output`: ") && described.ends_with(expected),
        "{described}"
    );
    // Lists have a value a lane, also for the spare lanes of a VL.
    let spare = "count = 4, crossbar_input = { weighted-round-robin = { weights = [1, 1, 0, 0] } }";
    let described = ring(spare, Some(&row), true).unwrap_err().to_string();
    let expected = "on lane 2 of VL 1, which is never served here: give the lane a weight, or VLs fewer lanes \
                    (network.lanes.per_vl, here 2)";
    assert!(described.ends_with(expected), "{described}");
    let one = spare.replace("count = 4", "count = 4, per_vl = 1");
    assert!(ring(&one, Some(&row), true).is_ok());
}
