//! Guaranteed order: logical reception guesses, sequence numbers confirm.
//!
//! ```text
//!   next = 7     channel 0  | 9 13 ..   shown up to 13       the scheduler guesses channel 2: empty
//!                channel 1  | 8 10 ..   shown up to 10       nobody holds 7, all have shown more:
//!                channel 2  |           marker: next is 12   7 is lost, 8 is the next
//! ```
//!
//! A channel delivers in order, so what it shows, a packet's number or in a marker that of the next
//! packet of the pipe, says that on it nothing lower will come. What every channel has gone past is
//! lost, and only that is: so nothing is given out before what is still to come, and never anything
//! twice. As long as nothing is lost the scheduler's guess is right, and nobody has to be searched.
//!
//! Where lost packets are asked for again, one is known to be lost as soon as its channel shows a
//! later number of its own. Its turn waits for the copy, for so long after that, and then goes on
//! without.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 4: the sequence number confirms what the
//! simulation says. What proves a loss, and repair, are ours.
//!
//! Invariants: numbers given out rise within an epoch; nothing is searched for as long as the guess
//! is right; a packet waits for evidence at most the wait, and for copies at most theirs.

use crate::message::small;
use crate::tag::{Tag, ahead};
use crate::{
    ChannelSet, Departure, Discard, Epoch, Instant, Kind, Marker, Numbered, Order, RepairRequests,
};

use super::Receiver;
use super::buffer::Buffer;
use super::copies::Copies;
use super::gaps::{Gaps, Lost};

/// Guaranteed order, and what it may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guarantee {
    /// How lost packets are asked for, if they are.
    pub repair: Option<RepairRequests>,
}

/// What a channel has shown.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// Its own number of its next packet.
    next_on_channel: u32,
    /// In the pipe, nothing below this number is still to come on it.
    below: u32,
    /// The time there and back on it as its last marker said, in nanoseconds.
    round_trip_ns: u32,
    /// Whether it has been heard since the epoch began on it, so that what is missing is lost.
    /// Where it was not, a receiver that forgot may have had what came before.
    begun: bool,
}

/// What is known of numbers.
#[derive(Clone, Debug)]
pub(super) struct Confirmed<P> {
    /// The number of the next packet.
    next: u32,
    /// Since when it is that.
    next_since: Instant,
    /// On which channel the last packet came: in free order the next is likely to be there, too.
    given_from: usize,
    shown: Vec<Shown>,
    repair: Option<Repair<P>>,
    /// Markers in a row that speak of numbers long over, and on which channels they came.
    astray: (ChannelSet, u32),
}

/// What has been asked for, and what came of that.
#[derive(Clone, Debug)]
struct Repair<P> {
    gaps: Gaps,
    copies: Copies<P>,
}

/// Why the next packet is not given out.
enum Blocked {
    /// Nothing has come that could be.
    Idle,
    /// These channels may still bring it.
    Unproven(ChannelSet),
    /// It is lost, and a copy may come until then.
    Repair(Instant),
    /// It is lost; this one is the next.
    Lost(u32),
}

impl<P> Confirmed<P> {
    pub(super) fn new(guarantee: Guarantee, channels: usize) -> Self {
        let repair = |requests: RepairRequests| Repair {
            gaps: Gaps::new(requests),
            copies: Copies::new(requests.copies_max),
        };
        Self {
            next: 0,
            next_since: Instant::ORIGIN,
            given_from: 0,
            shown: vec![Shown::default(); channels],
            repair: guarantee.repair.map(repair),
            astray: (0, 0),
        }
    }

    /// A new epoch: numbers begin anew.
    pub(super) fn restart(&mut self) {
        self.next = 0;
        self.shown.fill(Shown::default());
        self.astray = (0, 0);
        if let Some(repair) = &mut self.repair {
            repair.gaps.restart();
            repair.copies.clear();
        }
    }

    /// Times that can be: nothing came in the future, nor is anything waited for longer than its
    /// wait.
    pub(super) fn mend(&mut self, now: Instant) {
        self.next_since = self.next_since.min(now);
        if let Some(repair) = &mut self.repair {
            repair.gaps.mend(now);
            repair.copies.mend(now);
        }
    }

    /// Copies that wait for their turn.
    pub(super) fn copies(&self) -> usize {
        self.repair.as_ref().map_or(0, |repair| repair.copies.len())
    }

    fn go_to(&mut self, now: Instant, next: u32) {
        (self.next, self.next_since) = (next, now);
    }

    /// A channel shows its next number, and that nothing below another is still to come on it.
    fn show(&mut self, now: Instant, channel: usize, on_channel: u32, below: u32) {
        let shown = &mut self.shown[channel];
        let lost = ahead(on_channel, shown.next_on_channel);
        let Shown { next_on_channel: first, below: from, begun, round_trip_ns } = *shown;
        *shown = Shown { next_on_channel: on_channel, below, begun: true, round_trip_ns };
        let Some(repair) = self.repair.as_mut().filter(|_| begun && lost > 0) else { return };
        repair.gaps.expire(now, self.next);
        if ahead(below, self.next) > 0 {
            let (channel, count) = (small(channel), lost.unsigned_abs());
            let before = below;
            repair.gaps.note(now, Lost { channel, first, count, from, before, round_trip_ns });
        }
    }

    /// A channel has left: what was on its way there is lost, and sent again without being asked.
    fn see_left(&mut self, now: Instant, channel: usize, departure: &Departure) {
        if self.repair.is_some() {
            self.show(now, channel, departure.sent_packets, departure.next_sequence);
        }
        if let Some(repair) = &mut self.repair {
            repair.gaps.put_off(now, small(channel));
        }
    }

    /// The epoch begins on a channel: nothing of it was on the channel before.
    fn begin(&mut self, channel: usize) {
        self.shown[channel] = Shown { begun: true, ..Shown::default() };
    }

    /// Whether a packet comes on its own channel after it was taken for lost.
    fn is_missed(&self, channel: usize, tag: Tag) -> bool {
        let is_over = ahead(tag.channel_sequence, self.shown[channel].next_on_channel) < 0;
        let is_missing =
            |repair: &Repair<P>| repair.gaps.holds(small(channel), tag.channel_sequence);
        is_over && self.repair.as_ref().is_some_and(is_missing)
    }

    /// A packet comes on its own channel: whether it is one to be kept.
    fn see_packet(&mut self, now: Instant, channel: usize, tag: Tag) -> Result<(), Discard> {
        if ahead(tag.channel_sequence, self.shown[channel].next_on_channel) < 0 {
            return Err(Discard::Repeated);
        }
        // What was lost before it has lower numbers than this one.
        self.show(now, channel, tag.channel_sequence, tag.sequence);
        let shown = &mut self.shown[channel];
        shown.next_on_channel = tag.channel_sequence.wrapping_add(1);
        shown.below = tag.sequence.wrapping_add(1);
        if ahead(tag.sequence, self.next) < 0 { Err(Discard::TooLate) } else { Ok(()) }
    }

    /// A copy comes.
    fn see_copy(
        &mut self,
        now: Instant,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let repair = self.repair.as_mut().ok_or(Discard::NotAsked)?;
        let channel = tag.repair_of.ok_or(Discard::NotAsked)?;
        repair.gaps.fill(channel, tag.channel_sequence);
        if ahead(tag.sequence, self.next) < 0 {
            return Err(Discard::TooLate);
        }
        repair.copies.push(now, tag, length_bytes, packet)
    }

    /// A marker comes: how many numbers of the pipe the next is ahead of what it says.
    fn see_marker(&mut self, now: Instant, channel: usize, marker: &Marker) -> u32 {
        self.shown[channel].round_trip_ns = marker.round_trip_ns;
        self.show(now, channel, marker.sent_packets, marker.next_sequence);
        u32::try_from(ahead(self.next, marker.next_sequence)).unwrap_or(0)
    }

    /// Why the next number is not given out, though it was looked for.
    fn blocked(&self, buffers: &[Buffer<P>], awaited: ChannelSet) -> Blocked {
        let repair = self.repair.as_ref();
        let heads = buffers.iter().filter_map(|buffer| Some(buffer.head()?.sequence));
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

impl<S: Numbered, P> Receiver<S, P> {
    /// A packet has come on a channel, with the tag that stood before it.
    pub fn handle_tagged(
        &mut self,
        now: Instant,
        channel: usize,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let taken = self
            .channel_of(channel)
            .and_then(|channel| self.take_tagged(now, channel, tag, length_bytes, packet));
        self.reception.discards.count(taken)
    }

    fn take_tagged(
        &mut self,
        now: Instant,
        channel: usize,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let confirmed = self.confirmed.as_mut().ok_or(Discard::OtherMode)?;
        let buffer = self.buffers.get_mut(channel).ok_or(Discard::NoSuchChannel)?;
        let epoch = self.epochs.current().ok_or(Discard::Unsynchronised)?;
        if length_bytes == 0 || length_bytes > self.scheduler.longest_bytes() {
            return Err(Discard::BadLength);
        }
        if epoch.low() != tag.epoch {
            return Err(Discard::StaleEpoch);
        }
        self.reports.pass(channel, length_bytes);
        if tag.repair_of.is_some() {
            return confirmed.see_copy(now, tag, length_bytes, packet);
        }
        if confirmed.is_missed(channel, tag) {
            self.reports.count(now, channel, length_bytes);
            self.reports.count_up_to(channel, tag.channel_sequence.wrapping_add(1));
            let tag = Tag { repair_of: Some(small(channel)), ..tag };
            return confirmed.see_copy(now, tag, length_bytes, packet);
        }
        let kept = confirmed.see_packet(now, channel, tag);
        if kept != Err(Discard::Repeated) {
            self.reports.count(now, channel, length_bytes);
            self.reports.count_up_to(channel, tag.channel_sequence.wrapping_add(1));
        }
        let full = buffer.packets() == self.options.buffer_packets_max;
        if kept.is_ok() && !full {
            buffer.push_tagged(now, tag, length_bytes, packet);
        }
        self.heard(channel);
        kept.and(if full { Err(Discard::BufferFull) } else { Ok(()) })
    }

    /// The packet with the next number, wherever it is.
    pub(super) fn poll_confirmed(&mut self, now: Instant) -> Option<P> {
        loop {
            let next = self.confirmed.as_ref()?.next;
            let guess = match self.options.order {
                Order::Strict => self.scheduler.current(),
                Order::Free => self.confirmed.as_ref()?.given_from.min(self.buffers.len() - 1),
            };
            let found = if self.buffers[guess].head().is_some_and(|tag| tag.sequence == next) {
                Some(guess)
            } else {
                self.holder(now, next)
            };
            let given = match found {
                Some(channel) => Some(self.give(now, channel)),
                None => self.give_copy(next),
            };
            if let Some(packet) = given {
                let confirmed = self.confirmed.as_mut()?;
                confirmed.given_from = found.unwrap_or(confirmed.given_from);
                confirmed.go_to(now, next.wrapping_add(1));
                self.reception.packets += 1;
                return Some(packet);
            }
            self.go_on(now)?;
        }
    }

    /// The channel whose first packet has this number; earlier ones are too late.
    fn holder(&mut self, now: Instant, next: u32) -> Option<usize> {
        for channel in 0..self.buffers.len() {
            while let Some(tag) = self.buffers[channel].head() {
                match ahead(tag.sequence, next) {
                    0 => return Some(channel),
                    1.. => break,
                    _ => {
                        self.give(now, channel);
                        self.reception.discards.add(Discard::TooLate, 1);
                    }
                }
            }
        }
        None
    }

    /// The first packet of a channel. The scheduler is charged where it was right: where it is not,
    /// the next marker on the channel that it waits for tells it.
    fn give(&mut self, now: Instant, channel: usize) -> P {
        let (length_bytes, packet, marker) =
            self.buffers[channel].pop(now).expect("its head was seen");
        self.reports.change(now, channel);
        if self.options.order == Order::Strict && channel == self.scheduler.current() {
            self.scheduler.charge(length_bytes);
        }
        if let Some(standing) = marker {
            self.read_marker(channel, standing);
        }
        packet
    }

    /// Goes on to the first number that waits: whether there is one.
    pub(super) fn skip_missing(&mut self) -> bool {
        let Some(confirmed) = &mut self.confirmed else { return false };
        let copies = confirmed.repair.as_ref().and_then(|repair| repair.copies.first());
        let heads = self.buffers.iter().filter_map(|buffer| Some(buffer.head()?.sequence));
        let first = heads.chain(copies).min_by_key(|number| ahead(*number, confirmed.next));
        if let Some(first) = first {
            self.reception.given_up += u64::from(first.wrapping_sub(confirmed.next));
            confirmed.next = first;
        }
        first.is_some()
    }

    fn give_copy(&mut self, next: u32) -> Option<P> {
        let copy = self.confirmed.as_mut()?.repair.as_mut()?.copies.take(next)?;
        let is_guessed = copy.tag.repair_of == Some(small(self.scheduler.current()));
        if self.options.order == Order::Strict && is_guessed {
            self.scheduler.charge(copy.length_bytes);
        }
        self.reception.repaired += 1;
        Some(copy.packet)
    }

    /// The next number becomes a later one, if the present one is lost, or waited for too long.
    fn go_on(&mut self, now: Instant) -> Option<()> {
        let awaited = self.awaited();
        let confirmed = self.confirmed.as_mut()?;
        if let Some(repair) = &mut confirmed.repair {
            repair.gaps.expire(now, confirmed.next);
        }
        match confirmed.blocked(&self.buffers, awaited) {
            Blocked::Idle | Blocked::Repair(_) => None,
            Blocked::Unproven(channels) => {
                self.evidence_until().filter(|until| *until <= now)?;
                self.silent |= channels;
                self.reception.silences += u64::from(channels.count_ones());
                Some(())
            }
            Blocked::Lost(later) => {
                let lost = later.wrapping_sub(confirmed.next);
                self.reception.given_up += u64::from(lost);
                confirmed.go_to(now, later);
                Some(())
            }
        }
    }

    /// Channels that are in and not silent: what may still come is to be waited for on these.
    fn awaited(&self) -> ChannelSet {
        self.in_channels() & !self.silent
    }

    pub(super) fn in_channels(&self) -> ChannelSet {
        let is_in = |channel: &usize| self.scheduler.standing(*channel).is_in();
        (0..self.buffers.len()).filter(is_in).fold(0, |set, channel| set | 1 << channel)
    }

    /// When the wait of what has waited longest is over.
    fn evidence_until(&self) -> Option<Instant> {
        let confirmed = self.confirmed.as_ref()?;
        let copies = confirmed.repair.as_ref().and_then(|repair| repair.copies.waiting_since());
        let since = self.buffers.iter().filter_map(Buffer::waiting_since).chain(copies).min()?;
        Some(since.after(self.options.wait))
    }

    /// When something is to be done in guaranteed order though nothing comes.
    pub(super) fn confirmed_timeout(&self) -> Option<Instant> {
        let confirmed = self.confirmed.as_ref()?;
        // Without an epoch nobody is asked, whatever is missing.
        let repair = confirmed.repair.as_ref().filter(|_| self.epochs.current().is_some());
        let ask = repair.and_then(|repair| repair.gaps.timeout());
        let wait = match confirmed.blocked(&self.buffers, self.awaited()) {
            Blocked::Idle | Blocked::Lost(_) => None,
            Blocked::Unproven(_) => self.evidence_until(),
            Blocked::Repair(until) => Some(until),
        };
        [ask, wait].into_iter().flatten().min()
    }

    /// A marker has come, be it at the head of its buffer or not. A slow channel's marker speaks of
    /// numbers that are over, by what others have brought since; where every channel's does, and by
    /// more than all buffers hold, or after a wait in which nobody brought anything, the receiver
    /// is wrong.
    pub(super) fn show_marker(&mut self, now: Instant, channel: usize, marker: &Marker) {
        let in_channels = self.in_channels();
        let packets_max = self.options.buffer_packets_max.saturating_mul(self.buffers.len());
        let Some(confirmed) = &mut self.confirmed else { return };
        let ahead = confirmed.see_marker(now, channel, marker);
        let is_at_rest = confirmed.next_since.after(self.options.wait) <= now;
        if ahead as usize <= if is_at_rest { 0 } else { packets_max } {
            confirmed.astray = (0, 0);
            return;
        }
        let (channels, markers) = &mut confirmed.astray;
        *channels |= 1 << channel;
        *markers = markers.saturating_add(1);
        if *channels & in_channels == in_channels && *markers >= self.options.late_in_a_row_max {
            confirmed.astray = (0, 0);
            self.epochs.request(channel);
        }
    }

    /// The epoch begins on a channel.
    pub(super) fn begin(&mut self, channel: usize) {
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.begin(channel);
        }
    }

    /// Packets to be asked for again: on which channel, and which.
    pub(super) fn poll_missing(&mut self, now: Instant) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        let confirmed = self.confirmed.as_mut()?;
        let repair = confirmed.repair.as_mut()?;
        repair.gaps.expire(now, confirmed.next);
        let missing = repair.gaps.poll(now)?;
        let channel = usize::from(missing.channel);
        // Nothing gets through on the way back of one that is out.
        let on = if channel < self.buffers.len() && self.presence.is_out(channel) {
            (0..self.buffers.len()).find(|other| !self.presence.is_out(*other)).unwrap_or(channel)
        } else {
            channel
        };
        Some((on, epoch, Kind::Missing(missing)))
    }

    /// A channel has left.
    pub(super) fn show_left(&mut self, now: Instant, channel: usize, departure: &Departure) {
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.see_left(now, channel, departure);
        }
    }

    /// Copies that wait for their turn.
    pub fn copies(&self) -> usize {
        self.confirmed.as_ref().map_or(0, Confirmed::copies)
    }
}

#[cfg(test)]
impl<P> Confirmed<P> {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.next = crate::corruption::word(words);
        self.next_since = Instant::from_nanoseconds(words());
        self.given_from = crate::corruption::index(words);
        self.astray = (words(), crate::corruption::word(words));
        for shown in &mut self.shown {
            *shown = Shown {
                next_on_channel: crate::corruption::word(words),
                below: crate::corruption::word(words),
                round_trip_ns: crate::corruption::word(words),
                begun: words().is_multiple_of(2),
            };
        }
        if let Some(repair) = &mut self.repair {
            repair.gaps.corrupt(words);
            repair.copies.corrupt(words);
        }
    }
}
