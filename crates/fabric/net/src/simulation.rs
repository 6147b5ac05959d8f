//! A run of a plan as whoever runs it sees it: the same of every switching kind, fast or flit by
//! flit.

use crate::measure::{ChannelCount, Collector};
use crate::{Delivery, Endpoints, Plan, Status};
use gingham_kernel::Time;
use serde::Serialize;
use std::fmt::Debug;

/// By what switches of virtual lanes are stepped; the result is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppedBy {
    /// Port by port, where something can move.
    Ports,
    /// The same port of 64 switches at once, a bit each.
    Columns,
}

impl SteppedBy {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ports => "ports",
            Self::Columns => "columns",
        }
    }
}

/// How switches of virtual lanes are stepped, and why so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stepping {
    /// By what.
    pub by: SteppedBy,
    /// Why, in words that follow "because".
    pub because: &'static str,
    /// Scenario keys that rule out columns, if any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub keys: &'static [&'static str],
    /// Expected speed-up by columns, if they are ruled out and the run is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_faster: Option<u32>,
}

impl Stepping {
    /// A choice of stepper that no scenario key affects.
    pub const fn new(by: SteppedBy, because: &'static str) -> Self {
        Self { by, because, keys: &[], columns_faster: None }
    }

    /// Note on a run whose scenario rules out a stepper that would be several times faster.
    pub fn note(&self) -> Option<String> {
        let times = self.columns_faster?;
        let because = self.because;
        Some(format!("by columns this run would be about {times} times faster, but {because}"))
    }
}

/// A run of a plan.
pub trait Simulation: Debug + Send + Sync {
    /// Simulates until so many more events are handled, if there are; a few more may be where some
    /// are handled at once. The size of a call never changes a result.
    fn advance(&mut self, events: u64) -> &Status;

    /// The current instant.
    fn now(&self) -> Time;

    /// Events handled so far.
    fn events(&self) -> u64;

    /// Everything but what moves flits.
    fn endpoints(&self) -> &Endpoints;

    /// The same, to be changed.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Counts by channel since time zero, this instant included, with a stop that lasts still
    /// counted up to now.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// How switches are stepped, where they are.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks what must always hold; for tests, after any event. Slow.
    fn assert_invariants(&self);

    /// How far the run has come.
    fn status(&self) -> &Status {
        self.endpoints().status()
    }

    /// What was counted so far.
    fn collector(&self) -> &Collector {
        self.endpoints().collector()
    }

    /// The plan being run.
    fn plan(&self) -> &Plan {
        self.endpoints().plan()
    }

    /// Empties the buffer of a run that keeps all messages, in order of delivery.
    fn take_messages(&mut self) -> Vec<Delivery> {
        self.endpoints_mut().take_messages()
    }
}
