//! Rates: what reports tell of the channels, and quanta that follow.
//!
//! Source: ours, over `paths` and `shares`; how a change is announced stands in `changes`.

use core::time::Duration;

use super::Sender;
use super::control::Flight;
use crate::{Instant, Numbered, Order, RateCap, Report};

impl<S: Numbered> Sender<S> {
    /// What has been found out of a channel, where what is in flight is controlled.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.paths.as_ref().map(|paths| Flight::of(paths.on(channel), self.now))
    }

    /// The time there and back through the pipe but for its queues, where it is known: order is kept,
    /// so it is that of the longest of the channels that are in.
    pub fn round_trip_least(&self) -> Option<Duration> {
        let paths = self.paths.as_ref()?;
        let channels = (0..self.scheduler.channels()).filter(|channel| self.carries(*channel));
        let longest_ns = channels.map(|channel| paths.on(channel).round_trip().least_ns()).max()?;
        (longest_ns > 0).then(|| Duration::from_nanos(longest_ns))
    }

    /// A channel is known to carry so much, and is paced at that from now on.
    pub fn tell_rate(&mut self, channel: usize, bytes_per_second: u64) {
        if let Some(paths) = &mut self.paths {
            paths.tell(channel, bytes_per_second);
        }
    }

    /// Packets go no faster on a channel than so many bytes a second, with what is put around each on
    /// the wire, from now on; or as fast as it carries them. Messages aside.
    pub fn cap_rate(&mut self, channel: usize, cap: Option<RateCap>) {
        if let Some(paths) = &mut self.paths {
            paths.set_cap(channel, cap);
        }
    }

    /// A channel is of this priority from now on, 0 before 1, where the choice is free: packets go on
    /// it while those of earlier ones have no room, and have had none for so long that a queue before
    /// them would stand. Messages go on all.
    pub fn set_priority(&mut self, channel: usize, priority: u8) {
        if let Some(paths) = &mut self.paths {
            paths.set_priority(channel, priority);
        }
    }

    /// The priority of a channel.
    pub fn priority(&self, channel: usize) -> u8 {
        self.paths.as_ref().map_or(0, |paths| paths.priority(channel))
    }

    pub(super) fn see_turn(&mut self, now: Instant) {
        if self.options.order == Order::Strict
            && let Some(paths) = &mut self.paths
        {
            paths.see_turn(now, self.scheduler.current());
        }
    }

    /// A report has come: whether it can be so.
    pub(super) fn follow_rates(&mut self, now: Instant, channel: usize, report: &Report) -> bool {
        if report.echo < self.presence.since(channel) {
            return true;
        }
        let Some(paths) = &mut self.paths else { return true };
        let can_be = paths.take_report(now, channel, self.sent.on(channel), report);
        if self.options.order == Order::Strict {
            paths.keep_time(now, channel, |one| self.scheduler.standing(one).quantum_bytes);
        }
        self.see_turn(now);
        self.follow_shares(now);
        can_be
    }

    fn follow_shares(&mut self, now: Instant) {
        let Some(paths) = &mut self.paths else { return };
        if self.changes.are_under_way() {
            paths.see_changes(now);
            return;
        }
        let channels = 0..self.scheduler.channels();
        let present = channels.map(|channel| self.scheduler.standing(channel).quantum_bytes);
        let Some(quanta) = paths.plan(now, present) else { return };
        for (channel, quantum) in quanta.iter_mut().enumerate() {
            // Who is out is to be what it is to be.
            if *quantum == 0 {
                *quantum = self.changes.target(channel);
            }
        }
        self.changes.set_targets(quanta);
        self.announce_targets();
    }
}
