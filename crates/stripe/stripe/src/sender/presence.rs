//! Liveness of the channels: a silent channel is deactivated, and reactivated once the receiver
//! responds on it again.
//!
//! ```text
//!                 no report for the silence plus two round trips,
//!                 or none of the data sent in that time has arrived
//!   [alive] ------------------------------------------------> [dead]   Left on all other active channels,
//!     ^                                                        |       until acknowledged; probes on it,
//!     |          a report that answers a probe                 |       at growing intervals
//!     +--------------------------------------------------------+
//!       its target quantum is announced again (see `schedule`)
//! ```
//!
//! To the receiver, an inactive channel resembles a channel that loses every packet; a Left message
//! ends the receiver's wait for it. The last active channel is never deactivated.
//!
//! Time during which the caller reads no messages does not count as silence.
//!
//! Probes are markers, padded if the channel is inactive because of its frame size (see `sizes`).
//! Channels with a target quantum of 0 are also probed; absent channels are not.
//!
//! Source: ours; Adiseshu, Parulkar and Varghese 1996 instead reset with fewer channels.

use super::sizes::Sizes;
use super::{Reported, SenderOptions};
use crate::message::small;
use crate::time::not_after;
use crate::{
    ChannelError, ChannelSet, Departure, Discard, Instant, channels_where, first_channels,
    take_lowest,
};
use core::time::Duration;

/// Assumed duration of two round trips on a channel without a measurement (RFC 6298, section 2).
const FIRST_ROUND_TRIP: Duration = Duration::from_secs(1);

const ROUND_TRIP_MAX: Duration = Duration::from_secs(60);

/// Permitted delay of a check, as a fraction of the silence limit (1/8). Time beyond this delay
/// does not count as silence.
const LATE_SHARE: u32 = 8;

/// Maximum number of time-triggered markers, or of reports about them, in flight on a channel:
/// BBR's minimum window in packets.
const IN_FLIGHT: u32 = 4;

/// State of a channel. Alive channels are active unless their target quantum is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    #[default]
    Alive,
    Dead,
    Absent,
}

#[derive(Clone, Debug, Default)]
struct Watch {
    life: Life,
    /// Time of the first marker since the last report, moved later by pauses of the caller.
    unanswered_since: Option<Instant>,
    marked_at: Option<Instant>,
    round_trip: Option<Duration>,
    /// Time when the channel was added or moved; reports about older markers are ignored.
    since: Instant,
    died_at: Instant,
    probe_at: Instant,
    pause: Duration,
    /// Deactivation that the receiver has not acknowledged yet.
    left: Option<Departure>,
    announce_on: ChannelSet,
}

#[derive(Clone, Debug)]
pub(super) struct Presence {
    silence: Option<Duration>,
    interval: Duration,
    probe_interval_max: Duration,
    announcing: ChannelSet,
    watches: Vec<Watch>,
    check_at: Instant,
}

impl Presence {
    pub(super) fn new(options: &SenderOptions, channels: usize) -> Self {
        let present = options.present(channels);
        let mut watches = vec![Watch::default(); channels];
        for (channel, watch) in watches.iter_mut().enumerate() {
            watch.life = if present & (1 << channel) == 0 { Life::Absent } else { Life::Alive };
        }
        Self {
            silence: options.silence,
            interval: options.markers.interval,
            probe_interval_max: options.probe_interval_max,
            announcing: 0,
            watches,
            check_at: Instant::ORIGIN,
        }
    }

    pub(super) fn is(&self, channel: usize, life: Life) -> bool {
        self.watches[channel].life == life
    }

    pub(super) fn all(&self, life: Life) -> ChannelSet {
        channels_where(self.watches.len(), |channel| self.is(channel, life))
    }

    pub(super) fn present(&self) -> ChannelSet {
        channels_where(self.watches.len(), |channel| self.is_present(channel))
    }

    pub(super) fn is_present(&self, id: usize) -> bool {
        id < self.watches.len() && !self.is(id, Life::Absent)
    }

    pub(super) fn check_id(&self, id: usize, present: bool) -> Result<(), ChannelError> {
        match (self.is_present(id), present) {
            _ if id >= self.watches.len() => {
                Err(ChannelError::AboveCap { id, cap: self.watches.len() })
            }
            (true, false) => Err(ChannelError::AlreadyThere { id }),
            (false, true) => Err(ChannelError::NotThere { id }),
            _ => Ok(()),
        }
    }

    pub(super) fn since(&self, channel: usize) -> Instant {
        self.watches[channel].since
    }

    pub(super) fn round_trip_ns(&self, channel: usize) -> u32 {
        nanoseconds(self.watches[channel].round_trip.unwrap_or_default())
    }

    pub(super) fn round_trip(&self, channel: usize) -> Option<Duration> {
        self.watches[channel].round_trip
    }

    pub(super) fn marked_at(&self, channel: usize) -> Option<Instant> {
        self.watches[channel].marked_at
    }

    pub(super) const fn check_at(&self) -> Instant {
        self.check_at
    }

    pub(super) fn check_by(&mut self, at: Instant) {
        self.check_at = self.check_at.min(at);
    }

    pub(super) fn is_announcing(&self) -> bool {
        self.watches.iter().any(|watch| watch.left.is_some())
    }

    pub(super) fn has_left(&self, channel: usize) -> bool {
        self.watches[channel].left.is_some()
    }

    pub(super) fn is_asking(&self) -> bool {
        self.watches.iter().any(|watch| watch.unanswered_since.is_some())
    }

    pub(super) fn longest_answer(&self) -> Duration {
        let channels = 0..self.watches.len();
        channels.map(|channel| self.answer_takes(channel)).max().unwrap_or_default()
    }

    pub(super) fn mark(&mut self, channel: usize, now: Instant) {
        let watch = &mut self.watches[channel];
        watch.marked_at = Some(now);
        watch.unanswered_since.get_or_insert(now);
    }

    pub(super) fn probe(&mut self, channel: usize, now: Instant) {
        let watch = &mut self.watches[channel];
        (watch.probe_at, watch.pause) = (now.after(self.interval), self.interval);
    }

    pub(super) fn take_probe(&mut self, channel: usize, now: Instant) -> bool {
        let watch = &mut self.watches[channel];
        let is_due = watch.probe_at <= now;
        if is_due {
            watch.pause = watch.pause.saturating_mul(2).min(self.probe_interval_max);
            watch.probe_at = now.after(watch.pause);
        }
        is_due
    }

    pub(super) fn restart(&mut self, now: Instant) {
        (self.announcing, self.check_at) = (0, now);
        for watch in &mut self.watches {
            let life = if watch.life == Life::Dead { Life::Alive } else { watch.life };
            *watch = Watch { life, round_trip: watch.round_trip, ..Watch::default() };
        }
    }

    pub(super) fn begin(&mut self, channel: usize, now: Instant, life: Life) {
        let watch = &mut self.watches[channel];
        (watch.life, watch.since) = (life, now);
        (watch.round_trip, watch.unanswered_since) = (None, None);
    }

    pub(super) fn remove(&mut self, channel: usize) {
        self.watches[channel].life = Life::Absent;
    }

    /// Starts a check of all channels; the delay of a late check does not count as silence.
    pub(super) fn begin_check(&mut self, now: Instant, pause: Duration) {
        let late_max = self.interval.max(self.silence.unwrap_or_default() / LATE_SHARE);
        let in_time = self.check_at.after(late_max).nanoseconds();
        let late = Duration::from_nanos(now.nanoseconds().saturating_sub(in_time));
        for watch in &mut self.watches {
            watch.unanswered_since = watch.unanswered_since.map(|since| since.after(late).min(now));
        }
        self.check_at = now.after(pause);
    }

    pub(super) fn repair_state(&mut self, now: Instant, pause_max: Duration) {
        let (all, pause_max) =
            (first_channels(self.watches.len()), self.probe_interval_max.max(pause_max));
        self.announcing &= all;
        for watch in &mut self.watches {
            watch.announce_on &= all;
            watch.pause = watch.pause.min(pause_max);
            watch.round_trip = watch.round_trip.map(|span| span.min(ROUND_TRIP_MAX));
            (watch.since, watch.died_at) = (watch.since.min(now), watch.died_at.min(now));
            watch.unanswered_since = watch.unanswered_since.map(|since| since.min(now));
            watch.marked_at = watch.marked_at.map(|at| at.min(now));
            not_after(&mut watch.probe_at, now, pause_max);
        }
    }

    pub(super) fn next_announced(&mut self) -> Option<(usize, Departure)> {
        let all = first_channels(self.watches.len());
        self.announcing &= all;
        let channel = self.announcing.trailing_zeros() as usize;
        let watch = self.watches.get_mut(channel)?;
        watch.announce_on &= all;
        let on = take_lowest(&mut watch.announce_on);
        if watch.announce_on == 0 {
            self.announcing &= !(1 << channel);
        }
        Some((on?, Departure { channel: small(channel), ..watch.left? }))
    }

    pub(super) fn handle_report(&mut self, channel: usize, reported: &Reported) -> bool {
        let (watch, report) = (&mut self.watches[channel], &reported.report);
        if report.echo < watch.since {
            return false;
        }
        let answer_ns = reported.at.nanoseconds().saturating_sub(report.echo.nanoseconds());
        let round_trip_ns = answer_ns.saturating_sub(u64::from(report.held_ns));
        watch.round_trip = Some(Duration::from_nanos(round_trip_ns));
        watch.unanswered_since = None;
        report.echo > watch.died_at && self.revive(channel)
    }

    pub(super) fn revive(&mut self, channel: usize) -> bool {
        let watch = &mut self.watches[channel];
        let was_dead = watch.life == Life::Dead;
        if was_dead {
            (watch.life, watch.unanswered_since) = (Life::Alive, None);
        }
        was_dead
    }

    /// Records a deactivation; returns whether the channel died, rather than being absent.
    pub(super) fn leave(&mut self, now: Instant, departure: Departure, others: ChannelSet) -> bool {
        let channel = usize::from(departure.channel);
        let watch = &mut self.watches[channel];
        let died = watch.life != Life::Absent;
        if died {
            (watch.life, watch.died_at) = (Life::Dead, now);
        }
        watch.left = Some(departure);
        self.probe(channel, now);
        self.announce_departure(channel, others);
        died
    }

    pub(super) fn announce_departure(&mut self, channel: usize, carrying: ChannelSet) {
        self.watches[channel].announce_on = carrying & !(1 << channel);
        self.announcing |= 1 << channel;
    }

    pub(super) fn acknowledge_left(&mut self, departure: Departure) -> Result<(), Discard> {
        let watch = self.watches.get_mut(usize::from(departure.channel));
        let watch = watch.ok_or(Discard::NoSuchChannel)?;
        if watch.left.is_none_or(|left| left.since != departure.since) {
            return Err(Discard::NotAsked);
        }
        (watch.left, watch.announce_on) = (None, 0);
        self.announcing &= !(1 << departure.channel);
        Ok(())
    }

    pub(super) fn answer_by(&self, channel: usize, asked_at: Instant) -> Instant {
        asked_at.after(self.answer_takes(channel))
    }

    pub(super) fn answer_takes(&self, channel: usize) -> Duration {
        let round_trip = self.watches[channel].round_trip;
        round_trip.map_or(FIRST_ROUND_TRIP, |span| span.saturating_mul(2))
    }

    pub(super) fn probe_takes(&self, channel: usize) -> Duration {
        self.answer_takes(channel).saturating_add(self.interval)
    }

    pub(super) fn is_overdue(&self, channel: usize, now: Instant) -> bool {
        let since = self.watches[channel].unanswered_since;
        since.is_some_and(|since| self.answer_by(channel, since) <= now)
    }

    pub(super) fn is_silent(&self, channel: usize, now: Instant) -> bool {
        let since = self.watches[channel].unanswered_since;
        let (Some(silence), Some(since)) = (self.silence, since) else { return false };
        self.answer_by(channel, since).after(silence) <= now
    }

    /// Returns whether a channel that still carries reports has recently been losing all data, or
    /// all long packets, for longer than the silence limit.
    pub(super) fn is_losing(&self, channel: usize, now: Instant, sizes: &Sizes) -> bool {
        let lost = sizes.losing_for(channel);
        let (Some(silence), Some((span, until))) = (self.silence, lost) else { return false };
        let answer = self.answer_takes(channel);
        let marked_within = self.marked_within(channel, sizes);
        let looks = self.interval.saturating_mul(2);
        let known_in = looks.saturating_add(marked_within).saturating_add(answer / 2);
        answer.saturating_add(silence) <= span && now <= until.after(known_in)
    }

    /// Returns the maximum time from the start of silence to the deactivation: the interval until
    /// the next marker, the silence limit, and the delay of the check. Zero without silence
    /// detection.
    pub(super) fn out_after(&self, channel: usize, sizes: &Sizes) -> Duration {
        let silence = self.silence.map(|silence| {
            let late = self.interval.max(silence / LATE_SHARE);
            let looks = late + self.interval + self.marked_within(channel, sizes);
            silence.saturating_add(looks).saturating_add(self.answer_takes(channel))
        });
        silence.unwrap_or_default()
    }

    /// Returns the minimum time between two time-triggered markers if it exceeds the marker
    /// interval, otherwise zero; at most the silence limit. Without tags, the result is zero,
    /// because exact order returns only with a marker after the last loss.
    pub(super) fn marker_gap(&self, channel: usize, sizes: &Sizes) -> Duration {
        let silence = self.silence.filter(|_| sizes.has_tags()).unwrap_or_default();
        let gap = (self.round_trip(channel).unwrap_or_default() / IN_FLIGHT).min(silence);
        if gap > self.interval { gap } else { Duration::ZERO }
    }

    fn marked_within(&self, channel: usize, sizes: &Sizes) -> Duration {
        self.interval + self.marker_gap(channel, sizes)
    }
}

pub(super) fn nanoseconds(span: Duration) -> u32 {
    u32::try_from(span.as_nanos()).unwrap_or(u32::MAX)
}

#[cfg(test)]
crate::corruption::corrupt!(Presence: announcing, check_at, watches);
#[cfg(test)]
crate::corruption::corrupt!(
    Watch: life, unanswered_since, marked_at, round_trip, since, died_at, probe_at, pause, left, announce_on
);

#[cfg(test)]
impl crate::corruption::Corrupt for Life {
    /// Leaves absent channels unchanged, because the options determine them.
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if *self != Self::Absent {
            *self = if words() & 1 == 0 { Self::Alive } else { Self::Dead };
        }
    }
}
