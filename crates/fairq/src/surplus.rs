//! Surplus round robin: a quantum of bytes a turn, overdrawn by the last packet and paid back in
//! the next round.
//!
//! ```text
//!   quantum 500        round 1            round 2                  number of the next packet
//!   channel 0          550 ->  -50        450: 200, 400 -> -150    (round, deficit), the
//!   channel 1          200, 400 -> -100   400: 400 -> 0            deficit in 1..=quantum
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.5; numbers and skipping, section 5. The
//! paper's deficit counter may have its quantum added or not yet; here it always has, so that the
//! number of the next packet is all the state of a channel: after `s` bytes at a constant quantum
//! `q` it is `(floor(s / q) + 1, q - s mod q)`, whatever else happened.
//!
//! A receiver runs the same code. It takes the numbers that markers carry ([`set_number`]); a
//! channel that is ahead of the round is skipped until the round gets there, and where all are
//! ahead the round jumps to the first of them. A channel that is behind is served until it has
//! caught up; the round never goes back.
//!
//! Invariants: without foreign numbers, after `k` rounds a channel has sent at least `k` quanta and
//! less than a longest packet more (the paper's theorem 3.2 allows a longest packet and two quanta
//! either way). `current` is never a channel ahead of the round.
//!
//! [`set_number`]: SurplusRoundRobin::set_number

mod number;

pub use number::{Change, Number, Round, Standing};

use crate::error::check_quanta;
use crate::{Causal, Rounds, SchedulerError};

/// Surplus round robin over channels with a quantum each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurplusRoundRobin<const CAPACITY: usize> {
    count: usize,
    current: usize,
    round: Round,
    /// Whether the current channel has been charged in this turn.
    begun: bool,
    longest_bytes: u32,
    /// The first round of the coming quanta.
    change_from: Option<Round>,
    channels: [Channel; CAPACITY],
}

/// What is known of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Channel {
    next: Number,
    quantum_bytes: u32,
    /// The quantum from `change_from` on.
    coming_bytes: u32,
}

impl Channel {
    fn quantum_in(&self, round: Round, change_from: Option<Round>) -> u32 {
        match change_from {
            Some(from) if !from.is_after(round) => self.coming_bytes,
            _ => self.quantum_bytes,
        }
    }

    /// A packet longer than the quantum uses up several rounds.
    fn charge(&mut self, length_bytes: u32, change_from: Option<Round>) {
        let mut left = i64::from(self.next.deficit_bytes) - i64::from(length_bytes);
        while left <= 0 {
            self.next.round = self.next.round.next();
            left += i64::from(self.quantum_in(self.next.round, change_from));
        }
        self.next.deficit_bytes = u32::try_from(left).expect("at most a quantum is left");
    }
}

impl<const CAPACITY: usize> SurplusRoundRobin<CAPACITY> {
    /// Quanta that are each at least the longest packet, from round 1.
    pub fn new(longest_bytes: u32, quanta_bytes: &[u32]) -> Result<Self, SchedulerError> {
        Self::starting_at(Round::FIRST, longest_bytes, quanta_bytes)
    }

    /// The same with another first round, for a set of channels that takes over from another.
    pub fn starting_at(
        round: Round,
        longest_bytes: u32,
        quanta_bytes: &[u32],
    ) -> Result<Self, SchedulerError> {
        check_quanta::<CAPACITY>(longest_bytes, quanta_bytes)?;
        let mut channels = [Channel::default(); CAPACITY];
        for (channel, &quantum_bytes) in channels.iter_mut().zip(quanta_bytes) {
            let next = Number { round, deficit_bytes: quantum_bytes };
            *channel = Channel { next, quantum_bytes, coming_bytes: quantum_bytes };
        }
        let count = quanta_bytes.len();
        Ok(Self {
            count,
            current: 0,
            round,
            begun: false,
            longest_bytes,
            change_from: None,
            channels,
        })
    }

    /// The round that is being served: the paper's G.
    pub const fn round(&self) -> Round {
        self.round
    }

    /// The number of the next packet of a channel: what a marker carries.
    pub const fn number(&self, channel: usize) -> Number {
        self.channels[channel].next
    }

    /// The quantum of a channel in the round of its next packet.
    pub fn quantum_bytes(&self, channel: usize) -> u32 {
        let channel = &self.channels[channel];
        channel.quantum_in(channel.next.round, self.change_from)
    }

    /// All that is known of a channel: what a marker says.
    pub fn standing(&self, channel: usize) -> Standing {
        let next = self.number(channel);
        Standing { next, quantum_bytes: self.quantum_bytes(channel), coming: None }
    }

    /// The longest packet, which no quantum is below.
    pub const fn longest_bytes(&self) -> u32 {
        self.longest_bytes
    }

    /// The round at which quanta are to change.
    pub const fn change_from(&self) -> Option<Round> {
        self.change_from
    }

    /// The next packet of a channel has this number, says a marker.
    pub fn set_number(&mut self, channel: usize, number: Number) -> Result<(), SchedulerError> {
        let count = self.count;
        let state = self.channels[..count]
            .get_mut(channel)
            .ok_or(SchedulerError::NoSuchChannel { channel, count })?;
        let quantum_bytes = state.quantum_in(number.round, self.change_from);
        let deficit_bytes = number.deficit_bytes;
        if deficit_bytes == 0 || deficit_bytes > quantum_bytes {
            let outside = SchedulerError::DeficitOutside { channel, deficit_bytes, quantum_bytes };
            return Err(outside);
        }
        state.next = number;
        if channel == self.current && number.round.is_after(self.round) {
            self.move_on();
        }
        Ok(())
    }

    /// From a round that no channel has reached yet the quanta are these; what a channel has
    /// overdrawn before is paid back from its new quantum.
    pub fn change_quanta(
        &mut self,
        from: Round,
        quanta_bytes: &[u32],
    ) -> Result<(), SchedulerError> {
        let count = self.count;
        if quanta_bytes.len() != count {
            return Err(SchedulerError::QuantaMismatch { given: quanta_bytes.len(), count });
        }
        check_quanta::<CAPACITY>(self.longest_bytes, quanta_bytes)?;
        if let Some(from) = self.change_from {
            return Err(SchedulerError::ChangePending { from });
        }
        let reached = |channel: &Channel| !from.is_after(channel.next.round);
        if let Some(channel) = self.channels[..count].iter().position(reached) {
            return Err(SchedulerError::RoundReached { channel, from });
        }
        for (channel, &quantum_bytes) in self.channels.iter_mut().zip(quanta_bytes) {
            channel.coming_bytes = quantum_bytes;
        }
        self.change_from = Some(from);
        Ok(())
    }

    /// The turn goes to the next channel that is not ahead of the round.
    fn move_on(&mut self) {
        self.begun = false;
        let open = |channel: &usize| !self.channels[*channel].next.round.is_after(self.round);
        match (self.current + 1..self.count).find(open) {
            Some(channel) => self.current = channel,
            None => self.start_round(),
        }
    }

    /// The next round, or the first that a channel is at if all are further ahead.
    fn start_round(&mut self) {
        let ahead = |channel: &Channel| channel.next.round.ahead_of(self.round);
        let channels = &self.channels[..self.count];
        let nearest = channels.iter().map(ahead).min().unwrap_or_default().max(1);
        let first = channels.iter().position(|channel| ahead(channel) <= nearest);
        self.current = first.expect("the nearest channel is a channel");
        self.round = self.round.plus(nearest.unsigned_abs());
        if self.change_from.is_some_and(|from| !from.is_after(self.round)) {
            self.change_from = None;
            for channel in &mut self.channels[..self.count] {
                channel.quantum_bytes = channel.coming_bytes;
            }
        }
    }
}

impl<const CAPACITY: usize> Causal for SurplusRoundRobin<CAPACITY> {
    fn channels(&self) -> usize {
        self.count
    }

    fn current(&self) -> usize {
        self.current
    }

    fn charge(&mut self, length_bytes: u32) {
        let channel = &mut self.channels[self.current];
        channel.charge(length_bytes, self.change_from);
        self.begun = true;
        if channel.next.round.is_after(self.round) {
            self.move_on();
        }
    }
}

impl<const CAPACITY: usize> Rounds for SurplusRoundRobin<CAPACITY> {
    /// A queue that runs dry in its turn loses what is left of it; one that is dry when its turn
    /// comes still owes what it has overdrawn.
    fn pass(&mut self) {
        let (change_from, round) = (self.change_from, self.round.next());
        let channel = &mut self.channels[self.current];
        let granted_bytes = channel.quantum_in(channel.next.round, change_from);
        let owed_bytes =
            if self.begun { 0 } else { granted_bytes.saturating_sub(channel.next.deficit_bytes) };
        let deficit_bytes =
            channel.quantum_in(round, change_from).saturating_sub(owed_bytes).max(1);
        channel.next = Number { round, deficit_bytes };
        self.move_on();
    }
}
