//! Evidence of a black hole: whether channels pass data, long packets too. One may pass markers and
//! lose all else, such as a path whose longest frame is shorter than the packets.
//!
//! ```text
//!   sent     190  1500  190  1500   marker   190  1500 ...      1500: longer than any that came
//!   came     190        190         marker   190                counted; sixteen: enough
//!            report: the longest was 190
//! ```
//!
//! A report says how long the longest packet was that came lately. Packets longer than that are
//! counted from the first on, and once a report answers a marker behind them they are known not to
//! have come. What comes that is longer begins the count anew. So a channel that loses at random is
//! found out only if it loses sixteen in a row.
//!
//! Source: RFC 8899, section 4.3, a black hole found by what the layer itself knows to be lost.
//!
//! Invariant: nothing here is needed for order.

use core::time::Duration;

use crate::{Instant, Report};

/// So many packets that did not come, and nothing as long that did, are no chance: of a channel
/// that loses two thirds it is one time in 700.
pub(super) const LOST_MIN: u32 = 16;

/// What is known of a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// The longest packet that came since the count began.
    pub(super) passed_bytes: u32,
    /// How many longer ones were sent since then, the longest of them, and when the first was.
    pub(super) packets: u32,
    pub(super) longest_bytes: u32,
    pub(super) since: Option<Instant>,
    pub(super) last_at: Instant,
    /// A marker behind so many of them, when it was sent, and when the last of them was.
    pub(super) marked: Option<(Instant, u32, Instant)>,
    /// So many of them, until then, are known not to have come.
    pub(super) lost: u32,
    pub(super) lost_until: Option<Instant>,
}

impl Evidence {
    /// A packet or a copy goes on the channel.
    pub(super) fn sent(&mut self, now: Instant, length_bytes: u32) {
        if length_bytes > self.passed_bytes {
            self.packets = self.packets.saturating_add(1);
            self.longest_bytes = self.longest_bytes.max(length_bytes);
            self.since.get_or_insert(now);
            self.last_at = now;
        }
    }

    /// A marker goes on the channel.
    pub(super) fn mark(&mut self, now: Instant) {
        if self.packets > 0 {
            self.marked.get_or_insert((now, self.packets, self.last_at));
        }
    }

    /// A report has come.
    pub(super) fn hear(&mut self, report: &Report) {
        let came_bytes = report.longest_bytes;
        if self.packets == 0 || came_bytes >= self.longest_bytes {
            *self = Self::default();
        } else if came_bytes > self.passed_bytes {
            *self = Self { passed_bytes: came_bytes, ..Self::default() };
        } else if let Some((_, packets, at)) = self.marked.take_if(|(at, ..)| *at < report.echo) {
            (self.lost, self.lost_until) = (packets, Some(at));
        }
    }

    /// For how long the channel is known to have lost all packets longer than those that came, and
    /// until when.
    pub(super) fn losing_for(&self) -> Option<(Duration, Instant)> {
        let (since, until) = (self.since?, self.lost_until.filter(|_| self.lost >= LOST_MIN)?);
        let span_ns = until.nanoseconds().saturating_sub(since.nanoseconds());
        Some((Duration::from_nanos(span_ns), until))
    }

    /// Times that can be.
    pub(super) fn repair_state(&mut self, now: Instant, span_max: Duration) {
        self.since = self.since.map(|at| at.min(now));
        self.lost_until = self.lost_until.map(|at| at.min(now));
        // What was marked in the future, or so long ago that it was answered, is marked anew.
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

    /// Packets of 190 and 1,500 bytes in turn, the first at 1 ms, a marker each 10 ms.
    fn in_turn(evidence: &mut Evidence, from_ms: u64, until_ms: u64) {
        for now in from_ms..until_ms {
            evidence.sent(at(now), if now % 2 == 1 { 190 } else { 1_500 });
            if now % 10 == 9 {
                evidence.mark(at(now));
            }
        }
    }

    /// Only 190 comes. The report of 12 ms begins the count anew, with 1,500 as what is lost: at 12,
    /// 14 and so on. The marker of 19 ms has 4 of them before it, which the answer to a later one
    /// says not to have come; that of 49 ms, the first after that answer, has 19, up to 48 ms.
    #[test]
    fn long_packets_that_never_come_are_counted() {
        let mut evidence = Evidence::default();
        in_turn(&mut evidence, 1, 12);
        evidence.hear(&report(9, 190));
        assert_eq!(evidence.losing_for(), None);
        in_turn(&mut evidence, 12, 45);
        evidence.hear(&report(20, 190));
        assert_eq!((evidence.lost, evidence.losing_for()), (4, None));
        in_turn(&mut evidence, 45, 60);
        evidence.hear(&report(49, 190));
        assert_eq!(evidence.lost, 4);
        evidence.hear(&report(50, 190));
        assert_eq!(
            (evidence.lost, evidence.losing_for()),
            (19, Some((Duration::from_millis(36), at(48))))
        );
        // One that comes after all ends it.
        evidence.hear(&report(59, 1_500));
        assert_eq!(evidence.losing_for(), None);
    }
}
