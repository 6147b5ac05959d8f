//! Reports: packets received on each channel, and credit for more.
//!
//! ```text
//!   sent by the sender    |<--- counted in the last marker --->|<- received since ->| in flight ...
//!   accounted for         |<------------------- received or lost ---------------->|
//!   limit                 |<-------------------------------------------------------->| + credit
//! ```
//!
//! Packets counted by the last marker of a channel have arrived or are lost. The marker's counts
//! therefore correct the credit and the bytes in flight after losses (FCVC of Kung and Chapman,
//! with the marker as the credit check).
//!
//! A report is due after each marker. With a [`ReportPlan`], a report is also due after several
//! packets or a loss, and at most an interval after an unreported arrival or delivery.
//!
//! Invariants: at most one report is due per channel; a report is repeated only after a change.

use core::time::Duration;

use crate::tag::ahead;
use crate::{
    ChannelSet, Charge, Instant, Marker, OptionsError, Report, first_channels, take_lowest,
};

/// Schedule of the reports between markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportPlan {
    /// Maximum delay of a report after an arrival or delivery.
    pub interval: Duration,
}

impl Default for ReportPlan {
    /// Returns an interval of 5 ms, a fifth of QUIC's default maximum acknowledgement delay (RFC
    /// 9000, section 18.2).
    fn default() -> Self {
        Self { interval: Duration::from_millis(5) }
    }
}

impl ReportPlan {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        if self.interval.is_zero() {
            Err(OptionsError::Zero { option: "reports.interval" })
        } else {
            Ok(())
        }
    }
}

/// Number of packets after which a report is due. TCP acknowledges every second segment (RFC 9293,
/// section 3.8.6.3), but its acknowledgements are half as long as a report.
const PACKETS: u32 = 4;

/// Minimum time between two reports on a channel, which limits the sender's bursts. With 1 ms,
/// reports of 76 bytes use 0.6 Mbit/s. A quarter of a round trip, as QUIC permits
/// (draft-ietf-quic-ack-frequency, section 6), would be too late for queues of 2 ms: it reduced
/// throughput by a tenth.
pub(crate) const REPORT_PAUSE: Duration = Duration::from_millis(1);

/// Minimum time during which reports repeat the longest packet length, in case a report is lost.
const LONGEST_OF: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    report: Report,
    /// Arrival time of the last marker; reports start with the first marker.
    marker_at: Option<Instant>,
    round_trip_ns: u32,
    unreported_packets: u32,
    reported_at: Instant,
    report_at: Option<Instant>,
    is_last_lost: bool,
    /// Longest packet length since `longest_since`, and in the span before.
    longest_bytes: [u32; 2],
    longest_since: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct Reports {
    channels: Vec<Arrivals>,
    plan: Option<ReportPlan>,
    interval_ns: u64,
    due: ChannelSet,
    earliest: Option<Instant>,
}

impl Reports {
    pub(super) fn new(channels: usize, plan: Option<ReportPlan>) -> Self {
        let interval = plan.map_or(Duration::ZERO, |plan| plan.interval);
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let channels = vec![Arrivals::default(); channels];
        Self { channels, plan, interval_ns, due: 0, earliest: None }
    }

    pub(super) fn count(&mut self, now: Instant, channel: usize, length_bytes: u32) {
        let packets = self.channels[channel].report.accounted_packets.wrapping_add(1);
        self.count_numbered(now, channel, length_bytes, packets);
    }

    /// Counts the arrival of the `packets`-th packet of the channel; missing packets before it are
    /// lost. A packet already counted as lost does not change the accounted counts.
    #[inline]
    pub(super) fn count_numbered(
        &mut self,
        now: Instant,
        channel: usize,
        length_bytes: u32,
        packets: u32,
    ) {
        let arrivals = &mut self.channels[channel];
        let (report, bytes) = (&mut arrivals.report, u64::from(length_bytes));
        report.received_at = now;
        report.received_packets = report.received_packets.wrapping_add(1);
        report.received_bytes = report.received_bytes.wrapping_add(bytes);
        let newly_packets = ahead(packets, report.accounted_packets);
        if newly_packets > 0 {
            report.accounted_packets = packets;
            report.accounted_bytes = report.accounted_bytes.wrapping_add(bytes);
        }
        arrivals.is_last_lost = false;
        arrivals.unreported_packets = arrivals.unreported_packets.saturating_add(1);
        if newly_packets > 1 || arrivals.unreported_packets == PACKETS {
            self.report_by(now, channel, Duration::ZERO);
        } else {
            self.change(now, channel);
        }
    }

    /// Records the length of an arriving packet, even if the packet is then discarded.
    pub(super) fn pass(&mut self, channel: usize, length_bytes: u32) {
        let [longest_bytes, _] = &mut self.channels[channel].longest_bytes;
        *longest_bytes = (*longest_bytes).max(length_bytes);
    }

    pub(super) fn change(&mut self, now: Instant, channel: usize) {
        if let (None, Some(plan)) = (self.channels[channel].report_at, self.plan) {
            self.report_by(now, channel, plan.interval);
        }
    }

    /// Schedules a report within a time limit, but not before the end of the pause after the last
    /// report.
    fn report_by(&mut self, now: Instant, channel: usize, within: Duration) {
        let arrivals = &mut self.channels[channel];
        if self.plan.is_none() || arrivals.marker_at.is_none() {
            return;
        }
        let report_at = now.after(within).max(arrivals.reported_at.after(REPORT_PAUSE));
        let report_at = arrivals.report_at.map_or(report_at, |at| at.min(report_at));
        arrivals.report_at = Some(report_at);
        self.earliest = Some(self.earliest.map_or(report_at, |earliest| earliest.min(report_at)));
    }

    /// Makes a scheduled report due immediately if at least `PACKETS / 2` packets are unreported
    /// and half of the pause is over.
    pub(super) fn hasten(&mut self, now: Instant, channel: usize) {
        let arrivals = &self.channels[channel];
        let is_worth = arrivals.report_at.is_some() && arrivals.unreported_packets >= PACKETS / 2;
        if is_worth && arrivals.reported_at.after(REPORT_PAUSE / 2) <= now {
            self.due |= 1 << channel;
        }
    }

    pub(super) fn accounted(&self, channel: usize, charge: Charge) -> u32 {
        let report = &self.channels[channel].report;
        charge.of_all(report.accounted_packets, report.accounted_bytes)
    }

    /// Returns the memory charge of all packets accounted for, the charge of all packets received,
    /// and the time in ns until the sender uses freed memory: a report interval plus a round trip.
    #[inline]
    pub(super) fn counts(&self, channel: usize, charge: Charge) -> (u32, u32, u64) {
        let Arrivals { report, round_trip_ns, .. } = &self.channels[channel];
        let accounted = charge.of_all(report.accounted_packets, report.accounted_bytes);
        let received = charge.of_all(report.received_packets, report.received_bytes);
        (accounted, received, self.interval_ns.saturating_add((*round_trip_ns).into()))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.earliest
    }

    pub(super) fn repair_state(&mut self, now: Instant) {
        let latest =
            now.after(self.plan.map_or(REPORT_PAUSE, |plan| plan.interval.max(REPORT_PAUSE)));
        for arrivals in &mut self.channels {
            arrivals.marker_at = arrivals.marker_at.map(|at| at.min(now));
            arrivals.report_at = arrivals.report_at.map(|at| at.min(latest));
            arrivals.reported_at = arrivals.reported_at.min(now);
            arrivals.report.received_at = arrivals.report.received_at.min(now);
        }
        self.check_times(now);
    }

    /// Handles a marker on arrival, even if packets are buffered ahead of it.
    pub(super) fn see_marker(&mut self, channel: usize, now: Instant, marker: &Marker) {
        let arrivals = &mut self.channels[channel];
        arrivals.is_last_lost |= arrivals.report.accounted_packets != marker.sent_packets;
        arrivals.report.accounted_packets = marker.sent_packets;
        arrivals.report.accounted_bytes = marker.sent_bytes;
        arrivals.report.coming_from = marker.standing.coming.map(|change| change.from);
        arrivals.report.echo = marker.sent_at;
        arrivals.round_trip_ns = marker.round_trip_ns;
        arrivals.marker_at = Some(now);
        self.due |= 1 << channel;
    }

    pub(super) fn next_due(&mut self, now: Instant) -> Option<usize> {
        if self.earliest.is_some_and(|earliest| earliest <= now) {
            self.check_times(now);
        }
        self.due &= first_channels(self.channels.len());
        let channel = take_lowest(&mut self.due)?;
        let arrivals = &mut self.channels[channel];
        (arrivals.reported_at, arrivals.report_at) = (now, None);
        arrivals.unreported_packets = 0;
        self.check_times(now);
        Some(channel)
    }

    fn check_times(&mut self, now: Instant) {
        self.earliest = None;
        for (channel, arrivals) in self.channels.iter().enumerate() {
            match arrivals.report_at {
                Some(report_at) if report_at <= now => self.due |= 1 << channel,
                Some(report_at) => {
                    let earliest = self.earliest.unwrap_or(report_at).min(report_at);
                    self.earliest = Some(earliest);
                }
                None => {}
            }
        }
    }

    pub(super) fn report(
        &mut self,
        channel: usize,
        (limit_bytes, lowered): (u32, bool),
        now: Instant,
    ) -> Report {
        let arrivals = &mut self.channels[channel];
        let Arrivals { report, marker_at, longest_bytes, longest_since, .. } = *arrivals;
        let came = report.received_bytes > 0 && !arrivals.is_last_lost;
        if longest_since.after(LONGEST_OF) <= now || longest_since > now {
            (arrivals.longest_bytes, arrivals.longest_since) = ([0, longest_bytes[0]], now);
        }
        Report {
            limit_bytes,
            lowered,
            held_ns: since(marker_at, now),
            longest_bytes: longest_bytes[0].max(longest_bytes[1]),
            received_ago_ns: since(Some(report.received_at).filter(|_| came), now),
            ..report
        }
    }

    pub(super) fn restart(&mut self) {
        self.channels.fill(Arrivals::default());
        self.due = 0;
        self.earliest = None;
    }
}

fn since(then: Option<Instant>, now: Instant) -> u32 {
    let Some(then) = then else { return u32::MAX };
    u32::try_from(now.nanoseconds().saturating_sub(then.nanoseconds())).unwrap_or(u32::MAX)
}

#[cfg(test)]
crate::corruption::corrupt!(Reports: due, channels, earliest);
#[cfg(test)]
crate::corruption::corrupt!(
    Arrivals: report, round_trip_ns, unreported_packets, longest_bytes, marker_at, report_at, reported_at
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_joins_a_due_one_at_half_of_its_threshold() {
        let at = |us: u64| Instant::from_nanoseconds(us * 1_000);
        let mut reports = Reports::new(2, Some(ReportPlan::default()));
        (0..2).for_each(|channel| reports.see_marker(channel, at(0), &Marker::default()));
        (0..2).for_each(|channel| assert_eq!(reports.next_due(at(0)), Some(channel)));
        let mut hastened = |us, packets| {
            (0..packets).for_each(|_| reports.count(at(us), 1, 100));
            reports.hasten(at(us), 1);
            reports.next_due(at(us))
        };
        assert_eq!([hastened(499, 2), hastened(500, 0)], [None, Some(1)]);
        assert_eq!([hastened(999, 2), hastened(1_000, 0)], [None, Some(1)]);
        assert_eq!([hastened(1_600, 1), hastened(1_700, 1)], [None, Some(1)]);
    }

    /// Packets 0 and 2 of a channel arrive, then packet 1, which changes only the received counts.
    #[test]
    fn late_packet_counted_as_lost_is_accounted_for_once() {
        let mut reports = Reports::new(1, None);
        let counts = |reports: &Reports| {
            let report = reports.channels[0].report;
            (report.accounted_packets, report.accounted_bytes, report.received_packets)
        };
        for (packets, expected) in [(1, (1, 100, 1)), (3, (3, 200, 2)), (2, (3, 200, 3))] {
            reports.count_numbered(Instant::ORIGIN, 0, 100, packets);
            assert_eq!(counts(&reports), expected);
        }
    }
}
