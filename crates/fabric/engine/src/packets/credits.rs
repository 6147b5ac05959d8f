//! Credits: buffer blocks that the sender knows to be free, and credit updates on their way to
//! the sender.
//!
//! ```text
//!   known   9 blocks        on their way   33 blocks at 7 us ─► 33 blocks at 9 us
//! ```
//!
//! When a packet starts to leave a buffer, an update is queued with the time when it will reach the
//! sender. The update causes an event only if a sender waits for it; otherwise it is applied on
//! demand.

use crate::packets::clock::Clock;
use crate::packets::event::Event;
use gingham_kernel::Span;
use gingham_net::Plan;
use gingham_topology::ChannelId;

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;
/// Value of `event_ps` if no event is needed.
const UNWANTED: u64 = 0;
/// Value of `event_ps` if the next queued update must cause an event.
const WANTED: u64 = u64::MAX;

/// Credits and occupancy of a lane buffer, kept together because a departing packet changes both.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Lane {
    known_blocks: u32,
    /// Number of blocks in the first queued update, which is due at `first_ps` (`NEVER` if none is
    /// queued).
    first_blocks: u32,
    first_ps: u64,
    /// Time of the event for a waiting sender, in ps, or `UNWANTED` or `WANTED`.
    event_ps: u64,
    next: u32,
    last: u32,
    /// Time from the release of a block until the credit update reaches its sender, in ps.
    credit_ps: u64,
    /// Accumulated occupancy, in byte-ps, of packets that have started to leave.
    occupancy: u128,
}

const _: () =
    assert!(size_of::<Lane>() == 64, "the state changed by a departing packet fits a cache line");

/// Queued update other than the first update of its lane; linked in time order.
#[derive(Clone, Copy, Debug)]
struct Update {
    time_ps: u64,
    blocks: u32,
    next: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Credits {
    lane_count: usize,
    lanes: Vec<Lane>,
    updates: Vec<Update>,
    free: u32,
}

impl Credits {
    pub(crate) fn new(plan: &Plan, blocks: &[u32], delay: impl Fn(ChannelId) -> Span) -> Self {
        let lane_count = usize::from(plan.lanes.count);
        let lane = |channel: ChannelId, lane: usize| Lane {
            known_blocks: blocks[lane],
            first_blocks: 0,
            first_ps: NEVER,
            event_ps: UNWANTED,
            next: NONE,
            last: NONE,
            credit_ps: delay(channel).as_ps(),
            occupancy: 0,
        };
        let lanes = ChannelId::first(plan.channels.len())
            .flat_map(|channel| (0..lane_count).map(move |number| (channel, number)))
            .map(|(channel, number)| lane(channel, number))
            .collect();
        Self { lane_count, lanes, updates: Vec::new(), free: NONE }
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
    pub(crate) fn leave(&mut self, channel: ChannelId, lane: u8, wire_bytes: u32, stay_ps: u64) {
        let place = self.place(channel, lane);
        self.lanes[place].occupancy += u128::from(wire_bytes) * u128::from(stay_ps);
    }

    pub(crate) fn occupancy(&self, channel: ChannelId) -> u128 {
        let first = self.place(channel, 0);
        self.lanes[first..first + self.lane_count].iter().map(|of| of.occupancy).sum()
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

    fn has_after_updates(
        &mut self,
        place: usize,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
        clock: &mut Clock,
    ) -> bool {
        self.settle(place, clock.now());
        let of = &mut self.lanes[place];
        if of.known_blocks >= blocks {
            return true;
        }
        if of.first_ps == NEVER {
            of.event_ps = WANTED;
        } else if of.event_ps != of.first_ps {
            of.event_ps = of.first_ps;
            clock.schedule(of.first_ps, Event::Known { channel, lane });
        }
        false
    }

    #[inline]
    fn settle(&mut self, place: usize, now: u64) {
        let Self { lanes, updates, free, .. } = self;
        let of = &mut lanes[place];
        while of.first_ps <= now {
            of.known_blocks += of.first_blocks;
            if of.next == NONE {
                of.first_ps = NEVER;
                return;
            }
            let update = &mut updates[of.next as usize];
            (of.first_ps, of.first_blocks) = (update.time_ps, update.blocks);
            let next = std::mem::replace(&mut update.next, *free);
            *free = std::mem::replace(&mut of.next, next);
        }
    }

    pub(crate) fn free_now(&mut self, channel: ChannelId, lane: u8, now: u64) -> u32 {
        let place = self.place(channel, lane);
        self.settle(place, now);
        self.lanes[place].known_blocks
    }

    #[inline]
    pub(crate) fn take(&mut self, channel: ChannelId, lane: u8, blocks: u32) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        let left = of.known_blocks.checked_sub(blocks);
        of.known_blocks = left.expect("a packet starts only where there is space");
    }

    #[inline]
    pub(crate) fn give_back(
        &mut self,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
        time_ps: u64,
        clock: &mut Clock,
    ) {
        let place = self.place(channel, lane);
        self.settle(place, clock.now());
        self.insert(place, time_ps, blocks);
        let of = &mut self.lanes[place];
        if of.event_ps != UNWANTED && time_ps < of.event_ps {
            of.event_ps = time_ps;
            clock.schedule(time_ps, Event::Known { channel, lane });
        }
    }

    #[inline]
    fn insert(&mut self, place: usize, time_ps: u64, blocks: u32) {
        let of = &mut self.lanes[place];
        if of.first_ps == NEVER {
            (of.first_ps, of.first_blocks) = (time_ps, blocks);
        } else {
            self.insert_behind(place, Update { time_ps, blocks, next: NONE });
        }
    }

    /// Inserts an update in time order; the lane must already have a queued update.
    fn insert_behind(&mut self, place: usize, mut update: Update) {
        let of = &mut self.lanes[place];
        if update.time_ps < of.first_ps {
            update.next = of.next;
            std::mem::swap(&mut of.first_ps, &mut update.time_ps);
            std::mem::swap(&mut of.first_blocks, &mut update.blocks);
            let was_alone = of.next == NONE;
            let new = self.new_update(update);
            let of = &mut self.lanes[place];
            of.next = new;
            of.last = if was_alone { new } else { of.last };
            return;
        }
        let new = self.new_update(update);
        let of = &mut self.lanes[place];
        if of.next == NONE {
            (of.next, of.last) = (new, new);
            return;
        }
        let last = &mut self.updates[of.last as usize];
        if last.time_ps <= update.time_ps {
            (last.next, of.last) = (new, new);
        } else {
            self.insert_before_last(place, new);
        }
    }

    #[inline]
    fn new_update(&mut self, update: Update) -> u32 {
        if self.free == NONE {
            self.updates.push(update);
            return u32::try_from(self.updates.len() - 1).expect("fewer than 2^32 updates");
        }
        let new = self.free;
        self.free = std::mem::replace(&mut self.updates[new as usize], update).next;
        new
    }

    #[inline(never)]
    fn insert_before_last(&mut self, place: usize, new: u32) {
        let time_ps = self.updates[new as usize].time_ps;
        let (mut before, mut next) = (NONE, self.lanes[place].next);
        while self.updates[next as usize].time_ps <= time_ps {
            before = next;
            next = self.updates[next as usize].next;
        }
        self.updates[new as usize].next = next;
        if before == NONE {
            self.lanes[place].next = new;
        } else {
            self.updates[before as usize].next = new;
        }
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
        if of.first_ps > time_ps || of.first_ps == NEVER {
            return of.known_blocks;
        }
        let mut free = of.known_blocks + of.first_blocks;
        let mut next = of.next;
        while next != NONE && self.updates[next as usize].time_ps <= time_ps {
            free += self.updates[next as usize].blocks;
            next = self.updates[next as usize].next;
        }
        free
    }

    pub(crate) fn free(&self, channel: ChannelId, lane: u8) -> u32 {
        self.free_until(channel, lane, u64::MAX)
    }
}
