//! Adaptive routing: refusals and delivery.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Time;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{LabError, compile};
use gingham_net::traffic::{Draft, MessagePlan, Scheduled};
use gingham_net::{Plan, Status};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, Proof};
use std::path::Path;
use std::sync::Arc;

const MESH: &str = r#"
[topology.generate.mesh]
dimensions = [4, 4]
hosts_per_switch = 1

[routing]
algorithm = "dimension-order"
adaptive = {}

[network]
preset = "yum-1600"
lanes = { count = 3, forwarding = "virtual-cut-through", depth = 10 }

[[traffic]]
arrivals = "backlogged"
length = { fixed = "128 B" }

[stop]
time = "60 us"
warm_up = "10 us"
"#;

fn source(text: &str, settings: &[(&str, &str)]) -> Result<ScenarioSource, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    Ok(ScenarioSource::parse("adaptive.toml", text, Path::new("."), &overrides)?)
}

fn refusal(text: &str, settings: &[(&str, &str)]) -> String {
    let refused = source(text, settings).and_then(|source| compile(&source, false));
    refused.map(|_| ()).expect_err("it is refused").to_string()
}

/// Returns end and flits of a run, equal in engine and oracle.
fn ends_as(plan: &Arc<Plan>) -> (Status, u64) {
    let mut engine = gingham_engine::start(Arc::clone(plan));
    let mut oracle = gingham_oracle::start(Arc::clone(plan));
    let status = engine.advance(u64::MAX).clone();
    assert_eq!(*oracle.advance(u64::MAX), status);
    assert_eq!(engine.channel_counts(), oracle.channel_counts());
    let flits = |of: &gingham_topology::EndpointId| {
        let into = gingham_topology::Fabric::reverse(plan.fabric.endpoint_channel(*of));
        engine.channel_counts()[into.index()].data_flits
    };
    (status, plan.fabric.endpoint_ids().map(|of| flits(&of)).sum())
}

#[test]
fn escape_lanes_prevent_deadlock() {
    let reselects = ["\"every-cycle\"", "\"never\""];
    let all = ["first", "random", "least-loaded"].map(|select| reselects.map(|of| (select, of)));
    for (select, reselect) in all.concat() {
        let named = format!("\"{select}\"");
        let reselect = ("routing.adaptive.reselect", reselect);
        let with = [("routing.adaptive.select", &*named), reselect];
        let compiled = compile(&source(MESH, &with).unwrap(), false).unwrap();
        assert!(matches!(compiled.proof, Proof::Free { .. }));
        let (status, flits) = ends_as(&compiled.plan);
        assert_eq!(status, Status::Ended, "{select}");
        assert!(flits > 1_000, "{flits}");
        let without = [
            ("routing.adaptive.select", &*named),
            reselect,
            ("routing.adaptive.escape_lanes", "0"),
            ("network.lanes.count", "1"),
        ];
        let compiled = compile(&source(MESH, &without).unwrap(), true).unwrap();
        assert!(matches!(compiled.proof, Proof::Cycle { .. }));
        let status = ends_as(&compiled.plan).0;
        // A packet that keeps the first output follows dimension order.
        let is_one_way = (select, reselect.1) == ("first", "\"never\"");
        let stands_still = matches!(status, Status::Deadlocked(_));
        assert_eq!(stands_still, !is_one_way, "{select} ended as {status:?}");
    }
}

#[test]
fn adaptive_torus_and_tree_are_proved_deadlock_free() {
    let torus = MESH.replace("generate.mesh", "generate.torus").replace("[4, 4]", "[5, 4]");
    let tree = MESH
        .replace(
            "generate.mesh]\ndimensions = [4, 4]\nhosts_per_switch = 1",
            "generate.k-ary-n-tree]\narity = 2\nlevels = 3",
        )
        .replace("dimension-order", "up-down")
        .replace("\"virtual-cut-through\"", "\"wormhole\"");
    for text in [torus, tree] {
        let compiled = compile(&source(&text, &[]).unwrap(), false).unwrap();
        assert!(matches!(compiled.proof, Proof::Free { .. }));
        let (status, flits) = ends_as(&compiled.plan);
        assert_eq!(status, Status::Ended);
        assert!(flits > 500, "{flits}");
    }
}

/// Packets of 6 flits over lanes of 8, one of them for escape: a lane holds the end of one packet
/// and the beginning of the next.
const SHORT: [(&str, &str); 7] = [
    ("topology.generate", "{ mesh = { dimensions = [6, 6], hosts_per_switch = 2 } }"),
    ("network.lanes.count", "2"),
    ("network.lanes.depth", "8"),
    ("network.lanes.output_depth", "8"),
    ("network.lanes.forwarding", "\"wormhole\""),
    ("traffic.0.length", "{ fixed = \"96 B\" }"),
    ("stop.time", "\"120 us\""),
];

/// Duato 1993, among the assumptions: a queue holds flits of one message, and is empty before it
/// accepts the next head.
#[test]
fn wormhole_lanes_reallocated_only_when_empty_are_safe() {
    let with =
        |reallocation| [&SHORT[..], &[("network.lanes.reallocation", reallocation)]].concat();
    let compiled = compile(&source(MESH, &with("\"tail-credit\"")).unwrap(), false).unwrap();
    assert!(matches!(compiled.proof, Proof::Free { .. }));
    let (status, flits) = ends_as(&compiled.plan);
    assert_eq!(status, Status::Ended);
    assert!(flits > 1_000, "{flits}");
    for reallocation in ["\"tail\"", "\"after-tail\""] {
        let described = refusal(MESH, &with(reallocation));
        assert!(described.contains("reallocation = \"tail-credit\""), "{described}");
        // Escape lanes do not help a packet behind another one.
        let compiled = compile(&source(MESH, &with(reallocation)).unwrap(), true).unwrap();
        assert!(matches!(compiled.proof, Proof::Free { .. }));
        let status = ends_as(&compiled.plan).0;
        assert!(matches!(status, Status::Deadlocked(_)), "{reallocation} ended as {status:?}");
    }
}

#[test]
fn invalid_adaptive_settings_are_refused() {
    /// Scenario, settings, key, part of the remedy.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);
    let torus = MESH.replace("generate.mesh", "generate.torus");
    let ring = [("topology.generate", "{ ring = { switches = 6, hosts_per_switch = 1 } }")];
    let cases: [Case<'_>; 9] = [
        (MESH, &[("routing.adaptive.escape_lanes", "3")], "routing.adaptive.escape_lanes", "has 3"),
        (
            MESH,
            &[("routing.adaptive.escape_lanes", "16")],
            "routing.adaptive.escape_lanes",
            "not 16",
        ),
        (
            MESH,
            &[("routing.adaptive.escape_lanes", "-1")],
            "routing.adaptive.escape_lanes",
            "not -1",
        ),
        (MESH, &[("traffic.0.lanes", "[2]")], "traffic[0].lanes", "one more"),
        (
            &torus,
            &[("routing.adaptive.escape_lanes", "1")],
            "routing.adaptive.escape_lanes",
            "say 2",
        ),
        (&torus, &[("network.lanes.count", "2")], "network.lanes.count", "one more"),
        (MESH, &[("network.lanes.datelines", "true")], "network.lanes.datelines", "leave it out"),
        (MESH, &[("routing.form", "\"source\"")], "routing.form", "\"table\""),
        (
            MESH,
            &[("network.lanes.forwarding", "\"wormhole\"")],
            "network.lanes.forwarding",
            "virtual-cut-through",
        ),
    ];
    for (text, settings, key, cure) in &cases {
        let described = refusal(text, settings);
        assert!(described.contains(&format!("in `{key}`: ")), "{settings:?}: {described}");
        assert!(described.contains(cure), "{settings:?}: {described}");
    }
    let longer = refusal(MESH, &[ring[0], ("routing.algorithm", "\"up-down\"")]);
    assert!(longer.contains("in `routing.algorithm`: ") && longer.contains("shortest"), "{longer}");
    let alone = refusal(MESH, &[("routing.algorithm", "\"in-transit\"")]);
    assert!(alone.contains("in `routing.algorithm`: "), "{alone}");
    assert!(alone.contains("choose \"shortest-path\"") && !alone.contains("form"), "{alone}");
    let on_a_ring = refusal(MESH, &[ring[0], ("routing.algorithm", "\"shortest-path\"")]);
    assert!(on_a_ring.contains("routing.adaptive.escape_lanes"), "{on_a_ring}");
}

/// Four switches in a ring, with paths from s0 to s3 by s1 or s2; lane 0 is for escape.
const DIAMOND: &str = r#"
topology.inline = """
switch = [{ name = "s0" }, { name = "s1" }, { name = "s2" }, { name = "s3" }]
host = [{ name = "h0" }, { name = "h1" }, { name = "h2" }]
cable = [
    { ends = ["s0", "s1"], length = "1 m" },
    { ends = ["s0", "s2"], length = "1 m" },
    { ends = ["s1", "s3"], length = "1 m" },
    { ends = ["s2", "s3"], length = "1 m" },
    { ends = ["h0", "s0"], length = "1 m" },
    { ends = ["h1", "s0"], length = "1 m" },
    { ends = ["h2", "s3"], length = "1 m" },
]
"""
network = { preset = "yum-1600", lanes = { count = 2, depth = 10, credit_delay = 30 } }
routing = { algorithm = "shortest-path", adaptive = { select = "first", escape_lanes = 1 } }
measure.messages = "all"
stop = { time = "100 us", warm_up = "0 ps" }
[[traffic]]
hosts = ["h0", "h1"]
destinations = { host = "h2" }
arrivals = "backlogged"
length = { fixed = "16 B" }
"#;

/// Heads choose lane 1 to s1; the escape lane of their path is lane 0 to s2.
#[test]
fn fixed_choice_leaves_other_lanes_of_the_path_unused() {
    let by = |reselect| {
        let settings = [("routing.adaptive.reselect", reselect)];
        let compiled = compile(&source(DIAMOND, &settings).unwrap(), true).unwrap();
        let mut plan = Plan::clone(&compiled.plan);
        let [s0, s1, s2] = ["s0", "s1", "s2"].map(|name| plan.fabric.find_node(name).unwrap());
        let to = |switch| {
            let ends = |of: &ChannelId| {
                [plan.fabric.source(*of).node, plan.fabric.target(*of).node] == [s0, switch]
            };
            ChannelId::first(plan.channels.len()).find(ends).unwrap()
        };
        let (to_s1, to_s2) = (to(s1), to(s2));
        let Routes::Table(tables) = &mut plan.routing.paths[0] else { panic!("tables") };
        let h2 = plan.fabric.endpoint_ids().nth(2).unwrap();
        tables.set_port(s0, h2, Some(plan.fabric.source(to_s2).port));
        // One of thirty flits from each host, and one of one flit from the first, which begins when
        // the previous one has no credit: both lanes that it may use are then held, and lane 1 to
        // s2 is free.
        let message = |flits: u32| Scheduled {
            created: Time::ZERO,
            draft: Draft { destination: h2, payload_bytes: 16 * flits },
        };
        let [h0, h1] = [&[30, 1][..], &[30]].map(|of| of.iter().map(|of| message(*of)).collect());
        for (source, messages) in plan.classes[0].sources.iter_mut().zip([h0, h1]) {
            source.messages = MessagePlan::Scheduled(messages);
        }
        let plan = Arc::new(plan);
        ends_as(&plan);
        let mut engine = gingham_engine::start(plan);
        engine.advance(u64::MAX);
        let counts = engine.channel_counts();
        [to_s1, to_s2].map(|channel| counts[channel.index()].data_flits)
    };
    assert_eq!(by("\"every-cycle\""), [30, 31]);
    assert_eq!(by("\"never\""), [31, 30]);
}
