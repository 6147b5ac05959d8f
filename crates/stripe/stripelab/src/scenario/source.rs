//! Traffic sources of a scenario: arrivals and packet lengths.

use gingham_kernel::{Bytes, FileName, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traffic source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name in results. Default: the source number, from 1.
    pub name: Option<String>,
    /// Arrival process.
    #[serde(default)]
    pub kind: SourceKind,
    /// Packet lengths. Not for lists and frames, which specify their lengths.
    #[serde(default)]
    pub packets: Packets,
    /// Use of the channels.
    #[serde(default)]
    pub send: Send,
    /// Start time. Default: the start of the run.
    pub start: Option<Span>,
    /// End time. Default: `stop.time`.
    pub stop: Option<Span>,
}

/// Use of the channels by a source. Packets are always delivered in sending order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// The channel with the earliest expected arrival, by priority.
    #[default]
    Spread,
    /// The channel with the shortest round-trip time; packets wait for it. Only with the stripe
    /// order "free".
    Fastest,
    /// Like "spread", with an immediate copy of each packet on another channel; whichever arrives
    /// first is delivered. Copies use the retransmissions of `stripe.repair`, which is required.
    Redundant,
}

/// Arrival process of a source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A source that always has a packet ready.
    #[default]
    Backlogged,
    /// Evenly spaced packets at this rate.
    Constant(Constant),
    /// Exponentially distributed times between packets, with this mean rate.
    Poisson(Constant),
    /// Evenly spaced packets at this rate during on-periods; the lengths of on- and off-periods are
    /// exponentially distributed.
    OnOff(OnOff),
    /// A transport like TCP Reno with selective acknowledgements (RFC 5681, RFC 6675, RFC 6298),
    /// slowed down by losses and reordering. Acknowledgements do not use the channels.
    Reno(Transport),
    /// A transport like TCP CUBIC (RFC 9438): like Reno, but the window is a cubic function of the
    /// time since its last reduction.
    Cubic(Transport),
    /// Video frames, one per interval, each divided into packets.
    Frames(Frames),
    /// A list of packets, sent once.
    List(List),
}

/// Parameters of sources with a rate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Rate of packet payload.
    pub rate: Rate,
}

/// Parameters of on-off sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Rate while the source is on.
    pub rate: Rate,
    /// Mean length of an on-period.
    pub on: Span,
    /// Mean length of an off-period.
    pub off: Span,
}

/// Parameters of a transport.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transport {
    /// Time from a delivery to its acknowledgement at the source. Default: the shortest delay of
    /// any channel.
    pub ack_delay: Option<Span>,
    /// Receive window: the maximum data in flight. Default: 4 MB.
    pub window: Option<Bytes>,
    /// Whether the transport supports ECN (RFC 3168). A mark reduces its window like a loss,
    /// without a retransmission.
    pub ecn: bool,
}

/// Parameters of video frames.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// File with one frame length in bytes per line. The last number of a line counts; lines that
    /// start with `#` are ignored. The path is relative to the scenario.
    pub file: Option<FileName>,
    /// Frame lengths, instead of a file.
    #[serde(default)]
    pub lengths: Vec<Bytes>,
    /// Time between frames.
    pub interval: Span,
    /// Longest packet of a frame.
    pub packet: Bytes,
    /// Whether the frames repeat after the last frame.
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
    /// A single length.
    Fixed(Bytes),
    /// These lengths in turn, repeated.
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

/// Length in a mixture.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// Packet length.
    pub length: Bytes,
    /// Weight, relative to the other weights.
    pub weight: f64,
}

/// Range of lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Shortest length, inclusive.
    pub from: Bytes,
    /// Longest length, inclusive.
    pub to: Bytes,
}
