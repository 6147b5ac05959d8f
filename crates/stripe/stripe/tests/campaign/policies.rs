//! Priorities and packet classes of a run, from a separate stream: the other draws of a seed keep
//! their values.

use gingham_stripe::{Class, Order, Sender};

use super::case::{Case, Draw};
use super::world::Scheduler;

#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    /// Empty if they are equal.
    pub(crate) priorities: Vec<u8>,
    /// 0 for none.
    redundant_one_in: u64,
    /// 0 for none.
    fastest_one_in: u64,
}

impl Policies {
    pub(crate) fn draw(seed: u64, channels: u64, order: Order, is_repaired: bool) -> Self {
        let mut draw = Draw::of(seed, "policies");
        let is_free = order == Order::Free;
        let has_levels = draw.one_in(3) && is_free;
        let level = |_| u8::try_from(draw.between(0, 2)).expect("small");
        let priorities = (0..channels).map(level).collect();
        let [redundant, fastest] = [draw.one_in(2), draw.one_in(4)];
        Self {
            priorities: if has_levels { priorities } else { Vec::new() },
            redundant_one_in: if redundant && is_repaired { draw.between(1, 4) } else { 0 },
            fastest_one_in: if fastest && is_free { draw.between(1, 4) } else { 0 },
        }
    }

    pub(crate) const fn copies(&self) -> bool {
        self.redundant_one_in > 0
    }

    /// Whether a packet may wait although some channel has room.
    pub(crate) const fn may_wait(&self) -> bool {
        !self.priorities.is_empty() || self.fastest_one_in > 0
    }

    pub(crate) fn class(&self, draw: &mut Draw) -> Class {
        let mut is_one = |one_in: u64| one_in > 0 && draw.one_in(one_in);
        match (is_one(self.redundant_one_in), is_one(self.fastest_one_in)) {
            (true, _) => Class::Redundant,
            (_, true) => Class::Fastest,
            _ => Class::Spread,
        }
    }
}

impl Case {
    pub(crate) fn configure(&self, mut sender: Sender<Scheduler>) -> Sender<Scheduler> {
        for (channel, priority) in self.policies.priorities.iter().enumerate() {
            sender.set_priority(channel, *priority);
        }
        sender
    }
}
