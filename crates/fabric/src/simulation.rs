//! A run of either switching kind: whoever runs a plan calls this, and the kind that the plan names does the work.

use crate::{lanes, wormhole};
use gingham_kernel::Time;
use gingham_model::measure::{ChannelCount, Collector};
use gingham_model::{Delivery, Plan, Status, Switching};
use std::sync::Arc;

/// A run of a plan.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// Of a wormhole network, by runs of flits.
    Wormhole(Box<wormhole::Simulation>),
    /// Of a network of virtual lanes, tick by tick.
    VirtualLanes(Box<lanes::Simulation>),
}

/// Hands a call on to whichever kind runs.
macro_rules! each {
    ($self:expr, $simulation:ident => $call:expr) => {
        match $self {
            Self::Wormhole($simulation) => $call,
            Self::VirtualLanes($simulation) => $call,
        }
    };
}

impl Simulation {
    /// A run of `plan`, at time zero.
    pub fn new(plan: Arc<Plan>) -> Self {
        match &plan.switching {
            Switching::VirtualLanes(pipeline) => {
                let pipeline = Arc::clone(pipeline);
                Self::VirtualLanes(Box::new(lanes::Simulation::new(plan, pipeline)))
            }
            Switching::Wormhole(wormhole) => {
                let wormhole = *wormhole;
                Self::Wormhole(Box::new(wormhole::Simulation::new(plan, wormhole)))
            }
        }
    }

    /// Simulates at most `events_max` events. The size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> &Status {
        each!(self, simulation => simulation.advance(events_max))
    }

    /// How far the run has come.
    pub fn status(&self) -> &Status {
        each!(self, simulation => simulation.status())
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        each!(self, simulation => simulation.now())
    }

    /// What was counted so far.
    pub fn collector(&self) -> &Collector {
        each!(self, simulation => simulation.collector())
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        each!(self, simulation => simulation.events())
    }

    /// The plan being run.
    pub fn plan(&self) -> &Plan {
        each!(self, simulation => simulation.plan())
    }

    /// Empties the buffer of a run that keeps all messages, in order of delivery.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        each!(self, simulation => simulation.take_messages())
    }

    /// By channel, what was carried so far; exact once the run has ended.
    pub fn channel_counts(&self) -> Vec<ChannelCount> {
        each!(self, simulation => simulation.channel_counts())
    }

    /// Checks what must always hold; for tests. Slow.
    pub fn assert_invariants(&self) {
        each!(self, simulation => simulation.assert_invariants());
    }
}
