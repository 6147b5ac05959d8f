//! Traffic class in a scenario.

use super::{LaneName, Placement, Policing, Post, Streams, Window};
use gingham_kernel::Span;
use gingham_net::Segmentation;
use gingham_net::traffic::{Arrivals, Destinations, Lengths, UniformPlaces};
use schemars::JsonSchema;
use serde::ser::{Error, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

/// One kind of traffic and the hosts that send it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficClass {
    /// Name of the class in results; it is part of the key of its random streams.
    #[serde(default = "default_name")]
    pub name: String,
    /// The sending hosts: names or patterns with `*` and `?`, such as `a08-*`.
    #[schemars(extend("default" = ["*"]))]
    pub hosts: Option<Vec<String>>,
    /// When messages are created.
    #[serde(default = "default_arrivals")]
    pub arrivals: Arrivals,
    /// Offered load of each host as a fraction of its link, payload only: above 0 and at most 1;
    /// streams may exceed 1. Not allowed for backlogged classes, schedules and replies.
    pub load: Option<f64>,
    /// Payload length of messages. Default: the payload of a packet, if the preset gives one. Not
    /// allowed for a schedule.
    pub length: Option<Lengths>,
    /// Destinations of messages; replies return to the sender.
    #[schemars(extend("default" = "uniform"))]
    pub destinations: Option<Destinations>,
    /// Priority level of the class, from 0, the lowest, to 7. A host sends its packets before those
    /// of lower levels; switches do so if `network.arbitration` sets it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes that its packets may use. Default: all but 15.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lanes: Option<Vec<i64>>,
    /// How a message chooses among the lanes of the class.
    #[serde(default)]
    pub lane: LaneName,
    /// Service level of its packets, from 0 to 15, which tables map to lanes
    /// (`routing.lane_tables`). Default: the level that the tables give each pair of hosts.
    #[schemars(range(min = 0, max = 15), extend("x-needs" = "lanes"))]
    pub service_level: Option<i64>,
    /// How hosts cut messages into packets. Default: into the packet payload of the preset, or not
    /// at all if the preset gives none.
    pub segmentation: Option<Segmentation>,
    /// How its messages are posted to channel adapters (`network.adapters`).
    pub post: Option<Post>,
    /// Limit on the traffic of the class from each host. Unlimited by default.
    pub policing: Option<Policing>,
    /// Streams; a host may have many. They replace `arrivals`, `length` and `destinations`.
    pub streams: Option<Streams>,
    /// Maximum number of packets of a flow in flight. A flow is the class from one host to another.
    /// Each packet is acknowledged when it has arrived completely, and the acknowledgement allows
    /// another one to start. Unlimited by default.
    #[schemars(extend("x-source" = "textbook; one acknowledgement a packet: Santos et al. 2002, section I"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, ack = { length = "20 B" } }"#))]
    pub window: Option<Window>,
    /// Payload rate of a flow as a fraction of the host's link, above 0 and at most 1. A packet
    /// starts no earlier than the start of the previous one plus the time that its payload takes at
    /// this rate. Unlimited by default.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
rate_limit = 0.25"#))]
    pub rate_limit: Option<f64>,
    /// The class creates messages from this time on. Default: the beginning of the run.
    pub start: Option<Span>,
    /// Staggered starts of the hosts of the class. Default: all start together.
    #[schemars(extend("x-source" = "Santos et al. 2002, section III; jitter: ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }
stagger = { every = "10 us", jitter = "10 us" }"#))]
    pub stagger: Option<Stagger>,
    /// The class creates no messages from this time on. Default: the end of the run.
    pub stop: Option<Span>,
}

/// Staggered starts of the hosts of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stagger {
    /// Time from one host of the class to the next, in fabric order; the first starts with the
    /// class.
    pub every: Span,
    /// Upper limit of a random extra delay, drawn from the seed for each host, including the first.
    #[serde(default)]
    pub jitter: Span,
}

impl TrafficClass {
    /// Default hosts and destinations; streams and a schedule have their own, and replies return to
    /// the sender.
    pub(super) fn fill_in(&mut self) {
        if let Some(streams) = &self.streams {
            if !matches!(streams.placement, Placement::Pairs(_)) {
                self.hosts.get_or_insert_with(|| vec!["*".to_owned()]);
            }
            return;
        }
        if !matches!(self.arrivals, Arrivals::Schedule(_)) {
            self.hosts.get_or_insert_with(|| vec!["*".to_owned()]);
        }
        if !matches!(self.arrivals, Arrivals::Schedule(_) | Arrivals::Reply(_)) {
            self.destinations.get_or_insert(Destinations::Uniform(UniformPlaces::default()));
        }
    }
}

/// A class of streams leaves out its arrivals, which are not allowed beside streams.
pub(super) fn as_read_again<S: Serializer>(
    classes: &[TrafficClass],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut all = serializer.serialize_seq(Some(classes.len()))?;
    for class in classes {
        if class.streams.is_none() {
            all.serialize_element(class)?;
            continue;
        }
        let mut open = serde_json::to_value(class).map_err(S::Error::custom)?;
        open["arrivals"] = serde_json::Value::Null;
        all.serialize_element(&open)?;
    }
    all.end()
}

pub(super) const UNNAMED_CLASS: &str = "all";

fn default_name() -> String {
    UNNAMED_CLASS.to_owned()
}

const fn default_arrivals() -> Arrivals {
    Arrivals::Poisson
}
