//! Predictions of when the fill level of an input crosses its STOP or GO threshold.
//!
//! A changed input is evaluated once, before the last phase of the current time.

use super::Links;
use super::input::{Head, Input};
use super::sender::Sender;
use crate::wormhole::clock::Clock;
use crate::wormhole::event::Event;
use crate::wormhole::excess::first_lead;
use crate::wormhole::run::Pieces;
use gingham_topology::ChannelId;

impl Links {
    /// Marks an input for evaluation after the earlier phases of the current time.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn note_change(&mut self, channel: ChannelId) {
        if let Some(input) = self.inputs[channel.index()].as_mut()
            && !std::mem::replace(&mut input.changed, true)
        {
            self.changed.push(channel);
        }
    }

    #[inline]
    pub(crate) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    pub(crate) fn predict_crossings(&mut self, clock: &mut Clock) {
        while let Some(channel) = self.changed.pop() {
            self.input_mut(channel).changed = false;
            self.predict(clock, channel);
        }
    }

    fn predict(&mut self, clock: &mut Clock, channel: ChannelId) {
        let now = clock.now();
        let input = self.input(channel);
        let sender = &self.senders[channel.index()];
        let is_switch = !input.is_at_host();
        if !input.wants_stop && is_switch && self.streams_through(sender, input, now) {
            return;
        }
        let gone = self.gone(channel, now);
        // If all present and scheduled flits together do not exceed the STOP threshold, the fill
        // level cannot cross it.
        if !input.wants_stop && sender.schedule.end() - gone <= u64::from(input.slack.stop) {
            return;
        }
        let fill = self.arrived(channel, now) - gone;
        let crossing = if input.judges_stop(fill) == input.wants_stop {
            self.next_crossing(channel, input, fill, gone)
        } else {
            Some(now)
        };
        let Some(time) = crossing else { return };
        // While a STOP is on its way, the predictions still include flits that the STOP will
        // prevent, so crossings after the arrival of the STOP need no event.
        let stop_arrives = now + sender.latency + 2 * sender.flit;
        if input.wants_stop && sender.stopped_since.is_none() && time > stop_arrives {
            return;
        }
        if self.input_mut(channel).emit_at.replace(time) != Some(time) {
            clock.schedule(time, Event::EmitControl { channel });
        }
    }

    /// Returns true only if the fill level stays at or below the STOP threshold: one worm streams
    /// through, and its departures form one run at least as fast as its arrivals. Then no flit
    /// waits longer than the first flit of the run.
    fn streams_through(&self, sender: &Sender, input: &Input, now: u64) -> bool {
        let Some(output) = sender.feeds else { return false };
        let output = &self.senders[output.index()];
        let (Some(arriving), Some(leaving)) =
            (sender.schedule.last_run(), output.schedule.last_run())
        else {
            return false;
        };
        let first_leaving = leaving.first.max(output.worm_first);
        let first = input.taken + (first_leaving - output.worm_first);
        let is_alone = leaving.time <= now || leaving.first <= output.worm_first;
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

    /// Returns the time when the fill level rises above the STOP threshold or, if STOP is wanted,
    /// falls below the GO threshold.
    fn next_crossing(
        &self,
        channel: ChannelId,
        input: &Input,
        fill: u64,
        gone: u64,
    ) -> Option<u64> {
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

/// Returns true only if the fill level never rises by more than `room`: one worm streams through,
/// and its departures are at least as fast as its arrivals.
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
