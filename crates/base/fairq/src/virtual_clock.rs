//! VirtualClock: packets are stamped as if each queue had a private channel at its rate, and the
//! packet with the smallest stamp is served first.
//!
//! ```text
//!   stamp = max(arrival, stamp of the previous packet) + length / rate
//! ```
//!
//! Source: Zhang, "VirtualClock: a new traffic control algorithm for packet switching networks",
//! 1990, as used by the routers of Yum et al. 2002, section 3.
//!
//! Invariants: stamps in a queue increase; under backlog, if queue A needs time `t` per packet at
//! its rate and queue B needs `t'`, B sends at most `ceil(t / t')` + 1 packets between two
//! successive packets of A. Queues without a rate are served last, in order of arrival.

use core::num::NonZeroU64;

use crate::error::check_count;
use crate::{Arbiter, Head, Ready, SchedulerError};

const SECOND_PS: u128 = 1_000_000_000_000;

/// Number of fractional bits of the time per byte. Fixed-point times avoid a division; the error is
/// far below 1 ps per packet.
const PLACES: u32 = 32;

/// VirtualClock arbiter with a rate per queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualClock<const CAPACITY: usize> {
    queues: [Queue; CAPACITY],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Queue {
    /// Time per byte in units of 2^-32 ps; `None` for best effort.
    byte_parts: Option<u128>,
    stamp_ps: u64,
}

impl Queue {
    fn new(rate_bytes_per_second: Option<NonZeroU64>) -> Self {
        let byte_parts = |rate: NonZeroU64| {
            let rate = u128::from(rate.get());
            ((SECOND_PS << PLACES) + rate / 2) / rate
        };
        Self { byte_parts: rate_bytes_per_second.map(byte_parts), stamp_ps: 0 }
    }

    fn stamp_ps(&self, head: Head) -> u64 {
        let Some(byte_parts) = self.byte_parts else { return u64::MAX };
        let half = 1 << (PLACES - 1);
        let time_ps = (u128::from(head.length_bytes) * byte_parts + half) >> PLACES;
        let start_ps = head.arrival_ps.max(self.stamp_ps);
        start_ps.saturating_add(u64::try_from(time_ps).unwrap_or(u64::MAX))
    }
}

impl<const CAPACITY: usize> VirtualClock<CAPACITY> {
    /// Creates an arbiter from rates in bytes per second; `None` means best effort.
    pub fn new(rates_bytes_per_second: &[Option<NonZeroU64>]) -> Result<Self, SchedulerError> {
        check_count::<CAPACITY>(rates_bytes_per_second.len())?;
        let mut queues = [Queue::default(); CAPACITY];
        for (queue, &rate) in queues.iter_mut().zip(rates_bytes_per_second) {
            *queue = Queue::new(rate);
        }
        Ok(Self { queues })
    }
}

impl<const CAPACITY: usize> Arbiter for VirtualClock<CAPACITY> {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        let rank = |queue: usize| {
            let head = ready.head(queue);
            (self.queues[queue].stamp_ps(head), head.arrival_ps, queue)
        };
        let (stamp_ps, _, queue) = ready.queues().map(rank).min()?;
        if self.queues[queue].byte_parts.is_some() {
            self.queues[queue].stamp_ps = stamp_ps;
        }
        Some(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_stamp_is_served_first_and_best_effort_last() {
        let rates = [1_000_000_000, 500_000_000, 0].map(NonZeroU64::new);
        let mut arbiter = VirtualClock::<3>::new(&rates).unwrap();
        let head = |arrival_ps| Head { length_bytes: 1_000, arrival_ps };
        let heads = [head(0), head(0), head(0)];
        let order: [_; 6] = core::array::from_fn(|_| arbiter.serve(&Ready::new(&[7], &heads)));
        // Stamps in us: queue 0 has 1, 2, 3, 4 and queue 1 has 2, 4. The lower queue wins a tie.
        assert_eq!(order, [0, 0, 1, 0, 0, 1].map(Some));
        assert_eq!(arbiter.serve(&Ready::new(&[0b100], &heads)), Some(2));

        // Queue 0 was idle until 10 us: its clock restarts there, without credit for the idle time.
        let later = [head(10_000_000), head(0), head(0)];
        let order: [_; 4] = core::array::from_fn(|_| arbiter.serve(&Ready::new(&[3], &later)));
        assert_eq!(order, [1, 1, 1, 0].map(Some));
    }

    #[test]
    fn stamp_is_rounded_to_the_picosecond() {
        let queue = Queue { stamp_ps: 5, ..Queue::new(NonZeroU64::new(3_000_000_000)) };
        let stamp_ps = |length_bytes| queue.stamp_ps(Head { length_bytes, arrival_ps: 0 });
        assert_eq!([stamp_ps(1), stamp_ps(2), stamp_ps(3_000)], [338, 672, 1_000_005]);
        assert_eq!(stamp_ps(u32::MAX), 1_431_655_765_000 + 5);
        // At 1 B/s, the maximum length takes 136 years, beyond the range of stamps.
        let slow = Queue::new(NonZeroU64::new(1));
        assert_eq!(slow.stamp_ps(Head { length_bytes: 2, arrival_ps: 7 }), 2_000_000_000_007);
        assert_eq!(slow.stamp_ps(Head { length_bytes: u32::MAX, arrival_ps: 7 }), u64::MAX);
    }
}
