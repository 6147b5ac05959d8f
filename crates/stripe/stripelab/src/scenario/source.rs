//! Traffic sources of a scenario: arrivals and packet lengths.

use gingham_kernel::{Bytes, FileName, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A traffic source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name in results. Default: the number of the source, from 1.
    pub name: Option<String>,
    /// Arrival process.
    #[serde(default)]
    pub kind: SourceKind,
    /// Packet lengths. Lists and frames have their own.
    #[serde(default)]
    pub packets: Packets,
    /// Use of the channels.
    #[serde(default)]
    pub send: Send,
    /// Start of the source. Default: the start of the run.
    pub start: Option<Span>,
    /// End of the source. Default: `stop.time`.
    pub stop: Option<Span>,
}

/// Use of the channels by a source. Packets are delivered in the order of sending in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// The channel with the earliest arrival, by priority.
    #[default]
    Spread,
    /// The channel with the least round-trip time; packets wait for it. Only in free order.
    Fastest,
    /// As "spread", with a copy of each packet at once on another channel; the first to arrive
    /// counts. Copies are retransmissions of `stripe.repair`, which is required.
    Redundant,
}

/// Arrival process of a source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A packet is always ready to be sent.
    #[default]
    Backlogged,
    /// Evenly spaced packets at this rate.
    Constant(Constant),
    /// Exponentially distributed times between packets, with this mean rate.
    Poisson(Constant),
    /// Packets at this rate during on periods; on and off periods are exponentially distributed.
    OnOff(OnOff),
    /// A transport like TCP Reno with selective acknowledgements (RFC 5681, RFC 6675, RFC 6298):
    /// losses and reordering slow it down. Acknowledgements do not use the channels.
    Reno(Transport),
    /// A transport like TCP CUBIC (RFC 9438): as Reno, but its window is a cubic function of the
    /// time since its last reduction.
    Cubic(Transport),
    /// Frames of a film, one per interval, each cut into packets.
    Frames(Frames),
    /// The packets of a list, once.
    List(List),
}

/// Parameters of sources with a rate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Rate, counting the payload of packets only.
    pub rate: Rate,
}

/// Parameters of on-off sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Rate while the source is on.
    pub rate: Rate,
    /// Mean length of an on period.
    pub on: Span,
    /// Mean length of an off period.
    pub off: Span,
}

/// Parameters of a transport.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transport {
    /// Time from a delivery to its acknowledgement at the source. Default: the shortest delay of a
    /// channel.
    pub ack_delay: Option<Span>,
    /// Receive window: the most data in flight. Default: 4 MB.
    pub window: Option<Bytes>,
    /// Whether the transport reacts to marks (ECN, RFC 3168). A mark reduces its window as a loss
    /// does, without a retransmission.
    pub ecn: bool,
}

/// Parameters of a film.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// File with the length of a frame in bytes on each line. The last number of a line counts;
    /// lines that begin with `#` are ignored. The path is relative to the scenario.
    pub file: Option<FileName>,
    /// Frame lengths, instead of a file.
    #[serde(default)]
    pub lengths: Vec<Bytes>,
    /// Time between frames.
    pub interval: Span,
    /// Longest packet of a frame.
    pub packet: Bytes,
    /// Whether the film repeats.
    #[serde(default)]
    pub again: bool,
}

/// Parameters of a list of packets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Length of each packet.
    pub lengths: Vec<Bytes>,
    /// Time between packets.
    #[serde(default)]
    pub interval: Span,
}

/// Packet lengths of a source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Packets {
    /// One length.
    Fixed(Bytes),
    /// These lengths in order, repeated.
    InTurn(Vec<Bytes>),
    /// Random lengths with these weights.
    Mixture(Vec<Mixed>),
    /// Uniformly distributed lengths.
    Uniform(Uniform),
}

impl Default for Packets {
    fn default() -> Self {
        Self::Fixed(Bytes(1_500))
    }
}

/// A length of a mixture.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// Packet length.
    pub length: Bytes,
    /// Weight, relative to the others.
    pub weight: f64,
}

/// A range of lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Shortest length, included.
    pub from: Bytes,
    /// Longest length, included.
    pub to: Bytes,
}
