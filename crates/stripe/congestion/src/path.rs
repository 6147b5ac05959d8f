//! Path at the sender: bytes in flight, and permission to send.
//!
//! ```text
//!   sent           |----------------------------------------------->|
//!   accounted for  |----------------------->| received or lost
//!   in flight                               |<--------------------->|   at most the window
//! ```
//!
//! Invariants: the count of accounted packets never decreases, and never exceeds the count of sent
//! packets. The minimum pacing rate is two packets per round trip, or per second if a round trip
//! takes longer, so that a path can always discover a higher rate.

#[cfg(test)]
mod tests;

use core::time::Duration;

use crate::Bbr;
use crate::controller::{Acknowledged, Control, Controller, RateSample, Sent};
use crate::deliveries::Deliveries;
use crate::pacer::Pacer;
use crate::round_trip::RoundTrip;
use crate::units::{carried, rate, scaled, time_ns};

/// Maximum time to send two packets, regardless of the pacing rate.
const SLOWEST_NS: u64 = 1_000_000_000;

/// Limits of pacing, window and packet records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// Maximum packet length.
    pub longest_bytes: u64,
    /// Burst size, expressed as time at the pacing rate.
    pub burst: Duration,
    /// Maximum number of packet records.
    pub records: usize,
    /// Maximum window, regardless of the controller.
    pub window_bytes_max: u64,
    /// Validity period of a minimum RTT.
    pub least_span: Duration,
    /// Maximum time since the last acknowledgement during which packets are assumed to arrive.
    pub kept: Duration,
}

impl PathPlan {
    /// Returns a plan with bursts of 1 ms, as with segmentation offload, and a minimum RTT valid
    /// for 10 s, as in BBR.
    pub const fn new(longest_bytes: u64) -> Self {
        Self {
            longest_bytes,
            burst: Duration::from_millis(1),
            records: 1_024,
            window_bytes_max: 1 << 30,
            least_span: Duration::from_secs(10),
            kept: Duration::ZERO,
        }
    }
}

/// Limit on the rate of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCap {
    /// Rate in bytes per second, including overhead.
    pub bytes_per_second: u64,
    /// Overhead per packet on the wire.
    pub overhead_bytes: u64,
}

/// Cumulative acknowledgement, whose counts never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Packets accounted for (received or lost).
    pub accounted_packets: u64,
    /// Bytes accounted for (received or lost).
    pub accounted_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Arrival time of the last packet by the receiver's clock.
    pub received_at_ns: u64,
    /// Delay of the acknowledgement at the receiver; `None` if unknown.
    pub held_ns: Option<u64>,
}

/// Path at the sender: its controller, counts and RTT.
#[derive(Clone, Debug)]
pub struct Path {
    plan: PathPlan,
    control: Control,
    cap: Option<RateCap>,
    round_trip: RoundTrip,
    deliveries: Deliveries,
    pacer: Pacer,
    sent_packets: u64,
    sent_bytes: u64,
    counted: Acknowledgement,
    window_bytes: u64,
    pacing_rate_bytes_per_second: Option<u64>,
    /// Time of the last acknowledgement that found the window full; until then, the window limited
    /// sending.
    room_since_ns: u64,
    busy_since_ns: u64,
    acknowledged_at_ns: u64,
    acknowledged_after_ns: u64,
}

impl Path {
    /// Creates a path.
    pub fn new(plan: PathPlan, control: Control) -> Self {
        let nanoseconds = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let mut path = Self {
            plan,
            control,
            cap: None,
            round_trip: RoundTrip::new(nanoseconds(plan.least_span)),
            deliveries: Deliveries::new(plan.records.max(2)),
            pacer: Pacer::new(nanoseconds(plan.burst)),
            sent_packets: 0,
            sent_bytes: 0,
            counted: Acknowledgement::default(),
            window_bytes: 0,
            pacing_rate_bytes_per_second: None,
            room_since_ns: 0,
            busy_since_ns: 0,
            acknowledged_at_ns: 0,
            acknowledged_after_ns: 0,
        };
        path.ask_control();
        path
    }

    /// Releases memory during a long idle period.
    pub fn rest(&mut self) {
        self.deliveries.rest();
    }

    /// Restarts the counts, with no data in flight; keeps the path's estimates.
    pub fn restart(&mut self) {
        (self.sent_packets, self.sent_bytes) = (0, 0);
        self.counted = Acknowledgement::default();
        self.deliveries.restart();
    }

    /// Returns the controller.
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Ends a common round of all paths that share a clock.
    pub fn pass_round(&mut self) {
        if let Some(bbr) = self.bbr_mut() {
            bbr.pass_round();
        }
    }

    /// Returns whether the window is reduced to measure the minimum RTT.
    pub fn is_probing_round_trip(&self, now_ns: u64) -> bool {
        matches!(&self.control, Control::Bbr(bbr) if bbr.is_probing_rtt(now_ns))
    }

    /// Records whether another path is probing its minimum RTT. If so, this path postpones its
    /// probe.
    pub fn see_others_probe(&mut self, others_probe: bool) {
        if let Some(bbr) = self.bbr_mut() {
            bbr.see_others_probe_rtt(others_probe);
        }
    }

    pub(crate) fn bbr_mut(&mut self) -> Option<&mut Bbr> {
        if let Control::Bbr(bbr) = &mut self.control { Some(bbr) } else { None }
    }

    /// Replaces the controller.
    pub fn set_control(&mut self, control: Control) {
        self.control = control;
        self.ask_control();
    }

    /// Sets or removes the maximum rate.
    pub fn set_cap(&mut self, cap: Option<RateCap>) {
        self.cap = cap;
        self.ask_control();
    }

    /// Returns the RTT statistics.
    pub const fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// Returns the bytes in flight: sent, but not accounted for.
    pub const fn in_flight_bytes(&self) -> u64 {
        self.sent_bytes - self.counted.accounted_bytes
    }

    /// Returns the maximum number of bytes in flight.
    pub const fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Returns the estimated bandwidth of the path; `None` if unknown.
    pub fn bytes_per_second(&self) -> Option<u64> {
        self.control.bytes_per_second()
    }

    /// Returns the pacing rate; `None` if pacing is unlimited.
    pub const fn pacing_rate_bytes_per_second(&self) -> Option<u64> {
        self.pacing_rate_bytes_per_second
    }

    fn ask_control(&mut self) {
        let window_bytes = self.control.window_bytes().min(self.plan.window_bytes_max);
        self.window_bytes = window_bytes.max(self.plan.longest_bytes);
        let round_trip_ns = match self.round_trip.smoothed_ns() {
            0 => SLOWEST_NS,
            smoothed_ns => smoothed_ns.min(SLOWEST_NS),
        };
        let least = rate(2 * self.plan.longest_bytes, round_trip_ns);
        let pace = self.control.pacing_rate_bytes_per_second().map(|pace| pace.max(least));
        self.pacing_rate_bytes_per_second = match self.cap {
            None => pace,
            Some(cap) => {
                Some(pace.map_or(cap.bytes_per_second, |pace| pace.min(cap.bytes_per_second)))
            }
        };
    }

    /// Returns the bytes to charge to the pacer for a packet: its length plus overhead, scaled by
    /// the ratio of pacing rate to cap.
    #[cold]
    fn capped_bytes(&self, bytes: u64, cap: RateCap) -> u64 {
        let Some(pace) = self.pacing_rate_bytes_per_second else { return bytes };
        let capped = bytes.saturating_add(cap.overhead_bytes);
        scaled(capped, pace, cap.bytes_per_second.max(1)).max(bytes)
    }

    /// Returns the total number of lost bytes.
    pub const fn lost_bytes(&self) -> u64 {
        self.deliveries.lost_bytes
    }

    /// Returns the maximum time during which packets are assumed to arrive without an
    /// acknowledgement: the last acknowledgement interval, limited by the plan and a quarter of the
    /// minimum RTT.
    fn kept_ns_max(&self) -> u64 {
        let kept_ns = u64::try_from(self.plan.kept.as_nanos()).unwrap_or(u64::MAX);
        self.acknowledged_after_ns.min(self.round_trip.least_ns() / 4).min(kept_ns)
    }

    /// Returns the bytes in flight, less the probable arrivals since the last acknowledgement. The
    /// window assumes an acknowledgement for each packet, but the receiver may acknowledge several
    /// together.
    fn likely_in_flight_bytes(&self, now_ns: u64) -> u64 {
        let kept_ns = now_ns.saturating_sub(self.acknowledged_at_ns).min(self.kept_ns_max());
        let kept_bytes = self.bytes_per_second().map_or(0, |rate| carried(rate, kept_ns));
        self.in_flight_bytes().saturating_sub(kept_bytes)
    }

    /// Returns when the window admits a packet of maximum length without a further acknowledgement;
    /// `None` if it needs one.
    fn room_from_ns(&self) -> Option<u64> {
        let missing_bytes =
            (self.in_flight_bytes() + self.plan.longest_bytes).saturating_sub(self.window_bytes());
        if missing_bytes == 0 {
            return Some(0);
        }
        let wait_ns = time_ns(missing_bytes, self.bytes_per_second()?);
        (wait_ns <= self.kept_ns_max()).then(|| self.acknowledged_at_ns.saturating_add(wait_ns))
    }

    /// Returns whether the window admits a packet of maximum length.
    #[inline]
    pub fn has_room(&self, now_ns: u64) -> bool {
        self.in_flight_bytes() + self.plan.longest_bytes <= self.window_bytes()
            || self.room_from_ns().is_some_and(|from_ns| from_ns <= now_ns)
    }

    /// Returns when the next packet may be sent without a further acknowledgement; `None` if it
    /// needs one.
    pub fn next_ns(&self) -> Option<u64> {
        Some(self.room_from_ns()?.max(self.pacer.next_ns()))
    }

    /// Sets the burst in bytes; the planned burst is the minimum.
    pub fn set_burst(&mut self, bytes: u64) {
        let least_ns = u64::try_from(self.plan.burst.as_nanos()).unwrap_or(u64::MAX);
        let turn_ns = self.pacing_rate_bytes_per_second().map_or(0, |pace| time_ns(bytes, pace));
        self.pacer.set_burst(turn_ns.max(least_ns));
    }

    /// Returns whether the path has a queue: data are in flight, and the smoothed RTT exceeds the
    /// minimum by more than two bursts and four times the variation (the factor in RFC 6298).
    pub fn is_queued(&self) -> bool {
        let trip = &self.round_trip;
        let queued_ns = trip.smoothed_ns().saturating_sub(trip.least_ns());
        self.in_flight_bytes() > 0
            && queued_ns > (4 * trip.variation_ns()).max(2 * self.pacer.burst_ns())
    }

    /// Returns when the pacer becomes idle if no further packet is sent.
    pub const fn idle_from_ns(&self) -> u64 {
        self.pacer.next_ns().saturating_add(self.pacer.burst_ns())
    }

    /// Returns the number of bytes after which sending must pause. The packet that reaches this
    /// number is the last.
    pub fn ready_bytes(&self, now_ns: u64) -> u64 {
        if !self.admits(now_ns) {
            return 0;
        }
        let taken_bytes = self.likely_in_flight_bytes(now_ns) + self.plan.longest_bytes;
        let room = self.window_bytes().saturating_sub(taken_bytes);
        room.min(self.pacer.ready_bytes(now_ns, self.pacing_rate_bytes_per_second()))
            .saturating_add(1)
    }

    /// Returns whether a packet may be sent now.
    #[inline]
    pub fn admits(&self, now_ns: u64) -> bool {
        self.pacer.next_ns() <= now_ns && self.has_room(now_ns)
    }

    /// Records a sent packet.
    pub fn sent(&mut self, now_ns: u64, bytes: u64) {
        let was_empty = self.in_flight_bytes() == 0;
        let in_flight_bytes = self.in_flight_bytes();
        let was_idle = was_empty && self.deliveries.is_limited_by_source();
        let delivered_bytes = self.deliveries.delivered_bytes;
        self.control.sent(&Sent { now_ns, bytes, in_flight_bytes, delivered_bytes, was_idle });
        if was_idle {
            self.ask_control();
        }
        self.sent_packets += 1;
        self.sent_bytes += bytes;
        self.deliveries.sent(now_ns, (self.sent_bytes, in_flight_bytes + bytes), was_empty);
        let paced_bytes = self.cap.map_or(bytes, |cap| self.capped_bytes(bytes, cap));
        self.pacer.sent(now_ns, paced_bytes, self.pacing_rate_bytes_per_second);
    }

    /// Handles an RTT sample that is not derived from an acknowledgement of data packets.
    pub fn timed(&mut self, now_ns: u64, round_trip_ns: u64) {
        self.round_trip.take(now_ns, round_trip_ns);
        self.ask_control();
    }

    /// Handles an acknowledgement; returns false if its counts are impossible.
    pub fn acknowledged(&mut self, now_ns: u64, acknowledgement: &Acknowledgement) -> bool {
        let before = self.counted;
        let can_be = acknowledgement.accounted_packets <= self.sent_packets
            && acknowledgement.accounted_bytes <= self.sent_bytes
            && acknowledgement.accounted_packets >= before.accounted_packets;
        if !can_be {
            return false;
        }
        self.see_idleness(now_ns);
        if !self.has_room(now_ns) {
            self.room_since_ns = now_ns;
        }
        let prior_in_flight_bytes = self.in_flight_bytes();
        self.acknowledged_after_ns = now_ns.saturating_sub(self.acknowledged_at_ns);
        self.acknowledged_at_ns = now_ns;
        let record = self.deliveries.take_record(acknowledgement.accounted_packets);
        // The receiver may know the number of lost packets before it knows their lengths.
        let sent_bytes = record.map_or(0, |record| record.sent_bytes);
        let accounted_bytes =
            acknowledgement.accounted_bytes.max(sent_bytes).max(before.accounted_bytes);
        self.counted = Acknowledgement { accounted_bytes, ..*acknowledgement };
        let newly_bytes = accounted_bytes - before.accounted_bytes;
        let came_bytes = self.newly_came(&before, newly_bytes);
        let lost_bytes = newly_bytes - came_bytes;
        let times = (now_ns, acknowledgement.received_at_ns);
        let sample = self.deliveries.acknowledged(times, record, (came_bytes, lost_bytes));
        let round_trip_ns = record.and_then(|record| {
            now_ns.checked_sub(record.sent_at_ns)?.checked_sub(acknowledgement.held_ns?)
        });
        if let Some(round_trip_ns) = round_trip_ns.filter(|_| came_bytes > 0) {
            self.round_trip.take(now_ns, round_trip_ns);
        }
        self.control.acknowledged(&Acknowledged {
            now_ns,
            acknowledged_bytes: came_bytes,
            lost_bytes,
            prior_in_flight_bytes,
            in_flight_bytes: self.in_flight_bytes(),
            delivered_bytes: self.deliveries.delivered_bytes,
            round_trip_ns,
            least_round_trip_ns: self.round_trip.least_ns(),
            smoothed_round_trip_ns: self.round_trip.smoothed_ns(),
            rate: sample.map(|sample| self.believed(sample)),
        });
        self.ask_control();
        true
    }

    /// Returns the newly received bytes: all newly accounted bytes if the receiver's count is
    /// impossible. Late arrivals of packets already counted as lost offset new losses.
    fn newly_came(&mut self, before: &Acknowledgement, newly_bytes: u64) -> u64 {
        let came = self.counted.received_bytes.checked_sub(before.received_bytes);
        came.filter(|came| *came <= newly_bytes).unwrap_or(newly_bytes)
    }

    /// Corrects the counts of sent packets and bytes, and marks all of them as accounted for.
    pub fn set_sent(&mut self, packets: u64, bytes: u64) {
        (self.sent_packets, self.sent_bytes) = (packets, bytes);
        self.counted.accounted_packets = packets;
        self.counted.accounted_bytes = bytes;
        self.deliveries.restart_at(packets);
    }

    /// Returns the counts of sent packets and bytes.
    pub const fn sent_counts(&self) -> (u64, u64) {
        (self.sent_packets, self.sent_bytes)
    }

    /// Returns whether sending is app-limited, that is, limited by the source.
    pub const fn is_limited_by_source(&self) -> bool {
        self.deliveries.is_limited_by_source()
    }

    /// Marks the path as app-limited if neither the window nor pacing has prevented sending for
    /// longer than the burst duration.
    pub fn see_idleness(&mut self, now_ns: u64) {
        if self.is_idle(now_ns) {
            self.deliveries.limit_by_source(self.in_flight_bytes());
        }
    }

    fn is_idle(&self, now_ns: u64) -> bool {
        let has_had_room = now_ns.saturating_sub(self.room_since_ns) > self.pacer.burst_ns();
        has_had_room && self.pacer.is_idle(now_ns) && self.has_room(now_ns)
    }

    /// Records that a packet is about to be sent.
    pub fn see_work(&mut self, now_ns: u64) {
        if self.is_idle(now_ns) {
            self.busy_since_ns = now_ns;
        }
    }

    /// Returns when the path last became busy after it had been idle.
    pub const fn busy_since_ns(&self) -> u64 {
        self.busy_since_ns
    }

    /// Returns the time of the last acknowledgement.
    pub const fn acknowledged_at_ns(&self) -> u64 {
        self.acknowledged_at_ns
    }

    /// Discards the rate of a sample whose interval is shorter than the minimum RTT, because its
    /// bytes arrived in a burst.
    fn believed(&self, sample: RateSample) -> RateSample {
        if sample.interval_ns < self.round_trip.least_ns() {
            RateSample { interval_ns: 0, ..sample }
        } else {
            sample
        }
    }

    /// Returns the time of the controller's next timeout.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.control.poll_timeout()
    }

    /// Handles a due timeout.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.control.handle_timeout(now_ns);
        self.ask_control();
    }
}
