//! Choice of the next packet to copy, and of the channel that would deliver the copy first.
//!
//! Copies are sent in this order: retransmissions (`repairs`), duplicates of class
//! [`Class::Redundant`](super::Class::Redundant), and loss measurements on quarantined channels
//! (`quarantine`).

use core::time::Duration;

use super::repairs::{Place, Repair, Repairs};
use super::{Reported, Sender};
use crate::message::small;
use crate::tag::ahead;
use crate::{Discard, Instant, Nack, Numbered, RepairOf, Tag};

impl<S: Numbered> Sender<S> {
    /// Returns the next copy. It must be sent on its channel before any later packet; otherwise, it
    /// counts as lost.
    pub fn poll_repair(&mut self, now: Instant) -> Option<Repair> {
        self.poll_lost(now)
            .or_else(|| self.poll_redundant(now))
            .or_else(|| self.poll_measuring(now))
    }

    fn poll_lost(&mut self, now: Instant) -> Option<Repair> {
        if self.repairs.as_ref().is_none_or(Repairs::is_idle) {
            return None;
        }
        let carrying = self.carrying();
        let repairs = self.repairs.as_mut()?;
        let fits = |length_bytes| self.sizes.fits_some(carrying, length_bytes);
        let length_bytes = repairs.next_fitting(fits, &mut self.sending.repairs_too_long)?;
        let avoided = repairs.avoided();
        let fastest = self.fastest(now, avoided, length_bytes)?;
        let there_at = now.after(self.there_after(fastest));
        let (asked, late) = self.repairs.as_mut()?.next(there_at);
        self.sending.repairs_too_late += late;
        self.sending.repairs += u64::from(asked.is_some());
        self.send_copy(now, fastest, asked?)
    }

    fn poll_redundant(&mut self, now: Instant) -> Option<Repair> {
        while let Some((place, length_bytes)) = self.repairs.as_mut()?.next_redundant() {
            let useful = length_bytes.filter(|bytes| self.is_of_use(place, *bytes));
            if let Some(length_bytes) = useful {
                let first = usize::from(place.0);
                // `fastest` returns the first transmission's channel only if no other channel has
                // room.
                let fastest = self.fastest(now, Some(first), length_bytes);
                let channel = fastest.filter(|channel| *channel != first)?;
                self.repairs.as_mut()?.pop_redundant();
                self.sending.redundant += 1;
                return self.send_copy(now, channel, place);
            }
            self.repairs.as_mut()?.pop_redundant();
            self.sending.redundant_late += 1;
        }
        None
    }

    fn is_of_use(&self, (channel, number): Place, length_bytes: u32) -> bool {
        let channel = usize::from(channel);
        let others = self.carrying() & !(1 << channel);
        ahead(number, self.counts.accounted_packets(channel)) >= 0
            && self.sizes.fits_some(others, length_bytes)
    }

    #[inline(never)]
    pub(super) fn choose_copied(&mut self, now: Instant, place: Place) {
        let unblocked = self.carrying() & !self.blocked;
        if let Some(paths) = &self.paths {
            self.quarantine.choose_copied(now, place, (paths, unblocked));
        }
    }

    fn poll_measuring(&mut self, now: Instant) -> Option<Repair> {
        let (channel, place) = self.quarantine.take_copy()?;
        let copied = self.repairs.as_mut()?.packet_at(place)?;
        let admits = self.carries(channel)
            && self.sizes.fits(channel, copied.1)
            && !self.is_blocked(channel)
            && self.paths.as_ref().is_some_and(|paths| paths.admits(channel, now));
        if !admits {
            return None;
        }
        let number = self.counts.sent(channel).packets;
        self.sending.redundant += 1;
        let repair = self.send_copy_of(now, channel, place, copied);
        self.repairs.as_mut()?.set_measurement((small(channel), number));
        repair
    }

    fn send_copy(&mut self, now: Instant, channel: usize, place: Place) -> Option<Repair> {
        let on = (small(channel), self.counts.sent(channel).packets);
        let copied = self.repairs.as_mut()?.copied(place, on)?;
        self.send_copy_of(now, channel, place, copied)
    }

    fn send_copy_of(
        &mut self,
        now: Instant,
        channel: usize,
        place: Place,
        copied: (u32, u32),
    ) -> Option<Repair> {
        let (on, channel_sequence) = (small(channel), self.counts.sent(channel).packets);
        self.repairs.as_mut()?.handle_copy((on, channel_sequence), place, copied);
        let (sequence, length_bytes) = copied;
        self.counts.add_copy(channel, length_bytes);
        self.sizes.sent(now, channel, length_bytes);
        if let Some(paths) = &mut self.paths {
            paths.sent_copy(channel, now, length_bytes);
        }
        let next_sequence = self.counts.next_sequence();
        let (first, lost) = place;
        let repair_of = Some(RepairOf { channel: first, channel_sequence: lost, next_sequence });
        let session = self.epoch().low();
        let tag = Tag { sequence, channel: on, channel_sequence, session, repair_of };
        Some(Repair { channel, tag, length_bytes })
    }

    /// Handles a NACK. A copy counts as in flight until a report accounts for it or its channel is
    /// deactivated. Without silence detection, no copy counts as in flight.
    pub(super) fn retransmit(
        &mut self,
        now: Instant,
        on: usize,
        nack: Nack,
    ) -> Result<(), Discard> {
        let repairs = self.repairs.as_mut().ok_or(Discard::NotRepairing)?;
        let looks = self.options.silence.is_some();
        let is_in_flight = |(channel, number): Place| {
            let channel = usize::from(channel);
            let accounted = self.counts.accounted_packets(channel);
            looks && self.schedule.is_in(channel) && ahead(number, accounted) >= 0
        };
        let waited_ns = self.presence.round_trip_ns(on) / 2;
        repairs.handle_nack(now, nack, waited_ns, is_in_flight)
    }

    /// Returns the channel with room and the earliest delivery. Earlier priorities are preferred;
    /// lossy channels and `avoided` are the last resort.
    fn fastest(&self, now: Instant, avoided: Option<usize>, length_bytes: u32) -> Option<usize> {
        let repairs = self.repairs.as_ref()?;
        let is_in =
            |channel: &usize| self.carries(*channel) && self.sizes.fits(*channel, length_bytes);
        let is_sound = |channel| {
            !self.sizes.doubts(channel) && !self.quarantine.has(channel) && avoided != Some(channel)
        };
        let some_is_sound = (0..self.schedule.channels()).filter(is_in).any(is_sound);
        let has_room = |channel: &usize| {
            is_in(channel)
                && !self.is_blocked(*channel)
                && (!some_is_sound || is_sound(*channel))
                && match &self.paths {
                    Some(paths) => paths.admits(*channel, now),
                    None => repairs.has_room(*channel),
                }
        };
        let cost = |channel: &usize| {
            let cost_ns = |reported: Reported| reported.cost_ns(now);
            (self.priority(*channel), self.counts.reported(*channel).map_or(u128::MAX, cost_ns))
        };
        (0..self.schedule.channels()).filter(has_room).min_by_key(cost)
    }

    pub(super) fn there_after(&self, channel: usize) -> Duration {
        match &self.paths {
            Some(paths) => Duration::from_nanos(paths.arrives_after_ns(channel)),
            None => Duration::from_nanos(u64::from(self.presence.round_trip_ns(channel)) / 2),
        }
    }
}
