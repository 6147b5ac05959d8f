//! What a run leaves behind, as a summary has it.

use super::channels::ChannelSummary;
use super::sources::SourceSummary;
use gingham_results::Table;
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that a run leaves behind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// What the numbers are worth.
    pub verdict: Verdict,
    /// Why, and what to do next.
    pub verdict_reason: String,
    /// Start of the window for rates, delays and order, in nanoseconds.
    pub warm_up_ns: u64,
    /// End of the window, when sources stop, in nanoseconds.
    pub window_end_ns: u64,
    /// Simulated time at the end of the run, in nanoseconds.
    pub end_ns: u64,
    /// Sum of the rates of all channels at the start, in bits per second.
    pub capacity_bits_per_s: f64,
    /// What was delivered in the window, in bits per second, without headers and duplicates.
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the goodput.
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// The same, of what was delivered in order.
    pub in_order_bits_per_s: Option<f64>,
    /// Packets that sources offered.
    pub packets_offered: u64,
    /// Of these, refused or dropped because the queue before the sender was at its limit.
    pub packets_refused: u64,
    /// Of these, dropped before the sender, because the queue of their flow stood for too long.
    pub packets_dropped_before: u64,
    /// Packets that went on a channel.
    pub packets_sent: u64,
    /// Of these, marked before the sender instead of dropped.
    pub packets_marked: u64,
    /// The most bytes that waited before the sender.
    pub entry_bytes_max: u64,
    /// Median wait before the sender of packets sent in the window, in nanoseconds, within 1 %.
    pub sojourn_p50_ns: Option<u64>,
    /// The 99th percentile of the same.
    pub sojourn_p99_ns: Option<u64>,
    /// Packets that were delivered.
    pub packets_delivered: u64,
    /// Of these, out of order: one that was sent later was delivered before it (RFC 4737).
    pub packets_out_of_order: u64,
    /// Of those delivered, duplicates of packets delivered before.
    pub packets_twice: u64,
    /// Of those sent, not delivered, for any of the reasons below and not repaired.
    pub packets_lost: u64,
    /// Of those delivered, copies: retransmissions of lost packets, copies of a redundant source, or
    /// copies that measured a channel in quarantine.
    pub packets_repaired: u64,
    /// Copies that were sent, whatever became of them.
    pub copies_sent: u64,
    /// Lost on a channel.
    pub lost_on_channels: u64,
    /// Dropped because the queue of a channel was full.
    pub lost_in_queues: u64,
    /// Dropped by the policer of a channel.
    pub lost_at_policers: u64,
    /// Lost in an outage.
    pub lost_in_outages: u64,
    /// Corrupted on a channel, and so discarded.
    pub lost_damaged: u64,
    /// Discarded by the receiver, for instance where a buffer was full; duplicates included.
    pub lost_at_receiver: u64,
    /// Packets out of order as a share of those delivered in the window.
    pub out_of_order_share: Option<f64>,
    /// Largest number of places by which a packet came after the first that was sent later (RFC
    /// 4737, section 4.2.1).
    pub reordering_extent_max: u64,
    /// Mean delay from its source to whoever reads, in nanoseconds, of packets delivered in the
    /// window.
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the mean delay.
    pub delay_half_width_ns: Option<f64>,
    /// Longest delay, in nanoseconds.
    pub delay_max_ns: Option<u64>,
    /// The percentiles of the delay that were asked for and can be told.
    pub percentiles: Vec<PercentileSummary>,
    /// Longest time in the window without a packet delivered, in nanoseconds.
    pub longest_gap_ns: Option<u64>,
    /// The most packets of a channel that waited at the receiver.
    pub buffer_packets_max: u64,
    /// Markers that were sent.
    pub markers_sent: u64,
    /// Of these, lost.
    pub markers_lost: u64,
    /// Bytes of messages, as a share of all bytes sent.
    pub message_share: Option<f64>,
    /// Resets that the sender began.
    pub resets: u64,
    /// Times that the receiver found a channel silent and went on without it.
    pub silences: u64,
    /// When the last packet was lost, in nanoseconds.
    pub last_loss_ns: Option<u64>,
    /// When the last packet was delivered out of order, in nanoseconds.
    pub last_out_of_order_ns: Option<u64>,
    /// Mean time from a loss to the last packet out of order before the next loss, in nanoseconds.
    pub recovery_mean_ns: Option<u64>,
    /// The longest of these.
    pub recovery_max_ns: Option<u64>,
    /// Name of the channel with the highest capacity, if a transport uses several channels. A
    /// second run has all sources over this channel alone, with the seed of the first run.
    pub best_channel_alone: Option<String>,
    /// Sum of the goodputs of all sources over that channel alone, in bits per second.
    pub best_channel_alone_bits_per_s: Option<f64>,
    /// Sum of the goodputs of all sources over all channels, as a multiple of that.
    pub best_channel_multiple: Option<f64>,
    /// By channel.
    pub channels: Vec<ChannelSummary>,
    /// By source.
    pub sources: Vec<SourceSummary>,
    /// What was decided when the scenario was compiled and could surprise.
    pub notes: Vec<String>,
    /// A row each channel, source, event and so on; empty in a summary.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

/// What the numbers are worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The numbers describe what the scenario asks for.
    Ok,
    /// Too little was delivered in the window: nothing, or so little that the half-width of the
    /// goodput exceeds a quarter of it.
    NotConverged,
    /// Packets were left behind at the end of the run, or nothing was delivered at all.
    Stalled,
    /// The run was ended early, as by Ctrl-C. The numbers hold for what was simulated.
    Interrupted,
}

/// A percentile of the delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PercentileSummary {
    /// Per cent of the packets whose delay is at most `delay_ns`.
    #[schemars(extend("x-unit" = "%"))]
    pub percentile: f64,
    /// The delay, within 1 %.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_ns: u64,
}
