//! Schedulers that stripe and recover: causal ones whose whole state is a number for each channel.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5. A marker carries the number of the next
//! packet of a channel; the randomised scheduler has none, so it gets no marker.

use gingham_fairq::{Causal, Number, Round, SchedulerError, Standing, SurplusRoundRobin};

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

    /// The number of the next packet of a channel.
    fn number(&self, channel: usize) -> Number;

    /// All that is known of a channel: what a marker says.
    fn standing(&self, channel: usize) -> Standing;

    /// The next packet of a channel has this number; the turn moves on if that is ahead of the
    /// round. A deficit of 1 is taken in every round.
    fn set_number(&mut self, channel: usize, number: Number) -> Result<(), SchedulerError>;

    /// What a channel may send in the round of its next packet, as a deficit counts it.
    fn quantum(&self, channel: usize) -> u32;

    /// The longest packet that may be charged.
    fn longest_bytes(&self) -> u32;
}

impl<const CAPACITY: usize> Numbered for SurplusRoundRobin<CAPACITY> {
    fn round(&self) -> Round {
        self.round()
    }

    fn number(&self, channel: usize) -> Number {
        self.number(channel)
    }

    fn standing(&self, channel: usize) -> Standing {
        self.standing(channel)
    }

    fn set_number(&mut self, channel: usize, number: Number) -> Result<(), SchedulerError> {
        self.set_number(channel, number)
    }

    fn quantum(&self, channel: usize) -> u32 {
        self.quantum_bytes(channel)
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

    fn number(&self, channel: usize) -> Number {
        self.0.number(channel)
    }

    fn standing(&self, channel: usize) -> Standing {
        self.0.standing(channel)
    }

    fn set_number(&mut self, channel: usize, number: Number) -> Result<(), SchedulerError> {
        self.0.set_number(channel, number)
    }

    fn quantum(&self, channel: usize) -> u32 {
        self.0.quantum_bytes(channel)
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
        assert_eq!((numbered.round(), numbered.number(0).round), (Round::new(2), Round::new(3)));
    }
}
