//! Flow: schedules a worm's flits as far ahead as possible, and revokes predictions that fail.
//!
//! A host can send all flits of its worm. An output can send only flits that have arrived or that
//! the feeding channel is scheduled to deliver.
//!
//! ```text
//!   arrivals      |  |  |  |           |  |  |
//!   departures          |  |  |  |     |  |  |       each flit starts at its arrival, or at
//!                       └ from ready   └ starved     the end of the previous flit if later
//! ```
//!
//! Flits scheduled in the future are predictions: [`Links::cut`] revokes them if a STOP, a control
//! flit or a gap at the feeding channel intervenes. Scheduling and cuts continue along the worm's
//! path because flits that start on one channel arrive at the next.
//!
//! Invariant: a change at `now` alters flit starts on its own channel only at or after `now`, and
//! arrivals at the next channel only after `now`.

use super::Links;
use super::input::{Head, Input};
use crate::wormhole::clock::Clock;
use crate::wormhole::event::Event;
use gingham_topology::ChannelId;

impl Links {
    /// Schedules flits on `channel` and further along the worm's path.
    pub(super) fn extend(&mut self, clock: &mut Clock, channel: ChannelId) {
        let mut next = Some(channel);
        while let Some(channel) = next {
            let grows = self.schedule_flits(clock, channel);
            next = if grows { self.senders[channel.index()].feeds } else { None };
        }
    }

    /// Schedules flits on `channel`. Returns false if no flit was scheduled.
    fn schedule_flits(&mut self, clock: &mut Clock, channel: ChannelId) -> bool {
        let sender = &mut self.senders[channel.index()];
        if !sender.may_schedule() {
            return false;
        }
        let begin = sender.schedule.end();
        if let Some(feeder) = sender.feeder {
            let [sender, feeder] = self
                .senders
                .get_disjoint_mut([channel.index(), feeder.index()])
                .expect("a channel does not feed itself");
            sender.schedule_from(feeder, clock.now());
        } else {
            sender.schedule_at_once(clock.now());
        }
        let sender = &self.senders[channel.index()];
        if sender.schedule.end() == begin {
            return false;
        }
        let is_read = sender.in_transit || self.inputs[channel.index()].is_some();
        if begin == sender.worm_first && is_read {
            clock.schedule(sender.head_arrival(), Event::ReadHead { channel });
        }
        self.schedule_release(clock, channel);
        if let Some(feeder) = self.senders[channel.index()].feeder {
            self.note_change(feeder);
        }
        let waits_for_head = |input: &Input| {
            input.head == Head::Idle && input.next().is_some_and(|next| next.first >= begin)
        };
        // Flits of a worm do not change the predictions before its head is read.
        if !self.inputs[channel.index()].as_ref().is_some_and(waits_for_head) {
            self.note_change(channel);
        }
        true
    }

    /// Schedules a release event for the departure of the tail, if known. An event that is too
    /// early reschedules itself, which saves events for worms that are stopped often.
    pub(super) fn schedule_release(&mut self, clock: &mut Clock, channel: ChannelId) {
        let sender = &mut self.senders[channel.index()];
        let Some(left) = sender.next_release() else { return };
        let arriving = sender.worm.filter(|_| !(sender.delay() > 0 || sender.in_transit));
        clock.schedule(left, Event::Release { output: channel });
        if let Some(worm) = arriving
            && self.inputs[channel.index()].as_ref().is_none_or(Input::is_at_host)
        {
            clock.schedule(left, Event::Deliver { channel, worm });
        }
    }

    /// Revokes the flits that start at or after `time`, and all flits that depend on them. Returns
    /// false if no flit was revoked.
    pub(super) fn cut(&mut self, channel: ChannelId, time: u64) -> bool {
        let is_cut = self.senders[channel.index()].cut_from(time);
        if is_cut {
            self.cut_behind(channel);
        }
        is_cut
    }

    fn cut_behind(&mut self, channel: ChannelId) {
        let mut changed = channel;
        loop {
            let sender = &self.senders[changed.index()];
            let (end, feeds) = (sender.schedule.end(), sender.feeds);
            if let Some(feeder) = sender.feeder {
                self.note_change(feeder);
            }
            let Some(output) = feeds else { break };
            if !self.senders[output.index()].cut_to_feed(end) {
                break;
            }
            changed = output;
        }
        self.note_change(changed);
    }
}
