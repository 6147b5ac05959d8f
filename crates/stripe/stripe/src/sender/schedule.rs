//! The scheduler, the target quanta, and pending quantum changes.
//!
//! ```text
//!             new target                  report confirms the change before its round
//!   [unchanged] -----------> [announced] ------------------------------------> [agreed]
//!     ^                  |     ^                                             |
//!     |                  +-----+ its round started first: postponed          |
//!     +------------------------------ its round started: in effect ----------+
//! ```
//!
//! Each channel changes its quantum in a separate round, announced by markers. A marker precedes
//! the first affected packet, so that without loss the order is exact even if the acknowledgement
//! is lost. Under loss, the acknowledgement keeps the receiver from overestimating a channel. A
//! quantum of 0 means that the channel is inactive.
//!
//! In free order, rounds do not advance and only identify changes, which take effect once
//! acknowledged. In strict order, the return of a channel is announced ahead of time, by the number
//! of rounds in a response time.
//!
//! Source: ours; Adiseshu, Parulkar and Varghese 1996 keep quanta constant.
//!
//! Invariants: the receiver knows every change before it takes effect; a channel's deactivation is
//! announced only while another channel stays active.

use core::time::Duration;

use gingham_fairq::{Change, Round, Standing};

use super::markers::Markers;
use super::paths::Paths;
use super::presence::{Life, Presence};
use super::{Order, Sending};
use crate::{
    ChannelSet, Instant, Numbered, QuantaError, channels_of, channels_where, first_channels,
};

/// Minimum number of rounds between the announcement of a change and its effect.
const AHEAD_ROUNDS_MIN: u32 = 4;
const AHEAD_ROUNDS_MAX: u32 = 1 << 14;

/// Maximum distance in rounds between active channels of a valid scheduler; larger than the lead of
/// any announcement.
pub(super) const ROUNDS_MAX: u32 = 1 << 20;

#[derive(Clone, Copy, Debug)]
struct Announced {
    change: Change,
    at: Round,
    first_sent_at: Option<Instant>,
}

impl Announced {
    const fn nothing(round: Round) -> Self {
        let change = Change { from: round, quantum_bytes: 0 };
        Self { change, at: round, first_sent_at: None }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    at: Instant,
    round: Round,
    span_ns: u64,
    rounds: u32,
}

impl Passing {
    fn look(&mut self, now: Instant, round: Round) {
        let span_ns = now.nanoseconds().saturating_sub(self.at.nanoseconds());
        if span_ns > 0 {
            let rounds = u32::try_from(round.ahead_of(self.round)).unwrap_or(0);
            *self = Self { at: now, round, span_ns, rounds };
        }
    }

    /// Returns 1.5 times the number of rounds expected within `answer`, at the round rate since the
    /// start of the previous interval.
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

#[derive(Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) now: Instant,
    pub(super) polled_at: Instant,
    pub(super) presence: &'a mut Presence,
    pub(super) markers: &'a mut Markers,
    pub(super) sending: &'a mut Sending,
}

#[derive(Clone, Debug)]
pub(super) struct Schedule<S> {
    initial: S,
    scheduler: S,
    order: Order,
    targets: Vec<u32>,
    announced: Vec<Announced>,
    pending: ChannelSet,
    /// Channels with an acknowledged change that is not in effect yet.
    agreed: ChannelSet,
    ahead_rounds: u32,
    passing: Passing,
}

impl<S: Numbered> Schedule<S> {
    pub(super) fn new(scheduler: S, order: Order) -> Self {
        let channels = scheduler.channels();
        let quantum = |channel| scheduler.standing(channel).quantum_bytes;
        Self {
            order,
            targets: (0..channels).map(quantum).collect(),
            announced: vec![Announced::nothing(scheduler.round()); channels],
            pending: 0,
            agreed: 0,
            ahead_rounds: AHEAD_ROUNDS_MIN,
            passing: Passing::default(),
            initial: scheduler.clone(),
            scheduler,
        }
    }

    pub(super) const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    pub(super) fn channels(&self) -> usize {
        self.scheduler.channels()
    }

    pub(super) fn current(&self) -> usize {
        self.scheduler.current()
    }

    pub(super) fn round(&self) -> Round {
        self.scheduler.round()
    }

    pub(super) fn standing(&self, channel: usize) -> Standing {
        self.scheduler.standing(channel)
    }

    pub(super) fn is_in(&self, channel: usize) -> bool {
        self.scheduler.standing(channel).is_in()
    }

    pub(super) fn carries(&self, presence: &Presence, channel: usize) -> bool {
        self.is_in(channel) && !presence.is(channel, Life::Absent)
    }

    pub(super) fn charge(&mut self, length_bytes: u32) {
        self.scheduler.charge(length_bytes);
    }

    pub(super) fn target(&self, channel: usize) -> u32 {
        self.targets[channel]
    }

    pub(super) const fn is_changing(&self) -> bool {
        self.pending | self.agreed != 0
    }

    pub(super) fn pending(&self) -> ChannelSet {
        self.pending & first_channels(self.targets.len())
    }

    pub(super) const fn is_pending(&self, channel: usize) -> bool {
        self.pending & (1 << channel) != 0
    }

    fn give_up(&mut self, channel: usize) {
        self.pending &= !(1 << channel);
        self.agreed &= !(1 << channel);
    }

    pub(super) fn restart(&mut self, present: ChannelSet) {
        self.check_targets(present);
        self.scheduler = self.initial.clone();
        let round = self.round();
        for channel in 0..self.channels() {
            let standing = Standing::beginning(round, self.targets[channel]);
            let set = self.scheduler.set_standing(channel, standing);
            debug_assert!(set.is_ok(), "quanta were checked: {set:?}");
        }
        (self.pending, self.agreed, self.ahead_rounds) = (0, 0, AHEAD_ROUNDS_MIN);
        self.announced.fill(Announced::nothing(round));
    }

    pub(super) fn set_targets(
        &mut self,
        quanta: &[u32],
        present: ChannelSet,
    ) -> Result<(), QuantaError> {
        let (count, quantum_min) = (self.channels(), self.scheduler.quantum_min());
        if quanta.len() != count {
            return Err(QuantaError::Mismatch { given: quanta.len(), count });
        }
        let small = |quantum: &u32| *quantum != 0 && *quantum < quantum_min;
        if let Some(channel) = quanta.iter().position(small) {
            let quantum = quanta[channel];
            return Err(QuantaError::TooSmall { channel, quantum, quantum_min });
        }
        if !some_are_in(quanta, present) {
            return Err(QuantaError::NoneIn);
        }
        self.targets.copy_from_slice(quanta);
        Ok(())
    }

    /// Sets the targets to match measured rates; returns whether there are new targets. Inactive
    /// channels keep their targets.
    pub(super) fn follow_shares(&mut self, now: Instant, paths: &mut Paths) -> bool {
        if self.is_changing() {
            paths.see_changes(now);
            return false;
        }
        let present = (0..self.channels()).map(|channel| self.standing(channel).quantum_bytes);
        let Some(quanta) = paths.plan(now, present) else { return false };
        for (target, quantum) in self.targets.iter_mut().zip(quanta) {
            if *quantum != 0 {
                *target = *quantum;
            }
        }
        true
    }

    fn check_targets(&mut self, present: ChannelSet) -> bool {
        let quantum_min = self.scheduler.quantum_min();
        let can_be = |quantum: &u32| *quantum == 0 || *quantum >= quantum_min;
        let sound = self.targets.iter().all(can_be) && some_are_in(&self.targets, present);
        if !sound {
            for (channel, quantum) in self.targets.iter_mut().enumerate() {
                *quantum = self.initial.standing(channel).quantum_bytes;
            }
        }
        sound
    }

    pub(super) fn check(&mut self, present: ChannelSet) -> bool {
        let has_targets = self.check_targets(present);
        let (all, round) = (first_channels(self.targets.len()), self.round());
        (self.pending, self.agreed) = (self.pending & all, self.agreed & all);
        self.ahead_rounds = self.ahead_rounds.clamp(AHEAD_ROUNDS_MIN, AHEAD_ROUNDS_MAX);
        for channel in channels_of(self.pending) {
            let ahead = self.announced[channel].change.from.ahead_of(round).unsigned_abs();
            if ahead > 2 * AHEAD_ROUNDS_MAX {
                self.give_up(channel);
            }
        }
        has_targets && self.scheduler.is_sound(ROUNDS_MAX)
    }

    pub(super) fn marker_standing(&mut self, now: Instant, channel: usize) -> Standing {
        let mut standing = self.standing(channel);
        if !standing.is_in() {
            standing = Standing::out(self.round());
        }
        if self.is_pending(channel) {
            let announced = &mut self.announced[channel];
            announced.first_sent_at.get_or_insert(now);
            standing.coming = Some(announced.change);
        }
        standing
    }

    /// Announces changes: first for channels that stay or become active, then for channels that
    /// become inactive.
    pub(super) fn announce_targets(&mut self, at: &mut Circumstances<'_>) {
        for goes in [false, true] {
            for channel in 0..self.targets.len() {
                if goes == (self.targets[channel] == 0) {
                    self.announce_target(channel, at);
                }
            }
        }
    }

    fn announce_target(&mut self, channel: usize, at: &mut Circumstances<'_>) {
        let announced = self.announced[channel].change.quantum_bytes;
        let (quantum, present) = (self.targets[channel], self.standing(channel).quantum_bytes);
        let (is_agreed, is_pending) = (self.agreed & 1 << channel != 0, self.is_pending(channel));
        if is_agreed || !at.presence.is(channel, Life::Alive) {
            return;
        }
        if quantum == present && is_pending {
            self.withdraw(channel, at);
        } else if quantum != if is_pending { announced } else { present } {
            self.announce(channel, quantum, at);
        }
    }

    fn withdraw(&mut self, channel: usize, at: &mut Circumstances<'_>) {
        self.give_up(channel);
        at.markers.ask(1 << channel);
    }

    /// Returns how many rounds ahead to announce a change. For an inactive channel, the rounds in 1.5
    /// response times suffice, because other channels carry its load.
    fn ahead_rounds(&self, channel: usize, at: &Circumstances<'_>) -> u32 {
        if self.is_in(channel) {
            return self.ahead_rounds;
        }
        let answer = at.presence.answer_takes(channel);
        self.ahead_rounds.min(self.passing.in_time(at.polled_at, self.round(), answer))
    }

    fn announce(&mut self, channel: usize, quantum_bytes: u32, at: &mut Circumstances<'_>) {
        if quantum_bytes == 0 && !self.others_stay(channel, at.presence) {
            if self.is_pending(channel) {
                self.withdraw(channel, at);
            }
            return;
        }
        let (round, ahead_rounds) = (self.round(), self.ahead_rounds(channel, at));
        let soon = later(round.plus(ahead_rounds), self.reached(channel).next());
        let last = self.announced[channel].change.from;
        // A distinct round distinguishes the change from earlier changes and deactivations.
        let is_near = last.ahead_of(soon).unsigned_abs() <= AHEAD_ROUNDS_MAX;
        let from = if is_near { later(soon, last.next()) } else { soon };
        let change = Change { from, quantum_bytes };
        self.announced[channel] = Announced { change, at: round, first_sent_at: None };
        self.pending |= 1 << channel;
        at.markers.ask(1 << channel);
    }

    pub(super) fn check_rounds(&mut self, now: Instant) {
        self.passing.look(now, self.scheduler.round());
    }

    fn reached(&self, channel: usize) -> Round {
        let standing = self.standing(channel);
        if standing.is_in() { standing.next.round } else { self.round() }
    }

    /// Postpones a change that was not acknowledged before its round. The change is announced
    /// again, and further ahead unless the acknowledgement was lost.
    fn put_off(&mut self, channel: usize, at: &mut Circumstances<'_>) {
        let Announced { change, at: announced_at, first_sent_at } = self.announced[channel];
        if change.from.is_after(self.reached(channel)) {
            return;
        }
        at.sending.postponed += 1;
        let is_lost =
            first_sent_at.is_some_and(|sent_at| at.presence.answer_by(channel, sent_at) <= at.now);
        if !is_lost {
            let ahead = change.from.ahead_of(announced_at).unsigned_abs().saturating_mul(2);
            self.ahead_rounds = self.ahead_rounds.max(ahead).min(AHEAD_ROUNDS_MAX);
        }
        self.announce(channel, change.quantum_bytes, at);
    }

    fn others_stay(&self, channel: usize, presence: &Presence) -> bool {
        let stays = |other: usize| {
            let is_changing = (self.pending | self.agreed) & 1 << other != 0;
            let leaves = is_changing && self.announced[other].change.quantum_bytes == 0;
            other != channel && self.carries(presence, other) && !leaves
        };
        (0..self.channels()).any(stays)
    }

    /// Handles a report; `seen` is the round of the pending change that the receiver has seen.
    pub(super) fn agree(
        &mut self,
        channel: usize,
        seen: Option<Round>,
        at: &mut Circumstances<'_>,
    ) {
        if self.is_pending(channel) {
            self.put_off(channel, at);
        }
        let Announced { change, at: announced_at, .. } = self.announced[channel];
        if !self.is_pending(channel) || seen != Some(change.from) {
            return;
        }
        let rounds = self.round().ahead_of(announced_at).unsigned_abs();
        let ahead = rounds.saturating_add(rounds / 2).saturating_add(AHEAD_ROUNDS_MIN);
        self.ahead_rounds = ahead.min(AHEAD_ROUNDS_MAX);
        self.give_up(channel);
        let (is_free, goes_out) = (self.order == Order::Free, change.quantum_bytes == 0);
        let agreed = if !is_free && self.is_in(channel) {
            self.agreed |= 1 << channel;
            self.scheduler.change(channel, change)
        } else {
            at.sending.changes += 1;
            let standing = if is_free && goes_out {
                at.presence.probe(channel, at.now);
                Standing::out(self.round())
            } else {
                Standing::beginning(change.from, change.quantum_bytes)
            };
            self.scheduler.set_standing(channel, standing)
        };
        if agreed.is_err() {
            self.give_up(channel);
        }
        at.markers.ask(1 << channel);
        if is_free {
            self.announce_targets(at);
        }
    }

    /// Completes changes that have taken effect.
    pub(super) fn follow_changes(&mut self, channel: usize, at: &mut Circumstances<'_>) {
        let holds = self.standing(channel).coming.is_none();
        if self.agreed & 1 << channel != 0 && holds {
            self.give_up(channel);
            at.sending.changes += 1;
            at.markers.ask(1 << channel);
            at.presence.probe(channel, at.now);
            self.announce_targets(at);
        }
        for channel in channels_of(self.pending()) {
            self.put_off(channel, at);
        }
    }

    /// Deactivates a channel; returns the first round without its packets. Later changes of the
    /// channel are announced for later rounds.
    pub(super) fn take_out(&mut self, channel: usize) -> Option<Round> {
        let round = self.round();
        let next = later(round.next(), self.reached(channel));
        let announced = self.announced[channel].change.from;
        let since = later(next, if self.is_pending(channel) { announced } else { round });
        self.scheduler.set_standing(channel, Standing::out(round)).ok()?;
        self.give_up(channel);
        self.announced[channel].change.from = since;
        Some(since)
    }
}

fn some_are_in(quanta: &[u32], present: ChannelSet) -> bool {
    channels_where(quanta.len(), |channel| quanta[channel] != 0) & present != 0
}

const fn later(one: Round, other: Round) -> Round {
    if other.is_after(one) { other } else { one }
}

#[cfg(test)]
impl<const CAPACITY: usize> crate::corruption::Corrupt
    for Schedule<gingham_fairq::SurplusRoundRobin<CAPACITY>>
{
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if crate::corruption::is_hit(words) {
            self.scheduler.corrupt(words);
        }
        self.pending.corrupt(words);
        self.agreed.corrupt(words);
        self.ahead_rounds.corrupt(words);
        self.passing.corrupt(words);
        self.targets.corrupt(words);
        self.announced.corrupt(words);
    }
}
#[cfg(test)]
crate::corruption::corrupt!(Passing: at, round, span_ns, rounds);
#[cfg(test)]
crate::corruption::corrupt!(Announced: change, at, first_sent_at);
