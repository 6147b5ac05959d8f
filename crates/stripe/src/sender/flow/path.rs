//! A channel as the sender sees it: what is in flight on it, and how much may be.
//!
//! ```text
//!   flight window = rate x least round trip   what the way holds
//!                 + aggregation               reports come in bursts
//!                 + rate x (queue + 4 x variation)    a queue that stands, so that it is never idle; of one and a half
//!                                                   quanta at least, for while others have their turn
//!
//!              0 ........ way .......... middle .......... window
//!   in flight  |            idle at times |  full: busy, and the rate is measured
//! ```
//!
//! Starting, the window grows by what came while it is full, which doubles it in a round trip,
//! until the round trip has grown by an eighth (4 to 16 ms, RFC 9406). Loss plays no part, but for
//! a ceiling that has been tried.
//!
//! Source: BBR (Cardwell et al. 2016) for the product of rate and least round trip, HyStart++ (RFC
//! 9406) for the end of the start, RFC 6298 for four variations; the middle is ours.
//!
//! Invariant: the window is at least four packets, with which BBR keeps going, too.

use super::aggregation::Aggregation;
use super::capacity::{Arrival, Capacity};
use super::ceiling::{Ceiling, Tally, Trial};
use super::options::{FlightPlan, nanoseconds};
use super::round_trip::RoundTrip;
use super::seen::Seen;
use super::units::{carried, is_over, percent_of};
use crate::{Instant, Report, Sent};

/// No round trip is longer: a mean, and what waits for it, would take as long to come back from one
/// that is.
const ROUND_TRIP_NS_MAX: u64 = 60_000_000_000;
const WINDOW_PACKETS_MIN: u64 = 4;
/// What is tried of a rate, in hundredths.
const GAINS: std::ops::RangeInclusive<u64> = 100..=200;
/// A start ends when the round trip has grown by an eighth of the least, in these bounds (RFC
/// 9406).
const START_DELAY_NS: [u64; 2] = [4_000_000, 16_000_000];
const QUEUE_VARIATIONS: u64 = 4;
/// Aggregation is remembered for ten round trips, as in BBR.
const AGGREGATION_ROUND_TRIPS: u64 = 5;
/// While the queue is let run empty, less is in flight than the way holds.
const EMPTYING_PERCENT: u64 = 98;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing has held the channel up yet.
    Starting,
    Steady,
    /// The queue is let run empty, and since when it has been.
    Emptying {
        low_since_ns: Option<u64>,
    },
}

/// A channel as the sender sees it.
#[derive(Clone, Debug)]
pub(super) struct Path {
    plan: FlightPlan,
    longest_bytes: u64,
    quantum_bytes: u64,
    pub(super) phase: Phase,
    /// The queue is not let run empty before.
    empty_at_ns: u64,
    accounted_bytes: u64,
    received_bytes: u64,
    window_bytes: u64,
    round_trip: RoundTrip,
    capacity: Capacity,
    aggregation: Aggregation,
    ceiling: Ceiling,
    /// The rate before a trial, as it was taken to be and as it came.
    before_trial: Option<(u64, u64)>,
    /// More than the rate is tried, in hundredths of it.
    pub(super) gain_percent: u64,
    pub(super) seen: Seen,
}

impl Path {
    pub(super) fn new(plan: FlightPlan, longest_bytes: u32, quantum_bytes: u32) -> Self {
        let longest_bytes = u64::from(longest_bytes);
        Self {
            plan,
            longest_bytes,
            quantum_bytes: u64::from(quantum_bytes),
            phase: Phase::Starting,
            empty_at_ns: 0,
            accounted_bytes: 0,
            received_bytes: 0,
            window_bytes: longest_bytes * u64::from(plan.first_packets),
            round_trip: RoundTrip::new(nanoseconds(plan.least_span)),
            capacity: Capacity::new(nanoseconds(plan.sample)),
            aggregation: Aggregation::default(),
            ceiling: Ceiling::new(),
            before_trial: None,
            gain_percent: 100,
            seen: Seen::default(),
        }
    }

    /// A new epoch: counts begin anew, what was learned stays.
    pub(super) fn restart(&mut self) {
        (self.accounted_bytes, self.received_bytes) = (0, 0);
        self.capacity.restart();
        self.ceiling.restart();
        self.seen = Seen::default();
    }

    /// Somebody knows what the channel carries.
    pub(super) fn tell(&mut self, bytes_per_second: u64) {
        self.capacity.set(bytes_per_second);
    }

    pub(super) const fn in_flight_bytes(&self, sent: Sent) -> u64 {
        sent.bytes.saturating_sub(self.accounted_bytes)
    }

    pub(super) const fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    pub(super) const fn bytes_per_second(&self) -> Option<u64> {
        self.capacity.bytes_per_second()
    }

    pub(super) const fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    pub(super) fn round_trip_ns(&self) -> u64 {
        self.round_trip.smoothed_ns()
    }

    /// Whether the channel is in.
    pub(super) const fn is_in(&self) -> bool {
        self.quantum_bytes > 0
    }

    pub(super) fn set_quantum(&mut self, quantum_bytes: u32) {
        self.quantum_bytes = u64::from(quantum_bytes);
    }

    pub(super) const fn quantum_bytes(&self) -> u64 {
        self.quantum_bytes
    }

    /// Whether a packet may go.
    pub(super) const fn admits(&self, sent: Sent) -> bool {
        self.in_flight_bytes(sent).saturating_add(self.longest_bytes) <= self.window_bytes
    }

    /// A report has come.
    pub(super) fn take(&mut self, now: Instant, sent: Sent, report: &Report) {
        self.mend();
        let now_ns = now.nanoseconds();
        let told_ns = report.echo.nanoseconds().saturating_add(u64::from(report.held_ns));
        let newly_bytes = report.accounted_bytes.saturating_sub(self.accounted_bytes);
        let came_bytes = report.received_bytes.saturating_sub(self.received_bytes);
        let is_sample = now_ns.checked_sub(told_ns).is_some_and(|span| span <= ROUND_TRIP_NS_MAX);
        if report.accounted_bytes > sent.bytes || report.held_ns == u32::MAX || !is_sample {
            return;
        }
        let level_bytes = self.in_flight_bytes(sent);
        self.round_trip.take(now_ns, now_ns - told_ns);
        let is_full = level_bytes.saturating_add(self.longest_bytes) > self.full_from_bytes();
        self.see(now_ns, level_bytes, report.accounted_bytes, is_full);
        self.accounted_bytes = report.accounted_bytes;
        self.received_bytes = report.received_bytes;
        self.capacity.take(&Arrival {
            now_ns,
            came_at_ns: report.came_at.nanoseconds(),
            accounted_bytes: report.accounted_bytes,
            received_bytes: self.ceiling.but_for_the_usual(report.received_bytes),
            is_full,
            round_trip_ns: self.round_trip.smoothed_ns(),
            variation_ns: self.round_trip.variation_ns(),
            bytes_per_second_max: self.ceiling.bytes_per_second_max(),
        });
        self.try_losses(now_ns, report);
        let is_emptying = matches!(self.phase, Phase::Emptying { .. });
        if let Some(rate) = self.bytes_per_second().filter(|_| !is_emptying) {
            let half_ns = self.round_trip.smoothed_ns().saturating_mul(AGGREGATION_ROUND_TRIPS);
            self.aggregation.take(now_ns, newly_bytes, rate, half_ns);
        }
        self.move_on(now_ns, self.in_flight_bytes(sent));
        self.set_window(now_ns, is_full, came_bytes);
    }

    /// What nothing leads to is given up; what is only wrong is measured anew.
    pub(super) fn mend(&mut self) {
        self.capacity.mend();
        self.ceiling.mend(self.window_bytes_min());
        if !self.seen.is_sound() {
            self.seen = Seen::default();
        }
        if !GAINS.contains(&self.gain_percent) {
            self.gain_percent = *GAINS.start();
        }
    }

    fn try_losses(&mut self, now_ns: u64, report: &Report) {
        let trial = self.ceiling.take(&Tally {
            now_ns,
            accounted_packets: report.accounted_packets,
            received_packets: report.received_packets,
            received_bytes: report.received_bytes,
            came_at_ns: report.came_at.nanoseconds(),
            echo_ns: report.echo.nanoseconds(),
        });
        match trial {
            Some(Trial::Begins { bytes_per_second }) => {
                self.before_trial = Some((self.bytes_per_second().unwrap_or(0), bytes_per_second));
                let bytes = carried(bytes_per_second, self.round_trip.least_ns());
                self.ceiling.set(bytes.max(self.window_bytes_min()));
            }
            Some(Trial::NothingShown) => {
                if let Some((rate, _)) = self.before_trial {
                    self.capacity.set(rate);
                }
            }
            Some(Trial::Overflowed { bytes_per_second }) => {
                self.end_start();
                let came_before = self.before_trial.map_or(0, |(_, came)| came);
                self.capacity.set(bytes_per_second.max(came_before));
            }
            None => {}
        }
    }

    fn see(&mut self, now_ns: u64, level_bytes: u64, accounted_bytes: u64, is_full: bool) {
        if now_ns >= self.seen.settled_at_ns {
            let last = (now_ns, accounted_bytes);
            self.seen.settled = Some((self.seen.settled.map_or(last, |(first, _)| first), last));
        }
        self.seen.levels_bytes = self.seen.levels_bytes.saturating_add(level_bytes);
        self.seen.reports += 1;
        self.seen.full_reports += u64::from(is_full);
    }

    /// From a phase to the next.
    fn move_on(&mut self, now_ns: u64, in_flight_bytes: u64) {
        match &mut self.phase {
            Phase::Starting => {
                if self.bytes_per_second().is_some() && self.is_held_up() {
                    self.end_start();
                }
            }
            Phase::Steady => {}
            Phase::Emptying { low_since_ns } => {
                if in_flight_bytes <= self.window_bytes {
                    let since_ns = *low_since_ns.get_or_insert(now_ns);
                    let long_ns = self.round_trip.smoothed_ns() + nanoseconds(self.plan.sample);
                    if now_ns.abs_diff(since_ns) >= long_ns {
                        self.phase = Phase::Steady;
                        self.empty_at_ns = now_ns + nanoseconds(self.plan.least_span) / 2;
                    }
                }
            }
        }
    }

    fn end_start(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Steady;
        }
    }

    fn is_held_up(&self) -> bool {
        let least_ns = self.round_trip.least_ns();
        let [low_ns, high_ns] = START_DELAY_NS;
        let grown_ns = (least_ns / 8).clamp(low_ns, high_ns) + 2 * self.round_trip.variation_ns();
        self.round_trip.smoothed_ns() > least_ns + grown_ns
    }

    /// What the way holds without a queue.
    pub(super) fn way_bytes(&self) -> u64 {
        let rate = percent_of(self.bytes_per_second().unwrap_or(0), self.gain_percent);
        carried(rate, self.round_trip.least_ns())
    }

    /// It grows by no more than what came: twofold in a round trip, and not at all by what a queue
    /// drops.
    fn set_window(&mut self, now_ns: u64, is_full: bool, came_bytes: u64) {
        let way_bytes = self.way_bytes();
        let window_bytes = match self.phase {
            Phase::Starting if is_full => u64::MAX,
            Phase::Starting => self.window_bytes,
            Phase::Steady => {
                let queue_ns = nanoseconds(self.plan.queue)
                    + QUEUE_VARIATIONS * self.round_trip.variation_ns();
                let queue_bytes = carried(self.bytes_per_second().unwrap_or(0), queue_ns);
                let ahead_bytes = self.aggregation.bytes();
                let queue_bytes = queue_bytes.max(self.quantum_bytes * 3 / 2);
                way_bytes.saturating_add(ahead_bytes).saturating_add(queue_bytes)
            }
            Phase::Emptying { .. } => percent_of(way_bytes, EMPTYING_PERCENT),
        };
        self.ceiling.bound(now_ns, window_bytes);
        let window_bytes =
            self.ceiling.bytes().map_or(window_bytes, |bytes| bytes.min(window_bytes));
        let window_bytes = window_bytes.min(self.window_bytes.saturating_add(came_bytes));
        self.window_bytes = window_bytes.max(self.window_bytes_min());
    }

    const fn window_bytes_min(&self) -> u64 {
        WINDOW_PACKETS_MIN * self.longest_bytes
    }

    /// With so much in flight the channel is taken to be busy.
    fn full_from_bytes(&self) -> u64 {
        match self.phase {
            Phase::Starting => self.window_bytes,
            Phase::Emptying { .. } => u64::MAX,
            Phase::Steady => {
                u64::midpoint(self.way_bytes().min(self.window_bytes), self.window_bytes)
            }
        }
    }

    /// Whether it is time to let the queue run empty, lest it be taken for the way.
    pub(super) fn wants_emptying(&self, now_ns: u64) -> bool {
        let least_until_ns =
            self.round_trip.least_at_ns().saturating_add(nanoseconds(self.plan.least_span) / 2);
        let until_ns = least_until_ns.max(self.empty_at_ns);
        self.phase == Phase::Steady && is_over(now_ns, until_ns, nanoseconds(self.plan.least_span))
    }

    pub(super) fn start_emptying(&mut self) {
        if self.phase == Phase::Steady {
            self.phase = Phase::Emptying { low_since_ns: None };
        }
    }
}

#[cfg(test)]
impl Path {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.phase = match words() % 3 {
            0 => Phase::Starting,
            1 => Phase::Steady,
            _ => Phase::Emptying { low_since_ns: Some(words()) },
        };
        self.quantum_bytes = crate::corruption::word(words).into();
        (self.empty_at_ns, self.accounted_bytes, self.window_bytes) = (words(), words(), words());
        self.received_bytes = words();
        (self.before_trial, self.gain_percent) = (Some((words(), words())), words());
        self.round_trip.corrupt(words);
        self.capacity.corrupt(words);
        self.aggregation.corrupt(words);
        self.ceiling.corrupt(words);
        self.seen.corrupt(words);
    }
}

#[cfg(test)]
mod tests;
