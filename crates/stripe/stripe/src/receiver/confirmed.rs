//! Guaranteed order: the scheduler guesses the channel of the next packet, and sequence numbers
//! confirm the guess.
//!
//! ```text
//!   next = 7     channel 0  | 9 13 ..   past 13            the scheduler guesses channel 2: empty
//!                channel 1  | 8 10 ..   past 10              7 is not buffered, all channels are past it:
//!                channel 2  |           marker: next is 12   7 is lost, 8 is the next
//! ```
//!
//! A pipe sequence number in a packet or marker proves that no lower number will follow on its
//! channel. A packet counts as lost only when every channel is past its number. No packet is
//! therefore delivered twice, or before an earlier packet that can still arrive.
//!
//! With retransmission, a gap in the channel sequence numbers already proves the loss. Delivery
//! then waits for the copy for a limited time.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 4; proof of loss and retransmission are
//! ours.
//!
//! Invariants: delivered numbers increase within an epoch; all buffers are searched only after a
//! wrong guess; waits for evidence and for copies are bounded.

use core::time::Duration;

use crate::message::small;
use crate::tag::{Tag, ahead};
use crate::{
    ChannelSet, Departure, Discard, Epoch, Instant, Kind, Marker, Numbered, Order, channels_where,
};

use super::Receiver;
use super::buffer::Buffer;
use super::copies::Copy;
use super::evidence::{Blocked, Confirmed, Seen};

impl<S: Numbered, P> Receiver<S, P> {
    /// Handles a packet or copy in guaranteed order; the tag names its channel.
    pub fn handle_tagged(
        &mut self,
        now: Instant,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let taken = self.take_tagged(now, tag, length_bytes, packet);
        self.reception.discards.count(taken)
    }

    fn take_tagged(
        &mut self,
        now: Instant,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let channel = usize::from(tag.channel);
        let confirmed = self.confirmed.as_mut().ok_or(Discard::OtherMode)?;
        let buffer = self.buffers.get_mut(channel).ok_or(Discard::NoSuchChannel)?;
        let epoch = self.epochs.current().ok_or(Discard::Unsynchronised)?;
        if length_bytes == 0 || length_bytes > self.scheduler.longest_bytes() {
            return Err(Discard::BadLength);
        }
        if epoch.low() != tag.session {
            return Err(Discard::StaleEpoch);
        }
        if !self.epochs.has_begun(channel) {
            return Err(self.forget(channel));
        }
        self.reports.pass(channel, length_bytes);
        let Tag { sequence, channel_sequence, .. } = tag;
        let lost = match confirmed.see_packet(now, channel, tag) {
            Seen::Repeated => {
                self.note_received(channel);
                return Err(Discard::Repeated);
            }
            Seen::Next => tag.repair_of.map(|of| of.channel),
            Seen::Missed => Some(tag.repair_of.map_or(small(channel), |of| of.channel)),
        };
        let packets = channel_sequence.wrapping_add(1);
        self.reports.count_numbered(now, channel, length_bytes, packets);
        let taken = if ahead(sequence, confirmed.next) < 0 {
            Err(Discard::TooLate)
        } else if let Some(channel) = lost {
            self.take_copy(Copy { sequence, channel, length_bytes, packet, at: now })
        } else if confirmed.has_copy(sequence) {
            Err(Discard::Repeated)
        } else if self.pool.has_place(buffer) {
            buffer.push_numbered(now, sequence, length_bytes, packet);
            Ok(())
        } else if self.finds_room(channel, length_bytes, 0) {
            self.buffers[channel].push_numbered(now, sequence, length_bytes, packet);
            Ok(())
        } else {
            Err(self.refuse_for_room(channel))
        };
        self.note_received(channel);
        taken
    }

    pub(super) fn poll_confirmed(&mut self, now: Instant) -> Option<P> {
        if !self.confirmed.as_ref()?.has_begun {
            self.begin_giving_out(now)?;
        }
        loop {
            let next = self.confirmed.as_ref()?.next;
            let guess = match self.options.order {
                Order::Strict => self.scheduler.current(),
                Order::Free => self.confirmed.as_ref()?.given_from.min(self.buffers.len() - 1),
            };
            let found = if self.buffers[guess].head() == Some(next) {
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

    /// Starts delivery once the epoch has started on every awaited channel, or the remaining
    /// channels have been silent for the whole wait.
    #[cold]
    fn begin_giving_out(&mut self, now: Instant) -> Option<()> {
        let channels = self.epochs.not_begun(self.awaited());
        if channels != 0 {
            self.evidence_until(channels).filter(|until| *until <= now)?;
            self.be_silent(channels);
        }
        self.confirmed.as_mut()?.has_begun = true;
        Some(())
    }

    fn be_silent(&mut self, channels: ChannelSet) {
        self.silent |= channels;
        self.reception.silences += u64::from(channels.count_ones());
    }

    /// Handles a message other than a reset, sent after `sent_packets` packets on the channel. If
    /// the start of the epoch was missed and the count is not 0, the epoch is abandoned: this
    /// receiver may have delivered those packets before a restart.
    pub(super) fn see_begun(&mut self, channel: usize, sent_packets: u32) -> Result<(), Discard> {
        if self.confirmed.is_none() || self.epochs.has_begun(channel) {
            return Ok(());
        }
        if sent_packets != 0 {
            return Err(self.forget(channel));
        }
        self.epochs.begin(channel);
        Ok(())
    }

    #[cold]
    fn forget(&mut self, channel: usize) -> Discard {
        let waiting: usize =
            self.buffers.iter().map(Buffer::packets).fold(0, usize::saturating_add);
        self.reception.discards.add(Discard::Reset, waiting.saturating_add(self.copies()) as u64);
        self.buffers.iter_mut().for_each(Buffer::clear);
        self.epochs.forget(channel);
        self.restart();
        Discard::Unsynchronised
    }

    /// Returns the channel with packet `next` at its head, and discards earlier packets. Not
    /// inlined: only the first packet of a run needs it.
    #[inline(never)]
    fn holder(&mut self, now: Instant, next: u32) -> Option<usize> {
        for channel in 0..self.buffers.len() {
            while let Some(sequence) = self.buffers[channel].head() {
                match ahead(sequence, next) {
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

    /// Delivers the head of a buffer. If the scheduler's guess was right, the scheduler is charged;
    /// otherwise the next marker on the expected channel corrects it.
    #[expect(
        clippy::inline_always,
        reason = "a call would cost half as much again, for every packet"
    )]
    #[inline(always)]
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

    pub(super) fn skip_missing(&mut self) -> bool {
        let Some(confirmed) = &mut self.confirmed else { return false };
        let copies = confirmed.repair.as_ref().and_then(|repair| repair.copies.first());
        let heads = self.buffers.iter().filter_map(Buffer::head);
        let first = heads.chain(copies).min_by_key(|number| ahead(*number, confirmed.next));
        if let Some(first) = first {
            self.reception.given_up += u64::from(first.wrapping_sub(confirmed.next));
            confirmed.next = first;
        }
        first.is_some()
    }

    fn give_copy(&mut self, next: u32) -> Option<P> {
        let copy = self.confirmed.as_mut()?.repair.as_mut()?.copies.take(next)?;
        let is_guessed = copy.channel == small(self.scheduler.current());
        if self.options.order == Order::Strict && is_guessed {
            self.scheduler.charge(copy.length_bytes);
        }
        self.reception.repaired += 1;
        Some(copy.packet)
    }

    fn go_on(&mut self, now: Instant) -> Option<()> {
        let awaited = self.awaited();
        let confirmed = self.confirmed.as_mut()?;
        if let Some(repair) = &mut confirmed.repair {
            repair.gaps.expire(now, confirmed.next);
        }
        match confirmed.blocked(&self.buffers, awaited) {
            Blocked::Idle | Blocked::Repair(_) => None,
            Blocked::Unproven(channels) => {
                self.evidence_until(channels).filter(|until| *until <= now)?;
                self.be_silent(channels);
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

    fn awaited(&self) -> ChannelSet {
        self.in_channels() & !self.silent
    }

    pub(super) fn in_channels(&self) -> ChannelSet {
        channels_where(self.buffers.len(), |channel| self.scheduler.standing(channel).is_in())
    }

    /// Returns when the wait for packets on `channels` ends. The wait starts at the arrival of the
    /// packet that has waited longest, and leaves the sender time to detect a dead channel and
    /// retransmit.
    fn evidence_until(&self, channels: ChannelSet) -> Option<Instant> {
        let confirmed = self.confirmed.as_ref()?;
        let copies = confirmed.repair.as_ref().and_then(|repair| repair.copies.waiting_since());
        let since = self.buffers.iter().filter_map(Buffer::waiting_since).chain(copies).min()?;
        let left_within =
            if self.is_full() { Duration::ZERO } else { confirmed.left_within(channels) };
        Some(since.after(self.options.wait.max(left_within)))
    }

    pub(super) fn confirmed_timeout(&self) -> Option<Instant> {
        let confirmed = self.confirmed.as_ref()?;
        let repair = confirmed.repair.as_ref().filter(|_| self.epochs.current().is_some());
        let ask = repair.and_then(|repair| repair.gaps.timeout());
        let awaited = self.awaited();
        let not_begun = if confirmed.has_begun { 0 } else { self.epochs.not_begun(awaited) };
        let wait = match confirmed.blocked(&self.buffers, awaited) {
            _ if not_begun != 0 => self.evidence_until(not_begun),
            Blocked::Idle | Blocked::Lost(_) => None,
            Blocked::Unproven(channels) => self.evidence_until(channels),
            Blocked::Repair(until) => Some(until),
        };
        [ask, wait].into_iter().flatten().min()
    }

    /// Handles a marker on arrival. Markers of a slow channel may name past sequence numbers. The
    /// receiver's state is wrong if the markers of all channels lag by more packets than all
    /// buffers can hold, or lag at all after a wait without delivery.
    pub(super) fn show_marker(&mut self, now: Instant, channel: usize, marker: &Marker) {
        let in_channels = self.in_channels();
        let packets_max = self.pool.packets_max();
        let Some(confirmed) = &mut self.confirmed else { return };
        let ahead = confirmed.see_marker(now, channel, marker);
        let is_at_rest = confirmed.next_since.after(self.options.wait) <= now;
        if u64::from(ahead) <= if is_at_rest { 0 } else { packets_max } {
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

    pub(super) fn begin(&mut self, channel: usize) {
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.begin(channel);
        }
    }

    fn carries_back(&self) -> ChannelSet {
        let is_in = |channel| !self.presence.is_out(channel);
        channels_where(self.buffers.len(), is_in) & !self.silent
    }

    /// Returns the next NACK and its channel. In free order, the first request for a packet uses
    /// the fastest channel, because all later packets wait for the missing packet. Other requests
    /// use the channel that lost the packet.
    pub(super) fn poll_nack(&mut self, now: Instant) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        let confirmed = self.confirmed.as_mut()?;
        let repair = confirmed.repair.as_mut()?;
        repair.gaps.expire(now, confirmed.next);
        let (nack, is_again) = repair.gaps.poll(now)?;
        let (channel, carries) = (usize::from(nack.channel), self.carries_back());
        // Messages on an inactive channel are lost.
        let does_carry = channel < self.buffers.len() && carries & (1 << channel) != 0;
        let is_own = does_carry && (is_again || self.options.order == Order::Strict);
        let nearest = || self.confirmed.as_ref()?.nearest(carries, channel);
        let on = if is_own { channel } else { nearest().unwrap_or(channel) };
        Some((on, epoch, Kind::Nack(nack)))
    }

    pub(super) fn show_left(&mut self, now: Instant, channel: usize, departure: &Departure) {
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.see_left(now, channel, departure);
        }
    }

    /// Returns the number of retransmitted copies waiting for delivery.
    pub fn copies(&self) -> usize {
        self.confirmed.as_ref().map_or(0, Confirmed::copies)
    }
}
