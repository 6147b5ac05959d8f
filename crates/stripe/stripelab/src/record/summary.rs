//! The summary of a run.

use super::channels::ChannelSummary;
use super::sources::SourceSummary;
use gingham_results::Table;
use schemars::JsonSchema;
use serde::Serialize;

/// Results of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Reliability of the numbers.
    pub verdict: Verdict,
    /// Reason for the verdict, and the next step.
    pub verdict_reason: String,
    /// Start of the measurement window for rates, delays and order, in nanoseconds.
    pub warm_up_ns: u64,
    /// End of the measurement window, when sources stop, in nanoseconds.
    pub window_end_ns: u64,
    /// Simulated time at the end of the run, in nanoseconds.
    pub end_ns: u64,
    /// Sum of the rates of all channels at the start, in bits per second.
    pub capacity_bits_per_s: f64,
    /// Delivery rate in the window, in bits per second, without headers and duplicates.
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the confidence interval of the goodput.
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// Rate of packets delivered in order in the window, in bits per second.
    pub in_order_bits_per_s: Option<f64>,
    /// Packets that sources offered.
    pub packets_offered: u64,
    /// Packets refused or dropped because the entry queue was at its limit.
    pub packets_refused: u64,
    /// Packets that CoDel dropped from the entry queue.
    pub packets_dropped_before: u64,
    /// Packets sent on a channel.
    pub packets_sent: u64,
    /// Packets sent with an ECN mark of the entry queue.
    pub packets_marked: u64,
    /// Maximum number of bytes in the entry queue.
    pub entry_bytes_max: u64,
    /// Median wait in the entry queue of packets sent in the window, in nanoseconds, within 1 %.
    pub sojourn_p50_ns: Option<u64>,
    /// 99th percentile of the wait in the entry queue, in nanoseconds.
    pub sojourn_p99_ns: Option<u64>,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Packets delivered out of order: one that was sent later was delivered before them (RFC
    /// 4737).
    pub packets_out_of_order: u64,
    /// Duplicates among the delivered packets.
    pub packets_duplicated: u64,
    /// Sent packets that were not delivered, for any of the reasons below, and not repaired.
    pub packets_lost: u64,
    /// Delivered copies: retransmissions of lost packets, copies of a redundant source, or copies
    /// that measured a channel in quarantine.
    pub packets_repaired: u64,
    /// Copies sent, whether delivered or not.
    pub copies_sent: u64,
    /// Packets lost on a channel.
    pub lost_on_channels: u64,
    /// Packets dropped because the queue of a channel was full.
    pub lost_in_queues: u64,
    /// Packets dropped by the policer of a channel.
    pub lost_at_policers: u64,
    /// Packets lost in an outage.
    pub lost_in_outages: u64,
    /// Packets corrupted on a channel and therefore discarded.
    pub lost_damaged: u64,
    /// Packets discarded by the receiver, for example because a buffer was full; duplicates
    /// included.
    pub lost_at_receiver: u64,
    /// Fraction of the packets delivered in the window that were out of order.
    pub out_of_order_share: Option<f64>,
    /// Largest reordering extent: positions from the first delivery that was sent later (RFC 4737,
    /// section 4.2.1).
    pub reordering_extent_max: u64,
    /// Mean delay from source to reader of packets delivered in the window, in nanoseconds.
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the confidence interval of the mean delay.
    pub delay_half_width_ns: Option<f64>,
    /// Longest delay, in nanoseconds.
    pub delay_max_ns: Option<u64>,
    /// Requested percentiles of the delay, as far as there are enough packets.
    pub percentiles: Vec<PercentileSummary>,
    /// Longest time in the window without a delivery, in nanoseconds.
    pub longest_gap_ns: Option<u64>,
    /// Maximum number of packets of one channel in the receive buffer.
    pub buffer_packets_max: u64,
    /// Markers sent.
    pub markers_sent: u64,
    /// Markers lost.
    pub markers_lost: u64,
    /// Fraction of all bytes sent that were protocol messages.
    pub message_share: Option<f64>,
    /// Resets that the sender started.
    pub resets: u64,
    /// Times that the receiver declared a channel silent and skipped it.
    pub silences: u64,
    /// Time of the last packet loss, in nanoseconds.
    pub last_loss_ns: Option<u64>,
    /// Time of the last delivery out of order, in nanoseconds.
    pub last_out_of_order_ns: Option<u64>,
    /// Mean time from a loss to the last delivery out of order before the next loss, in
    /// nanoseconds.
    pub recovery_mean_ns: Option<u64>,
    /// Longest time from a loss to the last delivery out of order before the next loss, in
    /// nanoseconds.
    pub recovery_max_ns: Option<u64>,
    /// Name of the channel with the highest capacity, if a transport uses several channels. A
    /// second run with the same seed sends all sources over this channel alone.
    pub best_channel_alone: Option<String>,
    /// Sum of the goodputs of all sources over that channel alone, in bits per second.
    pub best_channel_alone_bits_per_s: Option<f64>,
    /// Sum of the goodputs of all sources over all channels, as a multiple of that over the best
    /// channel alone.
    pub best_channel_multiple: Option<f64>,
    /// Results by channel.
    pub channels: Vec<ChannelSummary>,
    /// Results by source.
    pub sources: Vec<SourceSummary>,
    /// Notes on choices of the compiler that may surprise the user.
    pub notes: Vec<String>,
    /// Tables of channels, sources, events and so on; empty in a summary.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

/// Reliability of the results of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The numbers describe the scenario.
    Ok,
    /// Too few deliveries in the window: none, or so few that the half-width of the goodput exceeds
    /// a quarter of it.
    NotConverged,
    /// Packets were left behind at the end of the run, or nothing was delivered at all.
    Stalled,
    /// The run ended early, for example after Ctrl-C. The numbers hold for the simulated part.
    Interrupted,
}

/// A percentile of the delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PercentileSummary {
    /// Percentage of the packets whose delay is at most `delay_ns`.
    #[schemars(extend("x-unit" = "%"))]
    pub percentile: f64,
    /// Delay, within 1 %.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_ns: u64,
}
