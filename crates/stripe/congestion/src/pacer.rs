//! When the next packet may go.
//!
//! ```text
//!            |<-- bytes / pace -->|
//!   packet   ^                    next            a sender that comes late may catch up by a burst
//! ```
//!
//! Source: draft-ietf-ccwg-bbr, pacing: `next_departure_time`; RFC 9002, section 7.7: a bounded
//! burst after a time in which nothing went.

use crate::units::{carried, time_ns};

/// When the next packet may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// What may be caught up of a time in which nothing went.
    burst_ns: u64,
    next_ns: u64,
}

impl Pacer {
    pub(crate) const fn new(burst_ns: u64) -> Self {
        Self { burst_ns, next_ns: 0 }
    }

    /// So much may be caught up from now on.
    pub(crate) const fn set_burst(&mut self, burst_ns: u64) {
        self.burst_ns = burst_ns;
    }

    /// A packet goes at a pace.
    pub(crate) fn sent(&mut self, now_ns: u64, bytes: u64, bytes_per_second: Option<u64>) {
        let spent_ns = bytes_per_second.map_or(0, |pace| time_ns(bytes, pace));
        let from_ns = self.next_ns.max(now_ns.saturating_sub(self.burst_ns));
        self.next_ns = from_ns.saturating_add(spent_ns);
    }

    /// What may be caught up.
    pub(crate) const fn burst_ns(&self) -> u64 {
        self.burst_ns
    }

    /// Packets may go as long as no more bytes than these have gone now.
    pub(crate) fn ready_bytes(&self, now_ns: u64, bytes_per_second: Option<u64>) -> u64 {
        let Some(pace) = bytes_per_second else { return u64::MAX };
        let from_ns = self.next_ns.max(now_ns.saturating_sub(self.burst_ns));
        carried(pace, now_ns.saturating_sub(from_ns))
    }

    /// Whether packets might have gone for longer than a burst takes.
    pub(crate) const fn is_idle(&self, now_ns: u64) -> bool {
        self.next_ns.saturating_add(self.burst_ns) < now_ns
    }

    /// When a packet may go: a burst's time ahead of its departure, so that several go at once.
    pub(crate) const fn next_ns(&self) -> u64 {
        self.next_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kilobyte at a megabyte a second takes a millisecond. What was missed is caught up, up to
    /// the burst.
    #[test]
    fn packets_are_spread_and_a_burst_is_caught_up() {
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

    /// Of a burst that grew to 3 ms, 3 ms are caught up.
    #[test]
    fn a_burst_that_grew_is_caught_up() {
        let mut pacer = Pacer::new(1_000_000);
        pacer.set_burst(3_000_000);
        pacer.sent(10_000_000, 1_000, Some(1_000_000));
        assert_eq!((pacer.next_ns(), pacer.burst_ns()), (8_000_000, 3_000_000));
    }

    /// Half a millisecond of a burst is left at a megabyte a second: 500 bytes, and the packet that
    /// goes beyond.
    #[test]
    fn what_may_go_at_once_is_what_is_left_of_a_burst() {
        let mut pacer = Pacer::new(1_500_000);
        pacer.sent(10_000_000, 1_000, Some(1_000_000));
        assert_eq!(pacer.ready_bytes(10_000_000, Some(1_000_000)), 500);
        assert_eq!(pacer.ready_bytes(99_000_000, Some(1_000_000)), 1_500);
        assert_eq!(pacer.ready_bytes(10_000_000, None), u64::MAX);
    }

    #[test]
    fn without_a_pace_nothing_is_spread() {
        let mut pacer = Pacer::new(0);
        pacer.sent(7, 1_000, None);
        assert_eq!(pacer.next_ns(), 7);
    }
}
