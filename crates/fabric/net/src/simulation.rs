//! Interface of a simulated run, for all switching kinds and both engines.

use crate::measure::{ChannelCount, Collector};
use crate::{Delivery, Endpoints, Plan, Status};
use gingham_kernel::Time;
use serde::Serialize;
use std::fmt::Debug;

/// Algorithm that advances virtual-lane switches; it does not affect results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppedBy {
    /// Steps each port that can move a flit.
    Ports,
    /// Steps the ports with the same index at 64 switches at once, one bit per switch (bit-sliced).
    Columns,
}

impl SteppedBy {
    /// Returns the name of the stepper.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ports => "ports",
            Self::Columns => "columns",
        }
    }
}

/// Stepper, with the reason for its choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stepping {
    /// Chosen stepper.
    pub by: SteppedBy,
    /// Reason, worded to follow "because".
    pub because: &'static str,
    /// Scenario keys that rule out the column stepper, if any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub keys: &'static [&'static str],
    /// Speed-up factor of the column stepper; set only for long runs whose scenario rules out that
    /// stepper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_faster: Option<u32>,
}

impl Stepping {
    /// Creates a choice that does not depend on scenario keys.
    pub const fn new(by: SteppedBy, because: &'static str) -> Self {
        Self { by, because, keys: &[], columns_faster: None }
    }

    /// Returns a note if the scenario rules out a stepper that would be several times faster.
    pub fn note(&self) -> Option<String> {
        let times = self.columns_faster?;
        let because = self.because;
        Some(format!("by columns this run would be about {times} times faster, but {because}"))
    }
}

/// A run of a plan.
pub trait Simulation: Debug + Send + Sync {
    /// Simulates until about `events` more events are handled or the run ends. The number of events
    /// per call never affects the results.
    fn advance(&mut self, events: u64) -> &Status;

    /// Returns the current simulated time.
    fn now(&self) -> Time;

    /// Returns the number of events handled so far.
    fn events(&self) -> u64;

    /// Returns the endpoints of the run.
    fn endpoints(&self) -> &Endpoints;

    /// Returns mutable access to the endpoints.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Returns the counters of all channels from time zero until now, including a STOP still in
    /// effect.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// Returns the stepper of virtual-lane switches; `None` for networks without lanes.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks the run's invariants; slow, for tests.
    fn assert_invariants(&self);

    /// Returns the status of the run.
    fn status(&self) -> &Status {
        self.endpoints().status()
    }

    /// Returns the statistics so far.
    fn collector(&self) -> &Collector {
        self.endpoints().collector()
    }

    /// Returns the plan of the run.
    fn plan(&self) -> &Plan {
        self.endpoints().plan()
    }

    /// Takes the deliveries since the last call, in order of delivery, if the run keeps all
    /// messages.
    fn take_messages(&mut self) -> Vec<Delivery> {
        self.endpoints_mut().take_messages()
    }
}
