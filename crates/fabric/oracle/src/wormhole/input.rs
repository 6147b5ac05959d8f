//! Input port at the end of a channel into a switch: slack buffer, header, and STOP and GO.

use crate::wormhole::event::{Flit, Symbol};
use crate::wormhole::worm::WormId;
use gingham_kernel::Time;
use gingham_net::SlackBuffer;
use gingham_topology::ChannelId;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    Idle,
    Routing { worm: WormId, output: ChannelId, level: usize },
    Waiting { output: ChannelId, level: usize },
    Connected { output: ChannelId },
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) slack: SlackBuffer,
    buffer: VecDeque<Flit>,
    /// Time integral of the fill level up to the last change.
    occupancy_flit_ps: u128,
    changed: Time,
    pub(crate) head: Head,
    /// Worm whose header was read last, until its tail has left.
    pub(crate) serves: Option<WormId>,
    /// Control flit that the fill level requires.
    pub(crate) wanted: Symbol,
    pub(crate) announced: Symbol,
}

impl Input {
    pub(crate) fn new(slack: SlackBuffer) -> Self {
        Self {
            slack,
            buffer: VecDeque::new(),
            occupancy_flit_ps: 0,
            changed: Time::ZERO,
            head: Head::Idle,
            serves: None,
            wanted: Symbol::Go,
            announced: Symbol::Go,
        }
    }

    pub(crate) fn enter(&mut self, flit: Flit, now: Time) {
        self.settle_occupancy(now);
        self.buffer.push_back(flit);
    }

    pub(crate) fn front(&self) -> Option<Flit> {
        self.buffer.front().copied()
    }

    pub(crate) fn worms(&self) -> impl Iterator<Item = WormId> {
        self.buffer.iter().map(|flit| flit.worm)
    }

    pub(crate) fn leave(&mut self, now: Time) -> Option<Flit> {
        self.settle_occupancy(now);
        self.buffer.pop_front()
    }

    pub(crate) fn occupancy_flit_ps(&self, now: Time) -> u128 {
        self.occupancy_flit_ps + self.fill() as u128 * u128::from(now.since(self.changed).as_ps())
    }

    fn settle_occupancy(&mut self, now: Time) {
        self.occupancy_flit_ps = self.occupancy_flit_ps(now);
        self.changed = now;
    }

    pub(crate) fn fill(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn judged(&self) -> Symbol {
        if self.fill() > self.slack.stop as usize {
            Symbol::Stop
        } else if self.fill() < self.slack.go as usize {
            Symbol::Go
        } else {
            self.wanted
        }
    }

    pub(crate) fn pending(&self) -> Option<Symbol> {
        (self.wanted != self.announced).then_some(self.wanted)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) busy_until: Time,
    pub(crate) stopped_since: Option<Time>,
    pub(crate) owner: Option<ChannelId>,
    /// Earliest start time of the first flit of the worm that owns the output.
    pub(crate) ready: Time,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { busy_until: Time::ZERO, stopped_since: None, owner: None, ready: Time::ZERO }
    }
}
