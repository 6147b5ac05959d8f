//! Channel activity at the receiver.
//!
//! ```text
//!          an "inactive" marker, or Left on another channel
//!        +-------------------------------------------+
//!        |                                           v
//!       [active]  packets are buffered         [inactive]  packets are refused and counted
//!        ^                                           |
//!        +-------------------------------------------+
//!          a marker of a later round reports it active or soon active
//! ```
//!
//! Like a marker, a Left message takes effect after the packets buffered before it.
//!
//! Source: ours, based on theorem 5.1 of Adiseshu, Parulkar and Varghese 1996: an inactive channel
//! is equivalent to a channel that loses all packets.
//!
//! Invariants: a marker sent before a deactivation does not reactivate the channel; a repeated Left
//! does not undo a later marker.

use gingham_fairq::{Round, Standing};

use super::Receiver;
use crate::{ChannelSet, Departure, Discard, Instant, Kind, Numbered, first_channels, take_lowest};

#[derive(Clone, Debug)]
pub(super) struct Presence {
    out: ChannelSet,
    /// For each inactive channel, the first round without its packets.
    since: Vec<Round>,
    /// For each channel, its first active round according to the newest marker.
    in_from: Vec<Round>,
    /// For each channel, the time since which all its markers have predated its deactivation.
    stale_since: Vec<Option<Instant>>,
    acknowledge: ChannelSet,
    departures: Vec<Departure>,
}

impl Presence {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            out: 0,
            since: vec![Round::FIRST; channels],
            in_from: vec![Round::FIRST; channels],
            stale_since: vec![None; channels],
            acknowledge: 0,
            departures: vec![Departure::default(); channels],
        }
    }

    pub(super) const fn is_out(&self, channel: usize) -> bool {
        self.out & (1 << channel) != 0
    }

    fn take_out(&mut self, channel: usize, since: Round) {
        self.out |= 1 << channel;
        self.stale_since[channel] = None;
        self.since[channel] = since;
    }

    /// Fails if the marker predates the channel's deactivation; the error is the time since which
    /// all markers have done so.
    pub(super) fn see_marker(
        &mut self,
        now: Instant,
        channel: usize,
        reported: &Standing,
    ) -> Result<(), Instant> {
        let comes_in = reported.coming.is_some_and(|change| change.quantum_bytes != 0);
        if !reported.is_in() && !comes_in {
            self.take_out(channel, reported.next.round);
        } else if reported.is_in()
            && self.is_out(channel)
            && !reported.next.round.is_after(self.since[channel])
        {
            let since = self.stale_since[channel].map_or(now, |since| since.min(now));
            self.stale_since[channel] = Some(since);
            return Err(since);
        } else {
            self.out &= !(1 << channel);
            self.stale_since[channel] = None;
            let coming = reported.coming.filter(|_| !reported.is_in());
            self.in_from[channel] = coming.map_or(reported.next.round, |change| change.from);
        }
        Ok(())
    }

    pub(super) fn next_acknowledged(&mut self) -> Option<(usize, Kind)> {
        self.acknowledge &= first_channels(self.since.len());
        let channel = take_lowest(&mut self.acknowledge)?;
        Some((channel, Kind::LeftAcknowledged(self.departures[channel])))
    }

    pub(super) fn restart(&mut self) {
        (self.out, self.acknowledge) = (0, 0);
        self.in_from.fill(Round::FIRST);
        self.stale_since.fill(None);
    }
}

impl<S: Numbered, P> Receiver<S, P> {
    pub(super) fn take_left(
        &mut self,
        now: Instant,
        on: usize,
        departure: Departure,
    ) -> Result<(), Discard> {
        let (channel, since) = (usize::from(departure.channel), departure.since);
        if channel >= self.buffers.len() {
            return Err(Discard::NoSuchChannel);
        }
        if channel == on {
            return Err(Discard::OtherChannel);
        }
        if departure.sent_packets != 0 {
            self.see_begun(channel, departure.sent_packets)?;
        }
        self.presence.departures[on] = departure;
        self.presence.acknowledge |= 1 << on;
        let read = self.scheduler.standing(channel).next.round;
        let came_back = read.is_after(since) || self.presence.in_from[channel].is_after(since);
        if !came_back && !self.presence.is_out(channel) {
            self.reception.departures += 1;
            self.presence.take_out(channel, since);
            self.show_left(now, channel, &departure);
            self.pool.see_left(channel, self.reports.accounted(channel, self.pool.charge()));
            self.put_marker(channel, Standing::out(since));
        }
        Ok(())
    }

    pub(super) fn take_quantum(&mut self, channel: usize, quantum: u32) {
        if !self.presence.is_out(channel) {
            let round = self.scheduler.standing(channel).next.round;
            if quantum == 0 {
                self.presence.take_out(channel, round);
            }
            self.put_marker(channel, Standing::beginning(round, quantum));
        }
    }

    /// Handles the activity reported in a marker. If markers older than the deactivation still
    /// arrive after the wait, the two ends disagree, and a reset is requested.
    pub(super) fn see_presence(
        &mut self,
        now: Instant,
        channel: usize,
        reported: &Standing,
    ) -> Result<(), Discard> {
        self.presence.see_marker(now, channel, reported).map_err(|since| {
            if since.after(self.options.wait) <= now {
                self.presence.stale_since[channel] = None;
                self.epochs.request(channel);
            }
            Discard::ChannelOut
        })
    }

    pub(super) fn put_marker(&mut self, channel: usize, reported: Standing) {
        if self.buffers[channel].packets() == 0 {
            self.read_marker(channel, reported);
        } else {
            self.buffers[channel].push_marker(reported);
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Presence: out, acknowledge, since, in_from, stale_since, departures);
