//! Credits: buffer blocks that the sender knows to be free, and credit updates on their way to
//! the sender.
//!
//! ```text
//!   known   9 blocks        on their way   33 blocks at 7 us, 33 blocks at 9 us
//! ```
//!
//! When a packet starts to leave a buffer, an update is queued with the time when it will reach the
//! sender. Due updates are applied when the known blocks do not suffice or are read, not when they
//! are due; an update causes an event only if a sender waits for it.

use crate::packets::clock::Clock;
use crate::packets::event::Event;
use crate::packets::network::blocks_of;
use gingham_kernel::{Fifo, Span};
use gingham_net::Plan;
use gingham_topology::ChannelId;

/// Value of `event_ps` if no event is needed.
const UNWANTED: u64 = 0;
/// Value of `event_ps` if the next update must cause an event.
const WANTED: u64 = u64::MAX;

/// Credits and occupancy of a lane buffer, kept together because a departing packet changes both.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Lane {
    known_blocks: u32,
    /// Multiples of 2^64 of the occupancy.
    occupancy_high: u32,
    /// Accumulated occupancy, in byte ps, of packets that have started to leave, modulo 2^64.
    occupancy: u64,
    /// Time from the release of a block until its sender knows that it is free, in ps.
    credit_ps: u64,
    /// Time of the event for a waiting sender, in ps, or `UNWANTED` or `WANTED`.
    event_ps: u64,
    /// Updates on their way or due, in time order.
    updates: Fifo<Update>,
}

const _: () =
    assert!(size_of::<Lane>() == 64, "a lane fits a cache line, apart from its list of updates");

#[derive(Clone, Copy, Debug)]
struct Update {
    time_ps: u64,
    blocks: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Credits {
    lane_count: usize,
    lanes: Vec<Lane>,
}

impl Credits {
    pub(crate) fn new(plan: &Plan, blocks: &[u32], delay: impl Fn(ChannelId) -> Span) -> Self {
        let lane_count = usize::from(plan.lanes.count);
        let lane = |channel: ChannelId, lane: usize| Lane {
            known_blocks: blocks[lane],
            occupancy_high: 0,
            occupancy: 0,
            credit_ps: delay(channel).as_ps(),
            event_ps: UNWANTED,
            updates: Fifo::new(),
        };
        let lanes = ChannelId::first(plan.channels.len())
            .flat_map(|channel| (0..lane_count).map(move |number| (channel, number)))
            .map(|(channel, number)| lane(channel, number))
            .collect();
        Self { lane_count, lanes }
    }

    #[inline]
    fn place(&self, channel: ChannelId, lane: u8) -> usize {
        channel.index() * self.lane_count + usize::from(lane)
    }

    #[inline]
    pub(crate) fn known_ps(&self, channel: ChannelId, lane: u8, free_ps: u64) -> u64 {
        free_ps + self.lanes[self.place(channel, lane)].credit_ps
    }

    #[inline]
    pub(crate) fn occupy(&mut self, channel: ChannelId, lane: u8, wire_bytes: u32, stay_ps: u64) {
        let place = self.place(channel, lane);
        self.lanes[place].occupy(wire_bytes, stay_ps);
    }

    /// Counts a packet's stay, as [`Self::occupy`] does, and returns the credits for its blocks at
    /// `end_ps`.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn leave(
        &mut self,
        channel: ChannelId,
        lane: u8,
        (wire_bytes, stay_ps): (u32, u64),
        end_ps: u64,
        clock: &mut Clock,
    ) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        of.occupy(wire_bytes, stay_ps);
        let update = Update { time_ps: end_ps + of.credit_ps, blocks: blocks_of(wire_bytes) };
        of.give_back(update, (channel, lane), clock);
    }

    pub(crate) fn occupancy(&self, channel: ChannelId) -> u128 {
        let first = self.place(channel, 0);
        self.lanes[first..first + self.lane_count].iter().map(Lane::occupancy).sum()
    }

    /// Returns whether the sender knows of at least `blocks` free blocks. Otherwise schedules an
    /// event for the next credit update.
    #[inline]
    pub(crate) fn has(
        &mut self,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
        clock: &mut Clock,
    ) -> bool {
        let place = self.place(channel, lane);
        self.lanes[place].known_blocks >= blocks
            || self.has_after_updates(place, channel, lane, blocks, clock)
    }

    #[inline(never)]
    fn has_after_updates(
        &mut self,
        place: usize,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
        clock: &mut Clock,
    ) -> bool {
        let of = &mut self.lanes[place];
        of.apply(clock.now());
        if of.known_blocks >= blocks {
            return true;
        }
        match of.updates.front() {
            None => of.event_ps = WANTED,
            Some(&Update { time_ps, .. }) if of.event_ps != time_ps => {
                of.event_ps = time_ps;
                clock.schedule(time_ps, Event::Known { channel, lane });
            }
            Some(_) => {}
        }
        false
    }

    pub(crate) fn free_now(&mut self, channel: ChannelId, lane: u8, now: u64) -> u32 {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        of.apply(now);
        of.known_blocks
    }

    #[inline]
    pub(crate) fn take(&mut self, channel: ChannelId, lane: u8, blocks: u32) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        let left = of.known_blocks.checked_sub(blocks);
        of.known_blocks = left.expect("a packet starts only where there is space");
    }

    #[inline(never)]
    pub(crate) fn give_back(
        &mut self,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
        time_ps: u64,
        clock: &mut Clock,
    ) {
        let place = self.place(channel, lane);
        self.lanes[place].give_back(Update { time_ps, blocks }, (channel, lane), clock);
    }

    #[inline]
    pub(crate) fn on_known(&mut self, channel: ChannelId, lane: u8, now: u64) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        if of.event_ps == now {
            of.event_ps = UNWANTED;
        }
    }

    pub(crate) fn free_until(&self, channel: ChannelId, lane: u8, time_ps: u64) -> u32 {
        let of = &self.lanes[self.place(channel, lane)];
        let due = of.updates.iter().take_while(|update| update.time_ps <= time_ps);
        of.known_blocks + due.map(|update| update.blocks).sum::<u32>()
    }

    pub(crate) fn free(&self, channel: ChannelId, lane: u8) -> u32 {
        self.free_until(channel, lane, u64::MAX)
    }
}

impl Lane {
    #[inline]
    fn occupy(&mut self, wire_bytes: u32, stay_ps: u64) {
        let added = u128::from(wire_bytes) * u128::from(stay_ps);
        let sum = u128::from(self.occupancy) + added;
        #[expect(clippy::cast_possible_truncation, reason = "the high part follows")]
        {
            self.occupancy = sum as u64;
        }
        self.occupancy_high += u32::try_from(sum >> 64).expect("a stay ends within a run");
    }

    fn occupancy(&self) -> u128 {
        u128::from(self.occupancy_high) << 64 | u128::from(self.occupancy)
    }

    /// Adds the blocks of due updates to the known blocks.
    #[inline(never)]
    fn apply(&mut self, now: u64) {
        while let Some(update) = self.updates.front().filter(|of| of.time_ps <= now) {
            self.known_blocks += update.blocks;
            self.updates.pop();
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn give_back(&mut self, update: Update, (channel, lane): (ChannelId, u8), clock: &mut Clock) {
        self.queue(update, clock.now());
        if self.event_ps != UNWANTED && update.time_ps < self.event_ps {
            self.event_ps = update.time_ps;
            clock.schedule(update.time_ps, Event::Known { channel, lane });
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn queue(&mut self, update: Update, now: u64) {
        if self.updates.is_full() {
            self.apply(now);
        }
        // Packets start to leave a buffer nearly in the order in which their tails leave it.
        match self.updates.back() {
            Some(last) if last.time_ps > update.time_ps => self.queue_earlier(update),
            _ => self.updates.push(update),
        }
    }

    #[inline(never)]
    fn queue_earlier(&mut self, update: Update) {
        self.updates.push_before(update, |of| of.time_ps > update.time_ps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    fn lane() -> Lane {
        Lane {
            known_blocks: 0,
            occupancy_high: 0,
            occupancy: 0,
            credit_ps: 0,
            event_ps: UNWANTED,
            updates: Fifo::new(),
        }
    }

    /// All updates ever queued, and the blocks of those that are due, counted from the start.
    #[test]
    fn lanes_know_the_blocks_of_all_due_updates() {
        for seed in 0..50 {
            let mut draw = Stream::new(seed, "credits", Purpose::Shuffle);
            let (mut lane, mut all, mut now) = (lane(), Vec::new(), 0);
            for _ in 0..500 {
                now += draw.below(20);
                let blocks = 1 + u32::try_from(draw.below(5)).expect("blocks are few");
                let update = Update { time_ps: now + draw.below(60), blocks };
                lane.queue(update, now);
                all.push(update);
                let due = |until: u64| {
                    all.iter().filter(|of| of.time_ps <= until).map(|of| of.blocks).sum::<u32>()
                };
                let later = now + draw.below(60);
                let pending = lane.updates.iter().filter(|of| of.time_ps <= later);
                let until_later = lane.known_blocks + pending.map(|of| of.blocks).sum::<u32>();
                assert_eq!(until_later, due(later), "seed {seed} at {now}");
                if draw.below(4) == 0 {
                    lane.apply(now);
                    assert_eq!(lane.known_blocks, due(now), "seed {seed} at {now}");
                }
                assert!(lane.updates.iter().is_sorted_by_key(|of| of.time_ps));
                assert!(lane.updates.capacity() <= 64, "at most about 80 ps are pending");
            }
        }
    }
}
