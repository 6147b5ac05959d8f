//! Channels of a scenario: rate, queue, delay and faults.

use core::num::NonZeroU8;

use super::QueueLength;
use gingham_kernel::{Bytes, Rate, Span};
use gingham_linkemu::QueueBound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Channel with its faults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Name in results. Default: the channel number, from 1.
    pub name: Option<String>,
    /// Drain rate of the queue.
    pub rate: Rate,
    /// Delay from a packet's last byte leaving the queue to its arrival.
    #[serde(default)]
    pub delay: Span,
    /// Queue limit: bytes, or the longest wait. Packets that do not fit are dropped.
    #[serde(default = "default_queue")]
    pub queue: QueueLength,
    /// Policer before the queue: a token bucket that drops packets above its rate (RFC 2697).
    pub policer: Option<Policer>,
    /// Cross traffic through the same queue. It is not delivered, does not back off, and bypasses
    /// the policer.
    #[serde(default)]
    pub competing: Vec<Competing>,
    /// Bytes per round, at least the longest packet. Default: proportional to the rates, with the
    /// longest packet for the slowest channel. Only for surplus round robin.
    pub quantum: Option<Bytes>,
    /// Maximum random addition to the delay, uniformly distributed; packets stay in order.
    #[serde(default)]
    pub jitter: Span,
    /// Probability that a packet is lost, independently of others.
    #[serde(default)]
    pub loss: f64,
    /// Burst loss (Gilbert 1960, Elliott 1963), instead of `loss`.
    pub bursts: Option<Bursts>,
    /// End of losses. Default: the end of the run.
    pub loss_until: Option<Span>,
    /// Numbers of the data packets to lose, counted on this channel from 1.
    #[serde(default)]
    pub lose: Vec<u64>,
    /// Numbers of the control messages to lose, mostly markers, counted on this channel from 1.
    #[serde(default)]
    pub lose_markers: Vec<u64>,
    /// Bit error rate. Corrupted packets are discarded on arrival.
    #[serde(default)]
    pub bit_errors: f64,
    /// Probability that a packet enters the queue twice.
    #[serde(default)]
    pub duplication: f64,
    /// Extra delay of random packets, so that later packets overtake them.
    pub reordering: Option<Reordering>,
    /// Outages in time order. Packets in transit during an outage are lost.
    #[serde(default)]
    pub outages: Vec<OutageSpan>,
    /// Rate changes, in time order.
    #[serde(default)]
    pub rates: Vec<RateStep>,
    /// Longest frame that the channel passes: a packet with its header. Longer frames are lost
    /// silently. Default: unlimited.
    pub mtu: Option<Bytes>,
    /// MTU changes, in time order.
    #[serde(default)]
    pub mtus: Vec<MtuStep>,
    /// Quantum changes, in time order, announced to the receiver before they take effect. "0 B"
    /// takes the channel out of use.
    #[serde(default)]
    pub quanta: Vec<QuantumStep>,
    /// Priority, at least 1. A channel is used only when all channels of higher priority (lower
    /// numbers) have been full for longer than the standing queue limit. Only with the
    /// stripe order "free".
    #[serde(default = "first")]
    pub priority: NonZeroU8,
    /// Maximum sending rate of packets with their tags, without markers and other messages.
    /// Default: the rate determined by `control`.
    pub cap: Option<Rate>,
    /// Reverse path for the receiver's messages. Default: the same rate and delay, without faults.
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
    /// Token rate: the maximum rate that passes in the long run.
    pub rate: Rate,
    /// Bucket size: the burst that passes after an idle period, at least the longest packet. The
    /// bucket is initially full.
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
    /// Start time. Default: the start of the run.
    #[serde(default)]
    pub at: Span,
    /// End time. Default: the end of the run.
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
    /// Constant times between packets.
    #[default]
    Even,
    /// Exponentially distributed times between packets.
    Poisson,
}

/// Burst loss: a channel is in a good or a bad state, which may change before each packet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Per-packet probability of changing from the good to the bad state.
    pub to_bad: f64,
    /// Per-packet probability of changing from the bad to the good state.
    pub to_good: f64,
    /// Loss probability in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Loss probability in the bad state.
    #[serde(default = "certain")]
    pub loss_bad: f64,
}

const fn certain() -> f64 {
    1.0
}

/// Extra delay of random packets at the far end of the channel.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// Extra delay of an affected packet.
    pub span: Span,
}

/// Channel outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpan {
    /// Start time.
    pub from: Span,
    /// End time, exclusive.
    pub until: Span,
}

/// Rate change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Time of the change.
    pub at: Span,
    /// New rate.
    pub rate: Rate,
}

/// MTU change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuStep {
    /// Time of the change.
    pub at: Span,
    /// New MTU.
    pub mtu: Bytes,
}

/// Quantum change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuantumStep {
    /// Time when the change is requested from the sender.
    pub at: Span,
    /// New quantum; "0 B" takes the channel out of use.
    pub quantum: Bytes,
}

/// Reverse path of a channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Back {
    /// Rate. Default: the forward rate.
    pub rate: Option<Rate>,
    /// Delay. Default: the forward delay.
    pub delay: Option<Span>,
    /// Maximum random addition to the delay, uniformly distributed.
    pub jitter: Span,
    /// Probability that a message is lost.
    pub loss: f64,
    /// Outages. Default: the outages of the forward path.
    pub outages: Option<Vec<OutageSpan>>,
}
