//! Sending end of a channel, with the schedule of its flits.
//!
//! ```text
//!   sender ── schedule: flit starts ──►  + flit time + delay = arrivals ──► input ──► next sender
//!     worm, left                                                     fill = arrived - taken
//! ```
//!
//! A switch output and an in-transit host that re-injects a worm are both fed by another channel.
//! The fed sender stores the number of its first flit on the feeding channel:
//!
//! ```text
//!   feeder   ... 40 41 42 43 44 ...      feeds ──► the fed sender
//!   fed           7  8  9 10             feeder_first 40; worm_first 7
//! ```

use crate::wormhole::run::{Run, Schedule};
use crate::wormhole::worm::{Incoming, WormId};
use gingham_net::ChannelPlan;
use gingham_topology::ChannelId;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) worm: WormId,
    pub(crate) flits: u64,
    /// Feeding channel, if the worm was sent before all of it had arrived.
    pub(crate) feeder: Option<ChannelId>,
    pub(crate) sum: i128,
}

/// Sender state; times in ps.
#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    pub(super) flit: u64,
    pub(super) latency: u64,
    pub(super) schedule: Schedule,
    pub(super) worm: Option<WormId>,
    /// Sequence number of the worm's first flit on this channel.
    pub(super) worm_first: u64,
    left: u64,
    /// Channel that still delivers the worm while it is being sent.
    pub(super) feeder: Option<ChannelId>,
    /// Sequence number, on the feeding channel, of the worm's first flit.
    pub(super) feeder_first: u64,
    /// Channel that forwards the flits arriving on this channel.
    pub(super) feeds: Option<ChannelId>,
    pub(super) ready: u64,
    /// Whether the worm is in transit at the host at the end of the channel.
    pub(super) in_transit: bool,
    /// Whether the worm was delivered; on a cable without delay, the delivery precedes the release
    /// at the same time.
    pub(super) delivered: bool,
    control_until: u64,
    pub(super) stopped_since: Option<u64>,
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

    pub(super) const fn delay(&self) -> u64 {
        self.latency - self.flit
    }

    pub(super) fn arrived_by(&self, time: u64) -> u64 {
        time.checked_sub(self.latency).map_or(0, |started| self.schedule.started_by(started))
    }

    pub(super) fn arrival_of(&self, number: u64) -> Option<u64> {
        Some(self.schedule.start_of(number)? + self.latency)
    }

    pub(super) fn head_arrival(&self) -> u64 {
        self.arrival_of(self.worm_first).expect("its runs are held")
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(super) fn sent_by(&self, time: u64) -> u64 {
        self.schedule.started_by(time).saturating_sub(self.worm_first)
    }

    pub(super) fn is_silent_from(&self, time: u64) -> bool {
        self.schedule.last_start().is_none_or(|start| start + self.latency < time)
    }

    /// Returns when the channel becomes idle after its control flits and the data flits that start
    /// at or before `time`.
    pub(super) fn busy_until(&self, time: u64) -> u64 {
        let data = self.schedule.last_start_by(time).map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    pub(super) fn free_at(&self) -> u64 {
        let data = self.schedule.last_start().map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    pub(super) fn tail_left_at(&self, now: u64) -> bool {
        let left = self.schedule.last_start().map(|start| start + self.flit);
        self.worm.is_some() && self.left == 0 && left == Some(now)
    }

    /// Assigns the channel to a worm whose first flit may start at `ready`. Returns the sequence
    /// number of that flit.
    pub(super) fn begin(&mut self, worm: &Incoming, ready: u64) -> u64 {
        self.worm = Some(worm.worm);
        self.worm_first = self.schedule.end();
        (self.left, self.ready) = (worm.flits, ready);
        self.worm_first
    }

    pub(super) fn feed_by(&mut self, feeder: ChannelId, first: u64) {
        (self.feeder, self.feeder_first) = (Some(feeder), first);
    }

    /// Returns when the tail leaves, if known and if no earlier release is scheduled.
    pub(super) fn next_release(&mut self) -> Option<u64> {
        if self.worm.is_none() || self.left > 0 {
            return None;
        }
        let left = self.schedule.last_start().expect("a worm has flits") + self.flit;
        self.release_at.is_none_or(|at| left < at).then(|| *self.release_at.insert(left))
    }

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

    pub(super) fn may_schedule(&self) -> bool {
        self.worm.is_some() && self.left != 0 && self.stopped_since.is_none()
    }

    fn next_start(&self, now: u64) -> u64 {
        self.free_at().max(self.ready).max(now)
    }

    pub(super) fn schedule_at_once(&mut self, now: u64) {
        let start = self.next_start(now);
        self.schedule.push(start, self.flit, self.left);
        self.left = 0;
    }

    /// Schedules the start of each flit at its arrival, or at the end of the previous flit,
    /// whichever is later.
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

    /// Revokes all flits that start at or after `time`. Returns false if no flit was revoked.
    pub(super) fn cut_from(&mut self, time: u64) -> bool {
        let count = self.schedule.cut_from(time);
        self.left += count;
        count > 0
    }

    /// Revokes flits that the feeding channel, scheduled up to flit `end`, will no longer deliver.
    pub(super) fn cut_to_feed(&mut self, end: u64) -> bool {
        let available = self.worm_first + end.saturating_sub(self.feeder_first);
        let count = self.schedule.cut_from_number(available);
        self.left += count;
        count > 0
    }

    pub(super) fn forget_before(&mut self, number: u64) {
        self.schedule.sum_up_to(number);
        self.schedule.forget_before(number);
    }

    pub(super) fn go(&mut self, now: u64) -> u64 {
        self.stopped_since.take().map_or(0, |since| now - since)
    }

    pub(super) fn send_control(&mut self, now: u64) -> (u64, u64) {
        self.control_until = now + self.flit;
        (self.control_until, now + self.latency)
    }

    pub(super) fn assert_fed(&self, feeder: &Self) {
        let (first, sent) = (self.feeder_first, self.schedule.end() - self.worm_first);
        let known = feeder.schedule.end();
        assert!(
            sent == 0 || first + sent <= known,
            "{sent} flits from {first} on are sent of {known}"
        );
    }
}

/// Returns the departures (start, period, count) of equally spaced arrivals, on an output that is
/// free at `start`.
fn departures(start: u64, flit: u64, piece: &Run, left: u64) -> (u64, u64, u64) {
    let count = piece.count.min(left);
    if piece.time >= start {
        // Flits leave as they arrive, or queue if they arrive faster than the output sends.
        return (piece.time, piece.period.max(flit), count);
    }
    if piece.period <= flit {
        return (start, flit, count);
    }
    let behind = (start - piece.time) / (piece.period - flit);
    (start, flit, count.min(behind + 1))
}
