//! Queues of packets that may leave on the same lanes.
//!
//! ```text
//!   level 1   answers  [ a3 ][ a9 ]                 before all else of the level
//!             ring     [ f2 ][ shared ][ f7 ]       one packet each, in turn, of those that may go
//!             shared   [ m4 ][ m7 ]                 of classes that are not controlled
//!   level 0   ...
//! ```
//!
//! A flow whose window is shut is not in the ring; one that waits for its pace, or whose class
//! waits for tokens, keeps its place in it and is passed over.

use super::policers::{Policer, delaying};
use super::waiting::Waiting;
use crate::flows::{Flows, Standing};
use crate::{Conformance, FlowId, Packet, Priority};
use gingham_kernel::Time;
use gingham_topology::routing::LaneSet;
use std::collections::VecDeque;

/// Queues of packets that may leave on the same lanes.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) lanes: LaneSet,
    /// By level of priority: what waits of classes that are not controlled.
    pub(super) shared: Box<[VecDeque<Waiting>]>,
    /// By level, what else waits; empty in a run in which nothing is controlled.
    turns: Box<[Turns]>,
    /// The levels in which something waits, allowed or not, as bits.
    pub(super) occupied: u8,
}

/// Whose turn it is in a level.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// Packets that no message is behind, and since when they wait.
    ordered: VecDeque<(Packet, Time)>,
    /// Those who take turns, the next first.
    ring: VecDeque<Member>,
    /// Flows that have something to send, whether they may or not.
    flows: usize,
}

/// Who takes turns in a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    /// The queue of classes that are not controlled.
    Shared,
    /// A flow.
    Flow(FlowId),
}

/// What goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pick {
    pub(super) level: usize,
    pub(super) who: Who,
}

/// Whose packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    /// The first of the shared queue, which is at this place of the ring if there is one.
    Shared(usize),
    /// The first that no message is behind.
    Ordered,
    /// The first of the flow at this place of the ring.
    Flow(usize, FlowId),
}

impl Group {
    /// Empty queues, for priorities up to `highest`.
    pub(super) fn new(lanes: LaneSet, highest: Priority, is_controlled: bool) -> Self {
        let levels = 0..=highest.level();
        let shared = levels.clone().map(|_| VecDeque::new()).collect();
        let turns = levels.filter(|_| is_controlled).map(|_| Turns::default()).collect();
        Self { lanes, shared, turns, occupied: 0 }
    }

    // What comes.

    pub(super) fn put_shared(&mut self, waiting: Waiting) {
        let level = waiting.priority.level();
        let queue = &mut self.shared[level];
        queue.push_back(waiting);
        self.occupied |= 1 << level;
        if let Some(turns) = self.turns.get_mut(level)
            && queue.len() == 1
        {
            turns.ring.push_back(Member::Shared);
        }
    }

    pub(super) fn put_ordered(&mut self, packet: Packet, now: Time) {
        let level = packet.priority.level();
        self.turns[level].ordered.push_back((packet, now));
        self.occupied |= 1 << level;
    }

    pub(super) fn put_in_flow(
        &mut self,
        flows: &mut Flows,
        flow: FlowId,
        waiting: Waiting,
        now: Time,
    ) {
        let level = waiting.priority.level();
        let turns = &mut self.turns[level];
        turns.flows += usize::from(flows.get(flow).queue.is_empty());
        if flows.put(flow, waiting, now) {
            turns.ring.push_back(Member::Flow(flow));
        }
        self.occupied |= 1 << level;
    }

    /// A flow of a level may go on.
    pub(super) fn reopen(&mut self, level: usize, flow: FlowId) {
        self.turns[level].ring.push_back(Member::Flow(flow));
    }

    /// A flow of a level may not go on.
    pub(super) fn shut(&mut self, level: usize, flow: FlowId) {
        self.turns[level].ring.retain(|member| *member != Member::Flow(flow));
    }

    /// Packets of all levels that no message is behind.
    pub(super) fn ordered(&self) -> usize {
        self.turns.iter().map(|turns| turns.ordered.len()).sum()
    }

    // What goes.

    /// What goes `now`; else the first instant at which something may, if that is known and there
    /// is something. What could go but for tokens is delayed by these from now on.
    #[inline]
    pub(super) fn pick(
        &mut self,
        flows: &mut Flows,
        policers: &mut [Option<Policer>],
        now: Time,
    ) -> Result<Pick, Option<Time>> {
        if self.turns.is_empty() {
            let level = self.occupied.checked_ilog2().ok_or(None)?;
            return Ok(Pick { level: level as usize, who: Who::Shared(0) });
        }
        self.pick_in_turn(flows, policers, now)
    }

    #[inline(never)]
    fn pick_in_turn(
        &mut self,
        flows: &mut Flows,
        policers: &mut [Option<Policer>],
        now: Time,
    ) -> Result<Pick, Option<Time>> {
        let mut untried = self.occupied;
        let mut soonest: Option<Time> = None;
        while let Some(level) = untried.checked_ilog2() {
            let level = level as usize;
            match self.turns[level].who(flows, policers, now) {
                Ok(who) => return Ok(Pick { level, who }),
                Err(time) => soonest = soonest.into_iter().chain(time).min(),
            }
            untried ^= 1 << level;
        }
        Err(soonest)
    }

    /// What was picked of the shared queue is gone, `is_done` saying whether its message is.
    pub(super) fn took_shared(&mut self, level: usize, place: usize, is_done: bool) {
        let queue = &mut self.shared[level];
        if is_done {
            queue.pop_front();
        }
        let is_left = !queue.is_empty();
        match self.turns.get_mut(level) {
            None if !is_left => self.occupied ^= 1 << level,
            None => {}
            Some(turns) => {
                turns.ring.remove(place);
                if is_left {
                    turns.ring.push_back(Member::Shared);
                }
                self.leave(level);
            }
        }
    }

    /// Payload of the first packet of a level that no message is behind, and since when it waits.
    pub(super) fn next_ordered(&self, level: usize) -> (u32, Time) {
        let (packet, since) = self.turns[level].ordered.front().expect("what is picked waits");
        (packet.payload_bytes, *since)
    }

    /// The packet that was picked.
    pub(super) fn take_ordered(&mut self, level: usize) -> Packet {
        let (packet, _) = self.turns[level].ordered.pop_front().expect("a packet was picked");
        self.leave(level);
        packet
    }

    /// A packet that was picked of the flow at a place of the ring is gone.
    #[inline(never)]
    pub(super) fn took_of_flow(&mut self, level: usize, place: usize, standing: Standing) {
        let turns = &mut self.turns[level];
        let member = turns.ring.remove(place).expect("a flow was picked");
        match standing {
            Standing::MayGo => turns.ring.push_back(member),
            Standing::Shut => {}
            Standing::Empty => turns.flows -= 1,
        }
        self.leave(level);
    }

    /// Something has left a level: whether anything waits there still.
    fn leave(&mut self, level: usize) {
        let turns = &self.turns[level];
        let is_empty =
            turns.ordered.is_empty() && turns.flows == 0 && self.shared[level].is_empty();
        if is_empty {
            self.occupied &= !(1 << level);
        }
    }
}

impl Turns {
    /// Whose packet goes `now`; else the first instant at which one may, if one will by itself.
    fn who(
        &self,
        flows: &mut Flows,
        policers: &mut [Option<Policer>],
        now: Time,
    ) -> Result<Who, Option<Time>> {
        if !self.ordered.is_empty() {
            return Ok(Who::Ordered);
        }
        let mut soonest: Option<Time> = None;
        // A class that waits for tokens waits for those of its first flow that may go but for them,
        // lest short packets take them away from long ones.
        let mut short_classes = Vec::new();
        for (place, member) in self.ring.iter().enumerate() {
            let Member::Flow(id) = *member else { return Ok(Who::Shared(place)) };
            let flow = flows.get_mut(id);
            let mut allowed = flow.earliest;
            let waiting = flow.queue.front_mut().expect("a flow in the ring has something");
            let class = waiting.message.class;
            if allowed <= now
                && let Some(bucket) = delaying(policers, class)
            {
                if short_classes.contains(&class) {
                    continue;
                }
                allowed = bucket.holds_at(now, waiting.next_bytes());
                if allowed > now {
                    waiting.conformance = Conformance::Delayed;
                    flow.short_since.get_or_insert(now);
                    short_classes.push(class);
                }
            }
            if allowed <= now {
                return Ok(Who::Flow(place, id));
            }
            soonest = Some(soonest.map_or(allowed, |other| other.min(allowed)));
        }
        Err(soonest)
    }
}
