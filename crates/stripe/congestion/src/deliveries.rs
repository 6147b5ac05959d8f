//! What was sent and what of it was delivered: a record a packet, and rate samples.
//!
//! ```text
//!   records   | 41 | 42 | 43 | 44 |          sent at, delivered until then, in flight, ...
//!                    ^ accounted for up to here: the rate while 42 was under way is a sample
//! ```
//!
//! A rate sample is what was delivered between the sending of a packet and its acknowledgement,
//! over the longer of the time in which that was sent and the time in which it came. The latter is
//! taken on the receiver's clock, where reports on the way back move nothing.
//!
//! Where more packets are under way than there are records, every other record is dropped, and from
//! then on every second packet gets one, and so on.
//!
//! Source: draft-ietf-ccwg-bbr, delivery rate samples (before: draft-cheng-iccrg-delivery-rate-
//! estimation).
//!
//! Invariants: records are in the order of their packets; no more of them than there is room for.

use std::collections::VecDeque;

use crate::controller::RateSample;

/// A packet that was sent (`P.*` of the draft).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// Its number on the path.
    number: u64,
    /// When it was sent.
    pub(crate) sent_at_ns: u64,
    /// When the packet was sent that was delivered last when this one was (`P.first_send_time`).
    first_sent_at_ns: u64,
    /// When that was known (`P.delivered_time`).
    delivered_at_ns: u64,
    /// When that came by the receiver's clock, if anything did since the path was idle.
    came_at_ns: Option<u64>,
    /// Bytes delivered until then (`P.delivered`).
    delivered_bytes: u64,
    /// Bytes lost until then (`P.lost`).
    lost_bytes: u64,
    /// In flight when it was sent, itself included (`P.tx_in_flight`).
    in_flight_bytes: u64,
    /// Bytes sent until then, itself included.
    pub(crate) sent_bytes: u64,
    /// Whether the source had less to send than the path would have taken (`P.is_app_limited`).
    is_app_limited: bool,
}

/// What was sent and what of it was delivered (`C.*` of the draft).
#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    records: VecDeque<Record>,
    /// The most records there are.
    room: usize,
    /// One packet of so many has a record, a power of two.
    spacing: u64,
    next_number: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) lost_bytes: u64,
    delivered_at_ns: u64,
    came_at_ns: Option<u64>,
    first_sent_at_ns: u64,
    /// What is sent until so much is delivered is limited by the source (`C.app_limited`).
    app_limited_until_bytes: u64,
}

impl Deliveries {
    pub(crate) fn new(room: usize) -> Self {
        Self { room, spacing: 1, ..Self::default() }
    }

    /// Nothing is under way, and nothing will be for long: no memory is kept for what is.
    pub(crate) fn rest(&mut self) {
        if self.records.is_empty() {
            self.records = VecDeque::new();
        }
    }

    /// Counts of packets begin anew; what was delivered stays counted.
    pub(crate) fn restart(&mut self) {
        self.restart_at(0);
    }

    /// The next packet has this number; what is under way has no record.
    pub(crate) fn restart_at(&mut self, number: u64) {
        self.records.clear();
        (self.next_number, self.spacing) = (number, 1);
        (self.came_at_ns, self.app_limited_until_bytes) = (None, 0);
    }

    /// A packet goes; with it so many bytes were sent and are in flight.
    pub(crate) fn sent(
        &mut self,
        now_ns: u64,
        (sent_bytes, in_flight_bytes): (u64, u64),
        was_idle: bool,
    ) {
        let number = self.next_number;
        self.next_number += 1;
        if was_idle {
            (self.first_sent_at_ns, self.delivered_at_ns, self.came_at_ns) = (now_ns, now_ns, None);
        }
        if !is_spaced(number, self.spacing) {
            return;
        }
        if self.records.len() == self.room {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.records.retain(|record| is_spaced(record.number, spacing));
        }
        self.records.push_back(Record {
            number,
            sent_at_ns: now_ns,
            first_sent_at_ns: self.first_sent_at_ns,
            delivered_at_ns: self.delivered_at_ns,
            came_at_ns: self.came_at_ns,
            delivered_bytes: self.delivered_bytes,
            lost_bytes: self.lost_bytes,
            in_flight_bytes,
            sent_bytes,
            is_app_limited: self.is_limited_by_source(),
        });
    }

    /// The source has nothing to send, and so much is in flight.
    pub(crate) fn limit_by_source(&mut self, in_flight_bytes: u64) {
        self.app_limited_until_bytes = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Whether what goes now is less than the path would take.
    pub(crate) const fn is_limited_by_source(&self) -> bool {
        self.app_limited_until_bytes > 0
    }

    /// So many packets are accounted for: the record of the last of them that has one.
    pub(crate) fn take_record(&mut self, packets: u64) -> Option<Record> {
        let count = self.records.partition_point(|record| record.number < packets);
        let last = count.checked_sub(1).map(|last| self.records[last]);
        self.records.drain(..count);
        if self.records.is_empty() {
            // The ring begins anew at its first place too: memory that was just used.
            self.records.clear();
            self.spacing = 1;
        }
        last
    }

    /// So much came newly or was lost, up to the packet of a record, the last of it at `came_at_ns`
    /// by the receiver's clock.
    pub(crate) fn acknowledged(
        &mut self,
        (now_ns, came_at_ns): (u64, u64),
        record: Option<Record>,
        (came_bytes, lost_bytes): (u64, u64),
    ) -> Option<RateSample> {
        self.delivered_bytes += came_bytes;
        self.lost_bytes += lost_bytes;
        if self.delivered_bytes > self.app_limited_until_bytes {
            self.app_limited_until_bytes = 0;
        }
        let record = record?;
        let sample = self.sample(&record, now_ns, came_at_ns);
        if came_bytes > 0 {
            self.first_sent_at_ns = record.sent_at_ns;
            (self.delivered_at_ns, self.came_at_ns) = (now_ns, Some(came_at_ns));
        }
        Some(sample)
    }

    fn sample(&self, record: &Record, now_ns: u64, came_at_ns: u64) -> RateSample {
        let sent_ns = record.sent_at_ns.saturating_sub(record.first_sent_at_ns);
        // Since an idle time nothing has come whose time the receiver's clock could tell.
        let came_ns = match record.came_at_ns {
            Some(before_ns) => came_at_ns.saturating_sub(before_ns),
            None => now_ns.saturating_sub(record.delivered_at_ns),
        };
        RateSample {
            delivered_bytes: self.delivered_bytes - record.delivered_bytes,
            interval_ns: sent_ns.max(came_ns),
            prior_delivered_bytes: record.delivered_bytes,
            tx_in_flight_bytes: record.in_flight_bytes,
            lost_bytes: self.lost_bytes - record.lost_bytes,
            is_app_limited: record.is_app_limited,
        }
    }
}

/// Whether a packet of this number has a record; for a power of two a mask tells.
const fn is_spaced(number: u64, spacing: u64) -> bool {
    number & (spacing - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// Packets of 1,000 bytes each millisecond, there in 10 ms, known of in 20, by a clock that is
    /// 5 ms ahead: the first sample is over the round trip, later ones are a megabyte a second.
    #[test]
    fn what_was_delivered_while_a_packet_was_under_way_is_a_sample() {
        let mut deliveries = Deliveries::new(64);
        for number in 0..60 {
            let now_ns = number * MILLISECOND;
            if let Some(came) = number.checked_sub(20) {
                let times = (now_ns, (came + 15) * MILLISECOND);
                let record = deliveries.take_record(came + 1);
                let sample = deliveries.acknowledged(times, record, (1_000, 0)).expect("a record");
                let expected = if came == 0 { 50_000 } else { 1_000_000 };
                if came == 0 || came >= 20 {
                    assert_eq!(sample.bytes_per_second(), Some(expected), "{number}");
                }
            }
            deliveries.sent(now_ns, (0, 1_000 * 20.min(number + 1)), number == 0);
        }
    }

    /// Eight records for 32 packets: every fourth packet has one.
    #[test]
    fn more_packets_than_records_leave_every_other_without() {
        let mut deliveries = Deliveries::new(8);
        (0..32).for_each(|number| deliveries.sent(number, (0, 1_000 * (number + 1)), number == 0));
        let numbers: Vec<u64> = deliveries.records.iter().map(|record| record.number).collect();
        assert_eq!(numbers, [0, 4, 8, 12, 16, 20, 24, 28]);
        let record = deliveries.take_record(15).expect("a record");
        assert_eq!((record.number, record.sent_at_ns), (12, 12));
    }

    /// What was sent after the source ran dry tells no rate until all of it has come.
    #[test]
    fn what_the_source_limits_is_marked() {
        let mut deliveries = Deliveries::new(8);
        deliveries.sent(0, (1_000, 1_000), true);
        deliveries.limit_by_source(1_000);
        deliveries.sent(5, (2_000, 2_000), false);
        let mut limited = |at_ns, packets| {
            let record = deliveries.take_record(packets);
            deliveries.acknowledged((at_ns, at_ns), record, (1_000, 0)).unwrap().is_app_limited
        };
        assert!(!limited(10, 1));
        assert!(limited(12, 2));
        deliveries.sent(15, (3_000, 1_000), false);
        let record = deliveries.take_record(3);
        let sample = deliveries.acknowledged((20, 20), record, (1_000, 0)).unwrap();
        assert!(!sample.is_app_limited);
    }
}
