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
use crate::scenario::{Excess, Forwarding, Lanes, Preset, TrafficClass};
use gingham_model::traffic::{Arrivals, Destinations, Lengths};
use gingham_model::{Arbitration, Choose, Crossbar, Marking, Response, Scheduler, Segmentation};
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
pub(super) const CONCEPTS: [Concept; 17] = [
    concept::<Generator>("generator", by_any, "topology.generate.{}"),
    concept::<Algorithm>("routing", by_any, "routing.algorithm = {}"),
    concept::<Choose>("path-choice", by_any, r#"routing.alternative = { algorithm = "up-down", choose = {} }"#),
    concept::<Preset>("preset", by_its_own, "network.preset = {}"),
    concept::<Arbitration>("arbitration", by_any, "network.arbitration = {}"),
    concept::<Crossbar>("crossbar", by_five_stages, "network.lanes.crossbar = {}"),
    concept::<Forwarding>("forwarding", by_five_stages, "network.lanes.forwarding = {}"),
    Concept { name: "lanes", schema: datelines, support: by_lanes, example: "{}" },
    concept::<Scheduler>("scheduler", by_lanes, "\
network.lanes.count = 2
network.lanes.crossbar_input = {}
network.lanes.link_output = {}
network.lanes.adapter_port = {}"),
    concept::<Arrivals>("arrivals", by_any, r#"[[traffic]]
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
    concept::<Segmentation>("segmentation", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = {}"#),
    concept::<Excess>("policing", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.2, burst = "256 B", excess = {} }"#),
    concept::<Marking>("marking", by_any, "network.marking = {}"),
    concept::<Response>("response", by_any, r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, response = {} }"#),
    Concept { name: "flow", schema: of_flows, support: by_any, example: "{}" },
];

const fn concept<T: JsonSchema>(
    name: &'static str,
    support: fn(&str, &SwitchingKind) -> Support,
    example: &'static str,
) -> Concept {
    Concept { name, schema: schema_of::<T>, support, example }
}

/// The key of a table that is a mechanism by itself.
fn datelines() -> Value {
    let mut key = schema_of::<Lanes>()["properties"]["datelines"].take();
    key["const"] = "datelines".into();
    key
}

/// The keys of a class that are mechanisms by themselves: what holds back its flows.
fn of_flows() -> Value {
    let mut class = schema_of::<TrafficClass>();
    let variants = ["window", "pace"].map(|name| {
        let mut variant = class["properties"][name].take();
        let parameters = variant.clone();
        variant["properties"] = json!({ name: parameters });
        variant
    });
    json!({ "oneOf": variants })
}

const fn by_any(_name: &str, _kind: &SwitchingKind) -> Support {
    Works
}

/// What is of lanes.
fn by_lanes(_name: &str, kind: &SwitchingKind) -> Support {
    of_lanes(Feature::Lanes, kind)
}

/// What is of the switch of five stages.
fn by_five_stages(_name: &str, kind: &SwitchingKind) -> Support {
    of_lanes(Feature::FiveStages, kind)
}

fn of_lanes(feature: Feature, kind: &SwitchingKind) -> Support {
    if kind.has(feature) {
        Works
    } else {
        Refused { reason: "belongs to networks of virtual lanes" }
    }
}

/// A preset asks for a kind.
fn by_its_own(name: &str, kind: &SwitchingKind) -> Support {
    let preset = Preset::ALL.into_iter().find(|preset| preset.name() == name);
    let asked = preset.expect("a preset has its name").parameters().switching.kind();
    if kind.name == asked { Works } else { Meaningless }
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
        "demand.csv",
        "\
,h0-0-0,h1-0-0,h2-0-0
h0-0-0,0,1,0
h1-0-0,1,0,2
h2-0-0,0,0.5,0
",
    ),
];
