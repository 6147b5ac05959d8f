//! Evidence of loss: the sequence numbers seen on each channel, and the retransmission state.

use core::time::Duration;

use crate::message::small;
use crate::tag::{Tag, ahead};
use crate::{ChannelSet, Charge, Departure, Instant, Marker, RepairOf, RepairRequests};

use super::buffer::Buffer;
use super::copies::Copies;
use super::gaps::{Gaps, Lost};
use super::replaced::Replaced;

/// Options for guaranteed order, optionally with retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guarantee {
    /// Timing of retransmission requests; `None` disables retransmission.
    pub repair: Option<RepairRequests>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    next_on_channel: u32,
    /// Lower bound for the pipe sequence numbers that can still arrive on the channel.
    below: u32,
    round_trip_ns: u32,
    out_after_ns: u32,
    /// Whether the start of the epoch or a packet has been received on the channel. Before that, a
    /// gap proves nothing: this receiver may have received the missing packets before a restart.
    begun: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Confirmed<P> {
    pub(super) next: u32,
    pub(super) next_since: Instant,
    /// Channel of the last delivered packet; in free order, the guess for the next packet.
    pub(super) given_from: usize,
    shown: Vec<Shown>,
    pub(super) repair: Option<Repair<P>>,
    pub(super) has_begun: bool,
    /// Channels whose markers name long-past sequence numbers, and the number of such markers in a
    /// row.
    pub(super) astray: (ChannelSet, u32),
}

#[derive(Clone, Debug)]
pub(super) struct Repair<P> {
    pub(super) gaps: Gaps,
    pub(super) copies: Copies<P>,
    pub(super) replaced: Replaced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Next,
    Missed,
    /// Duplicate, or a packet that was already skipped.
    Repeated,
}

pub(super) enum Blocked {
    /// No later packet has arrived.
    Idle,
    /// Channels that can still carry the next packet.
    Unproven(ChannelSet),
    /// End of the wait for a retransmitted copy.
    Repair(Instant),
    /// Lowest pipe sequence number after the lost packets.
    Lost(u32),
}

impl<P> Confirmed<P> {
    pub(super) fn new(guarantee: Guarantee, charge: Charge, channels: usize) -> Self {
        let repair = |requests: RepairRequests| Repair {
            gaps: Gaps::new(requests),
            copies: Copies::new(charge),
            replaced: Replaced::new(channels),
        };
        Self {
            next: 0,
            next_since: Instant::ORIGIN,
            given_from: 0,
            shown: vec![Shown::default(); channels],
            repair: guarantee.repair.map(repair),
            has_begun: false,
            astray: (0, 0),
        }
    }

    pub(super) fn restart(&mut self) {
        self.next = 0;
        self.shown.fill(Shown::default());
        (self.has_begun, self.astray) = (false, (0, 0));
        if let Some(repair) = &mut self.repair {
            repair.gaps.restart();
            repair.copies.clear();
            repair.replaced.clear();
        }
    }

    pub(super) fn repair_state(&mut self, now: Instant) {
        self.next_since = self.next_since.min(now);
        if let Some(repair) = &mut self.repair {
            repair.gaps.repair_state(now);
            repair.copies.repair_state(now);
        }
    }

    pub(super) fn copies(&self) -> usize {
        self.repair.as_ref().map_or(0, |repair| repair.copies.len())
    }

    pub(super) fn has_copy(&self, sequence: u32) -> bool {
        let copies = self.repair.as_ref().map(|repair| &repair.copies);
        copies.is_some_and(|copies| copies.len() > 0 && copies.has(sequence))
    }

    pub(super) fn go_to(&mut self, now: Instant, next: u32) {
        (self.next, self.next_since) = (next, now);
    }

    /// Records that the next channel sequence number is `on_channel`, and that no pipe sequence
    /// number below `below` will follow on the channel.
    pub(super) fn show(&mut self, now: Instant, channel: usize, on_channel: u32, below: u32) {
        let shown = &mut self.shown[channel];
        let lost = ahead(on_channel, shown.next_on_channel);
        let Shown { next_on_channel: first, below: from, begun, round_trip_ns, .. } = *shown;
        *shown = Shown { next_on_channel: on_channel, below, begun: true, ..*shown };
        let Some(repair) = self.repair.as_mut().filter(|_| begun && lost > 0) else { return };
        repair.gaps.expire(now, self.next);
        if ahead(below, self.next) > 0 {
            let (channel, count) = (small(channel), lost.unsigned_abs());
            let before = below;
            let longest_ns = self.shown.iter().map(|one| one.round_trip_ns).max().unwrap_or(0);
            let lost = Lost { channel, first, count, from, before, round_trip_ns, longest_ns };
            repair.gaps.note(now, lost);
            repair.replaced.fill((channel, first), on_channel, &mut repair.gaps);
        }
    }

    pub(super) fn nearest(&self, channels: ChannelSet, own: usize) -> Option<usize> {
        let of = |channel: &usize| channels & (1 << channel) != 0;
        // Subtracting 1 sorts channels without a measurement (0) last.
        let span_ns = |channel: usize| self.shown[channel].round_trip_ns.wrapping_sub(1);
        let those = (0..self.shown.len()).filter(of);
        those.min_by_key(|channel| (span_ns(*channel), *channel != own))
    }

    pub(super) fn see_left(&mut self, now: Instant, channel: usize, departure: &Departure) {
        if self.repair.is_some() {
            self.show(now, channel, departure.sent_packets, departure.next_sequence);
        }
        if let Some(repair) = &mut self.repair {
            let round_trip_ns = self.shown.iter().map(|shown| shown.round_trip_ns).max();
            repair.gaps.see_left(now, small(channel), round_trip_ns.unwrap_or(0));
        }
    }

    /// Returns the maximum time until the receiver learns from the sender that these silent
    /// channels are deactivated; zero if unknown, or without retransmission.
    pub(super) fn left_within(&self, channels: ChannelSet) -> Duration {
        let is_of = |(channel, _): &(usize, &Shown)| channels & (1 << channel) != 0;
        let silent = self.shown.iter().enumerate().filter(is_of);
        let found_ns = silent.map(|(_, shown)| shown.out_after_ns).max().unwrap_or(0);
        let way_ns = self.shown.iter().map(|shown| shown.round_trip_ns).max().unwrap_or(0);
        if self.repair.is_none() || found_ns == 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(u64::from(found_ns) + u64::from(way_ns))
    }

    pub(super) fn begin(&mut self, channel: usize) {
        self.shown[channel] = Shown { begun: true, ..Shown::default() };
    }

    pub(super) fn see_packet(&mut self, now: Instant, channel: usize, tag: Tag) -> Seen {
        let Tag { sequence, channel_sequence, repair_of, .. } = tag;
        let is_over = ahead(channel_sequence, self.shown[channel].next_on_channel) < 0;
        if is_over && !self.fill(small(channel), channel_sequence) {
            return Seen::Repeated;
        }
        if let Some(of) = repair_of {
            self.see_copy(now, of);
        }
        if is_over {
            return Seen::Missed;
        }
        // Packets lost before a first transmission precede it in pipe order; packets lost before a
        // copy precede `next_sequence`, the next new packet when the copy was sent.
        let (before, after) = repair_of.map_or((sequence, sequence.wrapping_add(1)), |of| {
            (of.next_sequence, of.next_sequence)
        });
        if channel_sequence != self.shown[channel].next_on_channel {
            self.show(now, channel, channel_sequence, before);
        }
        let shown = &mut self.shown[channel];
        shown.begun = true;
        (shown.next_on_channel, shown.below) = (channel_sequence.wrapping_add(1), after);
        Seen::Next
    }

    fn fill(&mut self, channel: u8, channel_sequence: u32) -> bool {
        let gaps = self.repair.as_mut().map(|repair| &mut repair.gaps);
        gaps.is_some_and(|gaps| gaps.fill(channel, channel_sequence))
    }

    /// Handles a copy. Its packet is no longer missing, even if the first transmission is reported
    /// lost later.
    fn see_copy(&mut self, now: Instant, of: RepairOf) {
        let RepairOf { channel, channel_sequence, .. } = of;
        let shown = self.shown.get(usize::from(channel));
        let is_to_come =
            shown.is_some_and(|shown| ahead(channel_sequence, shown.next_on_channel) >= 0);
        let Some(repair) = &mut self.repair else { return };
        if !repair.gaps.see_copy(now, channel, channel_sequence) && is_to_come {
            repair.replaced.push(channel, channel_sequence);
        }
    }

    /// Handles a marker; returns by how many pipe sequence numbers the marker lags behind `next`.
    pub(super) fn see_marker(&mut self, now: Instant, channel: usize, marker: &Marker) -> u32 {
        let shown = &mut self.shown[channel];
        (shown.round_trip_ns, shown.out_after_ns) = (marker.round_trip_ns, marker.out_after_ns);
        self.show(now, channel, marker.sent_packets, marker.next_sequence);
        u32::try_from(ahead(self.next, marker.next_sequence)).unwrap_or(0)
    }

    pub(super) fn blocked(&self, buffers: &[Buffer<P>], awaited: ChannelSet) -> Blocked {
        let repair = self.repair.as_ref();
        let heads = buffers.iter().filter_map(Buffer::head);
        let copies = repair.and_then(|repair| repair.copies.first());
        let waiting = heads.chain(copies).map(|number| ahead(number, self.next)).min();
        let awaited = |(channel, _): &(usize, &Shown)| awaited & (1 << channel) != 0;
        let (mut past, mut unproven) = (waiting, 0);
        for (channel, shown) in self.shown.iter().enumerate().filter(awaited) {
            let ahead = ahead(shown.below, self.next);
            unproven |= ChannelSet::from(ahead <= 0) << channel;
            past = Some(past.map_or(ahead, |past| past.min(ahead)));
        }
        let Some(past) = past.filter(|_| unproven == 0 || waiting.is_some()) else {
            return Blocked::Idle;
        };
        if unproven != 0 {
            return Blocked::Unproven(unproven);
        }
        if let Some(until) = repair.and_then(|repair| repair.gaps.wait_until(self.next)) {
            return Blocked::Repair(until);
        }
        let past = self.next.wrapping_add(past.unsigned_abs());
        let gap = repair.and_then(|repair| repair.gaps.first_after(self.next));
        Blocked::Lost(gap.filter(|gap| ahead(*gap, past) < 0).unwrap_or(past))
    }
}

#[cfg(test)]
crate::corruption::corrupt!(
    Confirmed<P>: next, next_since, given_from, has_begun, astray, shown; repair
);
#[cfg(test)]
crate::corruption::corrupt!(
    Shown: next_on_channel, below, round_trip_ns, out_after_ns, begun
);
#[cfg(test)]
crate::corruption::corrupt!(Repair<P>: gaps, copies);
