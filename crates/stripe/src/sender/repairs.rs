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

mod choice;
#[cfg(test)]
mod corruption;
mod departed;
mod history;
mod redundant;

use core::time::Duration;
use std::collections::VecDeque;

use super::Sender;
use crate::message::small;
use crate::tag::ahead;
use crate::{Class, Discard, Instant, Nack, Numbered, RepairOf, SendError, Tag};
use history::SentHistory;

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
    /// Whether it is a copy itself.
    is_copy: bool,
    /// Of a copy the packet that was lost, of a packet its last copy, if there is one.
    other: Place,
}

/// A channel, and a number there.
type Place = (u8, u32);

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
                is_copy: of.is_some(),
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
            let copy = self.at(asked).filter(|sent| sent.is_copy);
            let (is_copy, lost) = (copy.is_some(), copy.map_or(asked, |copy| copy.other));
            let tries_max = self.plan.tries_max;
            let Some(sent) = self.at(lost).filter(|sent| !sent.is_copy) else { continue };
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
        }
        let tag =
            Tag { sequence, channel: small(channel), channel_sequence, session, repair_of: None };
        Ok((channel, tag))
    }

    /// The next copy, of a lost packet or of one that goes on two channels, which goes on its channel
    /// before any packet to come. One that the caller does not keep any more need not go, and counts as
    /// one that the channel lost.
    pub fn poll_repair(&mut self, now: Instant) -> Option<Repair> {
        self.poll_lost(now).or_else(|| self.poll_redundant(now))
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
        let channel_sequence = self.sent.on(channel).packets;
        let repairs = self.repairs.as_mut()?;
        let (sequence, length_bytes) = repairs.copied(place, (small(channel), channel_sequence))?;
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
