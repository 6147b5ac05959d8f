//! Reports: what has come on each channel, and how much more may.
//!
//! ```text
//!   sent by the sender    |<------ counted in the last marker ------>|<- came since ->| in flight ...
//!   accounted             |<---------------------- come or lost ------------------->|
//!   limit                 |<---------------------------------------------------------->| + free room
//! ```
//!
//! A channel delivers in order, so what its last marker counts is come or lost, and both are in flight
//! no longer: counting from there, losses leak neither credit nor bytes in flight (FCVC of Kung and
//! Chapman, with the marker as the credit check).
//!
//! Invariants: a report is due after each marker, and no more than one a channel; counts follow from
//! the last marker and what came since, so nothing that went wrong before lasts.

use crate::{ChannelSet, Instant, Marker, Report, take_lowest};

/// What has come on a channel in this epoch.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    /// As a report says it, but for the limit and the time that the marker was held.
    report: Report,
    /// When the last marker came.
    marker_at: Instant,
}

/// What has come on every channel, and where a report is due.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    channels: Vec<Arrivals>,
    due: ChannelSet,
}

impl Reports {
    pub(super) fn new(channels: usize) -> Self {
        Self { channels: vec![Arrivals::default(); channels], due: 0 }
    }

    /// A packet has come.
    pub(super) fn count(&mut self, channel: usize, length_bytes: u32) {
        let report = &mut self.channels[channel].report;
        let bytes = u64::from(length_bytes);
        report.accounted_packets = report.accounted_packets.wrapping_add(1);
        report.accounted_bytes = report.accounted_bytes.wrapping_add(bytes);
        report.received_packets = report.received_packets.wrapping_add(1);
        report.received_bytes = report.received_bytes.wrapping_add(bytes);
    }

    /// A marker has come, be it at the head of the buffer or not.
    pub(super) fn see_marker(&mut self, channel: usize, now: Instant, marker: &Marker) {
        let arrivals = &mut self.channels[channel];
        arrivals.report.accounted_packets = marker.sent_packets;
        arrivals.report.accounted_bytes = marker.sent_bytes;
        arrivals.report.coming_from = marker.standing.coming.map(|change| change.from);
        arrivals.report.echo = marker.sent_at;
        arrivals.marker_at = now;
        self.due |= 1 << channel;
    }

    /// The next channel on which a report is due.
    pub(super) fn next_due(&mut self) -> Option<usize> {
        take_lowest(&mut self.due)
    }

    /// What to say of a channel whose buffer has room for so many packets.
    pub(super) fn report(&self, channel: usize, free_packets: usize, now: Instant) -> Report {
        let Arrivals { report, marker_at } = self.channels[channel];
        let free_packets = u32::try_from(free_packets).unwrap_or(u32::MAX);
        let held = now.nanoseconds().saturating_sub(marker_at.nanoseconds());
        Report {
            limit_packets: report.accounted_packets.wrapping_add(free_packets),
            held_ns: u32::try_from(held).unwrap_or(u32::MAX),
            ..report
        }
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.channels.fill(Arrivals::default());
        self.due = 0;
    }
}
