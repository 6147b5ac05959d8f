//! Retransmission: recent packets of each channel, and the queue of packets to retransmit.
//!
//! ```text
//!   Nack (channel, channel sequence number) --> history: pipe sequence number, length
//!                                                  | remembered, attempts left
//!                                                  v
//!                                                 queue --> poll_repair: a copy on the fastest channel
//! ```
//!
//! A copy gets a new channel sequence number, counts against the congestion window and the pacing
//! rate, and can be lost. A NACK for a lost copy requests the original packet. Copies are not
//! charged to the scheduler, and need no credit, because they may help the receiver to free memory.
//!
//! Without congestion control, copies on a channel never outnumber its packets and markers, and at
//! most [`COPIES_AT_ONCE`] copies are sent in a row. A copy that would arrive after the receiver's
//! wait is not sent.
//!
//! Packets in flight on a channel that died are retransmitted on others, as in multipath TCP (RFC
//! 8684, section 3.3.6): the receiver requests them after the Left message.
//!
//! Copies in flight on a deactivated channel do not count as attempts; otherwise, intermittent
//! channels would use up all attempts.
//!
//! Packets of class [`Class::Redundant`] are copied without being lost. The receiver delivers
//! whichever arrives first, the packet or its copy. The copy waits for room on another channel until
//! a report accounts for the packet: by then, the packet has arrived or its retransmission is
//! requested.
//!
//! Source: ours; the paper leaves retransmission to higher layers.
//!
//! Invariants: bounded memory; at most `tries_max` counted attempts per packet.

mod history;

use super::class::Class;
use crate::message::small;
use crate::tag::ahead;
use crate::{Discard, Instant, Nack, Tag};
use core::time::Duration;
use history::SentHistory;
use std::collections::VecDeque;

const COPIES_AT_ONCE: u32 = 4;

/// Limits of retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairPlan {
    /// Number of recent packets per channel that can be retransmitted.
    pub packets: usize,
    /// Maximum number of retransmissions of each packet.
    pub tries_max: u8,
}

impl Default for RepairPlan {
    /// Returns a plan with 4,096 packets per channel, and at most three retransmissions of each.
    fn default() -> Self {
        Self { packets: 4_096, tries_max: 3 }
    }
}

/// Copy of a packet, ready to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Channel that carries the copy.
    pub channel: usize,
    /// Tag of the copy.
    pub tag: Tag,
    /// Packet length without the tag.
    pub length_bytes: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    #[default]
    Packet,
    Copy,
    /// Copy for loss measurement, which does not count as a retransmission attempt.
    Measurement,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    sequence: u32,
    length_bytes: u32,
    tries: u8,
    queued: bool,
    /// Whether the receiver has reported the loss of the first transmission, rather than of a copy.
    is_missed: bool,
    role: Role,
    /// Place of the original if this is a copy; otherwise, place of the last copy.
    other: Place,
}

impl Sent {
    fn is_copy(&self) -> bool {
        self.role != Role::Packet
    }
}

/// Channel and channel sequence number of a packet or copy.
pub(super) type Place = (u8, u32);

#[derive(Clone, Debug)]
pub(super) struct Repairs {
    plan: RepairPlan,
    channels: Vec<SentHistory>,
    /// Requested packets, each with the end of the receiver's wait.
    queue: VecDeque<(Place, Instant)>,
    redundant: VecDeque<Place>,
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

    /// Queues the requested packets, which the receiver awaits until `until`. Packets whose last
    /// copy is still in flight are not queued, because the copy's channel will reveal a loss.
    fn ask(
        &mut self,
        until: Instant,
        (channel, first): Place,
        count: u32,
        is_in_flight: impl Fn(Place) -> bool,
    ) {
        let length = self.channels[usize::from(channel)].ring.len();
        // The history holds only the most recent packets.
        let over = count.saturating_sub(u32::try_from(length).unwrap_or(u32::MAX));
        for number in over..count {
            if self.queue.len() == self.plan.packets {
                break;
            }
            let asked = (channel, first.wrapping_add(number));
            // A missing copy matters only if the packet was requested before; otherwise, its first
            // transmission may have arrived.
            let copy = self.at(asked).filter(|sent| sent.is_copy());
            let (is_copy, lost) = (copy.is_some(), copy.map_or(asked, |copy| copy.other));
            let tries_max = self.plan.tries_max;
            let Some(sent) = self.at(lost).filter(|sent| !sent.is_copy()) else { continue };
            sent.is_missed |= !is_copy;
            if !sent.is_missed {
                continue;
            }
            let waits = sent.tries > 0 && sent.other != asked && is_in_flight(sent.other);
            if !sent.queued && sent.tries < tries_max && !waits {
                sent.queued = true;
                self.queue.push_back((lost, until));
            }
        }
    }

    /// Returns the channel to avoid: the channel that lost the last copy of the next packet.
    pub(super) fn avoided(&mut self) -> Option<usize> {
        let &(place, _) = self.queue.front()?;
        let sent = self.at(place).filter(|sent| sent.other != Place::default())?;
        Some(sent.other.0.into())
    }

    fn next_bytes(&mut self) -> Option<u32> {
        let &(place, _) = self.queue.front()?;
        self.at(place).map(|sent| sent.length_bytes)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn skip(&mut self) {
        if let Some((place, _)) = self.queue.pop_front()
            && let Some(sent) = self.at(place)
        {
            sent.queued = false;
        }
    }

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

    fn at(&mut self, (channel, channel_sequence): (u8, u32)) -> Option<&mut Sent> {
        self.channels.get_mut(usize::from(channel))?.at(channel_sequence)
    }

    pub(super) fn make_room(&mut self, channel: usize) {
        self.room[channel] = self.room[channel].saturating_add(1).min(COPIES_AT_ONCE);
    }

    /// Returns the next packet that the receiver still awaits at `there_at`, and the number of
    /// packets skipped as too late.
    pub(super) fn next(&mut self, there_at: Instant) -> (Option<Place>, u64) {
        let mut late = 0;
        while let Some((place, until)) = self.queue.pop_front() {
            // The history may have dropped the packet in the meantime.
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

    pub(super) fn rest(&mut self) {
        (self.queue, self.redundant) = (VecDeque::new(), VecDeque::new());
        self.channels.iter_mut().for_each(SentHistory::clear);
    }

    /// Counts a retransmission attempt; returns the packet's pipe sequence number and length.
    pub(super) fn copied(&mut self, place: Place, on: Place) -> Option<(u32, u32)> {
        let sent = self.at(place)?;
        (sent.tries, sent.other) = (sent.tries.saturating_add(1), on);
        Some((sent.sequence, sent.length_bytes))
    }

    pub(super) fn restart(&mut self) {
        self.queue.clear();
        self.redundant.clear();
        self.room.fill(COPIES_AT_ONCE);
        for history in &mut self.channels {
            (history.next, history.count) = (0, 0);
        }
    }

    pub(super) fn handle_packet(
        &mut self,
        channel: usize,
        place: Place,
        packet: (u32, u32),
        class: Class,
    ) {
        self.sent((channel, place.1), packet, None);
        self.make_room(channel);
        if class == Class::Redundant && self.redundant.len() < self.plan.packets {
            self.redundant.push_back(place);
        }
    }

    pub(super) fn handle_copy(
        &mut self,
        on: Place,
        place: Place,
        (sequence, length_bytes): (u32, u32),
    ) {
        let channel = usize::from(on.0);
        self.room[channel] = self.room[channel].saturating_sub(1);
        self.sent((channel, on.1), (sequence, length_bytes), Some(place));
    }

    pub(super) fn packet_at(&mut self, place: Place) -> Option<(u32, u32)> {
        self.at(place).map(|sent| (sent.sequence, sent.length_bytes))
    }

    pub(super) fn set_measurement(&mut self, copy: Place) {
        if let Some(copy) = self.at(copy) {
            copy.role = Role::Measurement;
        }
    }

    pub(super) fn has_room(&self, channel: usize) -> bool {
        self.room[channel] > 0
    }

    /// Handles a NACK; `waited_ns` is its one-way delay.
    pub(super) fn handle_nack(
        &mut self,
        now: Instant,
        Nack { channel, first, count, left_ns }: Nack,
        waited_ns: u32,
        is_in_flight: impl Fn(Place) -> bool,
    ) -> Result<(), Discard> {
        if usize::from(channel) >= self.channels.len() {
            return Err(Discard::NoSuchChannel);
        }
        let until = match left_ns {
            u32::MAX => Instant::from_nanoseconds(u64::MAX),
            _ => now.after(Duration::from_nanos(left_ns.saturating_sub(waited_ns).into())),
        };
        let before = self.queue.len();
        self.ask(until, (channel, first), count.into(), is_in_flight);
        if self.queue.len() > before {
            self.sort();
        }
        Ok(())
    }

    /// Returns the length of the next packet that fits a channel; adds the number of skipped
    /// packets to `too_long`.
    pub(super) fn next_fitting(
        &mut self,
        fits: impl Fn(u32) -> bool,
        too_long: &mut u64,
    ) -> Option<u32> {
        while !self.queue.is_empty() {
            let length_bytes = self.next_bytes().unwrap_or(0);
            if fits(length_bytes) {
                return Some(length_bytes);
            }
            self.skip();
            *too_long += 1;
        }
        None
    }

    pub(super) fn leave(&mut self, channel: usize, accounted_packets: u32) {
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

    pub(super) fn next_redundant(&mut self) -> Option<(Place, Option<u32>)> {
        let place = *self.redundant.front()?;
        let sent = self.at(place).filter(|sent| !sent.is_copy() && sent.tries == 0);
        Some((place, sent.map(|sent| sent.length_bytes)))
    }

    pub(super) fn pop_redundant(&mut self) {
        self.redundant.pop_front();
    }
}

// Sequence numbers and lengths are not corrupted, because the caller stores the matching payloads.
#[cfg(test)]
crate::corruption::corrupt!(Repairs: room, channels, queue, redundant);
#[cfg(test)]
crate::corruption::corrupt!(SentHistory: next, count, ring);
#[cfg(test)]
crate::corruption::corrupt!(Sent: tries, queued);

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ORIGIN;
    pub(super) const LATER: Instant = Instant::from_nanoseconds(1_000_000_000);

    pub(super) const OTHER: Place = (1, 99);

    pub(super) fn lost(_: Place) -> bool {
        false
    }

    pub(super) fn repairs(packets: usize, tries_max: u8) -> Repairs {
        Repairs::new(RepairPlan { packets, tries_max }, 2)
    }

    pub(super) fn next(repairs: &mut Repairs, on: Place) -> Option<(u8, u32, u32)> {
        let place = repairs.next(NOW).0?;
        let (sequence, length_bytes) = repairs.copied(place, on).expect("it is remembered");
        assert_eq!(length_bytes, 100 + sequence);
        Some((place.0, place.1, sequence))
    }

    #[test]
    fn missing_packet_is_retransmitted_by_its_pipe_number() {
        let mut repairs = repairs(4, 1);
        // Channel 0 carries pipe packets 0, 2 and 4, and channel 1 pipe packets 1 and 3.
        for (channel, channel_sequence, sequence) in
            [(0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3), (0, 2, 4)]
        {
            repairs.sent((channel, channel_sequence), (sequence, 100 + sequence), None);
        }
        repairs.ask(LATER, (0, 1), 2, lost);
        repairs.ask(LATER, (1, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), Some((0, 1, 2)));
        // The plan allows one attempt; numbers that were never sent are ignored.
        repairs.ask(LATER, (0, 1), 1, lost);
        repairs.ask(LATER, (1, 2), 100, lost);
        assert_eq!(
            (next(&mut repairs, OTHER), next(&mut repairs, OTHER)),
            (Some((0, 2, 4)), Some((1, 0, 1)))
        );
        assert_eq!(next(&mut repairs, OTHER), None);
    }

    #[test]
    fn duplicate_requests_cause_one_retransmission() {
        let mut repairs = repairs(4, 2);
        repairs.sent((0, 0), (0, 100), None);
        (0..3).for_each(|_| repairs.ask(LATER, (0, 0), 1, lost));
        assert_eq!((next(&mut repairs, OTHER), next(&mut repairs, OTHER)), (Some((0, 0, 0)), None));
        (0..3).for_each(|_| repairs.ask(LATER, (0, 0), 1, lost));
        assert_eq!((next(&mut repairs, OTHER), next(&mut repairs, OTHER)), (Some((0, 0, 0)), None));
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), None);
    }

    #[test]
    fn evicted_packet_is_not_retransmitted() {
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

    #[test]
    fn retransmission_avoids_the_channel_of_the_last_loss() {
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

    #[test]
    fn retransmission_past_its_deadline_is_not_sent() {
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

    #[test]
    fn copy_on_a_departed_channel_is_not_an_attempt() {
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
