//! The one simulation that others see: a plan says which kind of switch it has, and all else is handed on to that kind.

use crate::{lanes, wormhole};
use gingham_kernel::Time;
use gingham_model::measure::{ChannelCount, Collector};
use gingham_model::{Delivery, Plan, Status, Switching};
use std::sync::Arc;

/// A run, flit by flit, of the kind that its plan says.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// Wormhole switches with slack buffers.
    Wormhole(Box<wormhole::Simulation>),
    /// Switches of virtual lanes with credits.
    VirtualLanes(Box<lanes::Simulation>),
}

/// Hands a call on to whichever kind it is.
macro_rules! hand_on {
    ($simulation:expr, $kind:ident => $call:expr) => {
        match $simulation {
            Self::Wormhole($kind) => $call,
            Self::VirtualLanes($kind) => $call,
        }
    };
}

impl Simulation {
    /// A run of `plan`, at time zero.
    pub fn new(plan: Arc<Plan>) -> Self {
        match &plan.switching {
            Switching::Wormhole(wormhole) => {
                let wormhole = *wormhole;
                Self::Wormhole(Box::new(wormhole::Simulation::new(plan, wormhole)))
            }
            Switching::VirtualLanes(pipeline) => {
                let pipeline = Arc::clone(pipeline);
                Self::VirtualLanes(Box::new(lanes::Simulation::new(plan, pipeline)))
            }
        }
    }

    /// The same run with the events of each instant scheduled in a random order, which must
    /// change nothing.
    #[must_use]
    pub fn with_shuffled_scheduling(self, seed: u64) -> Self {
        match self {
            Self::Wormhole(kind) => Self::Wormhole(Box::new(kind.with_shuffled_scheduling(seed))),
            Self::VirtualLanes(kind) => {
                Self::VirtualLanes(Box::new(kind.with_shuffled_scheduling(seed)))
            }
        }
    }

    /// Simulates at most `events_max` events. The size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> &Status {
        hand_on!(self, kind => kind.advance(events_max))
    }

    /// How far the run has come.
    pub fn status(&self) -> &Status {
        hand_on!(self, kind => kind.status())
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        hand_on!(self, kind => kind.now())
    }

    /// When the next event happens.
    pub fn next_time(&self) -> Option<Time> {
        hand_on!(self, kind => kind.next_time())
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        hand_on!(self, kind => kind.events())
    }

    /// What was counted so far.
    pub fn collector(&self) -> &Collector {
        hand_on!(self, kind => kind.collector())
    }

    /// Empties the buffer of a run that keeps all messages, in order of delivery.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        hand_on!(self, kind => kind.take_messages())
    }

    /// Counts by channel since time zero, this instant included, with a stop that lasts still counted up to now.
    pub fn channel_counts(&self) -> Vec<ChannelCount> {
        hand_on!(self, kind => kind.channel_counts())
    }

    /// The plan being run.
    pub fn plan(&self) -> &Plan {
        hand_on!(self, kind => kind.plan())
    }

    /// Checks conservation and order; for tests, after any event. Slow.
    pub fn assert_invariants(&self) {
        hand_on!(self, kind => kind.assert_invariants());
    }
}
