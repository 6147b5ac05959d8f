//! A traffic class as a scenario writes it.

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
    /// The hosts that send: names or patterns with `*` and `?`, such as `a08-*`.
    #[schemars(extend("default" = ["*"]))]
    pub hosts: Option<Vec<String>>,
    /// When messages are created.
    #[serde(default = "default_arrivals")]
    pub arrivals: Arrivals,
    /// Offered load of each host as a fraction of its link, payload only: above 0 and at most 1,
    /// and of streams also more. Backlogged classes, schedules and replies take none.
    pub load: Option<f64>,
    /// Payload length of messages. Default: what a packet carries, where the preset says so. A
    /// schedule takes none.
    pub length: Option<Lengths>,
    /// Where messages go; replies go back.
    #[schemars(extend("default" = "uniform"))]
    pub destinations: Option<Destinations>,
    /// Priority level of the class, from 0, the lowest, to 7. At a host its packets go before those
    /// of lower levels, and at switches too where `network.arbitration` says so.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes on which its packets may go, each on any of them. Default: all but 15.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lanes: Option<Vec<i64>>,
    /// On which of its lanes a message goes.
    #[serde(default)]
    pub lane: LaneName,
    /// Service level of its packets, from 0 to 15, which tables map to lanes
    /// (`routing.lane_tables`). Default: the level that the tables give each pair of hosts.
    #[schemars(range(min = 0, max = 15), extend("x-needs" = "lanes"))]
    pub service_level: Option<i64>,
    /// How hosts cut messages into packets. Default: into what a packet carries by the preset, or
    /// not at all where the preset does not say.
    pub segmentation: Option<Segmentation>,
    /// How its messages are posted to channel adapters (`network.adapters`).
    pub post: Option<Post>,
    /// How much of the class a host may send. Unlimited by default.
    pub policing: Option<Policing>,
    /// Streams, of which a host may send many. They replace `arrivals`, `length` and
    /// `destinations`.
    pub streams: Option<Streams>,
    /// How many packets of a flow may be in flight. A flow is the class from one host to another.
    /// Each packet is answered when it has arrived whole, and the answer lets one more start.
    /// Unlimited by default.
    #[schemars(extend("x-source" = "textbook; one answer a packet: Santos et al. 2002, section I"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, answer = { length = "20 B" } }"#))]
    pub window: Option<Window>,
    /// Payload rate of a flow as a fraction of the host's link, above 0 and at most 1. A packet
    /// starts no sooner than the one before it plus the time that its payload takes at this rate.
    /// Unlimited by default.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
pace = 0.25"#))]
    pub pace: Option<f64>,
    /// The class creates messages from this instant on. Default: the beginning of the run.
    pub start: Option<Span>,
    /// The hosts of the class start one after the other. Default: all at once.
    #[schemars(extend("x-source" = "Santos et al. 2002, section III; jitter: ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }
stagger = { every = "10 us", jitter = "10 us" }"#))]
    pub stagger: Option<Stagger>,
    /// It creates none from this instant on. Default: until the end of the run.
    pub stop: Option<Span>,
}

/// How the hosts of a class start one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stagger {
    /// From one host of the class to the next, in the order of the fabric; the first starts with
    /// the class.
    pub every: Span,
    /// Each host, the first too, starts later by a random time below this, drawn from the seed.
    #[serde(default)]
    pub jitter: Span,
}

impl TrafficClass {
    /// Says what holds where nothing is written. Streams and a schedule have their own hosts and destinations, and
    /// replies go where their messages came from.
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

/// Writes classes so that they can be read again: one of streams leaves its arrivals open, beside which
/// they cannot stand.
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

/// What a class is named that says no name.
pub(super) const UNNAMED_CLASS: &str = "all";

fn default_name() -> String {
    UNNAMED_CLASS.to_owned()
}

const fn default_arrivals() -> Arrivals {
    Arrivals::Poisson
}
