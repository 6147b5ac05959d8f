//! Results of a campaign.

use std::fmt;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) runs: u64,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) overtaken: u64,
    pub(crate) frames_lost: u64,
    pub(crate) frames_damaged: u64,
    pub(crate) markers: u64,
    pub(crate) resets: u64,
    pub(crate) silences: u64,
    pub(crate) deaths: u64,
    pub(crate) copies: u64,
    /// Copies of packets sent on two channels.
    pub(crate) redundant: u64,
    pub(crate) repaired: u64,
    pub(crate) crashes: u64,
    pub(crate) changes: u64,
    /// Channels added, removed or moved.
    pub(crate) channels: u64,
    /// Longest time from the healing to the departure of the last packet that went wrong: in runs
    /// without a crash, a reset, or a channel passed over or taken out, and in all runs.
    pub(crate) recovery_ns_max: [u64; 2],
    /// Longest time from the healing until offered packets were accepted again.
    pub(crate) uptake_ns_max: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.overtaken += other.overtaken;
        self.frames_lost += other.frames_lost;
        self.frames_damaged += other.frames_damaged;
        self.markers += other.markers;
        self.resets += other.resets;
        self.silences += other.silences;
        self.deaths += other.deaths;
        self.copies += other.copies;
        self.redundant += other.redundant;
        self.repaired += other.repaired;
        self.crashes += other.crashes;
        self.changes += other.changes;
        self.channels += other.channels;
        self.uptake_ns_max = self.uptake_ns_max.max(other.uptake_ns_max);
        for (most, other) in self.recovery_ns_max.iter_mut().zip(other.recovery_ns_max) {
            *most = (*most).max(other);
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, sent, delivered, overtaken, .. } = self;
        let [quiet_ms, all_ms] = self.recovery_ns_max.map(|ns| ns.div_ceil(1_000_000));
        writeln!(
            f,
            "{runs} runs: {sent} packets sent, {delivered} delivered, {overtaken} of them overtaken"
        )?;
        writeln!(
            f,
            "{} frames lost, {} damaged, {} markers read; {} crashes, {} resets, {} changes, {} channels come, gone or moved, {} silences, {} deaths",
            self.frames_lost,
            self.frames_damaged,
            self.markers,
            self.crashes,
            self.resets,
            self.changes,
            self.channels,
            self.silences,
            self.deaths
        )?;
        writeln!(
            f,
            "{} copies sent of lost packets, {} of others; {} of all delivered",
            self.copies, self.redundant, self.repaired
        )?;
        writeln!(f, "taken again after at most {} ms", self.uptake_ns_max.div_ceil(1_000_000))?;
        write!(
            f,
            "order exact after at most {quiet_ms} ms without crashes, silences and deaths, {all_ms} ms with them"
        )
    }
}
