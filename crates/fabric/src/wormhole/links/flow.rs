//! Flow: how far the flits of a worm can be scheduled, and what happens when they cannot go.
//!
//! [`Simulation::extend`] schedules flits of a channel as far as is known today: a host has all of
//! its worm; an output has what arrived, and what will arrive by the schedule in front of it.
//!
//! ```text
//!   arrivals      |  |  |  |           |  |  |
//!   departures          |  |  |  |     |  |  |       each at the later of its arrival and the
//!                       └ from ready   └ starved     end of the flit before it
//! ```
//!
//! What is scheduled may be in the future: it is a prediction, and [`Simulation::cut`] takes it back
//! where a STOP, a control flit or a break in front of it comes in between. Both go on down the path of
//! the worm, because what one channel starts is what the next receives.
//!
//! Invariant: a change made at `now` alters starts at `now` or later on its own channel, and arrivals
//! only after `now` on the next.

use crate::wormhole::event::Event;
use crate::wormhole::excess::first_lead;
use crate::wormhole::run::{Pieces, Run};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::{Feed, Head, Input, Sender};
use gingham_topology::ChannelId;

impl Simulation {
    /// Schedules as many flits of the worm on `channel` as can be, and goes on down its path.
    pub(crate) fn extend(&mut self, channel: ChannelId) {
        let mut next = Some(channel);
        while let Some(channel) = next {
            let grows = self.schedule_flits(channel);
            next = if grows { self.senders[channel.index()].feeds } else { None };
        }
    }

    /// Schedules flits of one channel; returns whether there were any.
    fn schedule_flits(&mut self, channel: ChannelId) -> bool {
        let sender = &self.senders[channel.index()];
        if sender.worm.is_none() || sender.left == 0 || sender.stopped_since.is_some() {
            return false;
        }
        let begin = sender.schedule.end();
        match sender.feed() {
            None => self.schedule_at_once(channel),
            Some(feed) => self.schedule_from_feed(channel, feed),
        }
        let sender = &self.senders[channel.index()];
        if sender.schedule.end() == begin {
            return false;
        }
        let is_read = sender.in_transit || self.inputs[channel.index()].is_some();
        if begin == sender.worm_first && is_read {
            let head = sender.schedule.start_of(begin).expect("it was scheduled now");
            let arrival = head + sender.latency;
            self.schedule(arrival, Event::ReadHead { channel });
        }
        self.schedule_release(channel);
        if let Some(feeder) = self.senders[channel.index()].feeder {
            self.unsettle(feeder);
        }
        let waits_for_head = |input: &Input| {
            input.head == Head::Idle && input.incoming.front().is_some_and(|i| i.first >= begin)
        };
        // A worm whose head is still to come changes nothing before: it is looked at when read.
        if !self.inputs[channel.index()].as_ref().is_some_and(waits_for_head) {
            self.unsettle(channel);
        }
        true
    }

    /// Schedules the release for when the tail will have left, if that is known. One that comes before
    /// will see to it: a worm that is stopped often is predicted to end as often.
    pub(crate) fn schedule_release(&mut self, channel: ChannelId) {
        let sender = &mut self.senders[channel.index()];
        if sender.worm.is_none() || sender.left > 0 {
            return;
        }
        let left = sender.schedule.last_start().expect("a worm has flits") + sender.flit;
        if sender.release_at.is_none_or(|at| left < at) {
            sender.release_at = Some(left);
            let arriving = sender.worm.filter(|_| !(sender.has_delay() || sender.in_transit));
            self.schedule(left, Event::Release { output: channel });
            if let Some(worm) = arriving
                && self.inputs[channel.index()].as_ref().is_none_or(Input::is_at_host)
            {
                self.schedule(left, Event::Deliver { channel, worm });
            }
        }
    }

    /// Schedules all that is left of a worm that is there whole.
    fn schedule_at_once(&mut self, channel: ChannelId) {
        let now = self.now;
        let sender = &mut self.senders[channel.index()];
        let start = sender.free_at().max(sender.ready).max(now);
        sender.schedule.push(start, sender.flit, sender.left);
        sender.left = 0;
    }

    /// Schedules departures at the later of arrival and the end of the flit before.
    fn schedule_from_feed(&mut self, channel: ChannelId, feed: Feed) {
        let now = self.now;
        let (sender, feeder) = two(&mut self.senders, channel, feed.channel);
        let mut start = sender.free_at().max(sender.ready).max(now);
        let first = feed.first + (sender.schedule.end() - sender.worm_first);
        for piece in feeder.schedule.pieces_from(first, feeder.latency) {
            let mut piece = piece;
            while piece.count > 0 && sender.left > 0 {
                let (time, period, count) = departures(start, sender.flit, &piece, sender.left);
                sender.schedule.push(time, period, count);
                sender.left -= count;
                start = time + (count - 1) * period + sender.flit;
                piece.time += count * piece.period;
                piece.count -= count;
            }
            if sender.left == 0 {
                break;
            }
        }
    }

    /// Takes back the flits of `channel` that would start at `time` or later, and what follows from
    /// them. Returns whether there were any.
    pub(crate) fn cut(&mut self, channel: ChannelId, time: u64) -> bool {
        let sender = &mut self.senders[channel.index()];
        let count = sender.schedule.cut_from(time);
        sender.left += count;
        if count > 0 {
            self.cut_behind(channel);
        }
        count > 0
    }

    /// After a cut of `channel`: takes back what the next channels would have sent of it.
    fn cut_behind(&mut self, channel: ChannelId) {
        let mut changed = channel;
        loop {
            let sender = &self.senders[changed.index()];
            let (end, feeds) = (sender.schedule.end(), sender.feeds);
            if let Some(feeder) = sender.feeder {
                self.unsettle(feeder);
            }
            let Some(output) = feeds else { break };
            let sender = &mut self.senders[output.index()];
            // Flits of the next worm may stand behind this one's in the same buffer.
            let available = sender.available(end);
            let count = sender.schedule.cut_from_number(available);
            sender.left += count;
            if count == 0 {
                break;
            }
            changed = output;
        }
        self.unsettle(changed);
    }

    /// Flits in the buffer at the end of `channel` once everything of this instant has happened.
    pub(crate) fn fill(&self, channel: ChannelId) -> u64 {
        self.arrived(channel) - self.gone(channel)
    }

    pub(crate) fn arrived(&self, channel: ChannelId) -> u64 {
        self.senders[channel.index()].arrived_by(self.now)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn gone(&self, channel: ChannelId) -> u64 {
        let input = self.inputs[channel.index()].as_ref().expect("a switch input");
        if input.is_at_host() {
            return self.gone_from_port(channel);
        }
        match self.senders[channel.index()].feeds {
            Some(output) => {
                let sender = &self.senders[output.index()];
                input.taken + sender.schedule.started_by(self.now).saturating_sub(sender.worm_first)
            }
            None => input.taken,
        }
    }

    /// Remembers to look at the input at the end of `channel` when this instant is over.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn unsettle(&mut self, channel: ChannelId) {
        if let Some(input) = self.inputs[channel.index()].as_mut()
            && !input.unsettled
        {
            input.unsettled = true;
            self.unsettled.push(channel);
        }
    }

    /// Looks at all inputs that something changed for; the last phase is still to come.
    pub(crate) fn settle(&mut self) {
        while let Some(channel) = self.unsettled.pop() {
            self.inputs[channel.index()].as_mut().expect("a switch input").unsettled = false;
            self.predict(channel);
        }
    }

    /// Looks ahead for the next moment at which the input at the end of `channel` changes its mind about
    /// STOP and GO, and schedules it.
    fn predict(&mut self, channel: ChannelId) {
        let input = self.inputs[channel.index()].as_ref().expect("a switch input");
        let sender = &self.senders[channel.index()];
        let is_switch = !input.is_at_host();
        if !input.wants_stop && is_switch && self.streams_through(sender, input) {
            return;
        }
        let gone = self.gone(channel);
        // Fewer flits than the mark in all: nothing can pass it.
        if !input.wants_stop && sender.schedule.end() - gone <= u64::from(input.slack.stop) {
            return;
        }
        let fill = self.arrived(channel) - gone;
        let crossing = if input.judges_stop(fill) == input.wants_stop {
            self.crossing(channel, input, fill, gone)
        } else {
            Some(self.now)
        };
        let Some(time) = crossing else { return };
        // While a STOP is on its way the sender's flits are still predicted to come, which the STOP will
        // cut and look here again: what lies beyond its arrival is not worth an event.
        let heard_by = self.now + sender.latency + 2 * sender.flit;
        if input.wants_stop && sender.stopped_since.is_none() && time > heard_by {
            return;
        }
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        if input.emit_at != Some(time) {
            input.emit_at = Some(time);
            self.schedule(time, Event::EmitControl { channel });
        }
    }

    /// Whether a fill surely stays at or below the STOP mark: the common case of one worm that streams through,
    /// its arrivals one run and its departures one run that is no slower. A flit then waits no longer than the
    /// first of the run did, so that those that wait together arrived within that time; what follows the run
    /// may come on top.
    fn streams_through(&self, sender: &Sender, input: &Input) -> bool {
        let Some(output) = sender.feeds else { return false };
        let output = &self.senders[output.index()];
        let (Some(arriving), Some(leaving)) =
            (sender.schedule.last_run(), output.schedule.last_run())
        else {
            return false;
        };
        let first_leaving = leaving.first.max(output.worm_first);
        let first = input.taken + (first_leaving - output.worm_first);
        // What left before the run has left, or does so before any of it.
        let is_alone = leaving.time <= self.now || leaving.first <= output.worm_first;
        let is_begun = leaving.end() > output.worm_first;
        let is_slower = arriving.first <= first && arriving.period >= leaving.period;
        if !(is_alone && is_begun && is_slower) {
            return false;
        }
        let behind = arriving.end() - (first + leaving.end() - first_leaving);
        let wait = leaving.start_of(first_leaving) - (arriving.start_of(first) + sender.latency);
        let together = u64::from(input.slack.stop).checked_sub(behind);
        together.is_some_and(|together| wait <= together * arriving.period)
    }

    /// When a fill passes the STOP mark, or falls below the GO mark if STOP is wanted.
    fn crossing(&self, channel: ChannelId, input: &Input, fill: u64, gone: u64) -> Option<u64> {
        let sender = &self.senders[channel.index()];
        let arrivals = sender.schedule.pieces_from(fill + gone, sender.latency);
        let (stop, go) = (u64::from(input.slack.stop), u64::from(input.slack.go));
        let Some(output) = sender.feeds.filter(|_| !input.is_at_host()) else {
            return if input.wants_stop || input.head == Head::Open {
                None
            } else {
                first_lead(arrivals, std::iter::empty(), stop - fill + 1)
            };
        };
        let output = &self.senders[output.index()];
        let first = output.worm_first + (gone - input.taken);
        let departures = output.schedule.pieces_from(first, 0);
        if input.wants_stop {
            first_lead(departures, arrivals, fill - go + 1)
        } else if stays_below(&arrivals, &departures, stop - fill) {
            None
        } else {
            first_lead(arrivals, departures, stop - fill + 1)
        }
    }
}

/// Whether a fill surely never rises by more than `room`: the common case of one worm that streams through,
/// its arrivals no faster than its departures.
fn stays_below(arrivals: &Pieces<'_>, departures: &Pieces<'_>, room: u64) -> bool {
    let (Some(arriving), Some(leaving)) = (arrivals.only(), departures.only()) else {
        return false;
    };
    if leaving.period > arriving.period && arriving.count > 1 {
        return false;
    }
    let before = arriving.started_by(leaving.time);
    let behind = arriving.count.saturating_sub(leaving.count);
    before + behind <= room
}

/// The first departures from a piece of arrivals: (start, period, count). `start` is when the output is
/// free, `flit` its flit time.
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

/// The sender of `channel` to change, and the one of `other` to read.
fn two(senders: &mut [Sender], channel: ChannelId, other: ChannelId) -> (&mut Sender, &Sender) {
    let [sender, feeder] = senders
        .get_disjoint_mut([channel.index(), other.index()])
        .expect("a channel does not feed itself");
    (sender, feeder)
}
