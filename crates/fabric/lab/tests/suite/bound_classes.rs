//! Bounds of several classes, and of overlapping destinations.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::support::{compiled, record};
use gingham_lab::Verdict;

/// Two classes into `h0`: name, hosts, load, further keys.
fn star(classes: [(&str, &str, f64, &str); 2], time: &str) -> String {
    let class = |(name, hosts, load, keys): (&str, &str, f64, &str)| {
        format!(
            r#"
        [[traffic]]
        name = "{name}"
        hosts = {hosts}
        destinations = {{ host = "h0" }}
        load = {load}
        length = {{ fixed = "1024 B" }}
        {keys}
        "#
        )
    };
    let classes = classes.map(class).concat();
    format!(
        r#"
        topology.generate.star.hosts = 6
        network.preset = "myrinet-1280"
        {classes}
        [stop]
        time = "{time}"
        "#
    )
}

fn load_of_advice(reason: &str) -> f64 {
    let (_, advice) = reason.split_once("traffic.0.load = ").unwrap();
    let digits: String = advice.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().unwrap()
}

#[test]
fn higher_priority_class_is_not_saturated_by_overload() {
    let classes =
        [("urgent", r#"["h1"]"#, 0.1, "priority = 1"), ("bulk", r#"["h2", "h3", "h4"]"#, 0.5, "")];
    let text = star(classes, "20 ms").replace(
        "network.preset = \"myrinet-1280\"",
        "network = { preset = \"santos-4x\", arbitration = \"strict-priority\" }",
    );
    let [urgent, bulk] = <[_; 2]>::try_from(record(&text, &[]).classes).unwrap();
    assert_eq!(bulk.verdict, Verdict::Saturated, "{}", bulk.verdict_reason);
    assert_eq!(urgent.verdict, Verdict::Ok, "{}", urgent.verdict_reason);
    let notes = compiled(&text, &[]).notes;
    assert_eq!(notes.iter().filter(|note| note.starts_with("load-above-bound: ")).count(), 2);
}

#[test]
fn bounds_of_consecutive_classes_do_not_add_up() {
    let at_once = [("first", r#"["h1"]"#, 0.6, ""), ("second", r#"["h2"]"#, 0.6, "")];
    let in_turn = [
        ("first", r#"["h1"]"#, 0.6, "stop = \"1 ms\""),
        ("second", r#"["h2"]"#, 0.6, "start = \"1 ms\""),
    ];
    let shares = |classes| {
        let record = record(&star(classes, "2 ms"), &[]);
        [0, 1].map(|class| record.classes[class].bound.bound_share.unwrap())
    };
    let [at_once, in_turn] = [shares(at_once), shares(in_turn)];
    for (together, alone) in at_once.iter().zip(in_turn) {
        // Alone, the cable of the source is fullest, with one route byte more.
        assert!((together / alone - 2.0).abs() < 2.0 / 1_024.0, "{together}, {alone}");
        assert!(alone < 1.0);
    }
}

#[test]
fn advised_load_leaves_room_for_other_classes() {
    let classes = [("large", r#"["h1", "h2"]"#, 0.5, ""), ("small", r#"["h3"]"#, 0.2, "")];
    let record = record(&star(classes, "10 ms"), &[]);
    let [large, small] = [0, 1].map(|class| record.classes[class].bound.bound_share.unwrap());
    assert!((large / small - 1.0).abs() < 1e-9);
    let wire = large / 1.2;
    let advised = load_of_advice(&record.classes[0].verdict_reason);
    let room = (0.9 / wire - 0.2) / 2.0;
    assert!(advised <= room && advised > room - 0.011, "{advised}, not {room}");
}

#[test]
fn destination_list_without_messages_adds_no_load() {
    let text = r#"
        topology.generate.star.hosts = 6
        network.preset = "myrinet-1280"

        [[traffic]]
        name = "to-h5"
        hosts = ["h0"]
        destinations = { host = "h5" }
        load = 0.1
        length = { fixed = "1024 B" }

        [[traffic]]
        name = "hot"
        destinations = { hot-spot = { hosts = ["h5"], share = 1.0 } }
        load = 0.1
        length = { fixed = "1024 B" }

        [stop]
        time = "1 ms"
    "#;
    let record = record(text, &[]);
    let bound = &record.classes[0].bound;
    // One flow, and those of the five hosts other than h5.
    assert_eq!((bound.bound_channel.as_deref(), bound.bound_flows), (Some("s0[6] -> h5[1]"), 6));
    assert!(bound.bound_share.unwrap() > 0.6);
    assert!(record.busiest.iter().all(|busy| busy.expected_share.unwrap().is_finite()));
}
