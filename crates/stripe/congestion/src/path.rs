//! A path as its sender sees it: what is in flight on it, and whether a packet may go.
//!
//! ```text
//!   sent     |----------------------------------------------->|
//!   counted  |----------------------->| come or lost
//!   in flight                         |<--------------------->|   at most the window
//! ```
//!
//! Invariants: what is accounted for never grows less, and is never more than what was sent; an
//! acknowledgement that says otherwise is not taken. A path is never so slow that it cannot find
//! out that it is faster: two packets go in a round trip, or in a second.

#[cfg(test)]
mod tests;

use core::time::Duration;

use crate::Bbr;
use crate::controller::{Acknowledged, Control, Controller, RateSample, Sent};
use crate::deliveries::Deliveries;
use crate::pacer::Pacer;
use crate::round_trip::RoundTrip;
use crate::units::{carried, rate, scaled, time_ns};

/// Two packets go in this time at least.
const SLOWEST_NS: u64 = 1_000_000_000;

/// How a path is paced and recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// The longest packet.
    pub longest_bytes: u64,
    /// What goes at once: packets of so much time at the pace.
    pub burst: Duration,
    /// Packets in flight of which there is a record each; where there are more, some have one.
    pub records: usize,
    /// The most that may be in flight, whatever the controller says.
    pub window_bytes_max: u64,
    /// How long a least round trip is believed.
    pub least_span: Duration,
    /// For so long the other end keeps to itself what came, where packets come fast.
    pub kept: Duration,
}

impl PathPlan {
    /// For packets of at most this length: a millisecond at once, as what the segmentation of a
    /// network card sends; 1,024 records; a gibibyte; 10 s,
    /// as BBR believes its least round trip; each packet acknowledged by itself.
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

/// A rate that a path is not to pass, whatever its controller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCap {
    /// What goes in a second at most, with what is put around packets.
    pub bytes_per_second: u64,
    /// So many bytes are put around each packet on the wire.
    pub overhead_bytes: u64,
}

/// What the other end says: counts only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Packets accounted for, come or lost.
    pub accounted_packets: u64,
    /// Their bytes.
    pub accounted_bytes: u64,
    /// Bytes that came.
    pub received_bytes: u64,
    /// When the last of them came, by the receiver's clock.
    pub came_at_ns: u64,
    /// How long the other end kept it to itself; nothing where it does not say.
    pub held_ns: Option<u64>,
}

/// A path as its sender sees it.
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
    /// What the controller last said of window and pace, within the bounds of the path.
    window_bytes: u64,
    pace_bytes_per_second: Option<u64>,
    /// When an acknowledgement last found the window full: until then it held packets back.
    room_since_ns: u64,
    /// Since when packets have taken whatever room there was.
    busy_since_ns: u64,
    /// When the last acknowledgement came, and how long after the one before.
    acknowledged_at_ns: u64,
    acknowledged_after_ns: u64,
}

impl Path {
    /// A path under a controller.
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
            pace_bytes_per_second: None,
            room_since_ns: 0,
            busy_since_ns: 0,
            acknowledged_at_ns: 0,
            acknowledged_after_ns: 0,
        };
        path.ask_control();
        path
    }

    /// Nothing is under way, and nothing will be for long.
    pub fn rest(&mut self) {
        self.deliveries.rest();
    }

    /// Counts begin anew, nothing is in flight, and what was learned of the path stays.
    pub fn restart(&mut self) {
        (self.sent_packets, self.sent_bytes) = (0, 0);
        self.counted = Acknowledgement::default();
        self.deliveries.restart();
    }

    /// What says how much may be in flight.
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// A round of all paths that share a clock is over.
    pub fn pass_round(&mut self) {
        if let Some(bbr) = self.bbr_mut() {
            bbr.pass_round();
        }
    }

    /// Whether its window is small for a while, so that the least time there and back shows.
    pub fn is_probing_round_trip(&self, now_ns: u64) -> bool {
        matches!(&self.control, Control::Bbr(bbr) if bbr.is_probing_rtt(now_ns))
    }

    /// Whether another path that packets may take is at that: then this one waits with it, for a while.
    pub fn see_others_probe(&mut self, others_probe: bool) {
        if let Some(bbr) = self.bbr_mut() {
            bbr.see_others_probe_rtt(others_probe);
        }
    }

    pub(crate) fn bbr_mut(&mut self) -> Option<&mut Bbr> {
        if let Control::Bbr(bbr) = &mut self.control { Some(bbr) } else { None }
    }

    /// Another controller takes over.
    pub fn set_control(&mut self, control: Control) {
        self.control = control;
        self.ask_control();
    }

    /// It goes no faster than that from now on, or as fast as its controller says.
    pub fn set_cap(&mut self, cap: Option<RateCap>) {
        self.cap = cap;
        self.ask_control();
    }

    /// The time there and back.
    pub const fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// Bytes that were sent and are not accounted for.
    pub const fn in_flight_bytes(&self) -> u64 {
        self.sent_bytes - self.counted.accounted_bytes
    }

    /// Bytes that may be.
    pub const fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// What the path is taken to carry.
    pub fn bytes_per_second(&self) -> Option<u64> {
        self.control.bytes_per_second()
    }

    /// How fast packets go.
    pub const fn pace_bytes_per_second(&self) -> Option<u64> {
        self.pace_bytes_per_second
    }

    /// Something changed from which window and pace follow.
    fn ask_control(&mut self) {
        let window_bytes = self.control.window_bytes().min(self.plan.window_bytes_max);
        self.window_bytes = window_bytes.max(self.plan.longest_bytes);
        let round_trip_ns = match self.round_trip.smoothed_ns() {
            0 => SLOWEST_NS,
            smoothed_ns => smoothed_ns.min(SLOWEST_NS),
        };
        let least = rate(2 * self.plan.longest_bytes, round_trip_ns);
        let pace = self.control.pace_bytes_per_second().map(|pace| pace.max(least));
        self.pace_bytes_per_second = match self.cap {
            None => pace,
            Some(cap) => {
                Some(pace.map_or(cap.bytes_per_second, |pace| pace.min(cap.bytes_per_second)))
            }
        };
    }

    /// For how many bytes at the pace a packet of so many counts under a cap: what is put around it
    /// goes along, at the rate of the cap.
    #[cold]
    fn capped_bytes(&self, bytes: u64, cap: RateCap) -> u64 {
        let Some(pace) = self.pace_bytes_per_second else { return bytes };
        let capped = bytes.saturating_add(cap.overhead_bytes);
        scaled(capped, pace, cap.bytes_per_second.max(1)).max(bytes)
    }

    /// Bytes that were found to have been lost.
    pub const fn lost_bytes(&self) -> u64 {
        self.deliveries.lost_bytes
    }

    /// For so long after an acknowledgement what the path carries goes on coming though nobody says
    /// so yet: as long as the last one was waited for, at most a quarter of a round trip, and what
    /// the plan says.
    fn kept_ns_max(&self) -> u64 {
        let kept_ns = u64::try_from(self.plan.kept.as_nanos()).unwrap_or(u64::MAX);
        self.acknowledged_after_ns.min(self.round_trip.least_ns() / 4).min(kept_ns)
    }

    /// What is in flight but for what is likely to have come since the last acknowledgement: the
    /// window is for packets that are acknowledged one by one.
    fn likely_in_flight_bytes(&self, now_ns: u64) -> u64 {
        let kept_ns = now_ns.saturating_sub(self.acknowledged_at_ns).min(self.kept_ns_max());
        let kept_bytes = self.bytes_per_second().map_or(0, |rate| carried(rate, kept_ns));
        self.in_flight_bytes().saturating_sub(kept_bytes)
    }

    /// From when on the window lets a packet of the longest go though nothing more is heard.
    fn room_from_ns(&self) -> Option<u64> {
        let missing_bytes =
            (self.in_flight_bytes() + self.plan.longest_bytes).saturating_sub(self.window_bytes());
        if missing_bytes == 0 {
            return Some(0);
        }
        let wait_ns = time_ns(missing_bytes, self.bytes_per_second()?);
        (wait_ns <= self.kept_ns_max()).then(|| self.acknowledged_at_ns.saturating_add(wait_ns))
    }

    /// Whether the window lets a packet of the longest go: nearly always without what is likely to
    /// have come.
    #[inline]
    pub fn has_room(&self, now_ns: u64) -> bool {
        self.in_flight_bytes() + self.plan.longest_bytes <= self.window_bytes()
            || self.room_from_ns().is_some_and(|from_ns| from_ns <= now_ns)
    }

    /// From when on window and pace let a packet go though nothing more is heard.
    pub fn next_ns(&self) -> Option<u64> {
        Some(self.room_from_ns()?.max(self.pacer.next_ns()))
    }

    /// So many bytes go at once, or what the plan says where that is more.
    pub fn set_burst(&mut self, bytes: u64) {
        let least_ns = u64::try_from(self.plan.burst.as_nanos()).unwrap_or(u64::MAX);
        let turn_ns = self.pace_bytes_per_second().map_or(0, |pace| time_ns(bytes, pace));
        self.pacer.set_burst(turn_ns.max(least_ns));
    }

    /// Whether what a round trip takes above the least is a queue: something is in flight, and it is
    /// more than twice what goes at once, and more than it varies (RFC 6298 has the four times).
    pub fn is_queued(&self) -> bool {
        let trip = &self.round_trip;
        let queued_ns = trip.smoothed_ns().saturating_sub(trip.least_ns());
        self.in_flight_bytes() > 0
            && queued_ns > (4 * trip.variation_ns()).max(2 * self.pacer.burst_ns())
    }

    /// From when on the pace has waited for longer than may be caught up.
    pub const fn idle_from_ns(&self) -> u64 {
        self.pacer.next_ns().saturating_add(self.pacer.burst_ns())
    }

    /// Packets may go now until so many bytes have: as the window has room for, and as the pace lets
    /// go in a burst. The one that reaches them is the last.
    pub fn ready_bytes(&self, now_ns: u64) -> u64 {
        if !self.admits(now_ns) {
            return 0;
        }
        let taken_bytes = self.likely_in_flight_bytes(now_ns) + self.plan.longest_bytes;
        let room = self.window_bytes().saturating_sub(taken_bytes);
        room.min(self.pacer.ready_bytes(now_ns, self.pace_bytes_per_second())).saturating_add(1)
    }

    /// Whether a packet may go.
    #[inline]
    pub fn admits(&self, now_ns: u64) -> bool {
        self.pacer.next_ns() <= now_ns && self.has_room(now_ns)
    }

    /// A packet goes.
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
        self.pacer.sent(now_ns, paced_bytes, self.pace_bytes_per_second);
    }

    /// A time there and back that something else than a packet took.
    pub fn timed(&mut self, now_ns: u64, round_trip_ns: u64) {
        self.round_trip.take(now_ns, round_trip_ns);
        self.ask_control();
    }

    /// The other end acknowledges: whether it can be so.
    pub fn acknowledged(&mut self, now_ns: u64, said: &Acknowledgement) -> bool {
        let before = self.counted;
        let can_be = said.accounted_packets <= self.sent_packets
            && said.accounted_bytes <= self.sent_bytes
            && said.accounted_packets >= before.accounted_packets;
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
        let record = self.deliveries.take_record(said.accounted_packets);
        // Of lost packets the other end may know how many they are, and not yet how long.
        let sent_bytes = record.map_or(0, |record| record.sent_bytes);
        let accounted_bytes = said.accounted_bytes.max(sent_bytes).max(before.accounted_bytes);
        self.counted = Acknowledgement { accounted_bytes, ..*said };
        let newly_bytes = accounted_bytes - before.accounted_bytes;
        let came_bytes = self.newly_came(&before, newly_bytes);
        let lost_bytes = newly_bytes - came_bytes;
        let times = (now_ns, said.came_at_ns);
        let sample = self.deliveries.acknowledged(times, record, (came_bytes, lost_bytes));
        let round_trip_ns = record
            .and_then(|record| now_ns.checked_sub(record.sent_at_ns)?.checked_sub(said.held_ns?));
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

    /// What came of what is newly accounted for, as far as the other end's count can be right; if it
    /// cannot, all did. What was taken for lost and came after all is made good by what comes next.
    fn newly_came(&mut self, before: &Acknowledgement, newly_bytes: u64) -> u64 {
        let came = self.counted.received_bytes.checked_sub(before.received_bytes);
        came.filter(|came| *came <= newly_bytes).unwrap_or(newly_bytes)
    }

    /// What was sent was so much in truth: nothing of it is in flight.
    pub fn set_sent(&mut self, packets: u64, bytes: u64) {
        (self.sent_packets, self.sent_bytes) = (packets, bytes);
        self.counted.accounted_packets = packets;
        self.counted.accounted_bytes = bytes;
        self.deliveries.restart_at(packets);
    }

    /// What was sent, in packets and bytes.
    pub const fn sent_counts(&self) -> (u64, u64) {
        (self.sent_packets, self.sent_bytes)
    }

    /// Whether what is in flight is less than the path would take.
    pub const fn is_limited_by_source(&self) -> bool {
        self.deliveries.is_limited_by_source()
    }

    /// Where a packet might have gone for longer than a burst takes, and none went, the source has
    /// less to send than the path takes, or others hold it back. Time in which the window was full is
    /// none of that.
    pub fn see_idleness(&mut self, now_ns: u64) {
        if self.is_idle(now_ns) {
            self.deliveries.limit_by_source(self.in_flight_bytes());
        }
    }

    fn is_idle(&self, now_ns: u64) -> bool {
        let has_had_room = now_ns.saturating_sub(self.room_since_ns) > self.pacer.burst_ns();
        has_had_room && self.pacer.is_idle(now_ns) && self.has_room(now_ns)
    }

    /// A packet is about to go: if the path was idle, it is busy from now on.
    pub fn see_work(&mut self, now_ns: u64) {
        if self.is_idle(now_ns) {
            self.busy_since_ns = now_ns;
        }
    }

    /// Since when packets have taken whatever room there was, as far as it was told of them.
    pub const fn busy_since_ns(&self) -> u64 {
        self.busy_since_ns
    }

    /// When the other end acknowledged last.
    pub const fn acknowledged_at_ns(&self) -> u64 {
        self.acknowledged_at_ns
    }

    /// What came in less than a round trip came in a bunch, and tells no rate.
    fn believed(&self, sample: RateSample) -> RateSample {
        if sample.interval_ns < self.round_trip.least_ns() {
            RateSample { interval_ns: 0, ..sample }
        } else {
            sample
        }
    }

    /// When the controller wants to be asked though nothing happens.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.control.poll_timeout()
    }

    /// That time has come.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.control.handle_timeout(now_ns);
        self.ask_control();
    }
}
