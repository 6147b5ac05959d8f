//! Inputs of a record: the compiled scenario and the simulation.

use crate::compile::Compiled;
use crate::error::DeadlockReport;
use gingham_net::measure::RunReport;
use gingham_net::{Plan, Simulation, Status};

#[derive(Debug)]
pub(crate) struct RunView<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) simulation: &'a dyn Simulation,
    pub(crate) report: RunReport<'a>,
}

impl RunView<'_> {
    pub(crate) fn plan(&self) -> &Plan {
        &self.compiled.plan
    }

    pub(crate) fn deadlock(&self) -> Vec<String> {
        match self.simulation.status() {
            Status::Deadlocked(cycle) => DeadlockReport::of_run(self.plan(), cycle).lines,
            Status::Running | Status::Ended | Status::Finished => Vec::new(),
        }
    }
}
