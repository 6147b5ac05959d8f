//! The interface of a simulated run, for all switching kinds and both engines.

use crate::measure::{ChannelCount, Collector};
use crate::{Delivery, Endpoints, Plan, Status};
use gingham_kernel::Time;
use serde::Serialize;
use std::fmt::Debug;

/// Stepper of virtual-lane switches; it does not affect results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppedBy {
    /// Steps each port that can move something.
    Ports,
    /// Steps one port of 64 switches at once, with a bit for each (bit-sliced).
    Columns,
}

impl SteppedBy {
    /// Name of the stepper.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ports => "ports",
            Self::Columns => "columns",
        }
    }
}

/// Stepper with the reason for its choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stepping {
    /// Stepper.
    pub by: SteppedBy,
    /// Reason, in words after "because".
    pub because: &'static str,
    /// Scenario keys that rule out the column stepper, if any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub keys: &'static [&'static str],
    /// Speed-up that the column stepper would give; set only if the run is long and columns are
    /// ruled out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_faster: Option<u32>,
}

impl Stepping {
    /// Creates a choice that no scenario key affects.
    pub const fn new(by: SteppedBy, because: &'static str) -> Self {
        Self { by, because, keys: &[], columns_faster: None }
    }

    /// Returns a note if the scenario rules out a stepper several times faster.
    pub fn note(&self) -> Option<String> {
        let times = self.columns_faster?;
        let because = self.because;
        Some(format!("by columns this run would be about {times} times faster, but {because}"))
    }
}

/// A run of a plan.
pub trait Simulation: Debug + Send + Sync {
    /// Simulates until about `events` more events are handled or the run ends. The number of events
    /// per call never changes a result.
    fn advance(&mut self, events: u64) -> &Status;

    /// Current simulated time.
    fn now(&self) -> Time;

    /// Number of events handled.
    fn events(&self) -> u64;

    /// Endpoints of the run.
    fn endpoints(&self) -> &Endpoints;

    /// Mutable access to the endpoints of the run.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Counts of channels since time zero, including this instant; a stop in progress counts until
    /// now.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// Stepper of virtual-lane switches, if the network has any.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks invariants after any event, for tests; slow.
    fn assert_invariants(&self);

    /// Status of the run.
    fn status(&self) -> &Status {
        self.endpoints().status()
    }

    /// Statistics up to now.
    fn collector(&self) -> &Collector {
        self.endpoints().collector()
    }

    /// Plan of the run.
    fn plan(&self) -> &Plan {
        self.endpoints().plan()
    }

    /// Takes the deliveries of a run that keeps all messages, in order of delivery.
    fn take_messages(&mut self) -> Vec<Delivery> {
        self.endpoints_mut().take_messages()
    }
}
