//! A channel as a scenario writes it: a rate, a queue and a delay, and what goes wrong.

use core::num::NonZeroU8;

use super::QueueLength;
use gingham_kernel::{Bytes, Rate, Span};
use gingham_linkemu::QueueBound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A channel, and what goes wrong on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Its name in results. Default: its number, from 1.
    pub name: Option<String>,
    /// Its rate, in bytes that leave its queue.
    pub rate: Rate,
    /// Time from the last byte of a packet leaving the queue to its arrival.
    #[serde(default)]
    pub delay: Span,
    /// Size of its queue: bytes, or the longest time that a packet waits in it. What finds no room
    /// is dropped.
    #[serde(default = "default_queue")]
    pub queue: QueueLength,
    /// A policer before the queue, which drops what exceeds its rate (RFC 2697): a token bucket, in
    /// which nothing waits.
    pub policer: Option<Policer>,
    /// Cross traffic through the same queue and rate. It is not delivered, does not back off, and
    /// passes no policer.
    #[serde(default)]
    pub competing: Vec<Competing>,
    /// What it may send in a round, at least the longest packet. Default: in the ratio of the
    /// rates, with the longest packet for the slowest channel. Only surplus round robin takes one.
    pub quantum: Option<Bytes>,
    /// Most that is added to the delay, uniformly distributed, without changing the order.
    #[serde(default)]
    pub jitter: Span,
    /// The probability that a packet is lost, independently.
    #[serde(default)]
    pub loss: f64,
    /// Loss in bursts (Gilbert 1960, Elliott 1963), in place of `loss`.
    pub bursts: Option<Bursts>,
    /// Losses end at this instant. Default: the end of the run.
    pub loss_until: Option<Span>,
    /// The packets of data of this channel that are lost, by their numbers on it from 1.
    #[serde(default)]
    pub lose: Vec<u64>,
    /// The control messages of this channel that are lost, nearly all of them markers, likewise by
    /// number.
    #[serde(default)]
    pub lose_markers: Vec<u64>,
    /// The probability that a bit is corrupted. A corrupt packet is discarded on arrival.
    #[serde(default)]
    pub bit_errors: f64,
    /// The probability that a packet enters the queue twice.
    #[serde(default)]
    pub duplication: f64,
    /// Packets that are delayed, so that later ones overtake them.
    pub reordering: Option<Reordering>,
    /// Spans in which nothing crosses, in the order of time.
    #[serde(default)]
    pub outages: Vec<OutageSpan>,
    /// Changes of the rate, in the order of time.
    #[serde(default)]
    pub rates: Vec<RateStep>,
    /// The longest frame that crosses it, a packet with its header. Unlimited by default. A longer
    /// frame is lost silently.
    pub mtu: Option<Bytes>,
    /// Changes of that, in the order of time.
    #[serde(default)]
    pub mtus: Vec<MtuStep>,
    /// Changes of the quantum, in the order of time. The sender announces each to the receiver
    /// before it takes effect. With "0 B" the channel goes out.
    #[serde(default)]
    pub quanta: Vec<QuantumStep>,
    /// Packets go first on channels of priority 1, then on those of 2, and so on. A later one is
    /// used while none before it has room, for as long as a queue would stand. Only where the order
    /// is free.
    #[serde(default = "first")]
    pub priority: NonZeroU8,
    /// The sender sends no faster on it, packets with their tags, whatever its rate. Default: as
    /// fast as `control` says. Markers and the like do not count.
    pub cap: Option<Rate>,
    /// The reverse path, which carries what the receiver tells the sender. Default: the same rate
    /// and delay, with no faults.
    #[serde(default)]
    pub back: Back,
}

const fn first() -> NonZeroU8 {
    NonZeroU8::MIN
}

const fn default_queue() -> QueueLength {
    QueueLength(QueueBound::Bytes(64_000))
}

/// What a policer lets through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Token rate: what passes in the long run.
    pub rate: Rate,
    /// Bucket size, full at the start: what passes at once after an idle period. At least the
    /// longest packet.
    #[serde(default = "default_burst")]
    pub burst: Bytes,
}

const fn default_burst() -> Bytes {
    Bytes(64_000)
}

/// Traffic of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Competing {
    /// Its rate.
    pub rate: Rate,
    /// From this instant on.
    #[serde(default)]
    pub at: Span,
    /// Nothing arrives from this instant on. Default: until the end of the run.
    pub until: Option<Span>,
    /// The length of each of its packets.
    #[serde(default = "default_packet")]
    pub packet: Bytes,
    /// How its packets are spaced.
    #[serde(default)]
    pub spacing: Spacing,
}

const fn default_packet() -> Bytes {
    Bytes(1_500)
}

/// How packets of others are spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// One after the other at the rate.
    #[default]
    Even,
    /// Exponential times between packets, at the rate in the mean.
    Poisson,
}

/// Loss in bursts: a channel is in a good or a bad state, and may change it before each packet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// The probability that a packet finds the state bad when the one before found it good.
    pub to_bad: f64,
    /// The probability that a packet finds the state good when the one before found it bad.
    pub to_good: f64,
    /// The probability that a packet is lost in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// The probability that a packet is lost in the bad state.
    #[serde(default = "certain")]
    pub loss_bad: f64,
}

const fn certain() -> f64 {
    1.0
}

/// Packets that are held back at the far end.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// The probability that a packet is.
    pub probability: f64,
    /// How much later it arrives than it would in order.
    pub span: Span,
}

/// A span in which nothing crosses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpan {
    /// Its first instant.
    pub from: Span,
    /// The first instant after it.
    pub until: Span,
}

/// A change of the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// From this instant on.
    pub at: Span,
    /// The new rate.
    pub rate: Rate,
}

/// A change of the longest frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuStep {
    /// From this instant on.
    pub at: Span,
    /// The new longest frame.
    pub mtu: Bytes,
}

/// A change of the quantum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuantumStep {
    /// When the sender is told.
    pub at: Span,
    /// The new quantum; 0 B takes the channel out.
    pub quantum: Bytes,
}

/// The way back of a channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Back {
    /// Its rate. Default: that of the forward path.
    pub rate: Option<Rate>,
    /// Its delay. Default: that of the forward path.
    pub delay: Option<Span>,
    /// Most that is added to its delay.
    pub jitter: Span,
    /// The probability that a message is lost on it.
    pub loss: f64,
    /// Spans in which nothing crosses it. Default: those of the forward path.
    pub outages: Option<Vec<OutageSpan>>,
}
