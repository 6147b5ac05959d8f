//! Causal schedulers (the next channel depends only on past packets) whose state per channel fits
//! into a marker, so that a receiver can recover from losses.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5.

use gingham_fairq::{Causal, Change, Round, SchedulerError, Standing, SurplusRoundRobin};

/// Causal round-based scheduler whose state can be restored from markers.
///
/// Schedulers that are not causal are rejected at compile time:
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Randomised, VirtualClock};
/// fn recovers(_: &impl gingham_stripe::Numbered) {}
/// fn not_causal(scheduler: &VirtualClock<2>) { recovers(scheduler) }
/// ```
pub trait Numbered: Causal + Clone {
    /// Returns the present round.
    fn round(&self) -> Round;

    /// Returns the complete scheduler state of a channel.
    fn standing(&self, channel: usize) -> Standing;

    /// Sets the scheduler state of a channel, but never deactivates the last active channel. The
    /// turn passes to the next channel if the channel becomes inactive or its state is ahead of the
    /// present round.
    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError>;

    /// Schedules a change of a channel's quantum for a future round.
    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError>;

    /// Skips all turns of a channel before a round.
    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError>;

    /// Returns whether the state is valid: at least one channel is active, and the rounds of active
    /// channels differ by at most `rounds_max`.
    fn is_sound(&self, rounds_max: u32) -> bool;

    /// Returns the smallest nonzero quantum allowed.
    fn quantum_min(&self) -> u32;

    /// Returns the maximum packet length, in bytes.
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

/// Generalised round robin whose quanta count packets, regardless of their length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRounds<const CAPACITY: usize>(SurplusRoundRobin<CAPACITY>);

impl<const CAPACITY: usize> PacketRounds<CAPACITY> {
    /// Creates a scheduler from the number of packets per turn for each channel.
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
