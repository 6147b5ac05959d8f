//! The concepts: what all names of one have in common.
//!
//! ```text
//!   name       what kind of names they are
//!   schema     of the enum whose variants they are
//!   support    under a switching kind, by its features
//!   example    keys of a scenario, as TOML, with a pair of braces where the value of a variant goes
//! ```
//!
//! What is of one name stands at its variant: doc comment, parameters, and as extensions of the
//! schema `x-source` (paper and section, or "textbook") and `x-example`, in one line the value, in
//! several all keys; the bare name unless given. What an example leaves open is that of a 4x4 torus
//! whose hosts send 64-byte messages (`tests/test_catalogue.py`, which runs every example).

use super::support::Feature;
use super::support::Support::{self, Meaningless, Refused, Works};
use super::support::SwitchingKind;
use crate::scenario::{
    CongestionControl, Credits, Excess, FlowControl, Forwarding, LaneName, Lanes, Network,
    Placement, Preset, RefusedPost, StreamData, TrafficClass,
};
use gingham_net::traffic::{Arrivals, Destinations, Lengths, Spread};
use gingham_net::{
    Allocator, Among, Arbitration, Choose, Crossbar, Injection, Marking, Read, Reallocation,
    Reselect, Response, Scheduler, Segmentation, Select, VcAllocator,
};
use gingham_results::schema_of;
use gingham_topology::generate::Generator;
use gingham_topology::routing::Algorithm;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// A kind of names.
pub(super) struct Concept {
    pub(super) name: &'static str,
    pub(super) schema: fn() -> Value,
    /// That of a name under a kind.
    pub(super) support: fn(&str, &SwitchingKind) -> Support,
    pub(super) example: &'static str,
}

/// Every concept, in the order in which help shows them.
#[rustfmt::skip]
pub(super) const CONCEPTS: [Concept; 34] = [
    concept::<Generator>("generator", by_any, "topology.generate.{}"),
    concept::<Algorithm>("routing", by_hosts_on_the_way, "routing.algorithm = {}"),
    concept::<Choose>("path-choice", by_halts, r#"routing.alternative = { algorithm = "up-down", choose = {} }"#),
    concept::<Select>("select", by_five_stages, r#"network.lanes = { count = 4, forwarding = "virtual-cut-through" }
routing = { algorithm = "dimension-order", adaptive = { select = {} } }"#),
    concept::<Reselect>("reselect", by_five_stages, r#"network.lanes = { count = 4, forwarding = "virtual-cut-through" }
routing = { algorithm = "dimension-order", adaptive = { reselect = {} } }"#),
    concept::<Preset>("preset", by_its_own, "network.preset = {}"),
    concept::<Arbitration>("arbitration", by_ages, "network.arbitration = {}"),
    concept::<Crossbar>("crossbar", by_five_stages, "network.lanes.crossbar = {}"),
    concept::<Allocator>("allocator", by_five_stages, "network.lanes.allocator = {}"),
    concept::<Reallocation>("reallocation", by_five_stages, "network.lanes.reallocation = {}"),
    concept::<VcAllocator>("vc-allocator", by_five_stages, "network.lanes.vc_allocator = {}"),
    concept::<Injection>("injection", by_five_stages, "network.lanes.injection = {}"),
    concept::<Forwarding>("forwarding", by_room, "network.lanes.forwarding = {}"),
    concept::<Read>("read", by_whole_packets, "network.packets.read = {}"),
    concept::<FlowControl>("flow-control", by_whole_packets, "network.packets.flow_control = {}"),
    concept::<Among>("overtaking", by_whole_packets, "network.packets.overtaking.among = {}"),
    Concept { name: "lanes", schema: datelines, support: by_lanes, example: "{}" },
    concept::<Scheduler>("scheduler", by_lanes, "\
network.lanes.count = 2
network.lanes.link_output = {}
network.lanes.adapter_port = {}"),
    concept::<Arrivals>("arrivals", by_cycles, r#"[[traffic]]
arrivals = {}
load = 0.1
length = { fixed = "64 B" }"#),
    concept::<Lengths>("length", by_any, "\
[[traffic]]
load = 0.1
length = {}"),
    concept::<Destinations>("destinations", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = {}"#),
    concept::<StreamData>("stream-data", by_any, r#"[[traffic]]
streams = { data = {}, interval = "20 us", count = 2 }"#),
    concept::<Placement>("placement", by_any, r#"[[traffic]]
load = 0.4
streams = { data = { mpeg2 = { mean = "640 B", deviation = "128 B" } }, interval = "20 us", placement = {} }"#),
    concept::<Spread>("spread", by_any, r#"[[traffic]]
load = 0.4
streams = { data = { mpeg2 = { mean = "640 B", deviation = "128 B" } }, message = "64 B", interval = "20 us", spread = {} }"#),
    concept::<Segmentation>("segmentation", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = {}"#),
    concept::<Excess>("policing", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.2, burst = "256 B", excess = {} }"#),
    concept::<Marking>("marking", by_outputs, "network.marking = {}"),
    concept::<Response>("response", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, response = {} }"#),
    Concept { name: "admission", schema: admission, support: by_any, example: "{}" },
    concept::<CongestionControl>("congestion-control", by_any, "network.adapters = { congestion_control = {} }"),
    concept::<Credits>("credits", by_any, r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { credits = {} }"#),
    concept::<RefusedPost>("refused-post", by_any, r#"network.adapters = { send_buffer = 4 }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { refused = {} }"#),
    concept::<LaneName>("lane", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
lane = {}"#),
    Concept { name: "flow", schema: of_flows, support: by_any, example: "{}" },
];

const fn concept<T: JsonSchema>(
    name: &'static str,
    support: fn(&str, &SwitchingKind) -> Support,
    example: &'static str,
) -> Concept {
    Concept { name, schema: schema_of::<T>, support, example }
}

/// The key of a network that is a mechanism by itself.
fn admission() -> Value {
    variant(&mut schema_of::<Network>(), "admission")
}

/// The key of a table that is a mechanism by itself, whatever it may be set to.
fn datelines() -> Value {
    let key = schema_of::<Lanes>()["properties"]["datelines"].take();
    let mut mechanism = json!({ "const": "datelines" });
    for said in ["description", "x-source", "x-example"] {
        mechanism[said] = key[said].clone();
    }
    mechanism
}

/// The keys of a class that are mechanisms by themselves: what holds back its flows.
fn of_flows() -> Value {
    let mut class = schema_of::<TrafficClass>();
    let variants = ["window", "pace"].map(|name| variant(&mut class, name));
    json!({ "oneOf": variants })
}

/// The key of a table as the variant of an enum, which has the keys of its table for parameters.
fn variant(table: &mut Value, name: &str) -> Value {
    let mut variant = table["properties"][name].take();
    let parameters = variant.clone();
    variant["properties"] = json!({ name: parameters });
    variant
}

const fn by_any(_name: &str, _kind: &SwitchingKind) -> Support {
    Works
}

/// What is of lanes.
fn by_lanes(_name: &str, kind: &SwitchingKind) -> Support {
    of(Feature::Lanes, kind)
}

/// What is of the switch of five stages.
fn by_five_stages(_name: &str, kind: &SwitchingKind) -> Support {
    of(Feature::FiveStages, kind)
}

/// What is of whole packets.
fn by_whole_packets(_name: &str, kind: &SwitchingKind) -> Support {
    of(Feature::WholePackets, kind)
}

fn of(feature: Feature, kind: &SwitchingKind) -> Support {
    refused_if(!kind.has(feature), feature.reason())
}

const fn refused_if(is_refused: bool, reason: &'static str) -> Support {
    if is_refused { Refused { reason } } else { Works }
}

/// Who has cycles.
fn by_cycles(name: &str, kind: &SwitchingKind) -> Support {
    let is_refused = name == "bernoulli" && !kind.has(Feature::FiveStages);
    refused_if(is_refused, "only switches of five stages have cycles; poisson goes with all")
}

/// Who knows when a packet came.
fn by_ages(name: &str, kind: &SwitchingKind) -> Support {
    let is_refused = name == "oldest-first" && !kind.has(Feature::WholePackets);
    refused_if(is_refused, "only switches that keep whole packets at their inputs go by their ages")
}

/// Who knows what waits for outputs.
fn by_outputs(name: &str, kind: &SwitchingKind) -> Support {
    let looks = !matches!(name, "periodic" | "threshold");
    let reason = "only switches of whole packets know what waits for their outputs. `periodic` and \
                  `threshold` go with all kinds";
    refused_if(looks && !kind.has(Feature::WholePackets), reason)
}

/// Where packets go through hosts.
fn by_hosts_on_the_way(name: &str, kind: &SwitchingKind) -> Support {
    let is_refused = name == "in-transit" && !kind.has(Feature::InTransitHosts);
    refused_if(is_refused, "whole packets go through no in-transit hosts")
}

/// Where packets halt as they leave their host.
fn by_halts(name: &str, kind: &SwitchingKind) -> Support {
    let is_refused = name == "by-contention" && kind.has(Feature::WholePackets);
    let reason =
        "a whole packet leaves its host without a halt, by which alone a host sees contention";
    refused_if(is_refused, reason)
}

/// How packets go on over lanes.
fn by_room(name: &str, kind: &SwitchingKind) -> Support {
    if name == "wormhole" && kind.has(Feature::WholePackets) {
        return Refused { reason: "a whole packet goes on only where there is room for all of it" };
    }
    of(Feature::Lanes, kind)
}

/// A preset of a paper asks for the kind that it models; numbers that name none go with each.
fn by_its_own(name: &str, kind: &SwitchingKind) -> Support {
    let preset = Preset::ALL.iter().find(|preset| preset.name() == name);
    let asked = preset.expect("a preset has its name").modelled_kind();
    if asked.is_none_or(|asked| kind.name == asked.as_str()) { Works } else { Meaningless }
}

/// Files that examples read, by the name under which they do: (name, content).
pub(super) const FILES: &[(&str, &str)] = &[
    (
        "schedule.csv",
        "\
created_ps,source,destination,payload_bytes
0,h0-0-0,h3-3-0,512
0,h1-0-0,h3-3-0,64
5000000,h0-0-0,h0-1-0,64
",
    ),
    (
        "lengths.csv",
        "\
payload_bytes,weight
64,7
512,2
4096,1
",
    ),
    (
        "frames.txt",
        "\
0 0.0 I 1800
3 100.0 P 900
1 33.3 B 300
2 66.7 B 320
",
    ),
    (
        "demand.csv",
        "\
,h0-0-0,h1-0-0,h2-0-0
h0-0-0,0,1,0
h1-0-0,1,0,2
h2-0-0,0,0.5,0
",
    ),
];
