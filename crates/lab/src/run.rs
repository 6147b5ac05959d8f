//! One run: a compiled scenario being simulated.

use crate::compile::Compiled;
use crate::record::Record;
use gingham_kernel::Time;
use gingham_model::measure::Ledger;
use gingham_model::{Plan, Status};
use serde::Serialize;
use std::sync::Arc;

/// What moves the flits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// By runs of flits: fast.
    #[default]
    Runs,
    /// Every flit by itself: slow, and what the other is held to.
    Oracle,
}

/// A simulation by one engine or the other.
#[derive(Clone, Debug)]
pub(crate) enum Simulation {
    Runs(Box<gingham_fabric::Simulation>),
    Oracle(Box<gingham_oracle::Simulation>),
}

/// Hands a call on to whichever engine runs.
macro_rules! each {
    ($self:expr, $simulation:ident => $call:expr) => {
        match $self {
            Self::Runs($simulation) => $call,
            Self::Oracle($simulation) => $call,
        }
    };
}

impl Simulation {
    fn new(plan: &Arc<Plan>, engine: Engine) -> Self {
        match engine {
            Engine::Runs => Self::Runs(Box::new(gingham_fabric::Simulation::new(Arc::clone(plan)))),
            Engine::Oracle => {
                Self::Oracle(Box::new(gingham_oracle::Simulation::new(Arc::clone(plan))))
            }
        }
    }

    fn advance(&mut self, events_max: u64) {
        each!(self, simulation => simulation.advance(events_max));
    }

    pub(crate) fn status(&self) -> &Status {
        each!(self, simulation => simulation.status())
    }

    pub(crate) fn now(&self) -> Time {
        each!(self, simulation => simulation.now())
    }

    fn events(&self) -> u64 {
        each!(self, simulation => simulation.events())
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        each!(self, simulation => simulation.ledger())
    }

    pub(crate) fn plan(&self) -> &Plan {
        each!(self, simulation => simulation.plan())
    }
}

/// How far a run has come, for a progress bar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Share of the run that is done, from 0 to 1: of its time, or of its messages if that is more.
    pub fraction: f64,
    /// Simulated time in picoseconds.
    pub now_ps: u64,
    /// Messages delivered so far.
    pub delivered: u64,
    /// Messages created and not delivered yet.
    pub in_flight: u64,
    /// Whether the run has ended.
    pub done: bool,
}

/// A run under way.
#[derive(Clone, Debug)]
pub struct Run {
    compiled: Compiled,
    simulation: Simulation,
}

impl Run {
    /// A run at time zero.
    pub fn new(compiled: Compiled, engine: Engine) -> Self {
        let simulation = Simulation::new(&compiled.plan, engine);
        Self { compiled, simulation }
    }

    /// Simulates at most `events_max` events; the size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> Progress {
        self.simulation.advance(events_max);
        self.progress()
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let plan = &self.compiled.plan;
        let ledger = self.simulation.ledger();
        let done = *self.simulation.status() != Status::Running;
        #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        let of_time = share(self.simulation.now().as_ps(), ledger.end().as_ps());
        let of_messages = plan
            .stop
            .messages
            .map_or(0.0, |wanted| share(ledger.measured().followed_messages(), wanted));
        Progress {
            fraction: if done { 1.0 } else { of_time.max(of_messages).min(1.0) },
            now_ps: self.simulation.now().as_ps(),
            delivered: ledger.delivered_messages(),
            in_flight: ledger.in_flight_messages(),
            done,
        }
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.simulation.events()
    }

    /// What was measured, at the end or at an interruption.
    pub fn record(&self) -> Record {
        Record::new(&self.compiled, &self.simulation)
    }

    /// What the scenario was compiled to.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}
