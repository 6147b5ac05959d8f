//! Channel schedulers of a pipe.

use std::num::NonZeroU8;

use gingham_fairq::{CHANNELS_MAX, GeneralisedRoundRobin, SchedulerError, SurplusRoundRobin};
use gingham_stripe::{PacketRounds, Rounds};

pub(crate) type Scheduler = Rounds<CHANNELS_MAX>;

/// Scheduler of both ends. Markers convey the sender's plan, which overrides the receiver's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchedulerPlan {
    /// Surplus round robin with quanta that follow the measured rates.
    #[default]
    Even,
    /// Surplus round robin with fixed quanta: bytes per round for each channel, at least the
    /// longest packet.
    Surplus(Vec<u32>),
    /// Round robin with this number of packets per round for each channel.
    Packets(Vec<u32>),
}

impl SchedulerPlan {
    /// Returns the plan whose packets per round are small integers with the ratio closest to
    /// `shares`.
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

/// Maximum packets per round of the slowest channel, which limits the length of rounds.
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
