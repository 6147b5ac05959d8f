//! Generalised round robin: a fixed number of packets per turn, regardless of their length.
//!
//! ```text
//!   packets per turn 2, 1      channels of successive packets 0 0 1 0 0 1 ...
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 6.2. Byte shares are unfair if packet
//! lengths differ between channels.

use core::num::NonZeroU8;

use crate::error::check_count;
use crate::{Causal, Rounds, SchedulerError, ratio};

/// Round-robin scheduler with a number of packets per turn for each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneralisedRoundRobin<const CAPACITY: usize> {
    count: usize,
    current: usize,
    left: u32,
    packets: [u32; CAPACITY],
    /// Packets per turn of each channel from the next round on; `None` if unchanged.
    coming: Option<[u32; CAPACITY]>,
}

impl<const CAPACITY: usize> GeneralisedRoundRobin<CAPACITY> {
    /// Creates a scheduler from the packets per turn of each channel.
    pub fn new(packets: &[u32]) -> Result<Self, SchedulerError> {
        check_count::<CAPACITY>(packets.len())?;
        if let Some(channel) = packets.iter().position(|packets| *packets == 0) {
            return Err(SchedulerError::NoShare { channel });
        }
        let mut all = [0; CAPACITY];
        all[..packets.len()].copy_from_slice(packets);
        Ok(Self { count: packets.len(), current: 0, left: all[0], packets: all, coming: None })
    }

    /// Creates a scheduler from data rates. The packets per turn approximate the ratio of the rates
    /// by small integers, at most `slowest_packets_max` for the slowest channel.
    pub fn by_rates(
        rates_bytes_per_second: &[u64],
        slowest_packets_max: NonZeroU8,
    ) -> Result<Self, SchedulerError> {
        let count = rates_bytes_per_second.len();
        check_count::<CAPACITY>(count)?;
        if let Some(channel) = rates_bytes_per_second.iter().position(|rate| *rate == 0) {
            return Err(SchedulerError::NoShare { channel });
        }
        let packets: [_; CAPACITY] = ratio::closest(rates_bytes_per_second, slowest_packets_max);
        Self::new(&packets[..count])
    }

    /// Returns the number of packets per turn of a channel.
    pub const fn packets(&self, channel: usize) -> u32 {
        self.packets[channel]
    }

    /// Changes a channel's packets per turn from the next round on.
    pub fn change(&mut self, channel: usize, packets: u32) -> Result<(), SchedulerError> {
        let count = self.count;
        if channel >= count {
            return Err(SchedulerError::NoSuchChannel { channel, count });
        }
        if packets == 0 {
            return Err(SchedulerError::NoShare { channel });
        }
        self.coming.get_or_insert(self.packets)[channel] = packets;
        Ok(())
    }
}

impl<const CAPACITY: usize> Causal for GeneralisedRoundRobin<CAPACITY> {
    fn channels(&self) -> usize {
        self.count
    }

    fn current(&self) -> usize {
        self.current
    }

    fn charge(&mut self, _length_bytes: u32) {
        self.left -= 1;
        if self.left == 0 {
            self.pass();
        }
    }
}

impl<const CAPACITY: usize> Rounds for GeneralisedRoundRobin<CAPACITY> {
    fn pass(&mut self) {
        self.current += 1;
        if self.current == self.count {
            self.current = 0;
            self.packets = self.coming.take().unwrap_or(self.packets);
        }
        self.left = self.packets[self.current];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_channel_sends_its_packet_count_per_turn() {
        let mut scheduler = GeneralisedRoundRobin::<4>::new(&[2, 1, 3]).unwrap();
        let mut order = [0; 8];
        for (channel, length_bytes) in order.iter_mut().zip([40, 1_500, 1, 900, 3, 3, 3, 3]) {
            *channel = scheduler.current();
            scheduler.charge(length_bytes);
        }
        assert_eq!(order, [0, 0, 1, 2, 2, 2, 0, 0]);
    }

    #[test]
    fn weight_change_takes_effect_in_the_next_round() {
        let mut scheduler = GeneralisedRoundRobin::<4>::new(&[2, 1, 3]).unwrap();
        let mut order = [0; 11];
        for (step, channel) in order.iter_mut().enumerate() {
            if step == 2 {
                scheduler.change(0, 4).unwrap();
                scheduler.change(0, 1).unwrap();
                scheduler.change(2, 2).unwrap();
            }
            *channel = scheduler.current();
            scheduler.charge(100);
        }
        assert_eq!(order, [0, 0, 1, 2, 2, 2, 0, 1, 2, 2, 0]);
        let gone = SchedulerError::NoSuchChannel { channel: 3, count: 3 };
        assert_eq!(scheduler.change(3, 1), Err(gone));
        assert_eq!(scheduler.change(1, 0), Err(SchedulerError::NoShare { channel: 1 }));
    }

    #[test]
    fn packet_counts_approximate_the_rate_ratios() {
        let rates = [10, 14, 16, 155].map(|megabits: u64| megabits * 125_000);
        for (most, packets) in [(1, [1, 1, 2, 16]), (2, [2, 3, 3, 31])] {
            let most = NonZeroU8::new(most).unwrap();
            let scheduler = GeneralisedRoundRobin::<4>::by_rates(&rates, most).unwrap();
            assert_eq!([0, 1, 2, 3].map(|channel| scheduler.packets(channel)), packets);
        }
    }

    #[test]
    fn channel_with_zero_share_is_refused() {
        let refused = Err(SchedulerError::NoShare { channel: 1 });
        assert_eq!(GeneralisedRoundRobin::<4>::new(&[1, 0]), refused);
        assert_eq!(GeneralisedRoundRobin::<4>::by_rates(&[1, 0], NonZeroU8::MIN), refused);
        let nothing = GeneralisedRoundRobin::<4>::by_rates(&[], NonZeroU8::MIN);
        assert_eq!(nothing, Err(SchedulerError::NoChannels));
    }
}
