//! A channel of a scenario: rate, queue, delay and faults.

use core::num::NonZeroU8;

use super::QueueLength;
use gingham_kernel::{Bytes, Rate, Span};
use gingham_linkemu::QueueBound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A channel and its faults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Name in results. Default: the number of the channel, from 1.
    pub name: Option<String>,
    /// Transmission rate of its queue.
    pub rate: Rate,
    /// Time from the last byte of a packet leaving the queue to its arrival.
    #[serde(default)]
    pub delay: Span,
    /// Size of its queue: bytes, or the longest time that a packet waits in it. Packets that do not
    /// fit are dropped.
    #[serde(default = "default_queue")]
    pub queue: QueueLength,
    /// Policer before the queue: a token bucket without a queue, which drops packets above its rate
    /// (RFC 2697).
    pub policer: Option<Policer>,
    /// Cross traffic through the same queue and rate. It is not delivered, does not back off, and
    /// passes no policer.
    #[serde(default)]
    pub competing: Vec<Competing>,
    /// Bytes per round, at least the longest packet. Default: proportional to the rates, with the
    /// longest packet for the slowest channel. Only surplus round robin has quanta.
    pub quantum: Option<Bytes>,
    /// Maximum random addition to the delay, uniformly distributed. The order is kept.
    #[serde(default)]
    pub jitter: Span,
    /// Probability that a packet is lost, independently of others.
    #[serde(default)]
    pub loss: f64,
    /// Loss in bursts (Gilbert 1960, Elliott 1963), instead of `loss`.
    pub bursts: Option<Bursts>,
    /// End of losses. Default: the end of the run.
    pub loss_until: Option<Span>,
    /// Data packets to lose, by their numbers on this channel from 1.
    #[serde(default)]
    pub lose: Vec<u64>,
    /// Control messages to lose, nearly all of them markers, by their numbers on this channel from
    /// 1.
    #[serde(default)]
    pub lose_markers: Vec<u64>,
    /// Probability that a bit is corrupted. A corrupt packet is discarded on arrival.
    #[serde(default)]
    pub bit_errors: f64,
    /// Probability that a packet enters the queue twice.
    #[serde(default)]
    pub duplication: f64,
    /// Random extra delay of single packets, so that later ones overtake them.
    pub reordering: Option<Reordering>,
    /// Outages in time order. Nothing crosses the channel during an outage.
    #[serde(default)]
    pub outages: Vec<OutageSpan>,
    /// Changes of the rate, in time order.
    #[serde(default)]
    pub rates: Vec<RateStep>,
    /// Longest frame that crosses the channel, a packet with its header. Default: unlimited. A
    /// longer frame is lost silently.
    pub mtu: Option<Bytes>,
    /// Changes of the longest frame, in time order.
    #[serde(default)]
    pub mtus: Vec<MtuStep>,
    /// Changes of the quantum, in time order. The sender announces each to the receiver before it
    /// takes effect. "0 B" takes the channel out.
    #[serde(default)]
    pub quanta: Vec<QuantumStep>,
    /// Priority: packets go first on channels of priority 1, then on those of 2, and so on. A
    /// channel is used only once all channels before it have been full for longer than a queue may
    /// stand. Only in free order.
    #[serde(default = "first")]
    pub priority: NonZeroU8,
    /// Maximum sending rate of packets with their tags. Default: the rate that `control`
    /// determines. Markers and other messages do not count.
    pub cap: Option<Rate>,
    /// Reverse path, which carries the receiver's messages. Default: the same rate and delay, with
    /// no faults.
    #[serde(default)]
    pub back: Back,
}

const fn first() -> NonZeroU8 {
    NonZeroU8::MIN
}

const fn default_queue() -> QueueLength {
    QueueLength(QueueBound::Bytes(64_000))
}

/// Token bucket of a policer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Token rate: the average rate that passes.
    pub rate: Rate,
    /// Bucket size, full at the start: the burst that passes after an idle period. At least the
    /// longest packet.
    #[serde(default = "default_burst")]
    pub burst: Bytes,
}

const fn default_burst() -> Bytes {
    Bytes(64_000)
}

/// Cross traffic on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Competing {
    /// Rate of the cross traffic.
    pub rate: Rate,
    /// Start of the traffic.
    #[serde(default)]
    pub at: Span,
    /// End of the traffic. Default: the end of the run.
    pub until: Option<Span>,
    /// Packet length.
    #[serde(default = "default_packet")]
    pub packet: Bytes,
    /// Distribution of the times between packets.
    #[serde(default)]
    pub spacing: Spacing,
}

const fn default_packet() -> Bytes {
    Bytes(1_500)
}

/// Distribution of the times between packets of cross traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Evenly spaced at the rate.
    #[default]
    Even,
    /// Exponentially distributed times between packets, with this mean rate.
    Poisson,
}

/// Loss in bursts: a channel is in a good or a bad state, which may change before each packet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability of a change from the good to the bad state between two packets.
    pub to_bad: f64,
    /// Probability of a change from the bad to the good state between two packets.
    pub to_good: f64,
    /// Probability that a packet is lost in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Probability that a packet is lost in the bad state.
    #[serde(default = "certain")]
    pub loss_bad: f64,
}

const fn certain() -> f64 {
    1.0
}

/// Extra delay of single packets at the end of the channel.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// Extra delay of a delayed packet.
    pub span: Span,
}

/// An outage of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpan {
    /// Start of the outage.
    pub from: Span,
    /// End of the outage, exclusive.
    pub until: Span,
}

/// A change of the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Time of the change.
    pub at: Span,
    /// New rate.
    pub rate: Rate,
}

/// A change of the longest frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuStep {
    /// Time of the change.
    pub at: Span,
    /// New longest frame.
    pub mtu: Bytes,
}

/// A change of the quantum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuantumStep {
    /// Time of the request to the sender.
    pub at: Span,
    /// New quantum; "0 B" takes the channel out.
    pub quantum: Bytes,
}

/// Reverse path of a channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Back {
    /// Rate. Default: that of the forward path.
    pub rate: Option<Rate>,
    /// Delay. Default: that of the forward path.
    pub delay: Option<Span>,
    /// Maximum random addition to the delay.
    pub jitter: Span,
    /// Probability that a message is lost.
    pub loss: f64,
    /// Outages. Default: those of the forward path.
    pub outages: Option<Vec<OutageSpan>>,
}
