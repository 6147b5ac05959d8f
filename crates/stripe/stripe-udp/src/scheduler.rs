//! Which scheduler the channels of a pipe have.

use std::num::NonZeroU8;

use gingham_fairq::{CHANNELS_MAX, GeneralisedRoundRobin, SchedulerError, SurplusRoundRobin};
use gingham_stripe::{PacketRounds, Rounds};

/// The scheduler of a pipe. Where the order is free it only says which channels are in.
pub(crate) type Scheduler = Rounds<CHANNELS_MAX>;

/// What the scheduler of both ends is told. Those of the sender hold: markers tell them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchedulerPlan {
    /// Surplus round robin, in which each channel may send the longest packet a turn: what rates
    /// are found changes.
    #[default]
    Even,
    /// Surplus round robin: so many bytes a turn on each channel, at least the longest packet.
    Surplus(Vec<u32>),
    /// So many packets a turn on each channel.
    Packets(Vec<u32>),
}

impl SchedulerPlan {
    /// Generalised round robin: packets a turn in the closest ratio of whole numbers up to 16 to
    /// that of these shares.
    pub fn closest(shares: &[u32]) -> Result<Self, SchedulerError> {
        let rates: Vec<u64> = shares.iter().copied().map(u64::from).collect();
        let ratio = GeneralisedRoundRobin::<CHANNELS_MAX>::by_rates(&rates, SLOWEST_PACKETS_MAX)?;
        Ok(Self::Packets((0..shares.len()).map(|channel| ratio.packets(channel)).collect()))
    }

    pub(crate) fn scheduler(
        &self,
        longest_bytes: u32,
        channels: usize,
    ) -> Result<Scheduler, SchedulerError> {
        Ok(match self {
            Self::Even => {
                let quanta = vec![longest_bytes; channels];
                Rounds::Bytes(SurplusRoundRobin::new(longest_bytes, &quanta)?)
            }
            Self::Surplus(quanta) => Rounds::Bytes(SurplusRoundRobin::new(longest_bytes, quanta)?),
            Self::Packets(packets) => Rounds::Packets(PacketRounds::new(packets)?),
        })
    }
}

/// The slowest channel has at most so many packets a turn: a turn is to be short.
const SLOWEST_PACKETS_MAX: NonZeroU8 = NonZeroU8::new(16).expect("it is not 0");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generalised_round_robin_has_the_ratio_of_the_shares() {
        let packets = |shares: &[u32]| SchedulerPlan::closest(shares).expect("shares");
        assert_eq!(packets(&[6_000, 10_000]), SchedulerPlan::Packets(vec![3, 5]));
        assert_eq!(packets(&[1_500, 1_500]), SchedulerPlan::Packets(vec![1, 1]));
        assert!(SchedulerPlan::closest(&[0, 1]).is_err());
    }
}
