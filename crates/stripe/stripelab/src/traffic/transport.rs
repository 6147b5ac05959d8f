//! A transport that reacts to loss and reordering: a small TCP with selective acknowledgements.
//!
//! ```text
//!   fast recovery   a segment counts as lost if three later segments arrived: the window shrinks;
//!                   lost segments are retransmitted, the first at once, others within the window
//!   mark            the window shrinks as after a loss, without a retransmission
//!   timeout         a window of one segment, and all unacknowledged segments are retransmitted
//!   otherwise       the window grows with each acknowledgement
//! ```
//!
//! Source: RFC 6675 (recovery), RFC 6298 (timeouts; the timer restarts when the first segment is
//! retransmitted, as in Linux), RFC 3168 (ECN marks). Every segment is acknowledged immediately; a
//! lost retransmission is only detected by the timeout.
//!
//! Invariants: except for the first retransmission of a recovery, segments are sent only within the
//! window; the window shrinks at most once for the data in flight.

use super::receiver::Receiver;
use super::round_trip::RoundTrip;
use super::window::{Outstanding, Window};
use crate::plan::WindowRule;
use gingham_kernel::{Span, Time};
use std::collections::VecDeque;

const DUPLICATES: u64 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransportCounts {
    pub(crate) retransmissions: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
    pub(crate) ecn_reductions: u64,
    pub(crate) stops: u64,
    pub(crate) stops_at_receiver: u64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: u32,
    sent: Time,
    again: bool,
    state: SegmentState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SegmentState {
    InFlight,
    Come,
    Lost,
}

#[derive(Debug)]
pub(crate) struct Transport {
    segment_bytes: u64,
    window_bytes_max: u64,
    ack_delay: Span,
    window: Window,
    first: u64,
    segments: VecDeque<Segment>,
    flight_bytes: u64,
    highest: u64,
    /// Number of the first segment that has not been checked for loss.
    judged: u64,
    lost: VecDeque<u64>,
    recovering: bool,
    /// Whether one retransmission may exceed the window (RFC 6675, section 5, step 4.3).
    first_loss: bool,
    /// One more than the number of the last segment sent before the most recent recovery or
    /// timeout.
    recover: u64,
    round_trip: RoundTrip,
    timeout_at: Option<Time>,
    receiver: Receiver,
    counts: TransportCounts,
}

impl Transport {
    pub(crate) fn new(
        rule: WindowRule,
        segment_bytes: u32,
        window_bytes_max: u64,
        ack_delay: Span,
    ) -> Self {
        let segment_bytes = u64::from(segment_bytes);
        Self {
            segment_bytes,
            window_bytes_max,
            ack_delay,
            window: Window::new(rule, segment_bytes, window_bytes_max),
            first: 1,
            segments: VecDeque::new(),
            flight_bytes: 0,
            highest: 0,
            judged: 1,
            lost: VecDeque::new(),
            recovering: false,
            first_loss: false,
            recover: 1,
            round_trip: RoundTrip::default(),
            timeout_at: None,
            receiver: Receiver::default(),
            counts: TransportCounts::default(),
        }
    }

    pub(crate) const fn ack_delay(&self) -> Span {
        self.ack_delay
    }

    pub(crate) const fn counts(&self) -> &TransportCounts {
        &self.counts
    }

    pub(crate) fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    pub(crate) const fn timeout_at(&self) -> Option<Time> {
        self.timeout_at
    }

    pub(crate) fn next(
        &mut self,
        now: Time,
        may_begin: bool,
        length: impl FnOnce() -> u32,
    ) -> Option<(u64, u32)> {
        let within_window = self.flight_bytes + self.segment_bytes <= self.window_bytes();
        if !within_window && !std::mem::take(&mut self.first_loss) {
            return self.stop();
        }
        let (segment, bytes) = match self.lost.pop_front() {
            Some(segment) => (segment, self.send_again(now, segment)),
            None if may_begin && self.is_within_receiver() => {
                let bytes = length();
                let state = SegmentState::InFlight;
                self.segments.push_back(Segment { bytes, sent: now, again: false, state });
                (self.first + self.segments.len() as u64 - 1, bytes)
            }
            None if may_begin => return self.stop(),
            None => return None,
        };
        self.flight_bytes += u64::from(bytes);
        self.timeout_at.get_or_insert(now + self.round_trip.timeout());
        Some((segment, bytes))
    }

    pub(crate) fn deliver(&mut self, segment: u64, bytes: u32) -> (u64, u64) {
        self.receiver.take(segment, bytes)
    }

    /// Processes an acknowledgement of segment `got` and of all segments before `expected`;
    /// `marked` is the ECN mark on segment `got`.
    pub(crate) fn acknowledge(&mut self, now: Time, expected: u64, got: u64, marked: bool) {
        let (before, mut acknowledged_bytes) = (self.first, 0);
        while self.first < expected
            && let Some(segment) = self.segments.pop_front()
        {
            acknowledged_bytes += u64::from(segment.bytes);
            self.leave_flight(now, &segment);
            self.first += 1;
        }
        while self.lost.front().is_some_and(|lost| *lost < expected) {
            self.lost.pop_front();
        }
        self.mark_come(now, got);
        self.find_lost();
        if marked {
            self.counts.ecn_reductions += u64::from(self.begin_recovery());
        }
        if self.first > before {
            self.open_window(now, acknowledged_bytes);
            let in_flight = !self.segments.is_empty();
            self.timeout_at = in_flight.then(|| now + self.round_trip.timeout());
        }
    }

    pub(crate) fn check_timeout(&mut self, now: Time) {
        if self.timeout_at.is_none_or(|at| at > now) {
            return;
        }
        self.counts.timeouts += 1;
        self.window.time_out(self.outstanding());
        self.recovering = false;
        self.recover = self.first + self.segments.len() as u64;
        self.judged = self.recover;
        self.flight_bytes = 0;
        self.lost.clear();
        for (number, segment) in (self.first..).zip(&mut self.segments) {
            if segment.state != SegmentState::Come {
                segment.state = SegmentState::Lost;
                self.lost.push_back(number);
            }
        }
        self.round_trip.back_off();
        self.timeout_at = Some(now + self.round_trip.timeout());
    }

    fn stop<T>(&mut self) -> Option<T> {
        self.counts.stops += 1;
        self.counts.stops_at_receiver += u64::from(!self.is_within_receiver());
        None
    }

    fn is_within_receiver(&self) -> bool {
        (self.segments.len() as u64 + 1) * self.segment_bytes <= self.window_bytes_max
    }

    fn index(&self, segment: u64) -> Option<usize> {
        let index = usize::try_from(segment.checked_sub(self.first)?).ok()?;
        (index < self.segments.len()).then_some(index)
    }

    fn send_again(&mut self, now: Time, segment: u64) -> u32 {
        let index = self.index(segment).expect("what is lost was sent and has not come");
        self.counts.retransmissions += 1;
        if index == 0 {
            self.timeout_at = Some(now + self.round_trip.timeout());
        }
        let segment = &mut self.segments[index];
        (segment.sent, segment.again, segment.state) = (now, true, SegmentState::InFlight);
        segment.bytes
    }

    fn outstanding(&self) -> Outstanding {
        let all = self.segments.iter().map(|segment| u64::from(segment.bytes));
        Outstanding { in_flight_bytes: self.flight_bytes, unacknowledged_bytes: all.sum() }
    }

    fn leave_flight(&mut self, now: Time, segment: &Segment) {
        if segment.state == SegmentState::InFlight {
            self.flight_bytes -= u64::from(segment.bytes);
        }
        if segment.state == SegmentState::InFlight && !segment.again {
            self.round_trip.sample(now.since(segment.sent));
        }
    }

    fn mark_come(&mut self, now: Time, got: u64) {
        self.highest = self.highest.max(got);
        let Some(index) = self.index(got) else { return };
        let segment = self.segments[index];
        self.leave_flight(now, &segment);
        if segment.state == SegmentState::Lost {
            self.lost.retain(|lost| *lost != got);
        }
        self.segments[index].state = SegmentState::Come;
    }

    fn find_lost(&mut self) {
        self.judged = self.judged.max(self.first);
        while self.judged + DUPLICATES <= self.highest {
            if let Some(index) = self.index(self.judged)
                && self.segments[index].state == SegmentState::InFlight
            {
                self.segments[index].state = SegmentState::Lost;
                let begins = self.begin_recovery();
                self.first_loss |= begins;
                self.counts.fast_recoveries += u64::from(begins);
                self.flight_bytes -= u64::from(self.segments[index].bytes);
                self.lost.push_back(self.judged);
            }
            self.judged += 1;
        }
    }

    /// Starts a recovery, at most once for the data in flight (RFC 3168, section 6.1.2).
    fn begin_recovery(&mut self) -> bool {
        if self.recovering || self.first < self.recover {
            return false;
        }
        self.window.lose(self.outstanding());
        self.recovering = true;
        self.recover = self.first + self.segments.len() as u64;
        true
    }

    fn open_window(&mut self, now: Time, acknowledged_bytes: u64) {
        if self.recovering {
            self.recovering = self.first < self.recover;
        } else {
            self.window.open(now, acknowledged_bytes, self.round_trip.smoothed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * MS)
    }

    fn fill(reno: &mut Transport, now: Time) -> Vec<u64> {
        core::iter::from_fn(|| reno.next(now, true, || 1_000).map(|(segment, _)| segment)).collect()
    }

    #[test]
    fn third_duplicate_ack_halves_the_window_and_retransmits() {
        let mut reno = Transport::new(WindowRule::Reno, 1_000, 1_000_000, Span::ZERO);
        assert_eq!(fill(&mut reno, at(0)), (1..=10).collect::<Vec<_>>());
        // Segment 1 is lost. When segments 2, 3 and 4 have arrived, 7,000 of 10,000 bytes are in
        // flight; the window shrinks to half of that, 3,500 bytes. Without segment 1, 6,000 bytes
        // are now in flight.
        for segment in 2..=4 {
            let (expected, _) = reno.deliver(segment, 1_000);
            assert_eq!(expected, 1);
            reno.acknowledge(at(20), expected, segment, false);
        }
        assert_eq!(
            (reno.window.threshold_bytes(), reno.window_bytes(), reno.flight_bytes),
            (3_500, 3_500, 6_000)
        );
        // Segments 5 to 8 have arrived; 9, 10 and 1 are in flight.
        assert_eq!(fill(&mut reno, at(20)), [1]);
        for segment in 5..=8 {
            reno.deliver(segment, 1_000);
            reno.acknowledge(at(20), 1, segment, false);
        }
        assert_eq!((reno.flight_bytes, fill(&mut reno, at(20))), (3_000, vec![]));
        assert_eq!(reno.deliver(1, 1_000), (9, 8_000));
        reno.acknowledge(at(40), 9, 1, false);
        // Segments 9 and 10 end the recovery. Congestion avoidance follows: one segment per window.
        assert!(reno.recovering);
        reno.acknowledge(at(40), 10, 9, false);
        reno.acknowledge(at(40), 11, 10, false);
        assert_eq!((reno.recovering, reno.window_bytes(), reno.flight_bytes), (false, 3_500, 0));
    }

    #[test]
    fn ecn_mark_halves_the_window_without_retransmission() {
        let mut reno = Transport::new(WindowRule::Reno, 1_000, 1_000_000, Span::ZERO);
        fill(&mut reno, at(0));
        reno.acknowledge(at(20), 2, 1, true);
        // Of 10,000 bytes, 9,000 are in flight; the new window is half of that, 4,500 bytes.
        assert_eq!((reno.window_bytes(), reno.counts.ecn_reductions), (4_500, 1));
        for segment in 2..=10 {
            reno.acknowledge(at(20), segment + 1, segment, true);
        }
        assert_eq!((reno.window_bytes(), reno.counts.ecn_reductions), (4_500, 1));
        assert_eq!(fill(&mut reno, at(20)), [11, 12, 13, 14]);
        assert_eq!(reno.counts.retransmissions, 0);
    }

    #[test]
    fn two_duplicate_acks_cause_no_recovery() {
        let mut reno = Transport::new(WindowRule::Reno, 1_000, 1_000_000, Span::ZERO);
        fill(&mut reno, at(0));
        reno.acknowledge(at(20), 1, 2, false);
        reno.acknowledge(at(20), 1, 3, false);
        assert_eq!((reno.window_bytes(), reno.counts.fast_recoveries), (10_000, 0));
        assert_eq!(fill(&mut reno, at(20)), [11, 12]);
    }

    #[test]
    fn timeout_restarts_from_one_segment() {
        let mut reno = Transport::new(WindowRule::Reno, 1_000, 1_000_000, Span::ZERO);
        fill(&mut reno, at(0));
        reno.check_timeout(at(999));
        assert_eq!(reno.counts.timeouts, 0);
        reno.check_timeout(at(1_000));
        assert_eq!((reno.counts.timeouts, reno.window_bytes()), (1, 1_000));
        assert_eq!(fill(&mut reno, at(1_000)), [1]);
        assert_eq!(reno.timeout_at(), Some(at(3_000)));
        reno.acknowledge(at(1_020), 2, 1, false);
        assert_eq!(fill(&mut reno, at(1_020)), [2, 3]);
    }
}
