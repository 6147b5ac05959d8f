//! Endpoint adapter: its queues, its packets that belong to no message, and the choice among all
//! its packets (`timing.md`, "Turns").

use super::message::MessageIndex;
use super::queue::Queue;
use gingham_kernel::Time;
use gingham_net::{Packet, Priority};
use gingham_topology::routing::{LaneSet, VcClass};

#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) packet: Packet,
    pub(super) since: Time,
    pub(super) has_started: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pick {
    Queue(usize, MessageIndex),
    Other(usize),
    At(Time),
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) groups: Vec<LaneSet>,
    /// Permitted lanes of each VC class on the first channel.
    lanes: Vec<LaneSet>,
    pub(super) queues: Vec<Queue>,
    pub(super) others: Vec<Other>,
}

impl Host {
    pub(super) fn new(lanes: Vec<LaneSet>) -> Self {
        let mut groups = lanes.clone();
        groups.sort_unstable();
        groups.dedup();
        Self { groups, lanes, queues: Vec::new(), others: Vec::new() }
    }

    /// Returns the group of a VC class. Classes with the same lanes on the first channel share a
    /// group.
    pub(super) fn group_of(&self, vc_class: VcClass) -> usize {
        let lanes = self.lanes[usize::from(vc_class.0)];
        self.groups.iter().position(|group| *group == lanes).expect("every lane set has a group")
    }

    pub(super) fn vc_classes(&self) -> impl Iterator<Item = VcClass> {
        (0..self.lanes.len()).map(|class| VcClass(u8::try_from(class).expect("classes are few")))
    }

    pub(super) fn first_other(&self, group: usize, level: usize) -> Option<usize> {
        let is_next = |other: &Other| {
            let Packet { vc_class, priority, .. } = other.packet;
            !other.has_started && self.group_of(vc_class) == group && priority.level() == level
        };
        self.others.iter().position(is_next)
    }

    /// Returns the queues with a packet and an open window, in round-robin order.
    pub(super) fn ring(&self, group: usize, level: usize) -> Vec<usize> {
        let mut ring: Vec<(usize, usize)> = Vec::new();
        for (place, queue) in self.queues.iter().enumerate() {
            if let Some(joined) =
                queue.state().joined.filter(|_| (queue.group, queue.level) == (group, level))
            {
                ring.push((joined, place));
            }
        }
        ring.sort_unstable();
        ring.into_iter().map(|(_, place)| place).collect()
    }

    /// Returns whether a group has a packet that its window and rate limit permit to start at
    /// `now`.
    pub(super) fn has_ready(&self, group: usize, now: Time) -> bool {
        levels().any(|level| {
            let may_go = |place: usize| self.queues[place].state().earliest <= now;
            self.first_other(group, level).is_some()
                || self.ring(group, level).into_iter().any(may_go)
        })
    }

    pub(super) fn is_waiting(&self, group: usize) -> bool {
        let waits = |queue: &Queue| queue.group == group && queue.state().messages > 0;
        self.queues.iter().any(waits)
            || levels().any(|level| self.first_other(group, level).is_some())
    }
}

pub(super) fn levels() -> impl Iterator<Item = usize> {
    (0..usize::from(Priority::LEVELS)).rev()
}
