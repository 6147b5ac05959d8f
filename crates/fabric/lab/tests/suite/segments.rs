//! Segments and priorities, and refusals.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, Scenario, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{Delivery, SegmentationPlan};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

fn parsed(text: &str) -> Result<ScenarioSource, LabError> {
    Ok(ScenarioSource::parse("segments.toml", text, Path::new("."), &Overrides::default())?)
}

fn compiled(text: &str) -> Compiled {
    parsed(text)
        .and_then(|source| compile(&source, false))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns all deliveries, equal in both engines.
fn deliveries(text: &str) -> Vec<Delivery> {
    let plan =
        compiled(&format!("measure.messages = \"all\"\nstop.warm_up = \"0 ps\"\n{text}")).plan;
    let mut oracle = gingham_oracle::start(Arc::clone(&plan));
    oracle.advance(u64::MAX);
    let mut engine = gingham_engine::start(plan);
    engine.advance(u64::MAX);
    let found = engine.take_messages();
    assert_eq!(found, oracle.take_messages());
    found
}

/// Flit time, delay of a cable and first-flit delay in ps; whether switches consume a route byte;
/// other bytes of a packet.
const PRESETS: [(&str, u64, u64, u64, bool, u64); 2] = [
    ("myrinet-640", 12_500, 123_000, 150_000, false, 0),
    ("myrinet-1280", 6_250, 49_200, 150_000, true, 3),
];

#[test]
fn segmented_lone_message_time_matches_the_formula() {
    for (preset, flit, delay, first_flit, route_bytes, overhead) in PRESETS {
        for (switches, payload, longest) in [
            (1_u64, 1_000_u64, 100_u64),
            (2, 950, 100),
            (3, 64, 63),
            (4, 1_000, 333),
            (4, 20, 64),
            (5, 2_000, 17),
        ] {
            let text = format!(
                r#"
                topology.generate.two-hosts.switches = {switches}
                network.preset = "{preset}"
                stop.time = "2 ms"
                traffic = [{{
                    hosts = ["h0"], arrivals = {{ constant = {{ phase = "0 ps" }} }}, load = 0.001,
                    length = {{ fixed = "{payload} B" }}, segmentation = {{ fixed = "{longest} B" }},
                }}]
                "#
            );
            let delivery = deliveries(&text)[0];
            // `docs/concepts/timing.md`: the first packet alone, and a gap and its flits for each
            // other.
            let packets = payload.div_ceil(longest);
            let route = if route_bytes { switches } else { 0 };
            let flits = |packet: u64| longest.min(payload - packet * longest) + overhead + route;
            let through = if route_bytes { flits(0) } else { flits(0) + switches };
            let first = through * flit + (switches + 1) * delay + switches * first_flit;
            let behind = |packet| first_flit + (flits(packet) - u64::from(route_bytes)) * flit;
            let expected = first + (1..packets).map(behind).sum::<u64>();
            assert_eq!(
                delivery.latency().as_ps(),
                expected,
                "{preset}, {switches} switches, {longest} B"
            );
            assert_eq!(u64::from(delivery.packets), packets);
            assert_eq!(delivery.wire_bytes, (0..packets).map(flits).sum::<u64>());
        }
    }
}

/// Returns the payload of two backlogged hosts by 20 ms: 1,000-byte messages to h2, those of h1 in
/// segments of 100 B.
fn shares(network: &str, of_h1: &str) -> [u64; 2] {
    let text = format!(
        r#"
        topology.generate.star.hosts = 3
        network = {{ preset = "myrinet-640", {network} }}
        stop.time = "20 ms"
        stop.follow = "0 ps"
        [[traffic]]
        name = "whole"
        hosts = ["h0"]
        destinations.host = "h2"
        arrivals = "backlogged"
        length.fixed = "1000 B"
        [[traffic]]
        name = "segments"
        hosts = ["h1"]
        destinations.host = "h2"
        arrivals = "backlogged"
        length.fixed = "1000 B"
        segmentation.fixed = "100 B"
        {of_h1}
        "#
    );
    let found = deliveries(&text);
    let of = |class| {
        let of_class = found.iter().filter(|d| d.message.class.index() == class);
        of_class.map(|d| u64::from(d.message.payload_bytes)).sum()
    };
    [of(0), of(1)]
}

#[test]
fn long_packets_take_ten_times_the_share_of_short_ones() {
    // 20 ms are 1,600,000 bytes of 12.5 ns: the turns of the output alternate between 1,000 B and
    // 100 B, and waiting headers are decoded meanwhile. A message of h1 takes ten turns.
    let shares = shares("", "");
    assert!(shares[0].abs_diff(10 * shares[1]) <= 10_000, "{shares:?}");
    let all: u64 = shares.iter().sum();
    assert!((1_597_000..1_600_000).contains(&all), "{shares:?}");
}

#[test]
fn strict_priority_ignores_headers_not_yet_decoded() {
    // The next header of h1 is read when its last packet has left, and requests 150 ns later: h0 is
    // waiting, and is granted.
    let strict = r#"arbitration = "strict-priority""#;
    let (by_priority, in_turn) = (shares(strict, "priority = 1"), shares("", ""));
    for class in [0, 1] {
        assert!(
            by_priority[class].abs_diff(in_turn[class]) <= 1_000,
            "{by_priority:?} {in_turn:?}"
        );
    }
    // Without a routing delay the request is there when the output becomes free.
    let at_once = format!("{strict}, routing_delay = \"0 ps\", setup_delay = \"150 ns\"");
    let [whole, segments] = shares(&at_once, "priority = 1");
    assert_eq!(whole, 0);
    // A packet takes 100 flits and a gap of 12: 1.4 us, and ten of them a message.
    assert!(segments.abs_diff(20_000_000 / 14_000 * 1_000) <= 2_000, "{segments}");
}

#[test]
fn adaptive_segments_follow_the_buffers_of_the_path() {
    let plan_of = |network: &str, segmentation: &str| {
        let text = format!(
            "topology.generate.star.hosts = 3\nstop.time = \"1 ms\"\nnetwork = {{ {network} }}\n\
             traffic = [{{ load = 0.1, length.fixed = \"1 KiB\", segmentation = {segmentation} }}]"
        );
        let source = parsed(&text).unwrap();
        let json = serde_json::to_string(&source.scenario).unwrap();
        assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), source.scenario);
        compile(&source, false).unwrap().plan.classes[0].segmentation.clone()
    };
    let buffers = "slack = { capacity = 150, stop = 120, go = 60 }";
    assert_eq!(plan_of("", "\"adaptive\""), SegmentationPlan::PerSwitch(80));
    assert_eq!(plan_of(buffers, "\"adaptive\""), SegmentationPlan::PerSwitch(150));
    assert_eq!(plan_of(buffers, "{ adaptive = \"90 B\" }"), SegmentationPlan::PerSwitch(90));
    let by_hops = plan_of("", "{ by-hops = [\"1 B\", \"1 KiB\"] }");
    assert_eq!(by_hops, SegmentationPlan::ByHops([1, 1_024].into()));
    assert_eq!(plan_of("", "\"none\""), SegmentationPlan::None);
}

#[test]
fn longest_payload_is_reported_per_class_and_route() {
    let text = r#"
        topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 4 }
        routing.algorithm = { up-down = { root = "lowest-id" } }
        stop.time = "1 ms"
        traffic = [
            { name = "high", priority = 1, load = 0.1, length.fixed = "1 KiB" },
            { name = "low", load = 0.1, length.fixed = "1 KiB", segmentation = { adaptive = "80 B" } },
            { name = "fixed", load = 0.1, length.fixed = "1 KiB", segmentation = { fixed = "33 B" } },
        ]
        "#;
    let sending = serde_json::to_value(compiled(text).sending()).unwrap();
    let expected = serde_json::json!([
        { "class": "high", "priority": 1, "longest_payload_bytes": null },
        { "class": "low", "priority": 0, "longest_payload_bytes": { "1": 80, "2": 160, "3": 240 } },
        { "class": "fixed", "priority": 0, "longest_payload_bytes": 33 },
    ]);
    assert_eq!(sending, expected);
}

#[test]
fn surprising_segmentation_is_noted() {
    let notes = |network: &str, segmentation: &str| {
        let text = format!(
            "topology.generate.star.hosts = 3\nstop.time = \"1 ms\"\nnetwork = {{ {network} }}\n\
             traffic = [{{ load = 0.1, length.fixed = \"1 KiB\", segmentation = {segmentation} }}]"
        );
        compiled(&text).notes
    };
    assert!(notes("", "\"adaptive\"").is_empty());
    let strict = notes("arbitration = \"strict-priority\"", "\"none\"");
    assert_eq!(strict.len(), 1);
    assert!(strict[0].contains("all classes have the same"), "{strict:?}");
    // 100 m at 160 MB/s: 2 x 492 / 6.25 = 157.4 flits in flight, a headroom of 161; go 161, stop
    // 161 + 16, and 177 + 161 in all.
    let long = "cable_length = \"100 m\"";
    let grown = notes(long, "\"adaptive\"");
    let says = |note: &String| note.contains("80 B") && note.contains("adaptive = \"338 B\"");
    assert_eq!(grown.iter().filter(|note| says(note)).count(), 1, "{grown:?}");
    assert!(!notes(long, "{ adaptive = \"338 B\" }").iter().any(says));
}

#[test]
fn invalid_priorities_and_segmentations_are_refused() {
    let mut table = String::new();
    for keys in [
        "priority = 8",
        "priority = -1",
        "priority = \"high\"",
        "segmentation = \"fixed\"",
        "segmentation = \"adaptve\"",
        "segmentation = 100",
        "segmentation.fixed = \"0 B\"",
        "segmentation.fixed = 100",
        "segmentation.fixed = \"2048 MiB\"",
        "segmentation.adaptive = \"0 B\"",
        "segmentation.adaptive = \"80\"",
        "segmentation.adaptive = 80",
        "segmentation.adaptive = { per_switch = \"80 B\" }",
        "segmentation.by-hops = []",
        "segmentation.by-hops = [\"80 B\", \"0 B\"]",
        "segmentation.by-hops = \"80 B\"",
    ] {
        let text = format!(
            "topology.generate.star.hosts = 3\nstop.time = \"1 ms\"\n[[traffic]]\nload = 0.1\n\
             length.fixed = \"1 KiB\"\n{keys}"
        );
        let error = parsed(&text).and_then(|source| compile(&source, false)).expect_err(keys);
        let error = error.to_string();
        assert!(error.lines().count() <= 4, "{error}");
        writeln!(table, "{keys}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(table);
}
