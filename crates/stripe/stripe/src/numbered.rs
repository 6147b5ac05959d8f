//! Schedulers that stripe and recover: causal ones whose whole state is a number for each channel.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5. A marker carries the number of the next
//! packet of a channel; the randomised scheduler has none, so it gets no marker.

use gingham_fairq::{Causal, Change, Round, SchedulerError, Standing, SurplusRoundRobin};

/// A causal scheduler that works in rounds and whose state markers can restore.
///
/// What is not causal does not compile, nor what has no numbers:
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Randomised, VirtualClock};
/// fn recovers(_: &impl gingham_stripe::Numbered) {}
/// fn not_causal(scheduler: &VirtualClock<2>) { recovers(scheduler) }
/// ```
pub trait Numbered: Causal + Clone {
    /// The round that is being served.
    fn round(&self) -> Round;

    /// All that is known of a channel: what a marker says.
    fn standing(&self, channel: usize) -> Standing;

    /// This is all there is to know of a channel; the turn moves on if it is out or ahead of the
    /// round. The last channel does not go out.
    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError>;

    /// A channel has another quantum from a round on that it has not reached yet.
    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError>;

    /// A channel sends nothing before a round.
    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError>;

    /// Whether this is a state that a scheduler can come to, with all channels that are in so many
    /// rounds from one another.
    fn is_sound(&self, rounds_max: u32) -> bool;

    /// The least quantum of a channel that is in.
    fn quantum_min(&self) -> u32;

    /// The longest packet that may be charged.
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

/// Generalised round robin with numbers: surplus round robin in which every packet weighs 1.
///
/// With one packet a turn on every channel it is plain round robin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRounds<const CAPACITY: usize>(SurplusRoundRobin<CAPACITY>);

impl<const CAPACITY: usize> PacketRounds<CAPACITY> {
    /// So many packets a turn on each channel.
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
    fn rounds_of_packets_are_generalised_round_robin() {
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
