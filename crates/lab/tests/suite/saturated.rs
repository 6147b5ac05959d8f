//! What verdicts on saturated classes blame, and what they advise.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ClassSummary, Engine, Run, Verdict, compile};
use std::path::Path;

/// A lone flow over cables of 200 m: its link gives it 0.703, and a window of 4 packets 0.33.
const LONE: &str = r#"
    topology.generate.star.hosts = 2
    network = { preset = "myrinet-1280", cable_length = "200 m" }

    [[traffic]]
    name = "data"
    hosts = ["h0"]
    destinations = { host = "h1" }
    load = 0.9
    length = { fixed = "64 B" }

    [stop]
    time = "2 ms"
    warm_up = "200 us"
"#;

/// Three flows into one host, whose cable a window of one packet fills.
const HOT_SPOT: &str = r#"
    topology.generate.star.hosts = 4

    [network]
    preset = "yum-1600"
    lanes = { count = 2, depth = 128 }

    [[traffic]]
    name = "data"
    hosts = ["h1", "h2", "h3"]
    destinations = { host = "h0" }
    load = 0.9
    length = { fixed = "512 B" }
    lanes = [0]
    window = { packets = 1, answer = { lanes = [1] } }

    [stop]
    time = "2 ms"
    warm_up = "100 us"
"#;

/// The first class, which is saturated.
fn saturated(text: &str, settings: &[(&str, &str)]) -> ClassSummary {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("full.toml", text, Path::new("."), &overrides).unwrap();
    let mut run = Run::new(compile(&source, false).unwrap(), Engine::Fast);
    while !run.advance(1_000_000).done {}
    let class = run.record().classes.swap_remove(0);
    assert_eq!(class.verdict, Verdict::Saturated, "{class:?}");
    class
}

/// What a lone flow advises beside a smaller load.
fn beside_less(settings: &[(&str, &str)]) -> String {
    let reason = saturated(LONE, settings).verdict_reason;
    let (_, advice) = reason.split_once("traffic.0.load = ").unwrap();
    advice.split_once([',', ';']).map_or_else(String::new, |(_, rest)| rest.trim().to_owned())
}

const PACE: &str = "traffic.0.pace";
const WINDOW: &str = "traffic.0.window";
const POLICING: (&str, &str) = ("traffic.0.policing", "{ rate = 0.05, burst = \"1 KiB\" }");

#[test]
fn the_key_whose_bound_is_reached_is_named() {
    assert_eq!(beside_less(&[(PACE, "0.3")]), "or raise traffic.0.pace");
    // Both hold the flow back, one of them limits it.
    let window = (WINDOW, "{ packets = 4 }");
    assert_eq!(beside_less(&[(PACE, "0.3"), window]), "or raise traffic.0.pace");
    let let_pass = "or let more pass with traffic.0.policing.rate";
    assert_eq!(beside_less(&[POLICING, ("traffic.0.load", "0.5")]), let_pass);
    let one = (WINDOW, "{ packets = 1 }");
    assert_eq!(beside_less(&[POLICING, ("traffic.0.load", "0.5"), one]), let_pass);
}

#[test]
fn a_key_that_holds_back_and_limits_nothing_is_not_named() {
    for pace in ["1.0", "0.8", "0.71"] {
        assert_eq!(beside_less(&[(PACE, pace)]), "", "{pace}");
    }
    assert_eq!(beside_less(&[(WINDOW, "{ packets = 100 }")]), "");
    let wide = ("traffic.0.policing", "{ rate = 0.8, burst = \"1 KiB\" }");
    assert_eq!(beside_less(&[wide]), "");
    // Long packets come near the whole link, and no key is larger than that.
    let long = [
        ("traffic.0.length", "{ fixed = \"8 KiB\" }"),
        ("traffic.0.arrivals", "constant"),
        ("traffic.0.load", "1.0"),
        ("stop.time", "1 s"),
    ];
    let all = ("traffic.0.policing", "{ rate = 1.0, burst = \"8 KiB\" }");
    for whole in [(PACE, "1.0"), all] {
        assert_eq!(beside_less(&[&long[..], &[whole]].concat()), "", "{whole:?}");
    }
}

#[test]
fn a_window_that_is_full_for_long_is_named_as_what_may_be() {
    let may = "a larger traffic.0.window.packets may carry more, if the network can";
    let told = beside_less(&[(WINDOW, "{ packets = 4 }")]);
    assert!(told.starts_with("the window of 4 packets a flow held flows back for "), "{told}");
    assert!(told.ends_with(may), "{told}");
    let reason = saturated(HOT_SPOT, &[]).verdict_reason;
    assert!(reason.contains("the window of 1 packet a flow held flows back for "), "{reason}");
    assert!(reason.ends_with(may), "{reason}");
}
