//! Evidence of a black hole: a channel that passes markers, but loses longer packets.
//!
//! Reports contain the longest packet length received recently. Longer packets are counted when
//! sent, and count as lost once a report responds to a later marker. The arrival of a longer packet
//! restarts the count, so that random loss is mistaken for a black hole only after sixteen losses
//! in a row.
//!
//! Source: RFC 8899, section 4.3.

use core::time::Duration;

use crate::{Instant, Report};

/// Number of consecutive losses that indicate a black hole; at a random loss rate of 2/3, the
/// probability of this many is 1 in 700.
pub(super) const LOST_MIN: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Longest packet received since the count started.
    pub(super) passed_bytes: u32,
    /// Number of longer packets sent since the count started.
    pub(super) packets: u32,
    pub(super) longest_bytes: u32,
    pub(super) since: Option<Instant>,
    pub(super) last_at: Instant,
    /// Time of a marker, number of longer packets before the marker, and time of the last of these
    /// packets.
    pub(super) marked: Option<(Instant, u32, Instant)>,
    /// Number of longer packets known to be lost.
    pub(super) lost: u32,
    pub(super) lost_until: Option<Instant>,
}

impl Evidence {
    pub(super) fn sent(&mut self, now: Instant, length_bytes: u32) {
        if length_bytes > self.passed_bytes {
            self.packets = self.packets.saturating_add(1);
            self.longest_bytes = self.longest_bytes.max(length_bytes);
            self.since.get_or_insert(now);
            self.last_at = now;
        }
    }

    pub(super) fn mark(&mut self, now: Instant) {
        if self.packets > 0 {
            self.marked.get_or_insert((now, self.packets, self.last_at));
        }
    }

    pub(super) fn record_report(&mut self, report: &Report) {
        let came_bytes = report.longest_bytes;
        if self.packets == 0 || came_bytes >= self.longest_bytes {
            *self = Self::default();
        } else if came_bytes > self.passed_bytes {
            *self = Self { passed_bytes: came_bytes, ..Self::default() };
        } else if let Some((_, packets, at)) = self.marked.take_if(|(at, ..)| *at < report.echo) {
            (self.lost, self.lost_until) = (packets, Some(at));
        }
    }

    pub(super) fn losing_for(&self) -> Option<(Duration, Instant)> {
        let (since, until) = (self.since?, self.lost_until.filter(|_| self.lost >= LOST_MIN)?);
        let span_ns = until.nanoseconds().saturating_sub(since.nanoseconds());
        Some((Duration::from_nanos(span_ns), until))
    }

    pub(super) fn repair_state(&mut self, now: Instant, span_max: Duration) {
        self.since = self.since.map(|at| at.min(now));
        self.lost_until = self.lost_until.map(|at| at.min(now));
        // Discards a marker from the future, or one whose report is overdue.
        self.marked = self.marked.filter(|(at, ..)| *at <= now && now <= at.after(span_max));
    }
}

#[cfg(test)]
crate::corruption::corrupt!(
    Evidence: passed_bytes, packets, longest_bytes, since, marked, last_at, lost, lost_until
);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    fn report(echo_ms: u64, longest_bytes: u32) -> Report {
        Report { echo: at(echo_ms), longest_bytes, ..Report::default() }
    }

    /// Sends packets of 190 and 1,500 bytes alternately, one per ms, and a marker every 10 ms.
    fn in_turn(evidence: &mut Evidence, from_ms: u64, until_ms: u64) {
        for now in from_ms..until_ms {
            evidence.sent(at(now), if now % 2 == 1 { 190 } else { 1_500 });
            if now % 10 == 9 {
                evidence.mark(at(now));
            }
        }
    }

    /// Only packets of 190 bytes arrive. The report at 12 ms restarts the count; packets of 1,500
    /// bytes, sent at 12 ms, 14 ms and so on, are lost. Four of them precede the marker at 19 ms.
    /// After the report on this marker, the next marker is sent at 49 ms; 19 lost packets precede
    /// it, the last at 48 ms.
    #[test]
    fn lost_long_packets_are_counted() {
        let mut evidence = Evidence::default();
        in_turn(&mut evidence, 1, 12);
        evidence.record_report(&report(9, 190));
        assert_eq!(evidence.losing_for(), None);
        in_turn(&mut evidence, 12, 45);
        evidence.record_report(&report(20, 190));
        assert_eq!((evidence.lost, evidence.losing_for()), (4, None));
        in_turn(&mut evidence, 45, 60);
        evidence.record_report(&report(49, 190));
        assert_eq!(evidence.lost, 4);
        evidence.record_report(&report(50, 190));
        assert_eq!(
            (evidence.lost, evidence.losing_for()),
            (19, Some((Duration::from_millis(36), at(48))))
        );
        evidence.record_report(&report(59, 1_500));
        assert_eq!(evidence.losing_for(), None);
    }
}
