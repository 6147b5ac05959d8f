//! Packet pacing.
//!
//! Source: draft-ietf-ccwg-bbr (pacing with `next_departure_time`); RFC 9002, section 7.7 (bounded
//! bursts after idle periods).

use crate::units::{carried, time_ns};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Maximum delay that a late sender may make up for with a burst.
    burst_ns: u64,
    next_ns: u64,
}

impl Pacer {
    pub(crate) const fn new(burst_ns: u64) -> Self {
        Self { burst_ns, next_ns: 0 }
    }

    pub(crate) const fn set_burst(&mut self, burst_ns: u64) {
        self.burst_ns = burst_ns;
    }

    pub(crate) fn sent(&mut self, now_ns: u64, bytes: u64, bytes_per_second: Option<u64>) {
        let spent_ns = bytes_per_second.map_or(0, |pace| time_ns(bytes, pace));
        let from_ns = self.next_ns.max(now_ns.saturating_sub(self.burst_ns));
        self.next_ns = from_ns.saturating_add(spent_ns);
    }

    pub(crate) const fn burst_ns(&self) -> u64 {
        self.burst_ns
    }

    pub(crate) fn ready_bytes(&self, now_ns: u64, bytes_per_second: Option<u64>) -> u64 {
        let Some(pace) = bytes_per_second else { return u64::MAX };
        let from_ns = self.next_ns.max(now_ns.saturating_sub(self.burst_ns));
        carried(pace, now_ns.saturating_sub(from_ns))
    }

    pub(crate) const fn is_idle(&self, now_ns: u64) -> bool {
        self.next_ns.saturating_add(self.burst_ns) < now_ns
    }

    /// Returns the earliest send time of the next packet: its paced departure time minus the burst
    /// duration.
    pub(crate) const fn next_ns(&self) -> u64 {
        self.next_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_paced_and_missed_time_is_made_up_within_burst() {
        let mut pacer = Pacer::new(1_500_000);
        let mut send = |now_ns| {
            pacer.sent(now_ns, 1_000, Some(1_000_000));
            pacer.next_ns()
        };
        assert_eq!(send(10_000_000), 9_500_000);
        assert_eq!(send(10_000_000), 10_500_000);
        assert_eq!(send(10_500_000), 11_500_000);
        assert_eq!(send(30_000_000), 29_500_000);
    }

    #[test]
    fn enlarged_burst_is_made_up_for() {
        let mut pacer = Pacer::new(1_000_000);
        pacer.set_burst(3_000_000);
        pacer.sent(10_000_000, 1_000, Some(1_000_000));
        assert_eq!((pacer.next_ns(), pacer.burst_ns()), (8_000_000, 3_000_000));
    }

    /// After a packet of 1,000 bytes at 1 MB/s, 0.5 ms of the 1.5 ms burst remain: 500 bytes.
    #[test]
    fn ready_bytes_are_the_rest_of_the_burst() {
        let mut pacer = Pacer::new(1_500_000);
        pacer.sent(10_000_000, 1_000, Some(1_000_000));
        assert_eq!(pacer.ready_bytes(10_000_000, Some(1_000_000)), 500);
        assert_eq!(pacer.ready_bytes(99_000_000, Some(1_000_000)), 1_500);
        assert_eq!(pacer.ready_bytes(10_000_000, None), u64::MAX);
    }

    #[test]
    fn packets_without_a_pace_are_not_delayed() {
        let mut pacer = Pacer::new(0);
        pacer.sent(7, 1_000, None);
        assert_eq!(pacer.next_ns(), 7);
    }
}
