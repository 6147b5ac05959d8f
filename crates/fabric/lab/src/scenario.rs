//! A scenario: the complete description of a run, written in TOML.
//!
//! ```toml
//! seed = 1
//!
//! [topology.generate.torus]
//! dimensions = [4, 4]
//! hosts_per_switch = 2
//!
//! [network]
//! preset = "myrinet-1280"
//!
//! [[traffic]]
//! load = 0.2
//! length = { fixed = "512 B" }
//!
//! [stop]
//! time = "2 ms"
//! ```
//!
//! Compilation resolves names and units; the resulting plan is typed and uses integers
//! ([`crate::compile()`]). `gingham` shows the doc comments of the fields as help.

mod datasheet;
mod datelines;
mod defaults;
mod lanes;
mod measure;
mod network;
mod packets;
mod parameters;
mod preset;
mod routing;
pub(crate) mod section;
mod topology;
mod traffic;

pub use crate::mechanisms::admission::keys::Admission;
pub use crate::mechanisms::flow_control::keys::{CreditLoss, FlowControl, Pfc};
pub use crate::mechanisms::in_transit::keys::InTransit;
pub use crate::mechanisms::policing::keys::{Excess, Policing};
pub use crate::mechanisms::posting::keys::{
    Adapters, Credits, Dma, LaneName, Post, RefusedPost, Retry,
};
pub use crate::mechanisms::streams::keys::{
    Deadline, Mpeg2, OnOffData, Placement, StreamData, Streams, Trace,
};
pub use crate::mechanisms::throttle::keys::{CongestionControl, SelfTuned};
pub use crate::mechanisms::window::keys::{Ack, Window};
pub use datelines::DatelineChoice;
pub(crate) use defaults::completed;
pub use defaults::describe_network;
pub use gingham_input::Overrides;
pub use lanes::{Forwarding, LaneArbiters, LaneParameters, Lanes, PerLane, PipelineParameters};
pub(crate) use measure::PERCENTILES_DEFAULT;
pub use measure::{Congestion, Follow, Measure, Stop};
pub use network::{
    Crash, Header, HeaderParameters, LinkParameters, Network, RouteHeader, WormholeParameters,
};
pub use packets::{Overtaking, OvertakingParameters, Packets, PacketsParameters};
pub use parameters::{Parameters, SwitchingName, SwitchingParameters};
pub(crate) use preset::INFINIBAND_PACKET_MAX;
pub use preset::Preset;
pub use routing::{AdaptiveRouting, AlternativePaths, Routing};
pub use topology::Topology;
pub(crate) use topology::fabric;
pub use traffic::{Stagger, TrafficClass};

use crate::old_names::OLD_NAMES;
use crate::other_names::OTHER_NAMES;
use gingham_input::{FORMAT, OldName, OtherName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario as written, with defaults for missing keys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// File format version. Default: the current version.
    #[serde(default = "gingham_input::present_format", skip_serializing)]
    #[schemars(range(min = 1, max = FORMAT), extend("default" = FORMAT))]
    pub format: u32,
    /// Title of the run's tables and figures.
    #[serde(default)]
    pub title: String,
    /// Seed of all random number streams. Results for a given scenario and seed are identical on
    /// every machine.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Source of the fabric: a file, inline text or a generator.
    pub topology: Topology,
    /// Routing of packets.
    #[serde(default)]
    pub routing: Routing,
    /// Links, switches and adapters.
    #[serde(default)]
    pub network: Network,
    /// Traffic classes, each with its hosts.
    #[serde(serialize_with = "traffic::as_read_again")]
    pub traffic: Vec<TrafficClass>,
    /// End of the run, and the measurement window.
    pub stop: Stop,
    /// Data recorded about the run in addition to its totals.
    #[serde(default)]
    pub measure: Measure,
}

/// Scenario with the positions of its keys in the file.
pub type ScenarioSource = gingham_input::Source<Scenario>;

impl gingham_input::Scenario for Scenario {
    const HAS_FORMAT: bool = true;

    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        (
            "topology",
            "a table such as `topology = { generate = { torus = { dimensions = [4, 4] } } }`",
        ),
        ("traffic", "tables such as `traffic = [{ load = 0.1, length = { fixed = \"512 B\" } }]`"),
        ("stop", "a table such as `stop = { time = \"10 ms\" }`"),
        ("stop.time", "a time such as `time = \"10 ms\"`"),
    ];

    const UNNAMED: &'static [(&'static str, &'static str)] = &[("traffic", traffic::UNNAMED_CLASS)];

    const OLD_NAMES: &'static [OldName] = &OLD_NAMES;

    const OTHER_NAMES: &'static [OtherName] = &OTHER_NAMES;

    fn fill_in(&mut self) {
        self.traffic.iter_mut().for_each(TrafficClass::fill_in);
    }
}

const fn default_seed() -> u64 {
    1
}
