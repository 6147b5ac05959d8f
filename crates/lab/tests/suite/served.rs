//! Least served endpoints and flows, compared with shares calculated by hand.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ClassSummary, Engine, Run, compile};
use std::path::Path;

/// The parking lot of Dally and Towles (2004, section 16.3) with two rows:
///
/// ```text
///   h0-0, h0-1 ──► s0 ──► s1 ──► h1-1        h1-0 ──► s1 ──► h1-1
/// ```
///
/// Round robin at the output of s1 gives half of it to h1-0 and a quarter to each of the others.
const PARKING_LOT: &str = r#"
    topology.generate.mesh = { dimensions = [2], hosts_per_switch = 2 }
    network.preset = "myrinet-1280"

    [[traffic]]
    name = "all"
    hosts = ["h0-0", "h0-1", "h1-0"]
    destinations = { host = "h1-1" }
    load = 0.9
    length = { fixed = "512 B" }

    [stop]
    time = "4 ms"
    warm_up = "1 ms"
"#;

fn class(text: &str, settings: &[(&str, &str)]) -> ClassSummary {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("served.toml", text, Path::new("."), &overrides).unwrap();
    let mut run = Run::new(compile(&source, false).unwrap(), Engine::Fast);
    while !run.advance(1_000_000).done {}
    run.summary().classes.swap_remove(0)
}

/// The accepted load is a third of the senders' capacity on average, and a quarter for the least
/// served sender: three quarters of the mean.
fn assert_parking_lot(class: &ClassSummary) {
    let least = class.served.least_served_load.unwrap();
    let share = least / class.accepted_load;
    assert!((share - 0.75).abs() < 0.01, "{share}: {class:?}");
    let name = class.served.least_served.as_deref().unwrap();
    assert!(name.starts_with("h0-"), "{name}");
}

#[test]
fn the_least_served_sender_of_a_parking_lot_has_three_quarters_of_the_mean() {
    let class = class(PARKING_LOT, &[]);
    assert_parking_lot(&class);
    assert_eq!(class.served.senders_behind, 3);
    // The load delivered to the only destination equals the accepted load of all senders.
    let share = class.served.least_served_destination_share.unwrap();
    assert!((share - class.accepted_load / class.generated_load).abs() < 1e-9, "{share}");
    assert_eq!(class.served.least_served_destination.as_deref(), Some("h1-1"));
    assert_eq!(class.served.destinations_behind, 1);
}

#[test]
fn backlogged_senders_are_compared_by_what_is_accepted_of_each() {
    let text = PARKING_LOT.replace("load = 0.9", "arrivals = \"backlogged\"");
    let class = class(&text, &[]);
    assert_parking_lot(&class);
    assert_eq!((class.served.senders_behind, class.served.destinations_behind), (0, 0));
}

#[test]
fn where_flows_are_counted_a_flow_of_one_sender_is_named() {
    // h0-0 sends half of its messages to h1-1 and the rest to all hosts, at a load that no channel
    // limits: its flows are served alike.
    let text = PARKING_LOT
        .replace("hosts = [\"h0-0\", \"h0-1\", \"h1-0\"]", "hosts = [\"h0-0\"]")
        .replace("load = 0.9", "load = 0.2")
        .replace(
            "destinations = { host = \"h1-1\" }",
            "destinations = { hot-spot = { hosts = [\"h1-1\"], share = 0.5 } }",
        );
    let class = class(&text, &[("measure.flows", "true")]);
    let name = class.served.least_served.as_deref().unwrap();
    assert!(name.starts_with("h0-0 -> "), "{name}");
    let least = class.served.least_served_load.unwrap();
    assert!((least / class.generated_load - 1.0).abs() < 0.02, "{least}: {class:?}");
}

#[test]
fn a_light_load_leaves_nothing_behind() {
    let class = class(PARKING_LOT, &[("traffic.0.load", "0.2")]);
    assert_eq!((class.served.senders_behind, class.served.destinations_behind), (0, 0));
    let least = class.served.least_served_load.unwrap();
    assert!(least > 0.9 * class.accepted_load && least <= class.accepted_load, "{least}");
}
