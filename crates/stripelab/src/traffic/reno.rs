//! A transport that is kept back by loss and by what arrives out of order: TCP Reno in small.
//!
//! ```text
//!   slow start      a segment more for each that is acknowledged, up to the threshold
//!   avoidance       a segment more for each window
//!   fast recovery   after three duplicate acknowledgements: half the window, the segment again,
//!                   and again for each partial acknowledgement, until all is there that was sent before
//!   timeout         a window of one segment, and everything again from the first that is missing
//! ```
//!
//! Source: RFC 5681 (congestion control), RFC 6582 (NewReno), RFC 6298 (timeouts, with Linux's least
//! of 200 ms in place of a second). Every segment is acknowledged by itself, at once.
//!
//! Invariants: at most the window is under way; a duplicate acknowledgement never opens the window
//! outside fast recovery.

use gingham_kernel::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

const MS: u64 = 1_000_000_000;
const TIMEOUT_PS_MIN: u64 = 200 * MS;
const TIMEOUT_PS_FIRST: u64 = 1_000 * MS;
const TIMEOUT_PS_MAX: u64 = 60_000 * MS;
const DUPLICATES: u32 = 3;
/// The window at the start, in segments (RFC 6928).
const SEGMENTS_FIRST: u64 = 10;

/// What a transport has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    /// Segments sent again, for whatever reason.
    pub(crate) retransmissions: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
}

/// A segment that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: u32,
    sent: Time,
    again: bool,
}

/// Both ends of a transport.
#[derive(Debug)]
pub(crate) struct Reno {
    segment_bytes: u64,
    window_bytes_max: u64,
    ack_delay: Span,
    window_bytes: u64,
    threshold_bytes: u64,
    /// The first segment that is not acknowledged.
    first: u64,
    /// From it on, all that were ever sent.
    segments: VecDeque<Segment>,
    /// The next segment to send; where that was sent before, it goes again.
    next: u64,
    /// Bytes from the first segment to before the next.
    flight_bytes: u64,
    duplicates: u32,
    recovering: bool,
    /// Everything before this was sent when the last recovery or timeout began.
    recover: u64,
    /// A segment that goes again, whatever the window.
    owed: Option<u64>,
    round_trip: RoundTrip,
    timeout_at: Option<Time>,
    far_end: FarEnd,
    counts: Transport,
}

impl Reno {
    pub(crate) fn new(segment_bytes: u32, window_bytes_max: u64, ack_delay: Span) -> Self {
        let segment_bytes = u64::from(segment_bytes);
        Self {
            segment_bytes,
            window_bytes_max,
            ack_delay,
            window_bytes: (SEGMENTS_FIRST * segment_bytes).min(window_bytes_max),
            threshold_bytes: u64::MAX,
            first: 1,
            segments: VecDeque::new(),
            next: 1,
            flight_bytes: 0,
            duplicates: 0,
            recovering: false,
            recover: 1,
            owed: None,
            round_trip: RoundTrip::default(),
            timeout_at: None,
            far_end: FarEnd::default(),
            counts: Transport::default(),
        }
    }

    /// From a delivery to its acknowledgement at the source.
    pub(crate) const fn ack_delay(&self) -> Span {
        self.ack_delay
    }

    pub(crate) const fn counts(&self) -> &Transport {
        &self.counts
    }

    /// What may be under way now.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.window_bytes.min(self.window_bytes_max)
    }

    /// When it will have waited for too long.
    pub(crate) const fn timeout_at(&self) -> Option<Time> {
        self.timeout_at
    }

    /// A segment to send now, and its length; `length` gives that of a new one, if there may be any.
    pub(crate) fn next(
        &mut self,
        now: Time,
        may_begin: bool,
        length: impl FnOnce() -> u32,
    ) -> Option<(u64, u32)> {
        if let Some(segment) = self.owed.take() {
            return Some((segment, self.send_again(now, segment)));
        }
        if self.flight_bytes + self.segment_bytes > self.window_bytes() {
            return None;
        }
        let segment = self.next;
        let bytes = if self.index(segment) < self.segments.len() {
            self.send_again(now, segment)
        } else if may_begin {
            let bytes = length();
            self.segments.push_back(Segment { bytes, sent: now, again: false });
            bytes
        } else {
            return None;
        };
        self.next += 1;
        self.flight_bytes += u64::from(bytes);
        self.timeout_at.get_or_insert(now + self.round_trip.timeout());
        Some((segment, bytes))
    }

    /// A segment has reached the far end; tells which one that expects now, and how many bytes it
    /// could hand on.
    pub(crate) fn deliver(&mut self, segment: u64, bytes: u32) -> (u64, u64) {
        self.far_end.take(segment, bytes)
    }

    /// The far end expects this segment.
    pub(crate) fn acknowledge(&mut self, now: Time, expected: u64) {
        if expected > self.first {
            self.advance(now, expected);
        } else if expected == self.first && self.flight_bytes > 0 {
            self.count_duplicate();
        }
    }

    /// Everything goes again, if it has waited for too long.
    pub(crate) fn check_timeout(&mut self, now: Time) {
        if self.timeout_at.is_none_or(|at| at > now) {
            return;
        }
        self.counts.timeouts += 1;
        self.threshold_bytes = self.half_flight();
        self.window_bytes = self.segment_bytes;
        self.recovering = false;
        self.duplicates = 0;
        self.owed = None;
        self.recover = self.first + self.segments.len() as u64;
        self.next = self.first;
        self.flight_bytes = 0;
        self.round_trip.back_off();
        self.timeout_at = Some(now + self.round_trip.timeout());
    }

    fn index(&self, segment: u64) -> usize {
        usize::try_from(segment - self.first).expect("what is under way fits the memory")
    }

    fn send_again(&mut self, now: Time, segment: u64) -> u32 {
        let index = self.index(segment);
        self.counts.retransmissions += 1;
        let segment = &mut self.segments[index];
        (segment.sent, segment.again) = (now, true);
        segment.bytes
    }

    /// Half of what is under way, two segments at least.
    fn half_flight(&self) -> u64 {
        (self.flight_bytes / 2).max(2 * self.segment_bytes)
    }

    fn advance(&mut self, now: Time, expected: u64) {
        let mut acknowledged_bytes = 0;
        while self.first < expected
            && let Some(segment) = self.segments.pop_front()
        {
            acknowledged_bytes += u64::from(segment.bytes);
            if self.first < self.next {
                self.flight_bytes -= u64::from(segment.bytes);
            }
            self.first += 1;
            if !segment.again {
                self.round_trip.sample(now.since(segment.sent));
            }
        }
        self.next = self.next.max(self.first);
        self.duplicates = 0;
        self.open_window(acknowledged_bytes);
        let under_way = !self.segments.is_empty();
        self.timeout_at = under_way.then(|| now + self.round_trip.timeout());
    }

    fn open_window(&mut self, acknowledged_bytes: u64) {
        if self.recovering && self.first >= self.recover {
            self.recovering = false;
            self.window_bytes = self.threshold_bytes;
        } else if self.recovering {
            // A partial acknowledgement: the next that is missing goes at once.
            self.owed = Some(self.first);
            let left = self.window_bytes.saturating_sub(acknowledged_bytes);
            self.window_bytes = left + self.segment_bytes;
        } else if self.window_bytes < self.threshold_bytes {
            self.window_bytes += acknowledged_bytes.min(self.segment_bytes);
        } else {
            let more = self.segment_bytes * self.segment_bytes / self.window_bytes;
            self.window_bytes += more.max(1);
        }
        self.window_bytes = self.window_bytes.min(self.window_bytes_max);
    }

    fn count_duplicate(&mut self) {
        self.duplicates += 1;
        if self.recovering {
            self.window_bytes += self.segment_bytes;
        } else if self.duplicates == DUPLICATES && self.first >= self.recover {
            self.counts.fast_recoveries += 1;
            self.threshold_bytes = self.half_flight();
            self.window_bytes = self.threshold_bytes + u64::from(DUPLICATES) * self.segment_bytes;
            self.recovering = true;
            self.recover = self.first + self.segments.len() as u64;
            self.owed = Some(self.first);
        }
    }
}

/// How long an acknowledgement takes, and how long it is waited for.
#[derive(Debug)]
struct RoundTrip {
    smoothed_ps: Option<u64>,
    variation_ps: u64,
    timeout: Span,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self { smoothed_ps: None, variation_ps: 0, timeout: Span::from_ps(TIMEOUT_PS_FIRST) }
    }
}

impl RoundTrip {
    const fn timeout(&self) -> Span {
        self.timeout
    }

    fn sample(&mut self, span: Span) {
        let taken_ps = span.as_ps();
        let (smoothed_ps, variation_ps) = match self.smoothed_ps {
            None => (taken_ps, taken_ps / 2),
            Some(smoothed_ps) => (
                smoothed_ps - smoothed_ps / 8 + taken_ps / 8,
                self.variation_ps - self.variation_ps / 4 + smoothed_ps.abs_diff(taken_ps) / 4,
            ),
        };
        (self.smoothed_ps, self.variation_ps) = (Some(smoothed_ps), variation_ps);
        let timeout_ps = smoothed_ps + 4 * variation_ps;
        self.timeout = Span::from_ps(timeout_ps.clamp(TIMEOUT_PS_MIN, TIMEOUT_PS_MAX));
    }

    fn back_off(&mut self) {
        self.timeout = (self.timeout * 2).min(Span::from_ps(TIMEOUT_PS_MAX));
    }
}

/// The far end: it hands on what is in order and keeps what came too early.
#[derive(Debug)]
struct FarEnd {
    expected: u64,
    early: BTreeMap<u64, u32>,
}

impl Default for FarEnd {
    fn default() -> Self {
        Self { expected: 1, early: BTreeMap::new() }
    }
}

impl FarEnd {
    fn take(&mut self, segment: u64, bytes: u32) -> (u64, u64) {
        if segment >= self.expected {
            self.early.insert(segment, bytes);
        }
        let mut handed_on = 0;
        while let Some(bytes) = self.early.remove(&self.expected) {
            self.expected += 1;
            handed_on += u64::from(bytes);
        }
        (self.expected, handed_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * MS)
    }

    /// Sends all that the window lets through.
    fn fill(reno: &mut Reno, now: Time) -> Vec<u64> {
        core::iter::from_fn(|| reno.next(now, true, || 1_000).map(|(segment, _)| segment)).collect()
    }

    #[test]
    fn a_lost_segment_halves_the_window_and_goes_again_after_three_duplicates() {
        let mut reno = Reno::new(1_000, 1_000_000, Span::ZERO);
        assert_eq!(fill(&mut reno, at(0)), (1..=10).collect::<Vec<_>>());
        // Segment 1 is lost: 2, 3 and 4 make three duplicates; 10,000 under way become 5,000, and
        // three segments have left the network.
        for segment in 2..=4 {
            let (expected, _) = reno.deliver(segment, 1_000);
            assert_eq!(expected, 1);
            reno.acknowledge(at(20), expected);
        }
        assert_eq!((reno.threshold_bytes, reno.window_bytes), (5_000, 8_000));
        assert_eq!(fill(&mut reno, at(20)), [1]);
        // It fills the gap: 1 to 4 are handed on, and 5 to 10 are acknowledged with it later.
        assert_eq!(reno.deliver(1, 1_000), (5, 4_000));
        for segment in 5..=10 {
            reno.deliver(segment, 1_000);
        }
        reno.acknowledge(at(40), 11);
        assert_eq!((reno.recovering, reno.window_bytes, reno.flight_bytes), (false, 5_000, 0));
    }

    #[test]
    fn two_duplicates_are_nothing() {
        let mut reno = Reno::new(1_000, 1_000_000, Span::ZERO);
        fill(&mut reno, at(0));
        for _ in 0..2 {
            reno.acknowledge(at(20), 1);
        }
        assert_eq!((reno.window_bytes, reno.counts.fast_recoveries), (10_000, 0));
        assert!(fill(&mut reno, at(20)).is_empty());
    }

    #[test]
    fn silence_sends_everything_again_slowly() {
        let mut reno = Reno::new(1_000, 1_000_000, Span::ZERO);
        fill(&mut reno, at(0));
        reno.check_timeout(at(999));
        assert_eq!(reno.counts.timeouts, 0);
        reno.check_timeout(at(1_000));
        assert_eq!((reno.counts.timeouts, reno.window_bytes), (1, 1_000));
        assert_eq!(fill(&mut reno, at(1_000)), [1]);
        // The next wait is twice as long.
        assert_eq!(reno.timeout_at(), Some(at(3_000)));
        reno.acknowledge(at(1_020), 2);
        assert_eq!(fill(&mut reno, at(1_020)), [2, 3]);
    }
}
