//! Schedulers that can recover from losses: causal ones with a state per channel that fits into a
//! marker.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5.

use gingham_fairq::{Causal, Change, Round, SchedulerError, Standing, SurplusRoundRobin};

/// Causal scheduler with rounds and a state that markers can restore.
///
/// Another scheduler does not compile:
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Randomised, VirtualClock};
/// fn recovers(_: &impl gingham_stripe::Numbered) {}
/// fn not_causal(scheduler: &VirtualClock<2>) { recovers(scheduler) }
/// ```
pub trait Numbered: Causal + Clone {
    /// Returns the round being served.
    fn round(&self) -> Round;

    /// Returns the complete state of a channel, for a marker.
    fn standing(&self, channel: usize) -> Standing;

    /// Sets the state of a channel, but never deactivates the last active one. The turn moves on if
    /// the channel is out or its state is ahead of the round.
    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError>;

    /// Changes the quantum of a channel from a future round on.
    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError>;

    /// Skips all turns of a channel before a round.
    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError>;

    /// Whether the state is valid: some channel is active, and active channels are within
    /// `rounds_max` rounds.
    fn is_sound(&self, rounds_max: u32) -> bool;

    /// Returns the smallest nonzero quantum that is allowed.
    fn quantum_min(&self) -> u32;

    /// Returns the length of the longest packet that the scheduler accepts.
    fn longest_bytes(&self) -> u32;
}

impl<const CAPACITY: usize> Numbered for SurplusRoundRobin<CAPACITY> {
    fn round(&self) -> Round {
        self.round()
    }

    fn standing(&self, channel: usize) -> Standing {
        self.standing(channel)
    }

    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError> {
        self.set_standing(channel, standing)
    }

    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError> {
        self.change(channel, change)
    }

    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError> {
        self.skip_to(channel, round)
    }

    fn is_sound(&self, rounds_max: u32) -> bool {
        self.is_sound(rounds_max)
    }

    fn quantum_min(&self) -> u32 {
        self.longest_bytes()
    }

    fn longest_bytes(&self) -> u32 {
        self.longest_bytes()
    }
}

/// Generalised round robin with packet numbers: a turn is counted in packets, regardless of length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRounds<const CAPACITY: usize>(SurplusRoundRobin<CAPACITY>);

impl<const CAPACITY: usize> PacketRounds<CAPACITY> {
    /// Creates a scheduler with this number of packets per turn for each channel.
    pub fn new(packets: &[u32]) -> Result<Self, SchedulerError> {
        SurplusRoundRobin::new(1, packets).map(Self)
    }
}

impl<const CAPACITY: usize> Causal for PacketRounds<CAPACITY> {
    fn channels(&self) -> usize {
        self.0.channels()
    }

    fn current(&self) -> usize {
        self.0.current()
    }

    fn charge(&mut self, _length_bytes: u32) {
        self.0.charge(1);
    }
}

impl<const CAPACITY: usize> Numbered for PacketRounds<CAPACITY> {
    fn round(&self) -> Round {
        self.0.round()
    }

    fn standing(&self, channel: usize) -> Standing {
        self.0.standing(channel)
    }

    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError> {
        self.0.set_standing(channel, standing)
    }

    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError> {
        self.0.change(channel, change)
    }

    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError> {
        self.0.skip_to(channel, round)
    }

    fn is_sound(&self, rounds_max: u32) -> bool {
        self.0.is_sound(rounds_max)
    }

    fn quantum_min(&self) -> u32 {
        1
    }

    fn longest_bytes(&self) -> u32 {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_fairq::GeneralisedRoundRobin;

    #[test]
    fn packet_rounds_match_generalised_round_robin() {
        let mut numbered = PacketRounds::<4>::new(&[2, 1, 3]).unwrap();
        let mut plain = GeneralisedRoundRobin::<4>::new(&[2, 1, 3]).unwrap();
        for length_bytes in [40, 1_500, 1, 900, 3, 3, 3, 3, 77] {
            assert_eq!(numbered.current(), plain.current());
            numbered.charge(length_bytes);
            plain.charge(length_bytes);
        }
        assert_eq!(
            (numbered.round(), numbered.standing(0).next.round),
            (Round::new(2), Round::new(3))
        );
    }
}
