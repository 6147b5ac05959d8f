//! Common type for all schedulers that both ends can run, selected at run time.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 6.2, which compares these schedulers.

use gingham_fairq::{Causal, Change, Round, SchedulerError, Standing, SurplusRoundRobin};

use crate::{Numbered, PacketRounds};

/// Scheduler whose quanta count bytes or packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rounds<const CAPACITY: usize> {
    /// Surplus round robin, with quanta in bytes.
    Bytes(SurplusRoundRobin<CAPACITY>),
    /// Generalised round robin, with quanta in packets.
    Packets(PacketRounds<CAPACITY>),
}

macro_rules! either {
    ($self:ident, $scheduler:ident => $call:expr) => {
        match $self {
            Rounds::Bytes($scheduler) => $call,
            Rounds::Packets($scheduler) => $call,
        }
    };
}

impl<const CAPACITY: usize> Causal for Rounds<CAPACITY> {
    fn channels(&self) -> usize {
        either!(self, scheduler => scheduler.channels())
    }

    fn current(&self) -> usize {
        either!(self, scheduler => scheduler.current())
    }

    fn charge(&mut self, length_bytes: u32) {
        either!(self, scheduler => scheduler.charge(length_bytes));
    }
}

impl<const CAPACITY: usize> Numbered for Rounds<CAPACITY> {
    fn round(&self) -> Round {
        either!(self, scheduler => Numbered::round(scheduler))
    }

    fn standing(&self, channel: usize) -> Standing {
        either!(self, scheduler => Numbered::standing(scheduler, channel))
    }

    fn set_standing(&mut self, channel: usize, standing: Standing) -> Result<(), SchedulerError> {
        either!(self, scheduler => Numbered::set_standing(scheduler, channel, standing))
    }

    fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError> {
        either!(self, scheduler => Numbered::change(scheduler, channel, change))
    }

    fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError> {
        either!(self, scheduler => Numbered::skip_to(scheduler, channel, round))
    }

    fn is_sound(&self, rounds_max: u32) -> bool {
        either!(self, scheduler => Numbered::is_sound(scheduler, rounds_max))
    }

    fn quantum_min(&self) -> u32 {
        either!(self, scheduler => Numbered::quantum_min(scheduler))
    }

    fn longest_bytes(&self) -> u32 {
        either!(self, scheduler => Numbered::longest_bytes(scheduler))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte quanta give both channels equal shares of the bytes. With packet quanta, one channel
    /// gets all long packets (section 6.2).
    #[test]
    fn byte_and_packet_rounds_differ_for_alternating_lengths() {
        let bytes = Rounds::<2>::Bytes(SurplusRoundRobin::new(1_000, &[1_000; 2]).unwrap());
        let packets = Rounds::<2>::Packets(PacketRounds::new(&[1; 2]).unwrap());
        let mut shares = [bytes, packets].map(|mut scheduler| {
            let mut share = [0_u32; 2];
            for length_bytes in [1_000, 200].into_iter().cycle().take(600) {
                share[scheduler.current()] += length_bytes;
                scheduler.charge(length_bytes);
            }
            share
        });
        assert_eq!(shares[1], [300_000, 60_000]);
        shares[0].sort_unstable();
        assert!(shares[0][1] - shares[0][0] <= 3_000, "{:?}", shares[0]);
    }
}
