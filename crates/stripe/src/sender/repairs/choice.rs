//! On which channel a copy goes.
//!
//! Source: ours.

use core::time::Duration;

use super::super::{Reported, Sender};
use crate::{Instant, Numbered};

impl<S: Numbered> Sender<S> {
    /// How long the next copy is. One that fits no channel any more does not go.
    pub(super) fn next_copy_bytes(&mut self) -> Option<u32> {
        loop {
            let repairs = self.repairs.as_mut().filter(|repairs| !repairs.queue.is_empty())?;
            let length_bytes = repairs.next_bytes().unwrap_or(0);
            let is_in = |channel: &usize| self.carries(*channel);
            let mut channels = (0..self.scheduler.channels()).filter(is_in);
            if channels.any(|channel| self.sizes.fits(channel, length_bytes)) {
                return Some(length_bytes);
            }
            self.repairs.as_mut()?.skip();
            self.sending.repairs_too_long += 1;
        }
    }

    /// The channel with room on which a copy of so many bytes is there first, as far as reports tell,
    /// of the first priority that has any: one that is sound and not avoided, if there is any.
    pub(super) fn fastest(
        &self,
        now: Instant,
        avoided: Option<usize>,
        length_bytes: u32,
    ) -> Option<usize> {
        let repairs = self.repairs.as_ref()?;
        let is_in =
            |channel: &usize| self.carries(*channel) && self.sizes.fits(*channel, length_bytes);
        let is_sound = |channel| !self.sizes.doubts(channel) && avoided != Some(channel);
        let some_is_sound = (0..self.scheduler.channels()).filter(is_in).any(is_sound);
        let has_room = |channel: &usize| {
            is_in(channel)
                && !self.is_blocked(*channel)
                && (!some_is_sound || is_sound(*channel))
                && match &self.paths {
                    Some(paths) => paths.admits(*channel, now),
                    None => repairs.room[*channel] > 0,
                }
        };
        let channels = (0..self.scheduler.channels()).filter(has_room);
        let cost = |channel: &usize| {
            let cost_ns = |reported| cost_ns(now, &reported);
            (self.priority(*channel), self.reported.on(*channel).map_or(u128::MAX, cost_ns))
        };
        channels.min_by_key(cost)
    }

    /// In which time something that goes now on a channel that is in is there, if that is known.
    pub fn arrives_after(&self, channel: usize) -> Option<Duration> {
        let is_known = self.carries(channel) && self.presence.round_trip_ns(channel) > 0;
        is_known.then(|| self.there_after(channel))
    }

    /// The same among all channels but one.
    pub(super) fn fastest_but(&self, now: Instant, but: usize, length_bytes: u32) -> Option<usize> {
        // One that is avoided is taken where there is no other with room.
        self.fastest(now, Some(but), length_bytes).filter(|channel| *channel != but)
    }

    /// In which time a copy that goes now is there.
    pub(super) fn there_after(&self, channel: usize) -> Duration {
        match &self.paths {
            Some(paths) => Duration::from_nanos(paths.arrives_after_ns(channel)),
            None => Duration::from_nanos(u64::from(self.presence.round_trip_ns(channel)) / 2),
        }
    }
}

/// How long it takes until something has come on a channel: there and back as the last report says,
/// or since then if that is longer, and as many times as it takes until one of them is not lost.
fn cost_ns(now: Instant, reported: &Reported) -> u128 {
    let (at, report) = (reported.at.nanoseconds(), &reported.report);
    let way = at.saturating_sub(report.echo.nanoseconds()).saturating_sub(report.held_ns.into());
    // Reports come at intervals: a channel is not slow for being between two of them.
    let silent = now.nanoseconds().saturating_sub(at) / 4;
    let (sent, came) = (report.accounted_bytes.max(1), report.received_bytes.max(1));
    u128::from(way.max(silent)) * u128::from(sent.max(came)) / u128::from(came)
}
