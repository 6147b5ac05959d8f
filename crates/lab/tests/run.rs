//! From scenario text to record.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ColumnData, Engine, LabError, Record, Run, Verdict, compile};
use std::path::Path;

const TORUS: &str = r#"
seed = 5

[topology.generate.torus]
dimensions = [3, 3]
hosts_per_switch = 2

[network]
preset = "myrinet-1280"

[[traffic]]
name = "short"
load = 0.1
length = { fixed = "32 B" }

[[traffic]]
name = "long"
hosts = ["h0-*"]
load = 0.1
length = { exponential = "512 B" }

[stop]
time = "3 ms"
"#;

fn load(text: &str, settings: &[(&str, &str)]) -> Result<ScenarioSource, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides =
        Overrides { settings: settings.iter().map(own).collect(), ..Default::default() };
    Ok(ScenarioSource::parse("torus.toml", text, Path::new("."), &overrides)?)
}

fn record(settings: &[(&str, &str)]) -> Record {
    let compiled = compile(&load(TORUS, settings).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Runs);
    while !run.advance(100_000).done {}
    run.record()
}

#[test]
fn a_light_load_is_accepted_and_every_mean_has_its_interval() {
    let record = record(&[]);
    assert_eq!(record.verdict, Verdict::Ok);
    assert_eq!(record.classes.iter().map(|class| class.hosts).collect::<Vec<_>>(), [18, 6]);
    for class in &record.classes {
        let half_width = class.accepted_load_half_width.unwrap();
        assert!((class.accepted_load - class.drawn_load).abs() < half_width, "{class:?}");
        let relative = class.latency_half_width_ns.unwrap() / class.latency_mean_ns.unwrap();
        assert!(relative < 0.2, "{class:?}");
        assert!((class.drawn_load - 0.1).abs() < 0.01, "{class:?}");
    }
}

#[test]
fn the_same_scenario_gives_the_same_record_and_another_seed_does_not() {
    assert_eq!(record(&[]).tables, record(&[]).tables);
    assert_ne!(record(&[]).tables, record(&[("seed", "6")]).tables);
}

#[test]
fn the_oracle_gives_the_same_record() {
    let run = |engine| {
        let source = load(TORUS, &[("stop.time", "1 ms")]).unwrap();
        let mut run = Run::new(compile(&source, true).unwrap(), engine);
        while !run.advance(100_000).done {}
        run.record()
    };
    let (fast, slow) = (run(Engine::Runs), run(Engine::Oracle));
    assert_eq!(fast.tables, slow.tables);
    assert_eq!(fast.classes, slow.classes);
}

#[test]
fn more_than_the_network_takes_is_saturated() {
    let settings = [("traffic.0.load", "1.0"), ("traffic.1.load", "1.0"), ("stop.time", "1 ms")];
    let record = record(&settings);
    assert_eq!(record.verdict, Verdict::Saturated, "{:?}", record.classes);
}

#[test]
fn a_run_of_a_moment_is_not_converged() {
    assert_eq!(record(&[("stop.time", "5 us")]).verdict, Verdict::NotConverged);
}

#[test]
fn a_backlogged_class_is_never_saturated() {
    let text = TORUS
        .replace("name = \"short\"\nload = 0.1", "name = \"short\"\narrivals = \"backlogged\"");
    let compiled = compile(&load(&text, &[("stop.time", "1 ms")]).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Runs);
    while !run.advance(100_000).done {}
    let record = run.record();
    assert_ne!(record.classes[0].verdict, Verdict::Saturated);
    assert!(record.classes[0].accepted_load > 0.2, "{:?}", record.classes[0]);
}

#[test]
fn an_interrupted_run_says_so_and_keeps_what_it_has() {
    let compiled = compile(&load(TORUS, &[]).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Runs);
    let progress = run.advance(5_000);
    assert!(progress.fraction > 0.0 && progress.fraction < 1.0, "{progress:?}");
    assert_eq!(run.record().verdict, Verdict::Interrupted);
}

#[test]
fn tables_have_columns_of_equal_length_and_latency_adds_up() {
    let record = record(&[("stop.messages", "500")]);
    let messages = record.tables.iter().find(|table| table.name == "messages").unwrap();
    let integers = |name: &str| {
        let column = messages.columns.iter().find(|column| column.name == name).unwrap();
        let ColumnData::Integers(values) = &column.data else { panic!("{name} holds integers") };
        values.clone()
    };
    let (created, delivered) = (integers("created_ps"), integers("delivered_ps"));
    // The window ends with a section, when 500 were delivered or a few more.
    assert!((500..1_000).contains(&created.len()), "{} messages", created.len());
    let added: Vec<_> = delivered.iter().zip(&created).map(|(end, start)| end - start).collect();
    assert_eq!(integers("latency_ps"), added);
}

#[test]
fn a_scenario_that_can_deadlock_is_refused_with_its_cycle() {
    let text = TORUS.replace("[3, 3]", "[5]");
    let source = load(&text, &[("routing.algorithm", "shortest-path")]).unwrap();
    let Err(LabError::Deadlock(report)) = compile(&source, false) else {
        panic!("shortest paths on a ring of five can deadlock")
    };
    assert_eq!(report.channels.len(), 5);
    assert!(compile(&source, true).is_ok(), "unless that is allowed");
}

#[test]
fn what_a_scenario_means_is_checked_with_line_and_key() {
    let cases: &[&[(&str, &str)]] = &[
        &[("traffic.0.load", "1.5")],
        &[("traffic.0.load", "0")],
        &[("traffic.1.arrivals", "backlogged")],
        &[("traffic.1.hosts", "[\"h0-7-*\", \"h1-*\"]")],
        &[("traffic.0.destinations", "{ host = \"h9-9\" }")],
        &[("traffic.0.length", "{ fixed = \"0 B\" }")],
        &[("traffic.1.name", "short")],
        &[("network.slack", "{ capacity = 70, stop = 56, go = 40 }")],
        &[("network.slack", "{ capacity = 200, stop = 40, go = 56 }")],
        &[("stop.time", "0 s")],
        &[("stop.warm_up", "4 ms")],
        &[("stop.messages", "0")],
        &[("topology.generate.torus.dimensions", "[]")],
        &[("topology", "{ file = \"missing.ibnetdiscover\" }")],
        &[("routing.algorithm", "{ up-down = { root = { named = \"s7-7\" } } }")],
        &[("network.link_rate", "80")],
        &[("network.link_rate", "999 B/s")],
        &[("network.link_rate", "50 GB/s"), ("network.routing_delay", "100 ms")],
        &[("network.setup_delay", "2 s")],
        &[("network.cable_length", "1000000000 m")],
        &[("network.link_rate", "50 GB/s"), ("network.cable_length", "10000000 m")],
        &[("network.preset", "myrinet-1281")],
    ];
    let messages: Vec<String> = cases
        .iter()
        .map(|settings| {
            let refused = load(TORUS, settings).and_then(|source| compile(&source, true));
            format!("{settings:?}\n{}\n", refused.expect_err("every case is wrong"))
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}
