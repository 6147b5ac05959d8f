//! What is sent, as a scenario writes it: when, and how long packets are.

use gingham_kernel::{Bytes, FileName, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that sends packets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in results. Default: its number, from 1.
    pub name: Option<String>,
    /// When it sends.
    #[serde(default)]
    pub kind: SourceKind,
    /// How long its packets are; a list and frames have their own lengths.
    #[serde(default)]
    pub packets: Packets,
    /// How its packets go over the channels.
    #[serde(default)]
    pub send: Send,
    /// It sends from this instant on. Default: the beginning.
    pub start: Option<Span>,
    /// It sends nothing from this instant on. Default: until the end.
    pub stop: Option<Span>,
}

/// How packets go over the channels; whatever is said, they come out in the order in which they went
/// in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// Where each is there first, by priority.
    #[default]
    Spread,
    /// On the channel with the least round trip, for which it waits. Only where the order is free.
    Fastest,
    /// As "spread", and a copy of each at once on another channel: what comes first counts. A copy
    /// is one of `stripe.repair`, which it takes.
    Redundant,
}

/// When a source sends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// There is always a packet to be sent.
    #[default]
    Backlogged,
    /// One packet after the other, at this rate.
    Constant(Constant),
    /// Exponential times between packets, at this rate in the mean.
    Poisson(Constant),
    /// At this rate while it is on; both periods are exponential.
    OnOff(OnOff),
    /// A transport that is kept back by loss and by what arrives out of order, as TCP Reno with
    /// selective acknowledgements (RFC 5681, RFC 6675, RFC 6298), which come by themselves.
    Reno(Transport),
    /// The same, but that its window is a cubic function of the time since it was reduced, as of TCP
    /// CUBIC (RFC 9438).
    Cubic(Transport),
    /// Frames of a film, one an interval, each cut into packets.
    Frames(Frames),
    /// The packets of a list, once.
    List(List),
}

/// Parameters of sources with a rate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The rate, payload of packets only.
    pub rate: Rate,
}

/// Parameters of on-off sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// The rate while it is on.
    pub rate: Rate,
    /// Mean length of an on period.
    pub on: Span,
    /// Mean length of an off period.
    pub off: Span,
}

/// Parameters of the transport.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transport {
    /// Time of an acknowledgement from the delivery to the source. Default: the shortest delay of a
    /// channel.
    pub ack_delay: Option<Span>,
    /// Most that is in flight, the window of its receiver. Default: 4 MB.
    pub window: Option<Bytes>,
    /// Whether it reads marks (ECN, RFC 3168). A mark reduces its window as a loss does, and
    /// nothing is retransmitted.
    pub ecn: bool,
}

/// Parameters of a film.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// A file with the length of a frame in bytes on each line; the last number of a line counts,
    /// and lines that begin with `#` do not. The path is relative to the scenario.
    pub file: Option<FileName>,
    /// The lengths themselves, in place of a file.
    #[serde(default)]
    pub lengths: Vec<Bytes>,
    /// From one frame to the next.
    pub interval: Span,
    /// The longest packet that a frame is cut into.
    pub packet: Bytes,
    /// Whether the film is repeated when it ends.
    #[serde(default)]
    pub again: bool,
}

/// Parameters of a list of packets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The length of each packet.
    pub lengths: Vec<Bytes>,
    /// From one packet to the next.
    #[serde(default)]
    pub interval: Span,
}

/// How long packets are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Packets {
    /// All of the same length.
    Fixed(Bytes),
    /// These lengths one after the other, repeated.
    InTurn(Vec<Bytes>),
    /// Drawn for each packet among these.
    Mixture(Vec<Mixed>),
    /// Every length from the shortest to the longest is as likely.
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
    /// The length.
    pub length: Bytes,
    /// Its weight relative to the others.
    pub weight: f64,
}

/// A range of lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// The shortest, included.
    pub from: Bytes,
    /// The longest, included.
    pub to: Bytes,
}
