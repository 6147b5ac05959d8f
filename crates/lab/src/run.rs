//! One run: a compiled scenario being simulated.

use crate::compile::Compiled;
use crate::record::Record;
use gingham_oracle::{Simulation, Status};
use std::sync::Arc;

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
    pub fn new(compiled: Compiled) -> Self {
        let simulation = Simulation::new(Arc::clone(&compiled.plan));
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
        let of_time = share(self.simulation.now().as_ps(), plan.end.as_ps());
        let of_messages =
            plan.messages.map_or(0.0, |wanted| share(ledger.followed_messages(), wanted));
        Progress {
            fraction: if done { 1.0 } else { of_time.max(of_messages).min(1.0) },
            now_ps: self.simulation.now().as_ps(),
            delivered: ledger.classes().iter().map(|class| class.delivered.messages).sum(),
            in_flight: ledger.in_flight_messages(),
            done,
        }
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
