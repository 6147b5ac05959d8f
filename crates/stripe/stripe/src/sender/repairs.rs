//! Retransmission: which packets were sent lately, and which of them are to be sent again.
//!
//! ```text
//!   Nack (channel, number of the channel) --> what went there: number of the pipe, length
//!                                                 | not too old, not tried too often
//!                                                 v
//!                                              queue --> poll_repair: a copy over the fastest channel
//! ```
//!
//! No payload is kept here: the caller keeps packets by their number in the pipe
//! ([`RetransmissionBuffer`](super::RetransmissionBuffer)).
//!
//! A copy is a packet of the channel on which it goes: it takes a number there, fills its window
//! and its pace, and is accounted for and found lost like any other. A lost copy is asked for by
//! its own number, and that is to ask for the packet again. The schedule alone knows nothing of
//! copies: nobody is charged; and they need no credit, since the room that they take is not that of
//! a channel's buffer, and may be what makes room in one.
//!
//! Nor do they drown a channel: its window and pace hold them back, or where it has none, on each go
//! at most as many copies as packets and markers, and no more than [`COPIES_AT_ONCE`] at once. What
//! finds no room on any channel waits, and what would come later than it is waited for does not go.
//!
//! What was on its way on a channel that died goes again on others, as in multipath TCP (RFC 8684,
//! section 3.3.6): the receiver, whom Left tells how much was sent, knows what of it never came, asks
//! for that and waits as long as copies of such packets come.
//!
//! Source: none; the paper leaves repair to the layers above.
//!
//! A copy that was on its way on a channel that left is no try: channels that come and go would use up
//! all of a packet's, and the receiver waits for it as long as copies of others that were there come.
//!
//! Invariants: bounded memory, taken as it is of use; no packet is sent again more than `tries_max`
//! times, but for copies on channels that left.

mod history;

use super::{Reported, Sender};
use crate::message::small;
use crate::tag::ahead;
use crate::{Class, Discard, Instant, Nack, Numbered, RepairOf, SendError, Tag};
use core::time::Duration;
use history::SentHistory;
use std::collections::VecDeque;

/// The most copies on a channel with no packet or marker between them.
const COPIES_AT_ONCE: u32 = 4;

/// Which lost packets are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairPlan {
    /// The last so many packets of each channel can be.
    pub packets: usize,
    /// So many times each.
    pub tries_max: u8,
}

impl Default for RepairPlan {
    /// The last 4,096 packets of each channel, three times each.
    fn default() -> Self {
        Self { packets: 4_096, tries_max: 3 }
    }
}

/// A copy to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The channel on which it goes.
    pub channel: usize,
    /// What stands before it.
    pub tag: Tag,
    /// Its length without the tag.
    pub length_bytes: u32,
}

/// Role of a transmission: first transmission, copy or measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    /// First transmission of a packet.
    #[default]
    Packet,
    /// Retransmission.
    Copy,
    /// Copy that measures its channel and does not count as a retransmission.
    Measurement,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    sequence: u32,
    length_bytes: u32,
    /// So many copies of it went.
    tries: u8,
    /// Whether it is in the queue.
    queued: bool,
    /// Whether the receiver has asked for it by its own number.
    is_missed: bool,
    role: Role,
    /// Of a copy the packet that was lost, of a packet its last copy, if there is one.
    other: Place,
}

impl Sent {
    fn is_copy(&self) -> bool {
        self.role != Role::Packet
    }
}

/// A channel, and a number there.
pub(super) type Place = (u8, u32);

/// What was asked for again, of all channels.
#[derive(Clone, Debug)]
pub(super) struct Repairs {
    plan: RepairPlan,
    channels: Vec<SentHistory>,
    /// What, and until when the receiver waits for it.
    queue: VecDeque<(Place, Instant)>,
    /// What is to go on two channels and has gone on one.
    redundant: VecDeque<Place>,
    /// For each channel, how many copies may go on it.
    room: Vec<u32>,
}

impl Repairs {
    pub(super) fn new(plan: RepairPlan, channels: usize) -> Self {
        let history = SentHistory::new(plan.packets);
        let queue = VecDeque::new();
        let redundant = VecDeque::new();
        let room = vec![COPIES_AT_ONCE; channels];
        Self { plan, channels: vec![history; channels], queue, redundant, room }
    }

    /// A packet goes on a channel, or a copy of another.
    fn sent(
        &mut self,
        (channel, channel_sequence): (usize, u32),
        (sequence, length_bytes): (u32, u32),
        of: Option<Place>,
    ) {
        self.channels[channel].push(
            channel_sequence,
            Sent {
                sequence,
                length_bytes,
                role: if of.is_some() { Role::Copy } else { Role::Packet },
                other: of.unwrap_or_default(),
                ..Sent::default()
            },
        );
    }

    /// These packets of a channel are missing, and waited for until then. Of one whose last copy is
    /// under way no other goes: its channel proves whether that is lost.
    fn ask(
        &mut self,
        until: Instant,
        (channel, first): Place,
        count: u32,
        is_under_way: impl Fn(Place) -> bool,
    ) {
        let length = self.channels[usize::from(channel)].ring.len();
        // Of more than there are the last ones are asked for.
        let over = count.saturating_sub(u32::try_from(length).unwrap_or(u32::MAX));
        for number in over..count {
            if self.queue.len() == self.plan.packets {
                break;
            }
            let asked = (channel, first.wrapping_add(number));
            // Who misses a copy misses the packet, if that was ever missed: it may have come first.
            let copy = self.at(asked).filter(|sent| sent.is_copy());
            let (is_copy, lost) = (copy.is_some(), copy.map_or(asked, |copy| copy.other));
            let tries_max = self.plan.tries_max;
            let Some(sent) = self.at(lost).filter(|sent| !sent.is_copy()) else { continue };
            sent.is_missed |= !is_copy;
            if !sent.is_missed {
                continue;
            }
            let waits = sent.tries > 0 && sent.other != asked && is_under_way(sent.other);
            if !sent.queued && sent.tries < tries_max && !waits {
                sent.queued = true;
                self.queue.push_back((lost, until));
            }
        }
    }

    /// Where the next copy had better not go: where the last one of the same packet was lost.
    fn avoided(&mut self) -> Option<usize> {
        let &(place, _) = self.queue.front()?;
        let sent = self.at(place).filter(|sent| sent.other != Place::default())?;
        Some(sent.other.0.into())
    }

    /// How long the next copy is, if it is remembered.
    fn next_bytes(&mut self) -> Option<u32> {
        let &(place, _) = self.queue.front()?;
        self.at(place).map(|sent| sent.length_bytes)
    }

    /// Length of the packet sent at `place`, if it is still remembered.
    pub(super) fn length_bytes(&mut self, place: Place) -> Option<u32> {
        self.at(place).map(|sent| sent.length_bytes)
    }

    /// The next copy does not go.
    fn skip(&mut self) {
        if let Some((place, _)) = self.queue.pop_front()
            && let Some(sent) = self.at(place)
        {
            sent.queued = false;
        }
    }

    /// Copies go in the order of the pipe, whichever channels lost the packets.
    fn sort(&mut self) {
        let Self { queue, channels, .. } = self;
        let first = queue.front().copied();
        let mut sequence = |(channel, number): Place| {
            channels.get_mut(usize::from(channel))?.at(number).map(|sent| sent.sequence)
        };
        let Some(first) = first.and_then(|(place, _)| sequence(place)) else { return };
        let key = |(place, _): &(Place, Instant)| sequence(*place).map(|one| ahead(one, first));
        queue.make_contiguous().sort_unstable_by_key(key);
    }

    /// What was sent on a channel as this number, if it is remembered.
    fn at(&mut self, (channel, channel_sequence): (u8, u32)) -> Option<&mut Sent> {
        self.channels.get_mut(usize::from(channel))?.at(channel_sequence)
    }

    /// A packet or a marker goes on a channel: so may a copy.
    pub(super) fn make_room(&mut self, channel: usize) {
        self.room[channel] = self.room[channel].saturating_add(1).min(COPIES_AT_ONCE);
    }

    /// The next packet to be sent again that is there by this time, and how many would not be.
    fn next(&mut self, there_at: Instant) -> (Option<Place>, u64) {
        let mut late = 0;
        while let Some((place, until)) = self.queue.pop_front() {
            // It may have become too old while it was in the queue.
            let sent = self.at(place);
            if let Some(sent) = sent.filter(|sent| sent.queued) {
                sent.queued = false;
                if until < there_at {
                    late += 1;
                    continue;
                }
                return (Some(place), late);
            }
        }
        (None, late)
    }

    /// Nothing of what was sent is missing anywhere.
    pub(super) fn rest(&mut self) {
        (self.queue, self.redundant) = (VecDeque::new(), VecDeque::new());
        self.channels.iter_mut().for_each(SentHistory::clear);
    }

    /// A copy of a packet goes as this one: which packet of the pipe it is, and how long.
    fn copied(&mut self, place: Place, on: Place) -> Option<(u32, u32)> {
        let sent = self.at(place)?;
        (sent.tries, sent.other) = (sent.tries.saturating_add(1), on);
        Some((sent.sequence, sent.length_bytes))
    }

    /// A new epoch: what was sent before is not asked for any more.
    pub(super) fn restart(&mut self) {
        self.queue.clear();
        self.redundant.clear();
        self.room.fill(COPIES_AT_ONCE);
        for history in &mut self.channels {
            (history.next, history.count) = (0, 0);
        }
    }
}

impl<S: Numbered> Sender<S> {
    /// A packet is to be sent where order is guaranteed: on the channel returned, behind the tag.
    pub fn handle_tagged(
        &mut self,
        now: Instant,
        length_bytes: u32,
    ) -> Result<(usize, Tag), SendError> {
        self.handle_tagged_as(now, length_bytes, Class::Spread)
    }

    /// The same for a packet of this class.
    pub fn handle_tagged_as(
        &mut self,
        now: Instant,
        length_bytes: u32,
        class: Class,
    ) -> Result<(usize, Tag), SendError> {
        let (sequence, session) = (self.sent.next_sequence(), self.epoch.low());
        self.sizes.set_tagged();
        let channel = self.send(now, length_bytes, class)?;
        let channel_sequence = self.sent.on(channel).packets.wrapping_sub(1);
        if let Some(repairs) = &mut self.repairs {
            repairs.sent((channel, channel_sequence), (sequence, length_bytes), None);
            repairs.make_room(channel);
            if class == Class::Redundant {
                repairs.copy((small(channel), channel_sequence));
            }
            self.see_packet(now, (small(channel), channel_sequence));
        }
        let tag =
            Tag { sequence, channel: small(channel), channel_sequence, session, repair_of: None };
        Ok((channel, tag))
    }

    /// Returns the next copy: a retransmission, a duplicate on a second channel, or a measurement of a
    /// channel in quarantine. The caller sends it on its channel before any later packet. If the caller
    /// no longer has the packet it may skip the copy, which then counts as lost on the channel.
    pub fn poll_repair(&mut self, now: Instant) -> Option<Repair> {
        self.poll_lost(now)
            .or_else(|| self.poll_redundant(now))
            .or_else(|| self.poll_measuring(now))
    }

    fn poll_lost(&mut self, now: Instant) -> Option<Repair> {
        let length_bytes = self.next_copy_bytes()?;
        let avoided = self.repairs.as_mut()?.avoided();
        let fastest = self.fastest(now, avoided, length_bytes)?;
        let there_at = now.after(self.there_after(fastest));
        let (asked, late) = self.repairs.as_mut()?.next(there_at);
        self.sending.repairs_too_late += late;
        self.sending.repairs += u64::from(asked.is_some());
        self.send_copy(now, fastest, asked?)
    }

    /// A copy of a packet goes on a channel.
    fn send_copy(&mut self, now: Instant, channel: usize, place: Place) -> Option<Repair> {
        let on = (small(channel), self.sent.on(channel).packets);
        let copied = self.repairs.as_mut()?.copied(place, on)?;
        self.send_copy_of(now, channel, (place, copied))
    }

    /// Sends the pending copy that measures a channel in quarantine.
    fn poll_measuring(&mut self, now: Instant) -> Option<Repair> {
        let (channel, place) = self.next_measuring(now)?;
        let number = self.sent.on(channel).packets;
        let sent = self.repairs.as_mut()?.at(place)?;
        let copied = (sent.sequence, sent.length_bytes);
        self.sending.redundant += 1;
        let repair = self.send_copy_of(now, channel, (place, copied));
        if let Some(copy) = self.repairs.as_mut()?.at((small(channel), number)) {
            copy.role = Role::Measurement;
        }
        repair
    }

    fn send_copy_of(
        &mut self,
        now: Instant,
        channel: usize,
        (place, (sequence, length_bytes)): (Place, (u32, u32)),
    ) -> Option<Repair> {
        let channel_sequence = self.sent.on(channel).packets;
        let repairs = self.repairs.as_mut()?;
        repairs.room[channel] = repairs.room[channel].saturating_sub(1);
        repairs.sent((channel, channel_sequence), (sequence, length_bytes), Some(place));
        self.sent.add_copy(channel, length_bytes);
        self.sizes.sent(now, channel, length_bytes);
        if let Some(paths) = &mut self.paths {
            paths.sent_copy(channel, now, length_bytes);
        }
        let next_sequence = self.sent.next_sequence();
        let (first, lost) = place;
        let repair_of = Some(RepairOf { channel: first, channel_sequence: lost, next_sequence });
        let (session, on) = (self.epoch.low(), small(channel));
        let tag = Tag { sequence, channel: on, channel_sequence, session, repair_of };
        Some(Repair { channel, tag, length_bytes })
    }

    /// The receiver asks on the way back of a channel. It has waited since for as long as that took.
    pub(super) fn retransmit(
        &mut self,
        now: Instant,
        on: usize,
        Nack { channel, first, count, left_ns }: Nack,
    ) -> Result<(), Discard> {
        let repairs = self.repairs.as_ref().ok_or(Discard::NotRepairing)?;
        if usize::from(channel) >= repairs.channels.len() {
            return Err(Discard::NoSuchChannel);
        }
        let waited_ns = self.presence.round_trip_ns(on) / 2;
        let until = match left_ns {
            u32::MAX => Instant::from_nanoseconds(u64::MAX),
            _ => now.after(Duration::from_nanos(left_ns.saturating_sub(waited_ns).into())),
        };
        self.ask(until, (channel, first), count.into());
        Ok(())
    }

    /// A copy is under way as long as no report accounts for it and its channel lives. Where nobody
    /// looks whether it does, none is taken to be.
    fn ask(&mut self, until: Instant, first: Place, count: u32) {
        let (reported, scheduler) = (&self.reported, &self.scheduler);
        let looks = self.options.silence.is_some();
        let is_under_way = |(channel, number): Place| {
            let channel = usize::from(channel);
            let reported = reported.on(channel).map_or(0, |one| one.report.accounted_packets);
            looks && scheduler.standing(channel).is_in() && ahead(number, reported) >= 0
        };
        if let Some(repairs) = &mut self.repairs {
            let before = repairs.queue.len();
            repairs.ask(until, first, count, is_under_way);
            if repairs.queue.len() > before {
                repairs.sort();
            }
        }
    }
}

// The packets that were sent stay: the caller keeps copies of them.
#[cfg(test)]
crate::corruption::corrupt!(Repairs: room, channels, queue, redundant);
#[cfg(test)]
crate::corruption::corrupt!(SentHistory: next, count, ring);
#[cfg(test)]
crate::corruption::corrupt!(Sent: tries, queued);

// Copies that were on their way on a channel that left.
//
// A try is a copy that its channel lost, or may have. One that went with its channel says nothing of
// the next: were it a try, channels that come and go would use up all that a packet has, and the
// receiver waits for what was on its way on those that left as long as copies of any of it come.
//
// Source: ours.

impl Repairs {
    /// A channel has left, of which so many packets are accounted for: copies behind them were no tries.
    fn leave(&mut self, channel: usize, accounted_packets: u32) {
        for number in self.channels[channel].numbers() {
            if ahead(number, accounted_packets) < 0 {
                break;
            }
            let copy = self.at((small(channel), number)).filter(|sent| sent.role == Role::Copy);
            let lost = copy.map(|copy| copy.other);
            if let Some(sent) = lost.and_then(|place| self.at(place)) {
                sent.tries = sent.tries.saturating_sub(1);
            }
        }
    }
}

impl<S: Numbered> Sender<S> {
    /// A channel has left, with the copies on it that no report accounts for.
    pub(in crate::sender) fn see_copies_lost(&mut self, channel: usize) {
        let accounted = self.reported.on(channel).map_or(0, |one| one.report.accounted_packets);
        if let Some(repairs) = &mut self.repairs {
            repairs.leave(channel, accounted);
        }
    }
}

// Copies of packets that are not known to be lost: of those that are to go on two channels at once.
//
// ```text
//   packet n of the pipe --> channel 0, as number 7 there
//                        \-> copy of (0, 7) --> any channel but 0, as a copy of a lost packet goes
// ```
//
// To the receiver there is no difference: what of the two comes first is given out in its turn, and
// the other is one too many. A copy waits for room on another channel, behind those of lost packets,
// for as long as no report accounts for its packet: then that has come, or it is asked for.
//
// Source: ours.

impl Repairs {
    /// A packet that went as this number of a channel is to go on another one as well.
    fn copy(&mut self, place: Place) {
        if self.redundant.len() < self.plan.packets {
            self.redundant.push_back(place);
        }
    }

    /// The next packet to be copied, and how long it is, if it is remembered.
    fn next_redundant(&mut self) -> Option<(Place, Option<u32>)> {
        let place = *self.redundant.front()?;
        let sent = self.at(place).filter(|sent| !sent.is_copy() && sent.tries == 0);
        Some((place, sent.map(|sent| sent.length_bytes)))
    }
}

impl<S: Numbered> Sender<S> {
    /// The next copy of a packet that is to go on two channels.
    fn poll_redundant(&mut self, now: Instant) -> Option<Repair> {
        while let Some((place, length_bytes)) = self.repairs.as_mut()?.next_redundant() {
            let first = usize::from(place.0);
            let useful = length_bytes.filter(|bytes| self.is_of_use(place, *bytes));
            if let Some(length_bytes) = useful {
                let channel = self.fastest_but(now, first, length_bytes)?;
                self.repairs.as_mut()?.redundant.pop_front();
                self.sending.redundant += 1;
                return self.send_copy(now, channel, place);
            }
            self.repairs.as_mut()?.redundant.pop_front();
            self.sending.redundant_late += 1;
        }
        None
    }

    /// Whether nobody has accounted for a packet, and another channel takes one of its length.
    fn is_of_use(&self, (channel, number): Place, length_bytes: u32) -> bool {
        let channel = usize::from(channel);
        let reported = self.reported.on(channel);
        let accounted = reported.map_or(0, |reported| reported.report.accounted_packets);
        let takes = |other: usize| {
            other != channel && self.carries(other) && self.sizes.fits(other, length_bytes)
        };
        ahead(number, accounted) >= 0 && (0..self.scheduler.channels()).any(takes)
    }
}

// On which channel a copy goes.
//
// Source: ours.

impl<S: Numbered> Sender<S> {
    /// How long the next copy is. One that fits no channel any more does not go.
    fn next_copy_bytes(&mut self) -> Option<u32> {
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
    fn fastest(&self, now: Instant, avoided: Option<usize>, length_bytes: u32) -> Option<usize> {
        let repairs = self.repairs.as_ref()?;
        let is_in =
            |channel: &usize| self.carries(*channel) && self.sizes.fits(*channel, length_bytes);
        let is_sound = |channel| {
            !self.sizes.doubts(channel) && !self.quarantine.has(channel) && avoided != Some(channel)
        };
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
    fn fastest_but(&self, now: Instant, but: usize, length_bytes: u32) -> Option<usize> {
        // One that is avoided is taken where there is no other with room.
        self.fastest(now, Some(but), length_bytes).filter(|channel| *channel != but)
    }

    /// In which time a copy that goes now is there.
    fn there_after(&self, channel: usize) -> Duration {
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ORIGIN;
    pub(super) const LATER: Instant = Instant::from_nanoseconds(1_000_000_000);

    /// Where copies go.
    pub(super) const OTHER: Place = (1, 99);

    /// No copy is under way.
    pub(super) fn lost(_: Place) -> bool {
        false
    }

    pub(super) fn repairs(packets: usize, tries_max: u8) -> Repairs {
        Repairs::new(RepairPlan { packets, tries_max }, 2)
    }

    /// What goes next, and as what it was sent.
    pub(super) fn next(repairs: &mut Repairs, on: Place) -> Option<(u8, u32, u32)> {
        let place = repairs.next(NOW).0?;
        let (sequence, length_bytes) = repairs.copied(place, on).expect("it is remembered");
        assert_eq!(length_bytes, 100 + sequence);
        Some((place.0, place.1, sequence))
    }

    #[test]
    fn what_is_missing_is_sent_again_by_its_number_in_the_pipe() {
        let mut repairs = repairs(4, 1);
        // Channel 0 got packets 0, 2, 4 of the pipe, channel 1 packets 1 and 3.
        for (channel, channel_sequence, sequence) in
            [(0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3), (0, 2, 4)]
        {
            repairs.sent((channel, channel_sequence), (sequence, 100 + sequence), None);
        }
        repairs.ask(LATER, (0, 1), 2, lost);
        repairs.ask(LATER, (1, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), Some((0, 1, 2)));
        // Once is all that the plan allows; a number that was never sent is nothing.
        repairs.ask(LATER, (0, 1), 1, lost);
        repairs.ask(LATER, (1, 2), 100, lost);
        assert_eq!(
            (next(&mut repairs, OTHER), next(&mut repairs, OTHER)),
            (Some((0, 2, 4)), Some((1, 0, 1)))
        );
        assert_eq!(next(&mut repairs, OTHER), None);
    }

    #[test]
    fn what_is_asked_for_twice_goes_once_until_it_has_gone() {
        let mut repairs = repairs(4, 2);
        repairs.sent((0, 0), (0, 100), None);
        (0..3).for_each(|_| repairs.ask(LATER, (0, 0), 1, lost));
        assert_eq!((next(&mut repairs, OTHER), next(&mut repairs, OTHER)), (Some((0, 0, 0)), None));
        (0..3).for_each(|_| repairs.ask(LATER, (0, 0), 1, lost));
        assert_eq!((next(&mut repairs, OTHER), next(&mut repairs, OTHER)), (Some((0, 0, 0)), None));
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), None);
    }

    /// Four places: packet 4 takes that of packet 0, across the wrap of the channel's numbers, too.
    #[test]
    fn what_is_too_old_is_not_sent_again() {
        for first in [0, u32::MAX - 1] {
            let mut repairs = repairs(4, 1);
            for number in 0..4 {
                repairs.sent((0, first.wrapping_add(number)), (number, 100 + number), None);
            }
            repairs.ask(LATER, (0, first), 2, lost);
            repairs.sent((0, first.wrapping_add(4)), (4, 104), None);
            assert_eq!(
                next(&mut repairs, OTHER),
                Some((0, first.wrapping_add(1), 1)),
                "from {first}"
            );
            repairs.ask(LATER, (0, first), 5, lost);
            assert_eq!(next(&mut repairs, OTHER), Some((0, first.wrapping_add(2), 2)));
            repairs.restart();
            assert_eq!(next(&mut repairs, OTHER), None);
            repairs.ask(LATER, (0, first), 5, lost);
            assert_eq!(next(&mut repairs, OTHER), None);
        }
    }

    /// It went on channel 0, then its copy on 1, where that is asked for: then not there again.
    #[test]
    fn a_copy_does_not_go_where_the_last_was_lost() {
        let mut repairs = repairs(4, 3);
        repairs.sent((0, 0), (0, 100), None);
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(repairs.avoided(), None);
        assert_eq!(next(&mut repairs, (1, 0)), Some((0, 0, 0)));
        repairs.sent((1, 0), (0, 100), Some((0, 0)));
        repairs.ask(LATER, (0, 0), 1, |place| place == (1, 0));
        assert_eq!(repairs.avoided(), None, "it may still come");
        repairs.ask(LATER, (1, 0), 1, |_| true);
        assert_eq!(repairs.avoided(), Some(1));
        assert_eq!(next(&mut repairs, OTHER), Some((0, 0, 0)));
    }

    /// Waited for until 100 ms: it goes if it is there by then, and not if that is at 101 ms, but
    /// for a request that waits for longer.
    #[test]
    fn what_would_come_too_late_does_not_go() {
        let mut repairs = repairs(4, 1);
        repairs.sent((0, 0), (0, 100), None);
        let at = |milliseconds| NOW.after(Duration::from_millis(milliseconds));
        repairs.ask(at(100), (0, 0), 1, lost);
        assert_eq!(repairs.next(at(101)), (None, 1));
        repairs.ask(at(101), (0, 0), 1, lost);
        assert_eq!(repairs.next(at(101)), (Some((0, 0)), 0));
    }
}

#[cfg(test)]
mod departed_tests {
    use super::tests::{LATER, OTHER, lost, next, repairs};

    /// Twice a copy was on its way on channel 1 when that left, and of a third it is not known to have come
    /// on channel 0: that is the one try. A copy that was accounted for is one in any case.
    #[test]
    fn a_copy_on_a_channel_that_left_is_no_try() {
        let mut repairs = repairs(4, 1);
        repairs.sent((0, 0), (7, 107), None);
        for number in 0..2 {
            repairs.ask(LATER, (0, 0), 1, lost);
            assert_eq!(next(&mut repairs, (1, number)), Some((0, 0, 7)));
            repairs.sent((1, number), (7, 107), Some((0, 0)));
            repairs.leave(1, number + 1);
            repairs.ask(LATER, (0, 0), 1, lost);
            assert_eq!(next(&mut repairs, OTHER), None, "it was accounted for");
            repairs.leave(1, number);
        }
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, (0, 1)), Some((0, 0, 7)));
        repairs.sent((0, 1), (7, 107), Some((0, 0)));
        repairs.leave(1, 2);
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), None);
    }
}
