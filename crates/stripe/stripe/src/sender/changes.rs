//! Changes of quanta: announced, acknowledged, and only then made.
//!
//! ```text
//!                 target                   reported as seen, from not reached
//!   [as it is] ----------> [announced] ------------------------------------> [agreed]
//!        ^                  |       ^                                           |
//!        |                  +-------+ from reached: announced for a later round |
//!        +--------------------------- from reached: the change holds -----------+
//! ```
//!
//! Each channel changes by itself, at a round of its own. Markers announce it in the place of the
//! channel where they stand, and one goes where it begins or is put off, ahead of the first packet
//! concerned: so without loss order is exact whatever becomes of the acknowledgement. Under loss
//! the acknowledgement keeps the receiver from taking a channel to be further than it is: a quantum
//! grows, or a channel comes in, only where that is known. A quantum of 0 is a channel that is out.
//!
//! Where channels are chosen freely rounds stand still and only tell changes apart: a change holds
//! as soon as it is acknowledged. Where they do not, a channel that comes back is announced for as
//! many rounds ahead as have gone by lately in the time that an answer takes.
//!
//! Source: ours; Adiseshu, Parulkar and Varghese 1996 keep quanta as they are.
//!
//! Invariants: what holds at the sender from a round on was known to the receiver before that
//! round; a channel is announced to go out only while another stays in.

use core::time::Duration;

use gingham_fairq::{Change, Round, Standing};

use super::Sender;
use super::presence::Life;
use crate::{ChannelSet, Instant, Numbered, Order, QuantaError, first_channels, take_lowest};

/// A change is announced for so many rounds ahead at least, and at most.
const AHEAD_ROUNDS_MIN: u32 = 4;
const AHEAD_ROUNDS_MAX: u32 = 1 << 14;

/// What is announced of a channel.
#[derive(Clone, Copy, Debug)]
struct Announced {
    change: Change,
    /// In which round it was announced.
    at: Round,
    /// When the first marker went that says it.
    told_at: Option<Instant>,
}

impl Announced {
    /// Nothing, in an epoch that begins in this round.
    const fn nothing(round: Round) -> Self {
        let change = Change { from: round, quantum_bytes: 0 };
        Self { change, at: round, told_at: None }
    }
}

/// What is to become of the quanta.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    /// What each channel is to have; 0 where it is to be out.
    targets: Vec<u32>,
    announced: Vec<Announced>,
    /// Channels whose change is announced and not acknowledged.
    pending: ChannelSet,
    /// Channels whose change is acknowledged and does not hold yet.
    agreed: ChannelSet,
    /// So many rounds before it holds a change is announced.
    ahead_rounds: u32,
    passing: Passing,
}

/// How fast rounds go by.
#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    at: Instant,
    round: Round,
    /// In so many nanoseconds before that so many went by.
    span_ns: u64,
    rounds: u32,
}

impl Passing {
    /// Rounds are looked at, once in an interval.
    fn look(&mut self, now: Instant, round: Round) {
        let span_ns = now.nanoseconds().saturating_sub(self.at.nanoseconds());
        if span_ns > 0 {
            let rounds = u32::try_from(round.ahead_of(self.round)).unwrap_or(0);
            *self = Self { at: now, round, span_ns, rounds };
        }
    }

    /// How many rounds ahead of a change it is announced, if an answer takes so long: half as many
    /// again as go by, as they did in the last interval and since then.
    fn in_time(self, now: Instant, round: Round, answer: Duration) -> u32 {
        let since_ns = now.nanoseconds().saturating_sub(self.at.nanoseconds());
        let since = u32::try_from(round.ahead_of(self.round)).unwrap_or(0);
        let span_ns = self.span_ns.saturating_add(since_ns);
        let rounds = u128::from(self.rounds.saturating_add(since)) * answer.as_nanos() * 3 / 2;
        let rounds = rounds.checked_div(span_ns.into()).unwrap_or(0);
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        rounds.saturating_add(AHEAD_ROUNDS_MIN).min(AHEAD_ROUNDS_MAX)
    }
}

impl Changes {
    pub(super) fn new(scheduler: &impl Numbered) -> Self {
        let channels = scheduler.channels();
        Self {
            targets: (0..channels)
                .map(|channel| scheduler.standing(channel).quantum_bytes)
                .collect(),
            announced: vec![Announced::nothing(scheduler.round()); channels],
            pending: 0,
            agreed: 0,
            ahead_rounds: AHEAD_ROUNDS_MIN,
            passing: Passing::default(),
        }
    }

    /// What a channel is to have.
    pub(super) fn target(&self, channel: usize) -> u32 {
        self.targets[channel]
    }

    /// Channels are to have these quanta, which hold of the scheduler.
    pub(super) fn set_targets(&mut self, quanta: &[u32]) {
        self.targets.copy_from_slice(quanta);
    }

    pub(super) const fn are_under_way(&self) -> bool {
        self.pending | self.agreed != 0
    }

    /// Whether a channel that is out is announced to come in.
    pub(super) const fn is_pending(&self, channel: usize) -> bool {
        self.pending & (1 << channel) != 0
    }

    /// Nothing is announced of a channel any more.
    fn give_up(&mut self, channel: usize) {
        self.pending &= !(1 << channel);
        self.agreed &= !(1 << channel);
    }

    /// A new epoch, which begins in this round: markers of the one before are no longer heeded, and
    /// what they announced need not be told from what will be.
    pub(super) fn restart(&mut self, round: Round) {
        (self.pending, self.agreed, self.ahead_rounds) = (0, 0, AHEAD_ROUNDS_MIN);
        self.announced.fill(Announced::nothing(round));
    }

    /// The receiver knew of a change after so many rounds.
    fn learn(&mut self, rounds: u32) {
        let ahead = rounds.saturating_add(rounds / 2).saturating_add(AHEAD_ROUNDS_MIN);
        self.ahead_rounds = ahead.min(AHEAD_ROUNDS_MAX);
    }
}

impl<S: Numbered> Sender<S> {
    /// Quanta that channels are to have: they change one by one, as soon as the receiver knows. A
    /// channel that is to have 0 goes out, unless it would be the last; one that is out comes in.
    pub fn change_quanta(&mut self, quanta: &[u32]) -> Result<(), QuantaError> {
        let (count, quantum_min) = (self.scheduler.channels(), self.scheduler.quantum_min());
        if quanta.len() != count {
            return Err(QuantaError::Mismatch { given: quanta.len(), count });
        }
        let small = |quantum: &u32| *quantum != 0 && *quantum < quantum_min;
        if let Some(channel) = quanta.iter().position(small) {
            let quantum = quanta[channel];
            return Err(QuantaError::TooSmall { channel, quantum, quantum_min });
        }
        let is_to_be_in =
            |(channel, quantum): (usize, &u32)| *quantum != 0 && self.is_there(channel);
        if !quanta.iter().enumerate().any(is_to_be_in) {
            return Err(QuantaError::NoneIn);
        }
        self.changes.targets.copy_from_slice(quanta);
        self.announce_targets();
        Ok(())
    }

    /// Whether targets were such that they could be; those of the start take their place.
    pub(super) fn check_targets(&mut self) -> bool {
        let quantum_min = self.scheduler.quantum_min();
        let can_be = |quantum: &u32| *quantum == 0 || *quantum >= quantum_min;
        let there = self.presence.all(Life::Alive) | self.presence.all(Life::Dead);
        let targets = &mut self.changes.targets;
        let is_to_be_in =
            |(channel, quantum): (usize, &u32)| *quantum != 0 && there & (1 << channel) != 0;
        let sound = targets.iter().all(can_be) && targets.iter().enumerate().any(is_to_be_in);
        if !sound {
            for (channel, quantum) in targets.iter_mut().enumerate() {
                *quantum = self.initial.standing(channel).quantum_bytes;
            }
        }
        sound
    }

    /// Gives up what is announced for no round to come soon.
    pub(super) fn check_changes(&mut self) {
        let (changes, round) = (&mut self.changes, self.scheduler.round());
        let all = first_channels(changes.targets.len());
        (changes.pending, changes.agreed) = (changes.pending & all, changes.agreed & all);
        changes.ahead_rounds = changes.ahead_rounds.clamp(AHEAD_ROUNDS_MIN, AHEAD_ROUNDS_MAX);
        let mut pending = changes.pending;
        while let Some(channel) = take_lowest(&mut pending) {
            let ahead = changes.announced[channel].change.from.ahead_of(round).unsigned_abs();
            if ahead > 2 * AHEAD_ROUNDS_MAX {
                changes.give_up(channel);
            }
        }
    }

    /// What a channel is to have: its present quantum, unless a change is under way.
    pub fn target_quantum(&self, channel: usize) -> u32 {
        self.changes.targets[channel]
    }

    /// What a marker that is given out says of a channel.
    pub(super) fn say(&mut self, now: Instant, channel: usize) -> Standing {
        let mut standing = self.scheduler.standing(channel);
        if !standing.is_in() {
            standing = Standing::out(self.scheduler.round());
        }
        if self.changes.is_pending(channel) {
            let announced = &mut self.changes.announced[channel];
            announced.told_at.get_or_insert(now);
            standing.coming = Some(announced.change);
        }
        standing
    }

    /// Announces targets that are not under way: who is to stay or to come before who is to go.
    pub(super) fn announce_targets(&mut self) {
        let channels = 0..self.scheduler.channels();
        for goes in [false, true] {
            for channel in channels.clone() {
                if self.is_open() && goes == (self.changes.targets[channel] == 0) {
                    self.announce_target(channel);
                }
            }
        }
    }

    fn announce_target(&mut self, channel: usize) {
        let Announced { change, .. } = self.changes.announced[channel];
        let (quantum, bit) = (self.changes.targets[channel], 1 << channel);
        let present = self.scheduler.standing(channel).quantum_bytes;
        let is_pending = self.changes.is_pending(channel);
        if self.changes.agreed & bit != 0 || !self.presence.is(channel, Life::Alive) {
            return;
        }
        if quantum == present && is_pending {
            self.changes.give_up(channel);
            self.due |= bit;
        } else if quantum != if is_pending { change.quantum_bytes } else { present } {
            let ahead_rounds = self.ahead_rounds(channel);
            self.announce(channel, quantum, ahead_rounds);
        }
    }

    /// How many rounds ahead a change is announced: one of a channel that is out, which others carry
    /// for until then, no more than as long as an answer takes.
    fn ahead_rounds(&self, channel: usize) -> u32 {
        let Changes { ahead_rounds, passing, .. } = self.changes;
        if self.scheduler.standing(channel).is_in() {
            return ahead_rounds;
        }
        let answer = self.answer_takes(channel);
        ahead_rounds.min(passing.in_time(self.now, self.scheduler.round(), answer))
    }

    /// The round from which on a change is announced, or else the present one.
    pub(super) fn announced_from(&self, channel: usize) -> Round {
        if self.changes.is_pending(channel) {
            self.changes.announced[channel].change.from
        } else {
            self.scheduler.round()
        }
    }

    /// Nothing is announced of a channel any more, and what will be is of a later round.
    pub(super) fn forbid_until_after(&mut self, channel: usize, round: Round) {
        self.changes.give_up(channel);
        self.changes.announced[channel].change.from = round;
    }

    fn announce(&mut self, channel: usize, quantum_bytes: u32, ahead_rounds: u32) {
        if quantum_bytes == 0 && !self.others_stay(channel) {
            if self.changes.is_pending(channel) {
                self.changes.give_up(channel);
                self.due |= 1 << channel;
            }
            return;
        }
        let at = self.scheduler.round();
        let soon = later(at.plus(ahead_rounds), self.reached(channel).next());
        let last = self.changes.announced[channel].change.from;
        // What was announced before, or said to have left, is told from this by its round.
        let is_near = last.ahead_of(soon).unsigned_abs() <= AHEAD_ROUNDS_MAX;
        let from = if is_near { later(soon, last.next()) } else { soon };
        let change = Change { from, quantum_bytes };
        self.changes.announced[channel] = Announced { change, at, told_at: None };
        self.changes.pending |= 1 << channel;
        self.due |= 1 << channel;
    }

    /// Looks how fast rounds go by.
    pub(super) fn look_at_rounds(&mut self, now: Instant) {
        self.changes.passing.look(now, self.scheduler.round());
    }

    /// The round that a channel is at: that of its next packet, or where it is out the present one.
    pub(super) fn reached(&self, channel: usize) -> Round {
        let standing = self.scheduler.standing(channel);
        if standing.is_in() { standing.next.round } else { self.scheduler.round() }
    }

    /// Announces the same for a later round, where that has come for which it was announced. If the
    /// answer was lost, as many rounds ahead as before; if there was no time for it, more.
    fn put_off(&mut self, now: Instant, channel: usize) {
        let Announced { change, at, told_at } = self.changes.announced[channel];
        if change.from.is_after(self.reached(channel)) {
            return;
        }
        self.sending.postponed += 1;
        let is_lost = told_at.is_some_and(|at| self.answer_by(channel, at) <= now);
        if !is_lost {
            let ahead = change.from.ahead_of(at).unsigned_abs().saturating_mul(2);
            let more = self.changes.ahead_rounds.max(ahead);
            self.changes.ahead_rounds = more.min(AHEAD_ROUNDS_MAX);
        }
        self.announce(channel, change.quantum_bytes, self.ahead_rounds(channel));
    }

    /// Whether another channel is in, and is not to go out.
    fn others_stay(&self, channel: usize) -> bool {
        let stays = |other: usize| {
            let (bit, change) = (1 << other, self.changes.announced[other].change);
            let is_changing = (self.changes.pending | self.changes.agreed) & bit != 0;
            let leaves = is_changing && change.quantum_bytes == 0;
            other != channel && self.carries(other) && !leaves
        };
        (0..self.scheduler.channels()).any(stays)
    }

    /// The receiver has seen on a channel that there will be a change.
    pub(super) fn agree(&mut self, now: Instant, channel: usize, seen: Option<Round>) {
        if self.changes.is_pending(channel) {
            self.put_off(now, channel);
        }
        let Announced { change, at, .. } = self.changes.announced[channel];
        if !self.changes.is_pending(channel) || seen != Some(change.from) {
            return;
        }
        self.changes.learn(self.scheduler.round().ahead_of(at).unsigned_abs());
        self.changes.give_up(channel);
        let is_free = self.options.order == Order::Free;
        let agreed = if is_free && change.quantum_bytes == 0 {
            self.sending.changes += 1;
            self.presence.probe(channel, now, self.options.markers.interval);
            self.scheduler.set_standing(channel, Standing::out(self.scheduler.round()))
        } else if !is_free && self.scheduler.standing(channel).is_in() {
            self.changes.agreed |= 1 << channel;
            self.scheduler.change(channel, change)
        } else {
            self.sending.changes += 1;
            let standing = Standing::beginning(change.from, change.quantum_bytes);
            self.scheduler.set_standing(channel, standing)
        };
        if agreed.is_err() {
            self.changes.give_up(channel);
        }
        self.due |= 1 << channel;
        if is_free {
            self.announce_targets();
        }
    }

    /// The channel has been charged: changes begin, or are put off.
    pub(super) fn follow_changes(&mut self, now: Instant, channel: usize) {
        let bit = 1 << channel;
        let holds = self.scheduler.standing(channel).coming.is_none();
        if self.changes.agreed & bit != 0 && holds {
            self.changes.give_up(channel);
            self.sending.changes += 1;
            self.due |= bit;
            self.presence.probe(channel, now, self.options.markers.interval);
            self.announce_targets();
        }
        let mut pending = self.changes.pending & first_channels(self.changes.targets.len());
        while let Some(channel) = take_lowest(&mut pending) {
            self.put_off(now, channel);
        }
    }
}

/// The later of two rounds.
pub(super) const fn later(one: Round, other: Round) -> Round {
    if other.is_after(one) { other } else { one }
}

#[cfg(test)]
crate::corruption::corrupt!(Changes: pending, agreed, ahead_rounds, passing, targets, announced);
#[cfg(test)]
crate::corruption::corrupt!(Passing: at, round, span_ns, rounds);
#[cfg(test)]
crate::corruption::corrupt!(Announced: change, at, told_at);
