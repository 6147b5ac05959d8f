//! Concepts, with the properties that all names of a concept share.
//!
//! Properties of a single name are declared at the enum variant: doc comment, parameters, and
//! schema extensions. `x-source` is a paper and section, or "textbook". `x-needs` is a feature that
//! only some switching kinds have. `x-example` is the value on one line, or all keys on several
//! lines; the default is the bare name. Keys missing from an example are those of a 4x4 torus whose
//! hosts send 64-byte messages (`tests/test_catalogue.py`, which runs every example).

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

pub(super) struct Concept {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Scenario keys that take the names; `*` stands for every index of a list. Features needed by
    /// the first key or its tables apply to all names.
    pub(super) keys: &'static [&'static str],
    pub(super) schema: fn() -> Value,
    /// Whether a switching kind supports a name; `None` if all kinds support all names.
    pub(super) kind: Option<fn(&str, &SwitchingKind) -> bool>,
    /// Keys of a scenario, as TOML; `{}` stands for the value of a variant.
    pub(super) example: &'static str,
}

#[rustfmt::skip]
pub(super) const CONCEPTS: [Concept; 34] = [
    concept::<Generator>("generator", "Topologies", &["topology.generate"], "topology.generate.{}"),
    concept::<Algorithm>("routing", "Routing algorithms", &["routing.algorithm"], "routing.algorithm = {}"),
    concept::<Choose>("path-choice", "Choice between two paths", &["routing.alternative.choose"], r#"routing.alternative = { algorithm = "up-down", choose = {} }"#),
    concept::<Select>("select", "Selection among outputs", &["routing.adaptive.select"], r#"network.lanes = { count = 4, forwarding = "virtual-cut-through" }
routing = { algorithm = "dimension-order", adaptive = { select = {} } }"#),
    concept::<Reselect>("reselect", "Selection anew, or once", &["routing.adaptive.reselect"], r#"network.lanes = { count = 4, forwarding = "virtual-cut-through" }
routing = { algorithm = "dimension-order", adaptive = { reselect = {} } }"#),
    Concept { name: "preset", title: "Presets of networks", keys: &["network.preset"], schema: schema_of::<Preset>, kind: Some(is_asked), example: "network.preset = {}" },
    concept::<Arbitration>("arbitration", "Arbitration at switches", &["network.arbitration"], "network.arbitration = {}"),
    concept::<Crossbar>("crossbar", "Crossbars of switches with virtual lanes", &["network.lanes.crossbar"], "network.lanes.crossbar = {}"),
    concept::<Allocator>("allocator", "Allocators of crossbars", &["network.lanes.allocator"], "network.lanes.allocator = {}"),
    concept::<Reallocation>("reallocation", "Reallocation of lanes", &["network.lanes.reallocation"], "network.lanes.reallocation = {}"),
    concept::<VcAllocator>("vc-allocator", "Allocators of lanes", &["network.lanes.vc_allocator"], "network.lanes.vc_allocator = {}"),
    concept::<Injection>("injection", "Injection of packets over virtual lanes", &["network.lanes.injection"], "network.lanes.injection = {}"),
    concept::<Forwarding>("forwarding", "Forwarding of packets on a lane", &["network.lanes.forwarding"], "network.lanes.forwarding = {}"),
    concept::<Read>("read", "Reading of inputs, with whole packets", &["network.packets.read"], "network.packets.read = {}"),
    concept::<FlowControl>("flow-control", "Flow control of whole packets", &["network.packets.flow_control"], "network.packets.flow_control = {}"),
    concept::<Among>("overtaking", "Overtaking of whole packets", &["network.packets.overtaking.among"], "network.packets.overtaking.among = {}"),
    Concept { name: "lanes", title: "What lanes are for", keys: &["network.lanes"], schema: datelines, kind: None, example: "{}" },
    concept::<Scheduler>("scheduler", "Schedulers of lanes, at crossbar inputs, link outputs and adapter ports", &["network.lanes.link_output", "network.lanes.crossbar_input", "network.lanes.crossbar_output", "network.lanes.adapter_port"], "\
network.lanes.count = 2
network.lanes.link_output = {}
network.lanes.adapter_port = {}"),
    concept::<Arrivals>("arrivals", "Arrivals of messages", &["traffic.*.arrivals"], r#"[[traffic]]
arrivals = {}
load = 0.1
length = { fixed = "64 B" }"#),
    concept::<Lengths>("length", "Lengths of messages", &["traffic.*.length"], "\
[[traffic]]
load = 0.1
length = {}"),
    concept::<Destinations>("destinations", "Destinations of messages", &["traffic.*.destinations"], r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = {}"#),
    concept::<StreamData>("stream-data", "What streams send", &["traffic.*.streams.data"], r#"[[traffic]]
streams = { data = {}, interval = "20 us", count = 2 }"#),
    concept::<Placement>("placement", "Placement of streams", &["traffic.*.streams.placement"], r#"[[traffic]]
load = 0.4
streams = { data = { mpeg2 = { mean = "640 B", deviation = "128 B" } }, interval = "20 us", placement = {} }"#),
    concept::<Spread>("spread", "When the messages of a frame are created", &["traffic.*.streams.spread"], r#"[[traffic]]
load = 0.4
streams = { data = { mpeg2 = { mean = "640 B", deviation = "128 B" } }, message = "64 B", interval = "20 us", spread = {} }"#),
    concept::<Segmentation>("segmentation", "Segmentation of messages", &["traffic.*.segmentation"], r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = {}"#),
    concept::<Excess>("policing", "Policing: what becomes of excess", &["traffic.*.policing.excess"], r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.2, burst = "256 B", excess = {} }"#),
    concept::<Marking>("marking", "Marking by switches", &["network.marking"], "network.marking = {}"),
    concept::<Response>("response", "Responses of flows to marks and round trips", &["traffic.*.window.response"], r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, response = {} }"#),
    Concept { name: "admission", title: "Admission control", keys: &["network"], schema: admission, kind: None, example: "{}" },
    concept::<CongestionControl>("congestion-control", "Congestion control at adapters", &["network.adapters.congestion_control"], "network.adapters = { congestion_control = {} }"),
    concept::<Credits>("credits", "Credits of adapters", &["traffic.*.post.credits"], r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { credits = {} }"#),
    concept::<RefusedPost>("refused-post", "Refused posts", &["traffic.*.post.refused"], r#"network.adapters = { send_buffer = 4 }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { refused = {} }"#),
    concept::<LaneName>("lane", "Lane of a message", &["traffic.*.lane"], r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
lane = {}"#),
    Concept { name: "flow", title: "Windows and rate limits of flows", keys: &["traffic.*"], schema: of_flows, kind: None, example: "{}" },
];

const fn concept<T: JsonSchema>(
    name: &'static str,
    title: &'static str,
    keys: &'static [&'static str],
    example: &'static str,
) -> Concept {
    Concept { name, title, keys, schema: schema_of::<T>, kind: None, example }
}

fn admission() -> Value {
    variant(&mut schema_of::<Network>(), "admission")
}

fn datelines() -> Value {
    let key = schema_of::<Lanes>()["properties"]["datelines"].take();
    let mut mechanism = json!({ "const": "datelines" });
    for name in ["description", "x-needs", "x-source", "x-example"] {
        if let Some(value) = key.get(name) {
            mechanism[name] = value.clone();
        }
    }
    mechanism
}

fn of_flows() -> Value {
    let mut class = schema_of::<TrafficClass>();
    let variants = ["window", "rate_limit"].map(|name| variant(&mut class, name));
    json!({ "oneOf": variants })
}

fn variant(table: &mut Value, name: &str) -> Value {
    let mut variant = table["properties"][name].take();
    let parameters = variant.clone();
    variant["properties"] = json!({ name: parameters });
    variant
}

/// Returns whether a switching kind supports a preset. The preset of a paper requires the kind that
/// the paper models; the preset of a technology works with every kind.
fn is_asked(name: &str, kind: &SwitchingKind) -> bool {
    let preset = Preset::ALL.iter().find(|preset| preset.name() == name);
    let asked = preset.expect("a preset has its name").modelled_kind();
    asked.is_none_or(|asked| kind.name == asked.as_str())
}

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
