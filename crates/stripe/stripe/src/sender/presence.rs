//! Which channels are alive: one that is silent goes out at once, one that answers again comes in.
//!
//! ```text
//!            nothing heard for silence and two round trips,
//!            or for so long nothing came of what was sent
//!   [alive] ------------------------------------------------> [dead]   Left on all others that are in, each
//!      ^                                                        |      interval, until acknowledged; probes
//!      |          a report that answers a probe                 |      on it, slower and slower
//!      +--------------------------------------------------------+
//!        its target is announced: it comes in (see changes)
//! ```
//!
//! To take a channel out is to do as if all that it would have sent were lost, so nobody need
//! agree, and numbers keep the order. Left says so ahead of whatever is sent next, so the receiver
//! stops waiting one delay later. The last channel stays in.
//!
//! While nobody calls, what comes waits unread: a pause is no silence of the channels.
//!
//! Probes are markers, padded where the channel is out for its size (see `sizes`); a channel that is
//! out by plan gets them as well, so what it last said is repeated.
//!
//! Source: ours. Adiseshu, Parulkar and Varghese 1996 reset with fewer channels.
//!
//! A channel that is absent is one that is dead and not probed (see `slots`).
//!
//! Invariants: some channel is in; a channel that comes back does so after the round that Left
//! named.

use super::changes::later;
use super::check::not_after;
use super::{Order, Reported, Sender, SizeState};
use crate::message::small;
use crate::{ChannelSet, Departure, Discard, Instant, Kind, Numbered, first_channels, take_lowest};
use core::time::Duration;
use gingham_fairq::Standing;

/// Two round trips where none has been measured: the first timeout of RFC 6298, section 2.
const FIRST_ROUND_TRIP: Duration = Duration::from_secs(1);

/// No round trip is taken to be longer.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(60);

/// Of the time between two looks, no more than to this part of the silence after the second is due
/// is silence.
const LATE_SHARE: u32 = 8;

/// Whether a channel may be in: one that is alive is, unless its quantum is to be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    #[default]
    Alive,
    /// Nothing was heard of it: it is probed.
    Dead,
    /// It is not there: nothing goes on it.
    Absent,
}

/// What is known of whether a channel is alive.
#[derive(Clone, Debug, Default)]
struct Watch {
    life: Life,
    /// When the first marker went since which nothing has been heard; later by as long as nobody
    /// called.
    unanswered_since: Option<Instant>,
    /// When the last marker went, if any did.
    marked_at: Option<Instant>,
    round_trip: Option<Duration>,
    /// When it was added or moved: what is echoed of before says nothing of it as it is.
    since: Instant,
    died_at: Instant,
    /// Of a channel that is out: when it is probed next, and the time to the probe after.
    probe_at: Instant,
    pause: Duration,
    /// Of one that was lost: since which round, until that is acknowledged; and where it is to be told
    /// now.
    left: Option<Departure>,
    tell_on: ChannelSet,
}

/// What is known of all.
#[derive(Clone, Debug)]
pub(super) struct Presence {
    /// Channels of which something is to be told now.
    telling: ChannelSet,
    watches: Vec<Watch>,
    /// When to look again.
    look_at: Instant,
}

impl Presence {
    pub(super) fn new(channels: usize, present: ChannelSet) -> Self {
        let mut watches = vec![Watch::default(); channels];
        for (channel, watch) in watches.iter_mut().enumerate() {
            watch.life = if present & (1 << channel) == 0 { Life::Absent } else { Life::Alive };
        }
        Self { telling: 0, watches, look_at: Instant::ORIGIN }
    }

    pub(super) fn is(&self, channel: usize, life: Life) -> bool {
        self.watches[channel].life == life
    }

    /// The channels of which this holds.
    pub(super) fn all(&self, life: Life) -> ChannelSet {
        let is_so = |channel: &usize| self.is(*channel, life);
        (0..self.watches.len()).filter(is_so).fold(0, |set, channel| set | 1 << channel)
    }

    /// Since when a channel is as it is: what answers something older says nothing of it.
    pub(super) fn since(&self, channel: usize) -> Instant {
        self.watches[channel].since
    }

    /// The time there and back on a channel as a marker says it.
    pub(super) fn round_trip_ns(&self, channel: usize) -> u32 {
        nanoseconds(self.watches[channel].round_trip.unwrap_or_default())
    }

    pub(super) fn round_trip(&self, channel: usize) -> Option<Duration> {
        self.watches[channel].round_trip
    }

    /// When the last marker of a channel went, if any did.
    pub(super) fn marked_at(&self, channel: usize) -> Option<Instant> {
        self.watches[channel].marked_at
    }

    pub(super) const fn look_at(&self) -> Instant {
        self.look_at
    }

    /// Since when a marker has been without answer.
    pub(super) fn unanswered_since(&self, channel: usize) -> Option<Instant> {
        self.watches[channel].unanswered_since
    }

    /// The next look is no later than that.
    pub(super) fn look_by(&mut self, at: Instant) {
        self.look_at = self.look_at.min(at);
    }

    /// Whether somebody is still to hear that a channel is out.
    pub(super) fn is_telling(&self) -> bool {
        self.watches.iter().any(|watch| watch.left.is_some())
    }

    /// A marker goes out on a channel.
    pub(super) fn mark(&mut self, channel: usize, now: Instant) {
        let watch = &mut self.watches[channel];
        watch.marked_at = Some(now);
        watch.unanswered_since.get_or_insert(now);
    }

    /// A channel is out, and is to be probed from so long after.
    pub(super) fn probe(&mut self, channel: usize, now: Instant, pause: Duration) {
        let watch = &mut self.watches[channel];
        (watch.probe_at, watch.pause) = (now.after(pause), pause);
    }

    /// A new epoch, with all channels that are there.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.telling, self.look_at) = (0, now);
        for watch in &mut self.watches {
            let life = if watch.life == Life::Dead { Life::Alive } else { watch.life };
            *watch = Watch { life, round_trip: watch.round_trip, ..Watch::default() };
        }
    }

    /// A channel is there, with another line than before: nothing is known of it.
    pub(super) fn begin(&mut self, channel: usize, now: Instant, life: Life) {
        let watch = &mut self.watches[channel];
        (watch.life, watch.since) = (life, now);
        (watch.round_trip, watch.unanswered_since) = (None, None);
    }

    /// A channel is not there any more.
    pub(super) fn remove(&mut self, channel: usize) {
        self.watches[channel].life = Life::Absent;
    }

    /// A look begins, the next of which is due an interval later. How long it is too late is no
    /// silence.
    fn begin_look(&mut self, now: Instant, interval: Duration, late_max: Duration) {
        let in_time = self.look_at.after(late_max).nanoseconds();
        let pause = Duration::from_nanos(now.nanoseconds().saturating_sub(in_time));
        for watch in &mut self.watches {
            watch.unanswered_since =
                watch.unanswered_since.map(|since| since.after(pause).min(now));
        }
        self.look_at = now.after(interval);
    }

    /// Sets of channels that are there, and times that can be.
    pub(super) fn check(&mut self, now: Instant, all: ChannelSet, pause_max: Duration) {
        self.telling &= all;
        for watch in &mut self.watches {
            watch.tell_on &= all;
            watch.pause = watch.pause.min(pause_max);
            watch.round_trip = watch.round_trip.map(|span| span.min(ROUND_TRIP_MAX));
            (watch.since, watch.died_at) = (watch.since.min(now), watch.died_at.min(now));
            watch.unanswered_since = watch.unanswered_since.map(|since| since.min(now));
            watch.marked_at = watch.marked_at.map(|at| at.min(now));
            not_after(&mut watch.probe_at, now, pause_max);
        }
    }

    /// A departure to tell, and on which channel.
    fn next_told(&mut self) -> Option<(usize, Departure)> {
        let all = first_channels(self.watches.len());
        self.telling &= all;
        let channel = self.telling.trailing_zeros() as usize;
        let watch = self.watches.get_mut(channel)?;
        watch.tell_on &= all;
        let on = take_lowest(&mut watch.tell_on);
        if watch.tell_on == 0 {
            self.telling &= !(1 << channel);
        }
        Some((on?, Departure { channel: small(channel), ..watch.left? }))
    }
}

/// As markers say it, or the most that they can.
pub(super) fn nanoseconds(span: Duration) -> u32 {
    u32::try_from(span.as_nanos()).unwrap_or(u32::MAX)
}

impl<S: Numbered> Sender<S> {
    /// Whether a channel is out because nothing was heard of it.
    pub fn is_dead(&self, channel: usize) -> bool {
        self.presence.is(channel, Life::Dead)
    }

    /// A channel is known to be gone, for instance since its interface is: it goes out without
    /// waiting for silence, unless it is the last, and comes in when a probe on it is answered.
    /// Whether it is out.
    pub fn lose_channel(&mut self, now: Instant, channel: usize) -> bool {
        let is_there = self.is_open() && self.is_there(channel);
        is_there && (self.is_dead(channel) || self.lose(channel, now))
    }

    pub(super) fn poll_left(&mut self) -> Option<(usize, Kind)> {
        self.presence.next_told().map(|(on, departure)| (on, Kind::Left(departure)))
    }

    /// The receiver has been heard on the way back of a channel.
    pub(super) fn hear(&mut self, channel: usize, Reported { at, report }: Reported) {
        let watch = &mut self.presence.watches[channel];
        if report.echo < watch.since {
            return;
        }
        let answer_ns = at.nanoseconds().saturating_sub(report.echo.nanoseconds());
        let round_trip_ns = answer_ns.saturating_sub(u64::from(report.held_ns));
        watch.round_trip = Some(Duration::from_nanos(round_trip_ns));
        watch.unanswered_since = None;
        if report.echo > watch.died_at {
            self.revive(at, channel);
        }
    }

    /// A channel that was dead is alive.
    pub(super) fn revive(&mut self, now: Instant, channel: usize) {
        if self.is_dead(channel) {
            let watch = &mut self.presence.watches[channel];
            (watch.life, watch.unanswered_since) = (Life::Alive, None);
            self.sizes.revive(now, channel);
            if let Some(paths) = &mut self.paths {
                paths.revive(channel);
            }
            self.announce_targets();
        }
    }

    pub(super) fn acknowledge_left(&mut self, departure: Departure) -> Result<(), Discard> {
        let watch = self.presence.watches.get_mut(usize::from(departure.channel));
        let watch = watch.ok_or(Discard::NoSuchChannel)?;
        if watch.left.is_none_or(|left| left.since != departure.since) {
            return Err(Discard::NotAsked);
        }
        (watch.left, watch.tell_on) = (None, 0);
        self.presence.telling &= !(1 << departure.channel);
        Ok(())
    }

    /// Looks after every channel, once in a marker interval.
    pub(super) fn look(&mut self, now: Instant) {
        let interval = self.options.markers.interval;
        let late_max = interval.max(self.options.silence.unwrap_or_default() / LATE_SHARE);
        self.presence.begin_look(now, self.look_pause(), late_max);
        self.check(now);
        if !self.is_open() {
            return;
        }
        self.look_at_rounds(now);
        self.wake_if_unanswered(now);
        self.let_go(now);
        for channel in 0..self.scheduler.channels() {
            let is_in = self.scheduler.standing(channel).is_in();
            if is_in || self.changes.is_pending(channel) {
                if self.is_silent(channel, now) {
                    self.lose(channel, now);
                } else if !self.may_shrink() && self.is_losing(channel, now) {
                    self.lose_long(channel, now);
                }
            } else if !self.presence.is(channel, Life::Absent) {
                self.look_at_probe(channel, now);
            }
            if self.presence.watches[channel].left.is_some() {
                self.tell_left(channel);
            }
        }
        self.look_at_sizes(now);
        self.announce_targets();
    }

    /// By when there is an answer on a channel, if neither it nor the question is lost.
    pub(super) fn answer_by(&self, channel: usize, asked_at: Instant) -> Instant {
        asked_at.after(self.answer_takes(channel))
    }

    /// How long an answer takes at most: two round trips.
    pub(super) fn answer_takes(&self, channel: usize) -> Duration {
        let round_trip = self.presence.watches[channel].round_trip;
        round_trip.map_or(FIRST_ROUND_TRIP, |span| span.saturating_mul(2))
    }

    /// How long after a channel falls silent it is taken out, at most: a marker goes unanswered within
    /// an interval, and its silence is looked at within another and what a look may be late. Nothing
    /// where nobody looks.
    pub(super) fn out_after(&self, channel: usize) -> Duration {
        let interval = self.options.markers.interval;
        let silence = self.options.silence.map(|silence| {
            let looks = interval.max(silence / LATE_SHARE) + interval + self.marked_within(channel);
            silence.saturating_add(looks).saturating_add(self.answer_takes(channel))
        });
        silence.unwrap_or_default()
    }

    fn is_silent(&self, channel: usize, now: Instant) -> bool {
        let since = self.presence.watches[channel].unanswered_since;
        let (Some(silence), Some(since)) = (self.options.silence, since) else { return false };
        self.answer_by(channel, since).after(silence) <= now
    }

    /// Whether a channel has long lost all data, or all long packets, though it answers. A loss is
    /// known a round trip after the marker behind it, and looked at an interval later: what is older
    /// tells nothing of now.
    fn is_losing(&self, channel: usize, now: Instant) -> bool {
        let lost = self.sizes.losing_for(channel);
        let (Some(silence), Some((span, until))) = (self.options.silence, lost) else {
            return false;
        };
        let answer = self.answer_takes(channel);
        let looks = self.options.markers.interval.saturating_mul(2);
        let known_in = looks.saturating_add(self.marked_within(channel)).saturating_add(answer / 2);
        answer.saturating_add(silence) <= span && now <= until.after(known_in)
    }

    fn look_at_probe(&mut self, channel: usize, now: Instant) {
        let watch = &mut self.presence.watches[channel];
        if watch.probe_at <= now {
            watch.pause = watch.pause.saturating_mul(2).min(self.options.probe_interval_max);
            watch.probe_at = now.after(watch.pause);
            self.due |= 1 << channel;
        }
    }

    /// Takes a channel out, unless it is the last: one that is there is dead.
    pub(super) fn lose(&mut self, channel: usize, now: Instant) -> bool {
        let round = self.scheduler.round();
        let next = later(round.next(), self.reached(channel));
        let since = later(next, self.announced_from(channel));
        if self.scheduler.set_standing(channel, Standing::out(round)).is_err() {
            return false;
        }
        self.forbid_until_after(channel, since);
        self.sizes.leave(channel);
        self.see_copies_lost(channel);
        self.due &= !(1 << channel);
        let watch = &mut self.presence.watches[channel];
        if watch.life != Life::Absent {
            (watch.life, watch.died_at) = (Life::Dead, now);
            self.sending.deaths += 1;
        }
        let (sent_packets, next_sequence) =
            (self.sent.on(channel).packets, self.sent.next_sequence());
        let left = Departure { channel: small(channel), since, sent_packets, next_sequence };
        watch.left = Some(left);
        self.presence.probe(channel, now, self.options.markers.interval);
        self.tell_left(channel);
        true
    }

    /// Left goes on every other channel that is in.
    fn tell_left(&mut self, channel: usize) {
        let others = (0..self.scheduler.channels())
            .filter(|other| *other != channel && self.carries(*other));
        self.presence.watches[channel].tell_on = others.fold(0, |set, other| set | 1 << other);
        self.presence.telling |= 1 << channel;
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Presence: telling, look_at, watches);
#[cfg(test)]
crate::corruption::corrupt!(
    Watch: life, unanswered_since, marked_at, round_trip, since, died_at, probe_at, pause, left, tell_on
);

#[cfg(test)]
impl crate::corruption::Corrupt for Life {
    /// The options tell which channels are there.
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if *self != Self::Absent {
            *self = if words() & 1 == 0 { Self::Alive } else { Self::Dead };
        }
    }
}

// What a person is told of a channel on which nothing goes just now: why not.
//
// Source: ours.
//
// Invariant: it is asked by who shows it, and decides nothing.

/// Why no packet goes on a channel just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// There is no such channel.
    Absent,
    /// The other end has not acknowledged the epoch yet.
    Resetting,
    /// It is out: nothing is heard of it, and it is probed.
    Silent,
    /// It is out: frames as long as they are to be do not pass.
    Size,
    /// It is out by plan.
    Planned,
    /// It is to come in, and the other end does not know of that yet.
    Announced,
    /// Its link takes nothing just now.
    Link,
    /// The other end has no room for more of it.
    Credit,
    /// It is in quarantine: it loses much and carries little.
    Losses,
    /// The packet that waits is longer than what it passes.
    Length,
    /// As much is in flight as may be.
    Window,
    /// Its pace lets the next one go later.
    Pace,
    /// It is another one's turn.
    Turn,
}

impl<S: Numbered> Sender<S> {
    /// Why no packet goes on a channel just now, if none does.
    pub fn wait_of(&self, now: Instant, channel: usize) -> Option<Wait> {
        if !self.is_there(channel) {
            Some(Wait::Absent)
        } else if !self.is_open() {
            Some(Wait::Resetting)
        } else if !self.carries(channel) {
            Some(self.wait_of_one_that_is_out(channel))
        } else if self.is_blocked(channel) {
            Some(Wait::Link)
        } else if !self.has_credit(channel, 0) {
            Some(Wait::Credit)
        } else if self.quarantine.has(channel) && self.is_left_out(channel, 0) {
            Some(Wait::Losses)
        } else if !self.sizes.fits_waiting(channel) {
            Some(Wait::Length)
        } else if self.options.order == Order::Strict && self.scheduler.current() != channel {
            Some(Wait::Turn)
        } else {
            let path = self.paths.as_ref()?.on(channel);
            let now_ns = now.nanoseconds();
            let paced = (!path.admits(now_ns)).then_some(Wait::Pace);
            if path.has_room(now_ns) { paced } else { Some(Wait::Window) }
        }
    }

    fn wait_of_one_that_is_out(&self, channel: usize) -> Wait {
        if self.presence.is(channel, Life::Dead) {
            let is_long = self.size(channel).state == SizeState::Error;
            if is_long { Wait::Size } else { Wait::Silent }
        } else if self.target_quantum(channel) == 0 {
            Wait::Planned
        } else {
            Wait::Announced
        }
    }
}

#[cfg(test)]
mod waits_tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, SenderOptions};

    const NOW: Instant = Instant::from_nanoseconds(50_000_000);

    fn sender(order: Order) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[1_000, 1_000]).expect("quanta");
        let control = Some(ControlPlan::default());
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), NOW).expect("options")
    }

    #[test]
    fn what_holds_a_channel_back_is_told() {
        let mut sender = sender(Order::Free);
        assert_eq!(
            [0, 1, 2].map(|channel| sender.wait_of(NOW, channel)),
            [None, None, Some(Wait::Absent)]
        );
        sender.set_blocked(0b10);
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Link));
        while sender.handle_packet(NOW, 1_000).is_ok() {}
        let held = sender.wait_of(NOW, 0);
        assert!(matches!(held, Some(Wait::Pace | Wait::Window)), "{held:?}");
        sender.set_blocked(0);
        assert!(sender.lose_channel(NOW, 1));
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Silent));
        sender.remove_channel(NOW, 1).expect("it is there");
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Absent));
        sender.reset(NOW);
        assert_eq!(sender.wait_of(NOW, 0), Some(Wait::Resetting));
    }

    #[test]
    fn a_channel_is_out_by_plan_or_waits_for_its_turn() {
        let mut free = sender(Order::Free);
        free.lose_channel(NOW, 1);
        free.change_quanta(&[1_000, 0]).expect("one stays");
        free.revive(NOW, 1);
        assert_eq!(free.wait_of(NOW, 1), Some(Wait::Planned));
        free.change_quanta(&[1_000, 1_000]).expect("both");
        assert_eq!(free.wait_of(NOW, 1), Some(Wait::Announced));
        let strict = sender(Order::Strict);
        assert_eq!([0, 1].map(|one| strict.wait_of(NOW, one)), [None, Some(Wait::Turn)]);
    }
}
