//! The sending end of a channel, with the schedule of its flits.
//!
//! ```text
//!   sender ── schedule: starts of flits ──►  + flit + delay = arrivals ──► input ──► the next sender
//!     worm, left                                                    fill = arrived - taken
//! ```
//!
//! Whatever sends on what arrives, an output of a switch or an in-transit host, is fed in the same
//! manner: the two senders know each other, and the second the number that its first flit has in
//! the schedule of the first.
//!
//! ```text
//!   feeder   ... 40 41 42 43 44 ...      feeds ──► the fed sender
//!   fed           7  8  9 10             feeder_first 40; worm_first 7
//! ```

use crate::wormhole::run::{Run, Schedule};
use crate::wormhole::worm::{Incoming, WormId};
use gingham_net::ChannelPlan;
use gingham_topology::ChannelId;

/// A worm whose tail has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) worm: WormId,
    /// Its flits on this channel.
    pub(crate) flits: u64,
    /// The channel on which it arrived while it was sent.
    pub(crate) feeder: Option<ChannelId>,
    /// Sum of the starts of all flits of the channel so far.
    pub(crate) sum: i128,
}

/// The sending end of a channel. Times in picoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    /// Time of one flit.
    pub(super) flit: u64,
    /// From the start of a flit to its arrival: flit time and delay.
    pub(super) latency: u64,
    /// When data flits start.
    pub(super) schedule: Schedule,
    /// The worm that holds the channel.
    pub(super) worm: Option<WormId>,
    /// Number of its first flit on this channel.
    pub(super) worm_first: u64,
    /// Its flits that are not scheduled yet.
    left: u64,
    /// The channel on which the worm arrives while it is sent; `None` if all of it is there, as at
    /// the host where it begins.
    pub(super) feeder: Option<ChannelId>,
    /// Number there of the first flit that is sent on, if it is fed.
    pub(super) feeder_first: u64,
    /// The channel that what arrives at this one's end is sent on at.
    pub(super) feeds: Option<ChannelId>,
    /// When the worm's first flit may start.
    pub(super) ready: u64,
    /// Whether the worm goes on from the host at the end of the channel.
    pub(super) in_transit: bool,
    /// Whether it was delivered: on a cable without delay that is before its release, in the same
    /// instant.
    pub(super) delivered: bool,
    /// A control flit keeps the channel busy until then.
    control_until: u64,
    /// Since when the other end forbids data, if it does.
    pub(super) stopped_since: Option<u64>,
    /// When the `Release` that is scheduled comes, if one is: the tail may leave later than then.
    release_at: Option<u64>,
}

impl Sender {
    pub(super) fn new(plan: &ChannelPlan) -> Self {
        let flit = plan.flit.as_ps();
        Self {
            flit,
            latency: flit + plan.delay.as_ps(),
            schedule: Schedule::new(),
            ..Self::default()
        }
    }

    /// By how much later a flit arrives than it has left.
    pub(super) const fn delay(&self) -> u64 {
        self.latency - self.flit
    }

    // What it has sent.

    /// Flits that have arrived at `time` or before.
    pub(super) fn arrived_by(&self, time: u64) -> u64 {
        time.checked_sub(self.latency).map_or(0, |started| self.schedule.started_by(started))
    }

    /// When a flit arrives that is still held; `None` for one that was not scheduled.
    pub(super) fn arrival_of(&self, number: u64) -> Option<u64> {
        Some(self.schedule.start_of(number)? + self.latency)
    }

    /// When the first flit of the worm arrives.
    pub(super) fn head_arrival(&self) -> u64 {
        self.arrival_of(self.worm_first).expect("its runs are held")
    }

    /// Flits of the worm that start at `time` or before.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(super) fn sent_by(&self, time: u64) -> u64 {
        self.schedule.started_by(time).saturating_sub(self.worm_first)
    }

    /// Whether every flit that is scheduled has arrived before `time`.
    pub(super) fn is_silent_from(&self, time: u64) -> bool {
        self.schedule.last_start().is_none_or(|start| start + self.latency < time)
    }

    /// Until when flits that start at `time` or before keep the channel busy.
    pub(super) fn busy_until(&self, time: u64) -> u64 {
        let data = self.schedule.last_start_by(time).map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    /// When the last scheduled flit has left, and the channel is free for the next.
    pub(super) fn free_at(&self) -> u64 {
        let data = self.schedule.last_start().map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    /// Whether the worm's tail is scheduled and has left exactly now.
    pub(super) fn tail_left_at(&self, now: u64) -> bool {
        let left = self.schedule.last_start().map(|start| start + self.flit);
        self.worm.is_some() && self.left == 0 && left == Some(now)
    }

    // A worm takes the channel, and leaves it.

    /// Gives it to a worm, whose first flit may start at `ready`. Returns the number of that flit.
    pub(super) fn begin(&mut self, worm: &Incoming, ready: u64) -> u64 {
        self.worm = Some(worm.worm);
        self.worm_first = self.schedule.end();
        (self.left, self.ready) = (worm.flits, ready);
        self.worm_first
    }

    /// The next worm arrives on `feeder` while it is sent, from the flit `first` there on.
    pub(super) fn feed_by(&mut self, feeder: ChannelId, first: u64) {
        (self.feeder, self.feeder_first) = (Some(feeder), first);
    }

    /// When its tail will have left, if that is known and no release is scheduled before: there one
    /// is to be.
    pub(super) fn next_release(&mut self) -> Option<u64> {
        if self.worm.is_none() || self.left > 0 {
            return None;
        }
        let left = self.schedule.last_start().expect("a worm has flits") + self.flit;
        self.release_at.is_none_or(|at| left < at).then(|| *self.release_at.insert(left))
    }

    /// The tail has left, if its moment has come: the channel is free.
    pub(super) fn release(&mut self, now: u64) -> Option<Left> {
        if self.release_at == Some(now) {
            self.release_at = None;
        }
        if !self.tail_left_at(now) {
            return None;
        }
        let flits = self.schedule.end() - self.worm_first;
        let worm = self.worm.take().expect("a tail has a worm");
        Some(Left { worm, flits, feeder: self.feeder.take(), sum: self.schedule.sum_all() })
    }

    // Its flits are scheduled, and taken back.

    /// Whether flits of its worm are to be scheduled and nobody forbids it.
    pub(super) fn may_schedule(&self) -> bool {
        self.worm.is_some() && self.left != 0 && self.stopped_since.is_none()
    }

    /// When the next flit may start at the earliest.
    fn next_start(&self, now: u64) -> u64 {
        self.free_at().max(self.ready).max(now)
    }

    /// Schedules all that is left of a worm that is there whole.
    pub(super) fn schedule_at_once(&mut self, now: u64) {
        let start = self.next_start(now);
        self.schedule.push(start, self.flit, self.left);
        self.left = 0;
    }

    /// Schedules departures at the later of arrival and the end of the flit before.
    pub(super) fn schedule_from(&mut self, feeder: &Self, now: u64) {
        let mut start = self.next_start(now);
        let first = self.feeder_first + (self.schedule.end() - self.worm_first);
        for mut piece in feeder.schedule.pieces_from(first, feeder.latency) {
            while piece.count > 0 && self.left > 0 {
                let (time, period, count) = departures(start, self.flit, &piece, self.left);
                self.schedule.push(time, period, count);
                self.left -= count;
                start = time + (count - 1) * period + self.flit;
                piece.time += count * piece.period;
                piece.count -= count;
            }
            if self.left == 0 {
                break;
            }
        }
    }

    /// Takes back the flits that would start at `time` or later. Returns whether there were any.
    pub(super) fn cut_from(&mut self, time: u64) -> bool {
        let count = self.schedule.cut_from(time);
        self.left += count;
        count > 0
    }

    /// Takes back what its feeder, which schedules flits up to `end`, will not have sent. Returns
    /// whether there was something. Flits of the next worm may stand behind this one's in the same
    /// buffer.
    pub(super) fn cut_to_feed(&mut self, end: u64) -> bool {
        let available = self.worm_first + end.saturating_sub(self.feeder_first);
        let count = self.schedule.cut_from_number(available);
        self.left += count;
        count > 0
    }

    /// Forgets runs of flits before `number`, all of them in the past, which stay in the sum.
    pub(super) fn forget_before(&mut self, number: u64) {
        self.schedule.sum_up_to(number);
        self.schedule.forget_before(number);
    }

    // STOP, GO and control flits.

    /// The other end allows data again. Returns for how long it did not.
    pub(super) fn go(&mut self, now: u64) -> u64 {
        self.stopped_since.take().map_or(0, |since| now - since)
    }

    /// Carries a control flit from `now` on. Returns until when that keeps it busy, and when the
    /// flit arrives.
    pub(super) fn send_control(&mut self, now: u64) -> (u64, u64) {
        self.control_until = now + self.flit;
        (self.control_until, now + self.latency)
    }

    /// Checks that it does not run ahead of its feeder; for tests.
    pub(super) fn assert_fed(&self, feeder: &Self) {
        let (first, sent) = (self.feeder_first, self.schedule.end() - self.worm_first);
        let known = feeder.schedule.end();
        assert!(
            sent == 0 || first + sent <= known,
            "{sent} flits from {first} on are sent of {known}"
        );
    }
}

/// The first departures from a piece of arrivals: (start, period, count). `start` is when the
/// output is free, `flit` its flit time.
fn departures(start: u64, flit: u64, piece: &Run, left: u64) -> (u64, u64, u64) {
    let count = piece.count.min(left);
    if piece.time >= start {
        // Starved: flits leave as they arrive, or faster arrivals wait for each other.
        return (piece.time, piece.period.max(flit), count);
    }
    if piece.period <= flit {
        return (start, flit, count);
    }
    // The output is faster and catches up with the arrivals.
    let behind = (start - piece.time) / (piece.period - flit);
    (start, flit, count.min(behind + 1))
}
