//! The interface of a simulated run, for all switching kinds and both engines.

use crate::measure::{ChannelCount, Collector};
use crate::{Delivery, Endpoints, Plan, Status};
use gingham_kernel::Time;
use serde::Serialize;
use std::fmt::Debug;

/// Stepper of virtual-lane switches. It does not affect the result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppedBy {
    /// Port by port, if something can move.
    Ports,
    /// Bit-sliced: one port of 64 switches at once, a bit each.
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

/// Stepper of virtual-lane switches, with the reason for its choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stepping {
    /// Stepper.
    pub by: SteppedBy,
    /// Reason, in words that follow "because".
    pub because: &'static str,
    /// Scenario keys that rule out columns, if any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub keys: &'static [&'static str],
    /// Expected speed-up by columns, if they are ruled out and the run is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_faster: Option<u32>,
}

impl Stepping {
    /// Creates a choice of stepper that no scenario key affects.
    pub const fn new(by: SteppedBy, because: &'static str) -> Self {
        Self { by, because, keys: &[], columns_faster: None }
    }

    /// Returns a note for a run whose scenario rules out a stepper that would be several times
    /// faster.
    pub fn note(&self) -> Option<String> {
        let times = self.columns_faster?;
        let because = self.because;
        Some(format!("by columns this run would be about {times} times faster, but {because}"))
    }
}

/// A run of a plan.
pub trait Simulation: Debug + Send + Sync {
    /// Simulates until `events` more events are handled or the run ends; may handle a few more. The
    /// size of a call never changes a result.
    fn advance(&mut self, events: u64) -> &Status;

    /// Returns the current simulated time.
    fn now(&self) -> Time;

    /// Returns the number of events handled.
    fn events(&self) -> u64;

    /// Returns the endpoints: everything but the movement of flits.
    fn endpoints(&self) -> &Endpoints;

    /// Returns the endpoints, for changes.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Returns the counts of channels since time zero, including this instant. A stop in progress
    /// counts up to now.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// Returns the stepper of switches, if they are stepped.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks invariants; for tests, after any event. Slow.
    fn assert_invariants(&self);

    /// Returns the status of the run.
    fn status(&self) -> &Status {
        self.endpoints().status()
    }

    /// Returns the statistics collected up to now.
    fn collector(&self) -> &Collector {
        self.endpoints().collector()
    }

    /// Returns the plan of the run.
    fn plan(&self) -> &Plan {
        self.endpoints().plan()
    }

    /// Returns and removes the deliveries of a run that keeps all messages, in order of delivery.
    fn take_messages(&mut self) -> Vec<Delivery> {
        self.endpoints_mut().take_messages()
    }
}
