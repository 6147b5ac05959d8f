//! Records of sent packets, and delivery rate samples.
//!
//! A rate sample is the number of bytes delivered between the transmission of a packet and its
//! acknowledgement, divided by the longer of their sending span and their arrival span. The
//! receiver measures arrival times, so that delays on the return path have no effect.
//!
//! When the record limit is reached, every second record is dropped, and from then on only every
//! second packet gets a record.
//!
//! Source: draft-ietf-ccwg-bbr, delivery rate samples (formerly
//! draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Invariant: records are in packet order, and their number is limited.

use std::collections::VecDeque;

use crate::controller::RateSample;

/// Record of a sent packet (`P.*` in the draft).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    number: u64,
    pub(crate) sent_at_ns: u64,
    /// Send time of the packet most recently delivered when this packet was sent.
    first_sent_at_ns: u64,
    /// Acknowledgement time of the most recently delivered packet.
    delivered_at_ns: u64,
    /// Arrival time of the most recently delivered packet, by the receiver's clock; `None` if no
    /// packet has arrived since the path was idle.
    received_at_ns: Option<u64>,
    delivered_bytes: u64,
    lost_bytes: u64,
    in_flight_bytes: u64,
    pub(crate) sent_bytes: u64,
    is_app_limited: bool,
}

/// Delivery state of a path (`C.*` in the draft).
#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    records: VecDeque<Record>,
    room: usize,
    /// Number of packets per record, a power of two.
    spacing: u64,
    next_number: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) lost_bytes: u64,
    delivered_at_ns: u64,
    received_at_ns: Option<u64>,
    first_sent_at_ns: u64,
    /// Delivered-byte count until which packets are app-limited (`C.app_limited`); 0 while sending
    /// is not limited by the source.
    app_limited_until_bytes: u64,
}

impl Deliveries {
    pub(crate) fn new(room: usize) -> Self {
        Self { room, spacing: 1, ..Self::default() }
    }

    pub(crate) fn rest(&mut self) {
        if self.records.is_empty() {
            self.records = VecDeque::new();
        }
    }

    pub(crate) fn restart(&mut self) {
        self.restart_at(0);
    }

    pub(crate) fn restart_at(&mut self, number: u64) {
        self.records.clear();
        (self.next_number, self.spacing) = (number, 1);
        (self.received_at_ns, self.app_limited_until_bytes) = (None, 0);
    }

    pub(crate) fn sent(
        &mut self,
        now_ns: u64,
        (sent_bytes, in_flight_bytes): (u64, u64),
        was_idle: bool,
    ) {
        let number = self.next_number;
        self.next_number += 1;
        if was_idle {
            (self.first_sent_at_ns, self.delivered_at_ns, self.received_at_ns) =
                (now_ns, now_ns, None);
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
            received_at_ns: self.received_at_ns,
            delivered_bytes: self.delivered_bytes,
            lost_bytes: self.lost_bytes,
            in_flight_bytes,
            sent_bytes,
            is_app_limited: self.is_limited_by_source(),
        });
    }

    pub(crate) fn limit_by_source(&mut self, in_flight_bytes: u64) {
        self.app_limited_until_bytes = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    pub(crate) const fn is_limited_by_source(&self) -> bool {
        self.app_limited_until_bytes > 0
    }

    /// Removes the records of packets with numbers below `packets`; returns the last removed
    /// record.
    pub(crate) fn take_record(&mut self, packets: u64) -> Option<Record> {
        let count = self.records.partition_point(|record| record.number < packets);
        let last = count.checked_sub(1).map(|last| self.records[last]);
        self.records.drain(..count);
        if self.records.is_empty() {
            self.records.clear();
            self.spacing = 1;
        }
        last
    }

    pub(crate) fn acknowledged(
        &mut self,
        (now_ns, received_at_ns): (u64, u64),
        record: Option<Record>,
        (came_bytes, lost_bytes): (u64, u64),
    ) -> Option<RateSample> {
        self.delivered_bytes += came_bytes;
        self.lost_bytes += lost_bytes;
        if self.delivered_bytes > self.app_limited_until_bytes {
            self.app_limited_until_bytes = 0;
        }
        let record = record?;
        let sample = self.sample(&record, now_ns, received_at_ns);
        if came_bytes > 0 {
            self.first_sent_at_ns = record.sent_at_ns;
            (self.delivered_at_ns, self.received_at_ns) = (now_ns, Some(received_at_ns));
        }
        Some(sample)
    }

    fn sample(&self, record: &Record, now_ns: u64, received_at_ns: u64) -> RateSample {
        let sent_ns = record.sent_at_ns.saturating_sub(record.first_sent_at_ns);
        // After an idle period, the sender's clock is used, because no earlier arrival time is
        // known.
        let came_ns = match record.received_at_ns {
            Some(before_ns) => received_at_ns.saturating_sub(before_ns),
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

const fn is_spaced(number: u64, spacing: u64) -> bool {
    number & (spacing - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// One packet of 1,000 bytes is sent per millisecond, received after 10 ms and acknowledged
    /// after 20 ms; the receiver's clock is 5 ms ahead. The first sample covers a round trip with
    /// one packet, 50,000 bytes/s; later samples show the full rate of 1 MB/s.
    #[test]
    fn sample_spans_deliveries_during_a_packets_flight() {
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

    #[test]
    fn excess_packets_thin_out_the_records() {
        let mut deliveries = Deliveries::new(8);
        (0..32).for_each(|number| deliveries.sent(number, (0, 1_000 * (number + 1)), number == 0));
        let numbers: Vec<u64> = deliveries.records.iter().map(|record| record.number).collect();
        assert_eq!(numbers, [0, 4, 8, 12, 16, 20, 24, 28]);
        let record = deliveries.take_record(15).expect("a record");
        assert_eq!((record.number, record.sent_at_ns), (12, 12));
    }

    #[test]
    fn app_limited_samples_are_marked() {
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
