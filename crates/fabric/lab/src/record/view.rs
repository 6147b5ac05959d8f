//! A run that is to be told.

use crate::compile::Compiled;
use crate::error::DeadlockReport;
use gingham_net::measure::RunReport;
use gingham_net::{Plan, Simulation, Status};

/// A run as it stands, and what its collector says of it.
#[derive(Debug)]
pub(super) struct RunView<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) simulation: &'a dyn Simulation,
    pub(super) report: RunReport<'a>,
}

impl RunView<'_> {
    pub(super) fn plan(&self) -> &Plan {
        &self.compiled.plan
    }

    pub(super) fn deadlock(&self) -> Vec<String> {
        match self.simulation.status() {
            Status::Deadlocked(cycle) => DeadlockReport::of_run(self.plan(), cycle).lines,
            Status::Running | Status::Finished | Status::Drained => Vec::new(),
        }
    }
}
