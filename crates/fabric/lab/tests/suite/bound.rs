//! Bounds of traffic, against channel loads calculated by hand.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::support::{compiled, summary_of};
use gingham_lab::{BoundKind, Record, Verdict};

/// Eight hosts on two switches.
///
/// ```text
///   h0-0 .. h0-3 ──► s0 ══► s1 ──► h1-0 .. h1-3
/// ```
const PERMUTATION: &str = r#"
    topology.generate.mesh = { dimensions = [2], hosts_per_switch = 4 }
    network.preset = "myrinet-1280"

    [[traffic]]
    name = "all"
    load = 0.5
    length = { fixed = "512 B" }

    [traffic.destinations.pairs]
    h0-0 = "h1-0"
    h0-1 = "h1-1"
    h0-2 = "h1-2"
    h0-3 = "h1-3"

    [stop]
    time = "10 ms"
"#;

/// Four hosts send to one at a little more than a quarter of a link each.
const INCAST: &str = r#"
    topology.generate.star.hosts = 5
    network.preset = "infiniband-ndr"

    [[traffic]]
    name = "incast"
    hosts = ["h1", "h2", "h3", "h4"]
    destinations = { host = "h0" }
    load = 0.255
    length = { fixed = "4096 B" }

    [stop]
    time = "100 us"
"#;

fn record(text: &str, settings: &[(&str, &str)]) -> Record {
    summary_of(&compiled(text, settings))
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found}, not {expected}");
}

#[test]
fn permutation_is_bounded_by_its_fullest_channel() {
    let record = record(PERMUTATION, &[]);
    let class = &record.classes[0];
    // A packet has a route byte for each of two switches on the host's cable, one fewer on the
    // channel that four flows share.
    let at_source = 512.0 * class.accepted_wire_bytes_per_s / class.accepted_bytes_per_s;
    let share = 4.0 * 0.5 * (at_source - 1.0) / 512.0;
    assert_near(class.bound.bound_share.unwrap(), share, 1e-9);
    assert_near(class.bound.bound_load.unwrap(), 0.5 / share, 1e-9);
    assert_eq!(class.bound.bound_flows, 4);
    assert_eq!(class.bound.bound_kind, BoundKind::AllChannels);
    let channel = class.bound.bound_channel.clone().unwrap();
    assert!(channel.starts_with("s0[") && channel.contains(" -> s1["), "{channel}");
    assert_eq!(class.verdict, Verdict::Saturated);
    assert!(class.verdict_reason.contains(&channel), "{}", class.verdict_reason);
    let busiest = &record.busiest[0];
    assert_eq!((&busiest.channel, busiest.flows), (&channel, Some(4)));
    assert_eq!(busiest.examples, ["h0-0 -> h1-0", "h0-1 -> h1-1", "h0-2 -> h1-2"]);
    assert!(record.busiest.windows(2).all(|pair| pair[0].utilisation >= pair[1].utilisation));
}

/// Adds eight flows that share no channel, so that the mean accepted load is above 0.4 at an
/// offered load of 0.5. Constant arrivals let a short run below saturation converge.
fn mixed() -> String {
    let pair = |(from, to)| {
        let line = |switch| format!("    h{switch}-{from} = \"h{switch}-{to}\"\n");
        [line(0), line(1)].concat()
    };
    let local = [(4, 5), (5, 4), (6, 7), (7, 6)].map(pair).concat();
    PERMUTATION
        .replace("hosts_per_switch = 4", "hosts_per_switch = 8")
        .replace("load = 0.5", "load = 0.5\n    arrivals = \"constant\"")
        .replace("\n    [stop]", &format!("{local}\n    [stop]"))
}

#[test]
fn advised_load_ends_ok() {
    let record_of = |load: &str| record(&mixed(), &[("traffic.0.load", load)]);
    let first = record_of("0.5");
    let class = &first.classes[0];
    assert_eq!(class.verdict, Verdict::Saturated);
    // The mean does not reveal the shared channel.
    let bound = class.bound.bound_load.unwrap();
    assert!(0.95 * class.accepted_load > 1.5 * bound, "{class:?}");
    let (_, advice) = class.verdict_reason.split_once("traffic.0.load = ").unwrap();
    let advised: String = advice.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let advised = advised.trim_end_matches('.');
    // 0.9 of 1 / (4 x 516 / 512), to two digits below.
    assert_eq!(advised, "0.22");
    let second = record_of(advised);
    // The phases of constant arrivals are drawn once.
    assert_eq!(second.verdict, Verdict::OkOfDraw, "{}", second.verdict_reason);
}

#[test]
fn incast_above_its_bound_is_noted_and_saturated() {
    let compiled = compiled(INCAST, &[]);
    let note = compiled.notes.iter().find(|note| note.starts_with("load-above-bound: ")).unwrap();
    assert!(note.contains("traffic.0.load = 0.255") && note.contains("h0["), "{note}");
    let class = &record(INCAST, &[]).classes[0];
    let wire = class.accepted_wire_bytes_per_s / class.accepted_bytes_per_s;
    let share = 4.0 * 0.255 * wire;
    assert!(share > 1.0);
    assert_near(class.bound.bound_host_share.unwrap(), share, 1e-9);
    assert_eq!(class.bound.bound_host.as_deref(), Some("h0"));
    assert_eq!(class.verdict, Verdict::Saturated, "{}", class.verdict_reason);
    let light = self::compiled(INCAST, &[("traffic.0.load", "0.2")]);
    assert!(light.notes.iter().all(|note| !note.starts_with("load-above-bound")));
}

#[test]
fn backlogged_class_has_the_bound_of_equal_loads() {
    let text = INCAST.replace("load = 0.255", "arrivals = \"backlogged\"");
    let class = &record(&text, &[]).classes[0];
    let wire = class.accepted_wire_bytes_per_s / class.accepted_bytes_per_s;
    assert_near(class.bound.bound_load.unwrap(), 0.25 / wire, 1e-9);
    assert_ne!(class.verdict, Verdict::Saturated);
}

#[test]
fn replies_are_bounded_by_request_load() {
    let text = r#"
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
        time = "1 ms"
    "#;
    let record = record(text, &[]);
    let [replies, requests] = [0, 1].map(|index| &record.classes[index]);
    // A reply of 512 B, with its overhead and a route byte, for each request of 64 B.
    let beside = 64.0 * requests.accepted_wire_bytes_per_s / requests.accepted_bytes_per_s - 64.0;
    let bound = 64.0 / (512.0 + beside);
    for class in [replies, requests] {
        assert_near(class.bound.bound_load.unwrap(), bound, 1e-9);
    }
    assert_eq!(replies.verdict, Verdict::Saturated);
    assert!(replies.verdict_reason.contains("traffic.1.load = "), "{}", replies.verdict_reason);
}

#[test]
fn verdict_names_a_destination_that_falls_behind() {
    let record = record(
        INCAST,
        &[
            ("traffic.0.policing", "{ rate = 1.0, burst = \"64 KiB\" }"),
            ("traffic.0.load", "0.4"),
            ("stop.time", "1 ms"),
        ],
    );
    let class = &record.classes[0];
    assert_eq!(class.served.destinations_behind, 1);
    assert!(class.verdict_reason.contains("h0 ("), "{}", class.verdict_reason);
}

#[test]
fn verdict_mentions_routes_that_can_deadlock() {
    let text = r#"
        topology.generate.ring = { switches = 5, hosts_per_switch = 1 }
        routing.algorithm = "shortest-path"
        network.preset = "myrinet-1280"

        [[traffic]]
        load = 0.01
        length = { fixed = "64 B" }

        [stop]
        time = "10 ms"
    "#;
    let compiled = compiled(text, &[]);
    assert_eq!(compiled.routes, "shortest-path routes, which can deadlock");
    let record = record(text, &[]);
    assert_eq!(record.verdict, Verdict::Ok, "{}", record.verdict_reason);
    assert!(!record.deadlock_free);
    assert!(record.verdict_reason.contains("can deadlock"), "{}", record.verdict_reason);
    let free = self::record(text, &[("routing.algorithm", "up-down")]);
    assert!(free.deadlock_free && !free.verdict_reason.contains("can deadlock"));
}
