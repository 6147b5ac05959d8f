//! Summary of a run.

use super::channels::ChannelSummary;
use super::sources::SourceSummary;
use gingham_results::Table;
use schemars::JsonSchema;
use serde::Serialize;

/// Results of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Reliability of the results.
    pub verdict: Verdict,
    /// Reason for the verdict, and the recommended next step.
    pub verdict_reason: String,
    /// Start of the measurement window for rates, delays and reordering.
    pub warm_up_ns: u64,
    /// End of the measurement window, when sources stop.
    pub window_end_ns: u64,
    /// Simulated time at the end of the run.
    pub end_ns: u64,
    /// Total rate of all channels at the start of the run.
    pub capacity_bits_per_s: f64,
    /// Delivery rate in the window, without headers and duplicates.
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the 95 % confidence interval of the goodput.
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// Delivery rate of in-order packets in the window.
    pub in_order_bits_per_s: Option<f64>,
    /// Packets that sources offered.
    pub packets_offered: u64,
    /// Packets refused or dropped because the entry queue was full.
    pub packets_refused: u64,
    /// Packets that CoDel dropped from the entry queue.
    pub packets_dropped_before: u64,
    /// Packets sent on a channel.
    pub packets_sent: u64,
    /// Packets that the entry queue marked (ECN) and the sender sent.
    pub packets_marked: u64,
    /// Maximum number of bytes in the entry queue.
    pub entry_bytes_max: u64,
    /// Median sojourn time in the entry queue of packets sent in the window, within 1 %.
    pub sojourn_p50_ns: Option<u64>,
    /// 99th percentile of the sojourn time in the entry queue, within 1 %.
    pub sojourn_p99_ns: Option<u64>,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Packets delivered out of order: after a packet that was sent later (RFC 4737).
    pub packets_out_of_order: u64,
    /// Duplicates among the delivered packets.
    pub packets_duplicated: u64,
    /// Packets lost for one of the reasons below, and not repaired by a copy.
    pub packets_lost: u64,
    /// Delivered copies: retransmissions of lost packets, copies of a redundant source, or copies
    /// that measured a channel in quarantine.
    pub packets_repaired: u64,
    /// Copies sent, whether delivered or not.
    pub copies_sent: u64,
    /// Packets lost on a channel.
    pub lost_on_channels: u64,
    /// Packets dropped because a channel's queue was full.
    pub lost_in_queues: u64,
    /// Packets dropped by a channel's policer.
    pub lost_at_policers: u64,
    /// Packets lost in an outage.
    pub lost_in_outages: u64,
    /// Packets discarded because they were corrupted on a channel.
    pub lost_damaged: u64,
    /// Packets discarded by the receiver, for example because a buffer was full; includes
    /// duplicates.
    pub lost_at_receiver: u64,
    /// Fraction of packets delivered out of order in the window.
    pub out_of_order_share: Option<f64>,
    /// Largest reordering extent: distance in delivery order from the first packet that was sent
    /// later (RFC 4737, section 4.2.1).
    pub reordering_extent_max: u64,
    /// Mean delay from source to reader of packets delivered in the window.
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of the mean delay.
    pub delay_half_width_ns: Option<f64>,
    /// Longest delay of packets delivered in the window.
    pub delay_max_ns: Option<u64>,
    /// Requested percentiles of the delay, if there are enough packets.
    pub percentiles: Vec<PercentileSummary>,
    /// Longest time in the window without a delivery.
    pub longest_gap_ns: Option<u64>,
    /// Maximum number of packets of one channel in the receive buffer.
    pub buffer_packets_max: u64,
    /// Markers sent.
    pub markers_sent: u64,
    /// Markers lost.
    pub markers_lost: u64,
    /// Protocol messages as a fraction of all bytes sent.
    pub message_share: Option<f64>,
    /// Resets that the sender started.
    pub resets: u64,
    /// Number of times the receiver declared a channel silent and skipped it.
    pub silences: u64,
    /// Time of the last packet loss.
    pub last_loss_ns: Option<u64>,
    /// Time of the last out-of-order delivery.
    pub last_out_of_order_ns: Option<u64>,
    /// Mean time from a loss to the last out-of-order delivery before the next loss.
    pub recovery_mean_ns: Option<u64>,
    /// Longest time from a loss to the last out-of-order delivery before the next loss.
    pub recovery_max_ns: Option<u64>,
    /// Name of the channel with the highest capacity, if a transport uses several channels. A
    /// second run with the same seed sends all sources' packets over this channel alone.
    pub best_channel_alone: Option<String>,
    /// Sum of the goodputs of all sources over the best channel alone.
    pub best_channel_alone_bits_per_s: Option<f64>,
    /// Ratio of the goodput over all channels to the goodput over the best channel alone, each
    /// summed over all sources.
    pub best_channel_multiple: Option<f64>,
    /// Results by channel.
    pub channels: Vec<ChannelSummary>,
    /// Results by source.
    pub sources: Vec<SourceSummary>,
    /// Notes on automatic choices that may surprise the user.
    pub notes: Vec<String>,
    /// Result tables of channels, sources, events and others; empty in a summary.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

/// Reliability of a run's results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The results describe the scenario.
    Ok,
    /// Deliveries in the window were missing or too few: the half-width of the goodput's confidence
    /// interval exceeds a quarter of the goodput.
    NotConverged,
    /// Packets remained in buffers or queues at the end of the run, or nothing was delivered.
    Stalled,
    /// The run ended early, for example after Ctrl-C. The results describe the simulated part.
    Interrupted,
}

/// Percentile of the delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PercentileSummary {
    /// Percentage of packets whose delay is at most `delay_ns`.
    #[schemars(extend("x-unit" = "%"))]
    pub percentile: f64,
    /// Delay, within 1 %.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_ns: u64,
}
