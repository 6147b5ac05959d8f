//! Traffic classes of a scenario.

use super::{LaneName, Placement, Policing, Post, Streams, Window};
use gingham_kernel::Span;
use gingham_net::Segmentation;
use gingham_net::traffic::{Arrivals, Destinations, Lengths, UniformPlaces};
use schemars::JsonSchema;
use serde::ser::{Error, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

/// Traffic class: messages, and the hosts that send them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficClass {
    /// Name of the class in results; the random number streams of the class depend on it.
    #[serde(default = "default_name")]
    pub name: String,
    /// Sending hosts: names or patterns with `*` and `?`, such as `a08-*`.
    #[schemars(extend("default" = ["*"]))]
    pub hosts: Option<Vec<String>>,
    /// When messages are created.
    #[serde(default = "default_arrivals")]
    pub arrivals: Arrivals,
    /// Offered payload load of each host, as a fraction of its link rate: above 0 and at most 1;
    /// for streams also above 1. Not allowed for backlogged classes, schedules and replies.
    pub load: Option<f64>,
    /// Payload length of messages. Default: the packet payload of the preset, if any. Not allowed
    /// for a schedule.
    pub length: Option<Lengths>,
    /// Destinations of messages; a reply always goes to the sender of the request.
    #[schemars(extend("default" = "uniform"))]
    pub destinations: Option<Destinations>,
    /// Priority level of the class, from 0 (lowest) to 7. A host sends packets of this class before
    /// packets of lower levels; switches do so if `network.arbitration` is set accordingly.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes that packets of the class may use. Default: all lanes except 15.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lanes: Option<Vec<i64>>,
    /// How a message chooses among the lanes of the class.
    #[serde(default)]
    pub lane: LaneName,
    /// Service level of the class's packets, from 0 to 15. Tables map this level to lanes
    /// (`routing.lane_tables`). Default: the level that the tables give each pair of hosts.
    #[schemars(range(min = 0, max = 15), extend("x-needs" = "lanes"))]
    pub service_level: Option<i64>,
    /// How hosts cut messages into packets. Default: packets of the preset's payload, or one packet
    /// per message if the preset sets no payload.
    pub segmentation: Option<Segmentation>,
    /// How messages are posted to the channel adapters (`network.adapters`).
    pub post: Option<Post>,
    /// Limit on the traffic of the class from each host. Default: unlimited.
    pub policing: Option<Policing>,
    /// Streams of the hosts, used instead of `arrivals`, `length` and `destinations`; a host may
    /// have many streams.
    pub streams: Option<Streams>,
    /// Limit on a flow's packets in flight, and how they are acknowledged. A flow is the class's
    /// traffic from one host to another. Each packet is acknowledged when it has arrived
    /// completely, and the acknowledgement allows another packet to start. Default: unlimited.
    #[schemars(extend("x-source" = "textbook; one acknowledgement a packet: Santos et al. 2002, section I"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
window = { packets = 4, ack = { length = "20 B" } }"#))]
    pub window: Option<Window>,
    /// Payload rate of a flow as a fraction of the host's link rate, above 0 and at most 1. The
    /// interval between the starts of two packets is at least the transmission time of the first
    /// packet's payload at this rate. Default: unlimited.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
rate_limit = 0.25"#))]
    pub rate_limit: Option<f64>,
    /// Time when the class starts to create messages. Default: the start of the run.
    pub start: Option<Span>,
    /// Staggered starts of the hosts of the class. By default all hosts start together.
    #[schemars(extend("x-source" = "Santos et al. 2002, section III; jitter: ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }
stagger = { every = "10 us", jitter = "10 us" }"#))]
    pub stagger: Option<Stagger>,
    /// Time when the class stops creating messages. Default: the end of the run.
    pub stop: Option<Span>,
}

/// Staggered starts of the hosts of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stagger {
    /// Time between the starts of successive hosts of the class, in fabric order; the first host
    /// starts at the class's `start`.
    pub every: Span,
    /// Upper limit of a random extra delay, drawn from the scenario's seed for each host, including
    /// the first.
    #[serde(default)]
    pub jitter: Span,
}

impl TrafficClass {
    /// Sets default hosts and destinations. Streams and schedules define their own destinations,
    /// and replies return to the sender.
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

/// Omits the arrivals of classes with streams, because `arrivals` is not allowed beside `streams`.
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
