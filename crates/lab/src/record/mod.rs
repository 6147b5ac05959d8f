//! The record of a run: verdict, a summary by class, and tables.

mod classes;
mod links;
mod messages;
mod nodes;
mod table;
mod verdict;

pub use classes::ClassSummary;
pub use links::LinkTotals;
pub use table::{Column, ColumnData, Table};
pub use verdict::Verdict;

use crate::compile::Compiled;
use crate::error::DeadlockReport;
use crate::run::Simulation;
use gingham_model::Status;
use serde::Serialize;

/// Everything that a run leaves behind.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The worst of the classes' verdicts, or what ended the run early.
    pub verdict: Verdict,
    /// Why, and what to do next, in a sentence.
    pub verdict_reason: String,
    /// Simulated time at the end, in picoseconds.
    pub end_ps: u64,
    /// Start of the window that results count from, in picoseconds.
    pub warm_up_ps: u64,
    /// By traffic class.
    pub classes: Vec<ClassSummary>,
    /// Over all links.
    pub links: LinkTotals,
    /// Notes of the compilation.
    pub notes: Vec<String>,
    /// Findings of the fabric file.
    pub findings: Vec<String>,
    /// The circle of waits, if the run deadlocked.
    pub deadlock: Vec<String>,
    /// Per-message, per-link and per-class tables.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

impl Record {
    pub(crate) fn new(compiled: &Compiled, simulation: &Simulation) -> Self {
        let plan = &compiled.plan;
        let classes = classes::summaries(simulation);
        let (verdict, verdict_reason) = verdict::of_run(simulation.status(), &classes);
        let deadlock = match simulation.status() {
            Status::Deadlocked(cycle) => {
                DeadlockReport::of_run(&plan.fabric, &cycle.channels).lines
            }
            _ => Vec::new(),
        };
        let measured = simulation.ledger().measured();
        let links = links::rows(plan, &measured);
        Self {
            verdict,
            verdict_reason,
            end_ps: simulation.now().as_ps(),
            warm_up_ps: measured.window().start.as_ps(),
            links: links::totals(&links),
            notes: compiled.notes.clone(),
            findings: compiled.findings.iter().map(ToString::to_string).collect(),
            deadlock,
            tables: vec![
                messages::table(&messages::Names::of(plan), &measured.sample()),
                links::table(plan, &links),
                nodes::table(&plan.fabric),
                classes::table(&classes),
            ],
            classes,
        }
    }
}
