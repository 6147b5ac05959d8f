//! Surplus round robin: the last packet of a turn may overdraw the turn's quantum of bytes; the
//! excess is deducted from the next quantum.
//!
//! ```text
//!   quantum 500    bytes available: packet lengths -> bytes left
//!   channel 0      round 1   500: 550      -> -50      round 2   450: 200, 400 -> -150
//!   channel 1      round 1   500: 200, 400 -> -100     round 2   400: 400      -> 0
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.5 and 5. Unlike in the paper, the
//! deficit always includes the next quantum, so the next packet's number (round, deficit) is the
//! channel's complete state. After `s` bytes at a constant quantum `q`, it is
//! `(floor(s / q) + 1, q - s mod q)`.
//!
//! A receiver sets the state of a channel from markers ([`set_standing`]). A channel ahead of the
//! current round is skipped until the round reaches it; if all channels are ahead, the round jumps
//! forward to the earliest channel's. A channel behind the round is served until it has caught up.
//!
//! Invariants: after `k` rounds, a channel has sent at least `k` quanta and exceeds them by less
//! than one maximum-length packet (theorem 3.2 allows a deviation of one such packet and two quanta
//! in either direction). `current` is never excluded or ahead of the round.
//!
//! [`set_standing`]: SurplusRoundRobin::set_standing

mod number;
mod standing;

pub use number::{Number, Round};
pub use standing::{Change, Standing};

use crate::error::check_quanta;
use crate::{Causal, Rounds, SchedulerError};

/// Surplus round-robin scheduler over channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurplusRoundRobin<const CAPACITY: usize> {
    count: usize,
    current: usize,
    round: Round,
    begun: bool,
    longest_bytes: u32,
    channels: [Standing; CAPACITY],
}

impl<const CAPACITY: usize> SurplusRoundRobin<CAPACITY> {
    /// Creates a scheduler at round 1. Each channel's quantum must be at least the maximum packet
    /// length.
    pub fn new(longest_bytes: u32, quanta_bytes: &[u32]) -> Result<Self, SchedulerError> {
        Self::starting_at(Round::FIRST, longest_bytes, quanta_bytes)
    }

    /// Creates a scheduler like [`Self::new`], but at round `round`.
    pub fn starting_at(
        round: Round,
        longest_bytes: u32,
        quanta_bytes: &[u32],
    ) -> Result<Self, SchedulerError> {
        check_quanta::<CAPACITY>(longest_bytes, quanta_bytes)?;
        let mut channels = [Standing::default(); CAPACITY];
        for (channel, &quantum_bytes) in channels.iter_mut().zip(quanta_bytes) {
            *channel = Standing::beginning(round, quantum_bytes);
        }
        let count = quanta_bytes.len();
        Ok(Self { count, current: 0, round, begun: false, longest_bytes, channels })
    }

    /// Returns the current round, called G in the paper.
    pub const fn round(&self) -> Round {
        self.round
    }

    /// Returns the number of a channel's next packet.
    pub const fn number(&self, channel: usize) -> Number {
        self.channels[channel].next
    }

    /// Returns the complete state of a channel.
    pub const fn standing(&self, channel: usize) -> Standing {
        self.channels[channel]
    }

    /// Returns a channel's quantum in the round of its next packet.
    pub const fn quantum_bytes(&self, channel: usize) -> u32 {
        self.channels[channel].quantum_bytes
    }

    /// Returns the maximum packet length in bytes.
    pub const fn longest_bytes(&self) -> u32 {
        self.longest_bytes
    }

    /// Sets the state of a channel from a marker.
    pub fn set_standing(
        &mut self,
        channel: usize,
        standing: Standing,
    ) -> Result<(), SchedulerError> {
        self.check_channel(channel)?;
        self.check_standing(channel, &standing)?;
        self.channels[channel] = standing;
        let leaves = !standing.is_in() || standing.next.round.is_after(self.round);
        if channel == self.current() && leaves {
            self.move_on();
        }
        Ok(())
    }

    /// Announces a new quantum from a future round on, replacing any earlier announcement.
    pub fn change(&mut self, channel: usize, change: Change) -> Result<(), SchedulerError> {
        self.check_channel(channel)?;
        let standing = Standing { coming: Some(change), ..self.channels[channel] };
        if !change.from.is_after(standing.next.round) {
            return Err(SchedulerError::RoundReached { channel, from: change.from });
        }
        self.check_standing(channel, &standing)?;
        self.channels[channel] = standing;
        Ok(())
    }

    /// Announces a new quantum, starting with the first round that the channel has not entered.
    pub fn change_soon(
        &mut self,
        channel: usize,
        quantum_bytes: u32,
    ) -> Result<(), SchedulerError> {
        self.check_channel(channel)?;
        let entered = self.channels[channel].next.round;
        let from = if entered.is_after(self.round) { entered } else { self.round }.next();
        self.change(channel, Change { from, quantum_bytes })
    }

    /// Makes a channel skip all rounds before `round`.
    pub fn skip_to(&mut self, channel: usize, round: Round) -> Result<(), SchedulerError> {
        self.check_channel(channel)?;
        let mut standing = self.channels[channel];
        standing.enter(round, self.is_last(channel));
        standing.next.deficit_bytes = standing.quantum_bytes;
        self.set_standing(channel, standing)
    }

    /// Checks that the state can result from sent packets and from markers whose rounds differ from
    /// the current round by at most `rounds_max`.
    pub fn is_sound(&self, rounds_max: u32) -> bool {
        let near = |round: Round| round.ahead_of(self.round).unsigned_abs() <= rounds_max;
        let sound = |(channel, standing): (usize, &Standing)| {
            self.check_standing(channel, standing).is_ok()
                && (!standing.is_in() || near(standing.next.round))
        };
        let current = self.channels[self.current()];
        self.current < self.count
            && current.is_in()
            && !current.next.round.is_after(self.round)
            && self.channels[..self.count].iter().enumerate().all(sound)
    }

    const fn check_channel(&self, channel: usize) -> Result<(), SchedulerError> {
        let count = self.count;
        if channel < count { Ok(()) } else { Err(SchedulerError::NoSuchChannel { channel, count }) }
    }

    fn check_standing(&self, channel: usize, standing: &Standing) -> Result<(), SchedulerError> {
        let Standing { next: Number { deficit_bytes, .. }, quantum_bytes, coming } = *standing;
        let longest_bytes = self.longest_bytes;
        let small = |quantum_bytes: &u32| *quantum_bytes != 0 && *quantum_bytes < longest_bytes;
        let coming_bytes = coming.map(|change| change.quantum_bytes);
        if let Some(quantum_bytes) =
            [Some(quantum_bytes), coming_bytes].into_iter().flatten().find(small)
        {
            Err(SchedulerError::QuantumTooSmall { channel, quantum_bytes, longest_bytes })
        } else if deficit_bytes > quantum_bytes || (deficit_bytes == 0 && quantum_bytes != 0) {
            Err(SchedulerError::DeficitOutside { channel, deficit_bytes, quantum_bytes })
        } else if quantum_bytes == 0 && self.is_last(channel) {
            Err(SchedulerError::LastChannel { channel })
        } else {
            Ok(())
        }
    }

    fn is_last(&self, channel: usize) -> bool {
        let mut standings = self.channels[..self.count].iter().enumerate();
        !standings.any(|(other, standing)| other != channel && standing.is_in())
    }

    fn move_on(&mut self) {
        self.begun = false;
        let is_open = |channel: &usize| {
            let standing = &self.channels[*channel];
            standing.is_in() && !standing.next.round.is_after(self.round)
        };
        match (self.current() + 1..self.count).find(is_open) {
            Some(channel) => self.current = channel,
            None => self.start_round(),
        }
    }

    fn start_round(&mut self) {
        let ahead = |standing: &Standing| standing.next.round.ahead_of(self.round);
        let channels = &self.channels[..self.count];
        let there = channels.iter().filter(|standing| standing.is_in());
        let nearest = there.map(ahead).min().unwrap_or_default().max(1);
        let is_first = |standing: &Standing| standing.is_in() && ahead(standing) <= nearest;
        self.current = channels.iter().position(is_first).unwrap_or_default();
        self.round = self.round.plus(nearest.unsigned_abs());
    }

    fn overdraw(&mut self, length_bytes: u32) {
        let (channel, is_last) = (self.current(), self.is_last(self.current()));
        self.channels[channel].overdraw(length_bytes, is_last);
        if self.channels[channel].next.round.is_after(self.round) {
            self.move_on();
        }
    }
}

impl<const CAPACITY: usize> Causal for SurplusRoundRobin<CAPACITY> {
    fn channels(&self) -> usize {
        self.count
    }

    /// Returns a valid channel even if the state is corrupt.
    fn current(&self) -> usize {
        self.current.min(self.count - 1)
    }

    fn charge(&mut self, length_bytes: u32) {
        let next = &mut self.channels[self.current.min(self.count - 1)].next;
        self.begun = true;
        if next.deficit_bytes > length_bytes {
            next.deficit_bytes -= length_bytes;
        } else {
            self.overdraw(length_bytes);
        }
    }
}

impl<const CAPACITY: usize> Rounds for SurplusRoundRobin<CAPACITY> {
    /// Ends the turn. A queue that empties during its turn loses the unused bytes; a queue that is
    /// empty at the start of its turn keeps its debt.
    fn pass(&mut self) {
        let (channel, round) = (self.current(), self.round.next());
        let is_last = self.is_last(channel);
        let standing = &mut self.channels[channel];
        let granted_bytes = standing.quantum_bytes;
        let owed_bytes =
            if self.begun { 0 } else { granted_bytes.saturating_sub(standing.next.deficit_bytes) };
        standing.enter(round, is_last);
        standing.next.deficit_bytes = standing.quantum_bytes.saturating_sub(owed_bytes).max(1);
        self.move_on();
    }
}

#[cfg(feature = "corruption")]
impl<const CAPACITY: usize> SurplusRoundRobin<CAPACITY> {
    /// Overwrites the state with random words, to simulate corruption.
    pub fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        let mut word = || u32::try_from(words() & u64::from(u32::MAX)).expect("half a word");
        (self.round, self.begun) = (Round::new(word()), word() % 2 == 0);
        for standing in &mut self.channels {
            let next = Number { round: Round::new(word()), deficit_bytes: word() };
            let change = Change { from: Round::new(word()), quantum_bytes: word() };
            let coming = Some(change).filter(|_| word() % 2 == 0);
            *standing = Standing { next, quantum_bytes: word(), coming };
        }
        self.current = usize::try_from(words()).unwrap_or(usize::MAX);
    }
}
