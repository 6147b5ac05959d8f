//! Causes that verdicts report, and their advice.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::support::record;
use gingham_lab::{ClassSummary, Record, Verdict};

/// A lone flow over cables of 200 m: its link allows 0.703, and a window of 4 packets 0.33.
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

/// Three flows into one host, whose cable is filled with a window of one packet.
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
    window = { packets = 1, ack = { lanes = [1] } }

    [stop]
    time = "2 ms"
    warm_up = "100 us"
"#;

fn saturated(text: &str, settings: &[(&str, &str)]) -> ClassSummary {
    let class = record(text, settings).classes.swap_remove(0);
    assert_eq!(class.verdict, Verdict::Saturated, "{class:?}");
    class
}

fn beside_less(settings: &[(&str, &str)]) -> String {
    let reason = saturated(LONE, settings).verdict_reason;
    let (_, advice) = reason.split_once("traffic.0.load = ").unwrap();
    advice.split_once([',', ';']).map_or_else(String::new, |(_, rest)| rest.trim().to_owned())
}

const RATE_LIMIT: &str = "traffic.0.rate_limit";
const WINDOW: &str = "traffic.0.window";
const POLICING: (&str, &str) = ("traffic.0.policing", "{ rate = 0.05, burst = \"1 KiB\" }");

#[test]
fn verdict_names_the_key_whose_bound_is_reached() {
    assert_eq!(beside_less(&[(RATE_LIMIT, "0.3")]), "or raise traffic.0.rate_limit");
    let window = (WINDOW, "{ packets = 4 }");
    assert_eq!(beside_less(&[(RATE_LIMIT, "0.3"), window]), "or raise traffic.0.rate_limit");
    let let_pass = "or let more pass with traffic.0.policing.rate";
    assert_eq!(beside_less(&[POLICING, ("traffic.0.load", "0.5")]), let_pass);
    let one = (WINDOW, "{ packets = 1 }");
    assert_eq!(beside_less(&[POLICING, ("traffic.0.load", "0.5"), one]), let_pass);
}

#[test]
fn verdict_omits_keys_that_do_not_limit_the_load() {
    for rate_limit in ["1.0", "0.8", "0.71"] {
        assert_eq!(beside_less(&[(RATE_LIMIT, rate_limit)]), "", "{rate_limit}");
    }
    assert_eq!(beside_less(&[(WINDOW, "{ packets = 100 }")]), "");
    let wide = ("traffic.0.policing", "{ rate = 0.8, burst = \"1 KiB\" }");
    assert_eq!(beside_less(&[wide]), "");
    // Long packets nearly fill the link.
    let long = [
        ("traffic.0.length", "{ fixed = \"8 KiB\" }"),
        ("traffic.0.arrivals", "constant"),
        ("traffic.0.load", "1.0"),
        ("stop.time", "1 s"),
    ];
    let all = ("traffic.0.policing", "{ rate = 1.0, burst = \"8 KiB\" }");
    for whole in [(RATE_LIMIT, "1.0"), all] {
        assert_eq!(beside_less(&[&long[..], &[whole]].concat()), "", "{whole:?}");
    }
}

#[test]
fn often_full_window_is_named_as_possible_limit() {
    let may = "a larger traffic.0.window.packets may carry more, if the network can";
    let described = beside_less(&[(WINDOW, "{ packets = 4 }")]);
    assert!(
        described.starts_with("the window of 4 packets a flow held flows back for "),
        "{described}"
    );
    assert!(described.ends_with(may), "{described}");
    let reason = saturated(HOT_SPOT, &[]).verdict_reason;
    assert!(reason.contains("the window of 1 packet a flow held flows back for "), "{reason}");
    assert!(reason.ends_with(may), "{reason}");
}

/// Replies are eight times as long as requests.
const SERVED: &str = r#"
    topology.generate.star.hosts = 2
    network.preset = "myrinet-1280"

    [[traffic]]
    name = "replies"
    arrivals = { reply = { to = "requests" } }
    length = { fixed = "512 B" }

    [[traffic]]
    name = "requests"
    hosts = ["h0"]
    destinations = { host = "h1" }
    load = 0.3
    length = { fixed = "64 B" }

    [stop]
    time = "2 ms"
    warm_up = "100 us"
"#;

fn served(settings: &[(&str, &str)]) -> Record {
    record(SERVED, settings)
}

#[test]
fn saturated_replies_are_advised_to_be_fewer_or_shorter() {
    let class = served(&[]).classes.swap_remove(0);
    assert_eq!(class.verdict, Verdict::Saturated, "{class:?}");
    let (_, advice) =
        class.verdict_reason.split_once(": let fewer messages be replied to, ").unwrap();
    let (load, rest) =
        advice.strip_prefix("such as with traffic.1.load = ").unwrap().split_once(',').unwrap();
    assert_eq!(rest, " or make replies shorter (traffic.0.length)");
    let shorter = [("traffic.0.length", "{ fixed = \"64 B\" }")];
    for cure in [[("traffic.1.load", load)], shorter] {
        let class = &served(&cure).classes[0];
        assert_ne!(class.verdict, Verdict::Saturated, "{cure:?}: {class:?}");
    }
    let backlogged = SERVED.replace("load = 0.3", "arrivals = \"backlogged\"");
    let reason = saturated(&backlogged, &[]).verdict_reason;
    assert!(
        reason.contains("such as with a traffic.1.rate_limit, or make replies shorter"),
        "{reason}"
    );
}

#[test]
fn ended_sources_are_advised_to_send_longer() {
    let light = ("traffic.1.load", "0.02");
    let settings = |own: &[(&'static str, &'static str)]| [&[light], own].concat();
    // A third class continues; otherwise the workload would have finished.
    let others = r#"
    [[traffic]]
    name = "others"
    hosts = ["h1"]
    destinations = { host = "h0" }
    load = 0.02
    length = { fixed = "64 B" }
"#;
    let with_others = SERVED.replace("\n    [stop]", &format!("{others}\n    [stop]"));
    let reason = |own: &[(&'static str, &'static str)]| {
        let class = record(&with_others, &settings(own)).classes.swap_remove(0);
        assert_eq!(class.verdict, Verdict::NotConverged, "{class:?}");
        class.verdict_reason
    };
    let longer = "had ended; let them send for longer";
    let described = reason(&[("traffic.0.stop", "1 us")]);
    let none = "its sources created no message in the window";
    assert_eq!(described, format!("{none}: its sources {longer} (traffic.0.stop)"));
    let described = reason(&[("traffic.0.stop", "200 us")]);
    assert!(
        described.ends_with(&format!(": its sources {longer} (traffic.0.stop)")),
        "{described}"
    );
    let described = reason(&[("traffic.1.stop", "200 us")]);
    let whose = format!(": those of class `requests` {longer} (traffic.1.stop)");
    assert!(described.ends_with(&whose), "{described}");
    assert_eq!(served(&settings(&[("traffic.1.stop", "200 us")])).verdict, Verdict::Finished);
    let described = reason(&[("stop.time", "200 us")]);
    assert!(described.contains(": let the run last about "), "{described}");
}

#[test]
fn saturated_outranks_not_converged() {
    let rare = r#"
    [[traffic]]
    name = "rare"
    hosts = ["h1"]
    destinations = { host = "h0" }
    load = 0.0001
    length = { fixed = "64 B" }
"#;
    let two = LONE.replace("\n    [stop]", &format!("{rare}\n    [stop]"));
    let record = record(&two, &[]);
    let verdicts: Vec<_> = record.classes.iter().map(|class| class.verdict).collect();
    assert_eq!(verdicts, [Verdict::Saturated, Verdict::NotConverged]);
    assert_eq!(record.verdict, Verdict::Saturated);
    assert!(record.verdict_reason.starts_with("class `data`: "), "{}", record.verdict_reason);
}
