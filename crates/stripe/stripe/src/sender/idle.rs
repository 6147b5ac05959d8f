//! How often markers go while nothing is sent.
//!
//! ```text
//!   packet  marker      marker        marker                marker ...        marker, packet
//!     |--20 ms--|-- ... --|--40 ms--------|--80 ms---------------|  ...  10 s at most
//!               16 in a row with all accounted for: twice as long each time     on every channel
//! ```
//!
//! While all that was sent is accounted for and no change is under way, a marker tells nothing new;
//! sixteen in a row on every channel are twice as many as a receiver takes to ask for a reset by
//! default. The next
//! packet after such a rest has a marker before it on every channel, so that a channel that died
//! meanwhile is found as soon as any: silence and two round trips later. A marker that is not answered
//! ends a rest, too.
//!
//! Source: ours; the doubling is that of a keep-alive that backs off.

use super::options::MarkerPlan;
use super::presence::nanoseconds;
use super::{Paths, Repairs, Sender};
use crate::{Instant, Kind, Marker, Numbered};
use core::time::Duration;

/// After so many markers in a row that told nothing new they go less often.
const QUIET_MIN: u8 = 16;

/// How long until markers go by time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    pause: Duration,
    /// How many markers in a row told nothing new, on every channel.
    quiet: u8,
    /// When they were counted last.
    counted_at: Instant,
    /// How many packets and copies had gone when the last one went.
    packets: u64,
}

impl Idle {
    pub(super) const fn new(plan: &MarkerPlan, now: Instant) -> Self {
        Self { pause: plan.interval, quiet: 0, counted_at: now, packets: 0 }
    }

    /// Whether markers go less often than while packets do.
    fn rests(&self, plan: &MarkerPlan) -> bool {
        self.pause > plan.interval
    }

    /// Never longer than it may be, nor shorter.
    pub(super) fn repair_state(&mut self, plan: &MarkerPlan, now: Instant) {
        self.counted_at = self.counted_at.min(now);
        self.pause = self.pause.clamp(plan.interval, plan.pause_max());
    }
}

impl MarkerPlan {
    /// The longest pause between two markers of a channel that is in.
    pub(super) fn pause_max(&self) -> Duration {
        self.interval.max(self.idle_interval_max)
    }
}

impl<S: Numbered> Sender<S> {
    /// The time to the next markers, and to the next look at the channels.
    pub(super) fn pause(&self) -> Duration {
        self.idle.pause.max(self.options.markers.interval)
    }

    /// Whether nothing was sent for so long that all is accounted for: nothing is asked for again of
    /// what was sent until then.
    pub fn is_at_rest(&self) -> bool {
        self.idle.rests(&self.options.markers) && self.sending.gone() == self.idle.packets
    }

    /// Markers go by time.
    pub(super) fn mark_by_time(&mut self, now: Instant) {
        let plan = &self.options.markers;
        let packets = self.sending.gone();
        if packets != self.idle.packets || !self.has_settled() {
            self.idle = Idle { packets, ..Idle::new(plan, now) };
        } else if self.were_all_marked() {
            self.idle.counted_at = now;
            if self.idle.quiet < QUIET_MIN {
                self.idle.quiet += 1;
            } else {
                self.idle.pause = self.idle.pause.saturating_mul(2).min(plan.pause_max());
                self.repairs.iter_mut().for_each(Repairs::rest);
                self.paths.iter_mut().for_each(Paths::rest);
            }
        }
        self.mark_in_turn(now);
        self.presence.look_by(now.after(self.look_pause()));
    }

    /// Whether a marker went on every channel since they were counted.
    fn were_all_marked(&self) -> bool {
        let since = self.idle.counted_at;
        let was_marked = |channel| self.presence.marked_at(channel).is_some_and(|at| at >= since);
        (0..self.scheduler.channels())
            .all(|channel| !self.is_marked(channel) || was_marked(channel))
    }

    /// The time to the next look: within a rest, to when what was asked is answered.
    pub(super) fn look_pause(&self) -> Duration {
        let channels = 0..self.scheduler.channels();
        let is_asked = |channel| self.presence.unanswered_since(channel).is_some();
        if self.due == 0 && !channels.clone().any(is_asked) {
            return self.pause();
        }
        let takes = channels.map(|channel| self.answer_takes(channel)).max().unwrap_or_default();
        let answered = takes.saturating_add(self.options.markers.interval);
        self.pause().min(answered)
    }

    /// Within a rest, a marker that is not answered in time ends it: one lost marker is no silence.
    pub(super) fn wake_if_unanswered(&mut self, now: Instant) {
        let is_overdue = |channel: usize| {
            let since = self.presence.unanswered_since(channel);
            self.scheduler.standing(channel).is_in()
                && since.is_some_and(|since| self.answer_by(channel, since) <= now)
        };
        if (0..self.scheduler.channels()).any(is_overdue) {
            self.wake(now);
        }
    }

    /// A packet is to go: after a rest markers go first. Says whether they do.
    pub(super) fn wake(&mut self, now: Instant) -> bool {
        if !self.is_open() || !self.idle.rests(&self.options.markers) {
            return false;
        }
        self.idle = Idle::new(&self.options.markers, now);
        self.mark_all(now);
        self.presence.look_by(now.after(self.idle.pause));
        true
    }

    /// Whether all that was sent on channels that are in is accounted for, none waits for credit, and
    /// nothing is to be agreed upon.
    fn has_settled(&self) -> bool {
        let is_accounted_for = |channel: usize| {
            let reported = self.reported.on(channel);
            let accounted = reported.map(|reported| reported.report.accounted_packets);
            !self.scheduler.standing(channel).is_in()
                || (accounted == Some(self.sent.on(channel).packets) && self.has_credit(channel, 0))
        };
        !self.changes.are_under_way()
            && !self.presence.is_telling()
            && (0..self.scheduler.channels()).all(is_accounted_for)
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Idle: pause, quiet, counted_at);

// Markers: when they go, and what they say.
//
// Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3.

/// No window holds back what is said, so its number does: of the markers that go by time no more than
/// these are on their way there, or their reports back. As many packets are in flight where BBR lets
/// least be.
const IN_FLIGHT: u32 = 4;

impl<S: Numbered> Sender<S> {
    /// All there is to say of a channel now.
    pub(super) fn marker(&mut self, channel: usize, now: Instant) -> Kind {
        self.presence.mark(channel, now);
        let is_out = self.is_dead(channel);
        self.sizes.mark(now, channel, is_out);
        self.sending.markers += 1;
        if let Some(repairs) = &mut self.repairs {
            repairs.make_room(channel);
        }
        let sent = self.sent.on(channel);
        Kind::Marker(Marker {
            standing: self.say(now, channel),
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            next_sequence: self.sent.next_sequence(),
            sent_at: now,
            round_trip_ns: self.presence.round_trip_ns(channel),
            out_after_ns: nanoseconds(self.out_after(channel)),
            lowered: self.reported.on(channel).is_some_and(|reported| reported.report.lowered),
        })
    }

    /// Markers go when a round in which they are due comes to their channel, or past it where that
    /// one is out.
    pub(super) fn mark_by_round(&mut self, now: Instant) {
        let round = self.scheduler.round();
        let ahead = round.ahead_of(self.marker_round);
        let is_there = self.scheduler.current() >= self.options.markers.before_channel;
        if ahead > 0 || (ahead == 0 && is_there) {
            self.marker_round = round.plus(self.options.markers.every_rounds);
            self.mark_all(now);
        }
    }

    /// Markers go on all channels that are in or are to come in.
    pub(super) fn mark_all(&mut self, now: Instant) {
        self.mark(now, |_, _| true);
    }

    /// The same, on those that have none on the way that went just before.
    pub(super) fn mark_in_turn(&mut self, now: Instant) {
        self.mark(now, |sender, channel| {
            let gap = sender.marker_gap(channel);
            let marked_at = sender.presence.marked_at(channel);
            gap.is_zero() || marked_at.is_none_or(|at| at.after(gap) <= now)
        });
    }

    fn mark(&mut self, now: Instant, is_due: impl Fn(&Self, usize) -> bool) {
        let marked = (0..self.scheduler.channels())
            .filter(|channel| self.is_marked(*channel) && is_due(self, *channel));
        self.due |= marked.fold(0, |set, channel| set | 1 << channel);
        self.marker_at = now.after(self.pause());
    }

    /// Whether markers go on a channel.
    pub(super) fn is_marked(&self, channel: usize) -> bool {
        self.carries(channel) || self.changes.is_pending(channel)
    }

    /// The least time between two markers of a channel that go by time, where that is more than the
    /// interval. At least one goes within the silence after which a channel is out. Without tags order
    /// is exact a marker after the last loss, so that none waits.
    fn marker_gap(&self, channel: usize) -> Duration {
        let silence = self.options.silence.filter(|_| self.sizes.has_tags()).unwrap_or_default();
        let round_trip = self.presence.round_trip(channel).unwrap_or_default();
        let gap = (round_trip / IN_FLIGHT).min(silence);
        if gap > self.options.markers.interval { gap } else { Duration::ZERO }
    }

    /// Within how long a marker follows another on a channel while packets go.
    pub(super) fn marked_within(&self, channel: usize) -> Duration {
        self.options.markers.interval + self.marker_gap(channel)
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{Epoch, SenderOptions};

    #[test]
    fn it_is_at_rest_whatever_went_before() {
        let scheduler = SurplusRoundRobin::<1>::new(1_000, &[1_000]).expect("a quantum");
        let options = SenderOptions::default();
        let mut sender = Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN)
            .expect("plain");
        (sender.sending.packets, sender.sending.repairs, sender.sending.redundant) = (4, 2, 1);
        sender.idle.packets = 7;
        assert!(!sender.is_at_rest(), "markers go as often as ever");
        sender.idle.pause = sender.pause() * 2;
        assert!(sender.is_at_rest());
        sender.sending.redundant += 1;
        assert!(!sender.is_at_rest());
    }
}
