//! Credits: the blocks that a sender knows to be free in each buffer, and those on their way to be
//! known.
//!
//! ```text
//!   known   9 blocks        on their way   33 at 7 us ─► 33 at 9 us        as of an instant: what is due counts when somebody asks
//! ```
//!
//! When a packet begins to leave a buffer it is known when its blocks will be, so that they are put
//! on their way then. Nothing happens on their account unless a sender waits for them.

use crate::packets::clock::Clock;
use crate::packets::event::Event;
use gingham_model::Plan;
use gingham_topology::ChannelId;

/// No credits on their way.
const NONE: u32 = u32::MAX;
/// No event is wanted.
const UNWANTED: u64 = 0;
/// The next credits that are put on their way are to be an event.
const WANTED: u64 = u64::MAX;

/// What the sender of a channel knows of a lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct LaneCredit {
    known_blocks: u32,
    /// The first of those on their way, and the last, if there are any.
    first: u32,
    last: u32,
    /// When the sender hears of more, if it waits for that.
    event_ps: u64,
}

/// Credits on their way, in order of time.
#[derive(Clone, Copy, Debug)]
struct Update {
    time_ps: u64,
    blocks: u32,
    next: u32,
}

/// Those of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Credits {
    lane_count: usize,
    lanes: Vec<LaneCredit>,
    updates: Vec<Update>,
    free: u32,
}

impl Credits {
    /// All free; `blocks` is by lane.
    pub(crate) fn new(plan: &Plan, blocks: &[u32]) -> Self {
        let lane_count = usize::from(plan.lanes.count);
        let lane = |lane: usize| LaneCredit {
            known_blocks: blocks[lane],
            first: NONE,
            last: NONE,
            event_ps: UNWANTED,
        };
        let of_channel = || (0..lane_count).map(lane);
        let lanes = plan.channels.iter().flat_map(|_| of_channel()).collect();
        Self { lane_count, lanes, updates: Vec::new(), free: NONE }
    }

    #[inline]
    fn place(&self, channel: ChannelId, lane: u8) -> usize {
        channel.index() * self.lane_count + usize::from(lane)
    }

    /// Whether the sender of a channel knows of so many free blocks of a lane now. If not it waits:
    /// it hears of the next that become known.
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
        if of.first == NONE {
            of.event_ps = WANTED;
        } else {
            let time_ps = self.updates[of.first as usize].time_ps;
            if of.event_ps != time_ps {
                of.event_ps = time_ps;
                clock.schedule(time_ps, Event::Known { channel, lane });
            }
        }
        false
    }

    /// What is known by now counts as known.
    #[inline]
    fn settle(&mut self, place: usize, now: u64) {
        let of = &mut self.lanes[place];
        while of.first != NONE {
            let update = &mut self.updates[of.first as usize];
            if update.time_ps > now {
                break;
            }
            of.known_blocks += update.blocks;
            let next = std::mem::replace(&mut update.next, self.free);
            self.free = std::mem::replace(&mut of.first, next);
        }
    }

    /// Blocks of a lane that are known to be free now.
    pub(crate) fn free_now(&mut self, channel: ChannelId, lane: u8, now: u64) -> u32 {
        let place = self.place(channel, lane);
        self.settle(place, now);
        self.lanes[place].known_blocks
    }

    /// A packet takes blocks that are known to be free.
    #[inline]
    pub(crate) fn take(&mut self, channel: ChannelId, lane: u8, blocks: u32) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        let left = of.known_blocks.checked_sub(blocks);
        of.known_blocks = left.expect("a packet starts only where there is space");
    }

    /// Blocks of a lane will be known to be free at an instant.
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
        // So that few are on their way, in memory that was just used.
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
        let new = self.new_update(Update { time_ps, blocks, next: NONE });
        let of = &mut self.lanes[place];
        if of.first == NONE {
            (of.first, of.last) = (new, new);
            return;
        }
        let last = &mut self.updates[of.last as usize];
        if last.time_ps <= time_ps {
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

    /// Puts what is known before the last of a lane behind all that is known no later.
    #[inline(never)]
    fn insert_before_last(&mut self, place: usize, new: u32) {
        let time_ps = self.updates[new as usize].time_ps;
        let (mut before, mut next) = (NONE, self.lanes[place].first);
        while self.updates[next as usize].time_ps <= time_ps {
            before = next;
            next = self.updates[next as usize].next;
        }
        self.updates[new as usize].next = next;
        if before == NONE {
            self.lanes[place].first = new;
        } else {
            self.updates[before as usize].next = new;
        }
    }

    /// The sender of a channel hears of credits of a lane.
    #[inline]
    pub(crate) fn on_known(&mut self, channel: ChannelId, lane: u8, now: u64) {
        let place = self.place(channel, lane);
        let of = &mut self.lanes[place];
        if of.event_ps == now {
            of.event_ps = UNWANTED;
        }
    }

    /// Blocks that are known to be free, or on their way to be known by an instant.
    pub(crate) fn free_until(&self, channel: ChannelId, lane: u8, time_ps: u64) -> u32 {
        let of = &self.lanes[self.place(channel, lane)];
        let mut free = of.known_blocks;
        let mut next = of.first;
        while next != NONE && self.updates[next as usize].time_ps <= time_ps {
            free += self.updates[next as usize].blocks;
            next = self.updates[next as usize].next;
        }
        free
    }

    /// Blocks that no packet takes that is not leaving.
    pub(crate) fn free(&self, channel: ChannelId, lane: u8) -> u32 {
        self.free_until(channel, lane, u64::MAX)
    }
}
