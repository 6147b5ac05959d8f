//! Rates: what reports tell of the channels, and quanta that follow.
//!
//! Source: ours, over `flow`; how a change is announced stands in `changes`.

use super::Sender;
use super::flow::Flight;
use crate::{Instant, Numbered, Report};

impl<S: Numbered> Sender<S> {
    /// What has been found out of a channel, where flight windows are.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        Some(self.flow.as_ref()?.flight(channel, self.sent.on(channel)))
    }

    /// A channel is known to carry so much: where the estimate starts.
    pub fn tell_rate(&mut self, channel: usize, bytes_per_second: u64) {
        if let Some(flow) = &mut self.flow {
            flow.tell(channel, bytes_per_second);
        }
    }

    pub(super) fn see_turn(&mut self, now: Instant) {
        if let Some(flow) = &mut self.flow {
            let channel = self.scheduler.current();
            flow.see_turn(now, channel, self.sent.on(channel));
        }
    }

    pub(super) fn follow_rates(&mut self, now: Instant, channel: usize, report: &Report) {
        let Some(flow) = &mut self.flow else { return };
        let quantum = self.scheduler.standing(channel).quantum_bytes;
        flow.take_report(now, channel, (self.sent.on(channel), quantum), report);
        self.see_turn(now);
        self.follow_shares(now);
    }

    fn follow_shares(&mut self, now: Instant) {
        let Some(flow) = &mut self.flow else { return };
        if self.changes.are_under_way() {
            flow.see_changes(now);
            return;
        }
        let channels = 0..self.scheduler.channels();
        let present = channels.map(|channel| self.scheduler.standing(channel).quantum_bytes);
        let Some(quanta) = flow.plan(now, present) else { return };
        for (channel, quantum) in quanta.iter_mut().enumerate() {
            // Who is out is to be what it is to be.
            if *quantum == 0 {
                *quantum = self.changes.wished(channel);
            }
        }
        self.changes.wish(quanta);
        self.announce_wishes();
    }
}
