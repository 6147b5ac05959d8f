//! The record of a run: verdict, summary and tables.
//!
//! Invariant: every number of the summary is one of what was counted, in the unit of its name.

mod channels;
mod pipe;
mod series;
mod sources;
mod trace;
mod verdict;

pub use channels::ChannelSummary;
pub use pipe::PercentileSummary;
pub use sources::SourceSummary;
pub use verdict::Verdict;

use crate::compile::Compiled;
use crate::measure::ByteSections;
use crate::run::Engine;
use gingham_results::{Estimate, Ratio, Table, real};
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that a run leaves behind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// What the numbers are worth.
    pub verdict: Verdict,
    /// Why, and what to do next.
    pub verdict_reason: String,
    /// Start of the window that rates, delays and the order are measured in, in nanoseconds.
    pub warm_up_ns: u64,
    /// End of the window, when sources stop, in nanoseconds.
    pub window_end_ns: u64,
    /// Simulated time at the end of the run, in nanoseconds.
    pub end_ns: u64,
    /// The rates of all channels together at the start, in bits per second.
    pub capacity_bits_per_s: f64,
    /// What was given out in the window, repetitions not counted, in bits per second; headers are not in it.
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the goodput.
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// The same of what was given out in order alone.
    pub in_order_bits_per_s: Option<f64>,
    /// Packets that sources gave.
    pub packets_offered: u64,
    /// Of these, refused, because the queue before the sender was full.
    pub packets_refused: u64,
    /// Packets that went on a channel.
    pub packets_sent: u64,
    /// Packets that were given out.
    pub packets_delivered: u64,
    /// Of these, out of order: one that was sent later was given out before it (RFC 4737).
    pub packets_out_of_order: u64,
    /// Of those delivered, given out before already.
    pub packets_twice: u64,
    /// Of those sent, not given out, for any of the reasons below and not repaired.
    pub packets_lost: u64,
    /// Of those delivered, copies of packets that had been lost.
    pub packets_repaired: u64,
    /// Copies that were sent, whatever became of them.
    pub copies_sent: u64,
    /// Lost on a channel.
    pub lost_on_channels: u64,
    /// Dropped, because the queue of a channel was full.
    pub lost_in_queues: u64,
    /// Lost in an outage.
    pub lost_in_outages: u64,
    /// Damaged on a channel, and discarded for it.
    pub lost_damaged: u64,
    /// Discarded by the receiver, as where a buffer was full; repetitions among them.
    pub lost_at_receiver: u64,
    /// Packets out of order as a share of those given out in the window.
    pub out_of_order_share: Option<f64>,
    /// By how many places a packet came after the first that was sent later, at the most (RFC 4737, section 4.2.1).
    pub reordering_extent_max: u64,
    /// Mean delay from its source to whoever reads, in nanoseconds, of packets given out in the window.
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the mean delay.
    pub delay_half_width_ns: Option<f64>,
    /// Longest delay, in nanoseconds.
    pub delay_max_ns: Option<u64>,
    /// The percentiles of the delay that were asked for and can be told.
    pub percentiles: Vec<PercentileSummary>,
    /// Longest time in the window without a packet given out, in nanoseconds.
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
    /// When the last packet was given out out of order, in nanoseconds.
    pub last_out_of_order_ns: Option<u64>,
    /// From a loss to the last packet out of order before the next loss, the mean, in nanoseconds.
    pub recovery_mean_ns: Option<u64>,
    /// The longest of these.
    pub recovery_max_ns: Option<u64>,
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

impl Record {
    /// The record of a run, or its summary alone.
    pub(crate) fn new(compiled: &Compiled, engine: &Engine, with_tables: bool) -> Self {
        let mut record = pipe::record(compiled, engine);
        (record.verdict, record.verdict_reason) = verdict::of(engine, &record);
        if with_tables {
            record.tables = tables(compiled, engine, &record);
        }
        record
    }
}

fn tables(compiled: &Compiled, engine: &Engine, record: &Record) -> Vec<Table> {
    let names: Vec<_> = compiled.plan.links.iter().map(|link| link.name.clone()).collect();
    let sources: Vec<_> = compiled.plan.sources.iter().map(|one| one.name.clone()).collect();
    let meter = engine.meter();
    vec![
        channels::table(&record.channels),
        sources::table(&record.sources),
        pipe::percentile_table(&record.percentiles),
        series::pipe_table(&meter.series, record.end_ns),
        series::channel_table(&meter.series, names.clone(), record.end_ns),
        trace::event_table(&meter.trace.events, names.clone()),
        trace::packet_table(&meter.trace.packets, names, sources),
    ]
}

/// Every table that a run leaves behind, without rows: what its columns are, mean and count.
pub fn result_tables() -> Vec<Table> {
    let no_series = crate::measure::Series::none();
    vec![
        channels::table(&[]),
        sources::table(&[]),
        pipe::percentile_table(&[]),
        series::pipe_table(&no_series, 0),
        series::channel_table(&no_series, Vec::new(), 0),
        trace::event_table(&[], Vec::new()),
        trace::packet_table(&[], Vec::new(), Vec::new()),
    ]
}

/// JSON Schema of the summary, for reference pages.
pub fn summary_schema() -> serde_json::Value {
    gingham_results::schema_of::<Record>()
}

/// Bits per second from bytes by section of the window. A run that was ended early has the sections that
/// were over by then.
fn bits_per_s(bytes: &ByteSections, engine: &Engine) -> Option<Estimate> {
    let window = engine.meter().sections;
    let section_s = real(u128::from(window.window().as_ps())) / 1e12 / real(bytes.len() as u128);
    let section = |bytes: &u64| Ratio { sum: real(u128::from(*bytes) * 8), over: section_s };
    let all = engine.is_done() && engine.now() > window.start();
    let over = if all { bytes.len() } else { window.over(engine.now()) };
    Estimate::of_sections(&bytes[..over].iter().map(section).collect::<Vec<_>>())
}

/// A share, where there is something to share.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| real(u128::from(part)) / real(u128::from(whole)))
}
