//! Record of a run: verdict, a summary of each class, and tables.
//!
//! Invariant: every number of the summary is a measurement, at most converted to another unit; only
//! advice contains estimates.

mod advice;
mod bottleneck;
pub(crate) mod classes;
mod distributions;
mod finished;
mod flows;
mod limit;
pub(crate) mod links;
mod load;
pub(crate) mod messages;
mod nodes;
mod periods;
mod served;
mod shortage;
mod trees;
mod verdict;
pub(crate) mod view;

pub use crate::mechanisms::admission::columns::AdmissionSummary;
pub use crate::mechanisms::in_transit::columns::InTransitTotals;
pub use crate::mechanisms::posting::columns::PostingSummary;
pub use crate::mechanisms::streams::frames::FrameSummary;
pub use bottleneck::BusyChannel;
pub(crate) use classes::estimate_of;
pub use classes::{ClassSummary, PercentileSummary};
pub use gingham_results::{Column, ColumnData, Table};
pub use links::LinkTotals;
pub(crate) use messages::Names;
pub use served::ServedSummary;
pub use trees::TreeTotals;
pub use verdict::Verdict;

use crate::compile::{Compiled, Draw};
use crate::mechanisms::admission::columns as admission;
use crate::mechanisms::in_transit::columns as in_transit;
use crate::mechanisms::streams::columns as streams;
use gingham_kernel::Span;
use gingham_net::{Delivery, Plan, Simulation, Status};
use gingham_topology::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use view::RunView;

/// Results of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Worst verdict of the classes, or the event that ended the run early.
    pub verdict: Verdict,
    /// Reason for the verdict, and advice for the next run.
    pub verdict_reason: String,
    /// Start of the measurement window, in picoseconds. For a class that is not steady in the first
    /// half of the run, the window is the second half.
    pub warm_up_ps: u64,
    /// End of the measurement window, in picoseconds.
    pub window_end_ps: u64,
    /// Simulated time at the end of the run, in picoseconds, including the follow time after the
    /// window.
    pub end_ps: u64,
    /// Time from zero to the last delivery, in picoseconds; missing unless the workload ended
    /// within the run and every message was delivered.
    pub makespan_ps: Option<u64>,
    /// Number of hosts that send messages of any class.
    pub hosts: usize,
    /// 99th percentile of the latency from creation to delivery, in nanoseconds, over the followed
    /// messages of all classes; missing if there are fewer than 100 messages.
    pub latency_p99_ns: Option<f64>,
    /// Summary of each traffic class.
    pub classes: Vec<ClassSummary>,
    /// The busiest channels, at most three, with the flows that use them.
    pub busiest: Vec<BusyChannel>,
    /// Whether the routes are free of deadlock. A run on other routes may still end without a
    /// deadlock, by chance.
    pub deadlock_free: bool,
    /// Totals over all links.
    pub links: LinkTotals,
    /// Totals over all in-transit hosts.
    pub in_transit: InTransitTotals,
    /// Totals over all congestion trees, if the run searched for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<TreeTotals>,
    /// Random values drawn once per run; confidence intervals are valid only for these values.
    pub draws: Vec<Draw>,
    /// Notes on decisions of the compilation and events of the run that the user may not expect.
    pub notes: Vec<String>,
    /// Problems found in the fabric file.
    pub findings: Vec<String>,
    /// Channels of the deadlock cycle, each with its lane if a channel has several lanes; empty
    /// unless the run deadlocked.
    pub deadlock: Vec<String>,
    /// Result tables, each with one row per message, class, link and so on; empty in a summary.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

impl Record {
    /// Creates the record of a run. Omitting the tables saves most of the time.
    pub(crate) fn new(compiled: &Compiled, simulation: &dyn Simulation, with_tables: bool) -> Self {
        let view = RunView { compiled, simulation, report: simulation.collector().report() };
        let window = view.report.window();
        let classes = classes::summaries(&view);
        let (verdict, verdict_reason) = verdict::of_run(&view, &classes);
        let verdict_reason = verdict_reason + could_deadlock(&view);
        let links = links::rows(&view);
        let hosts_in_transit = in_transit::rows(&view);
        let tables = if with_tables {
            tables(&view, &classes, &links, &hosts_in_transit)
        } else {
            Vec::new()
        };
        let mut notes = compiled.notes.clone();
        notes.extend(in_transit::note(&view, &hosts_in_transit));
        Self {
            verdict,
            verdict_reason,
            warm_up_ps: window.start.as_ps(),
            window_end_ps: window.end.as_ps(),
            end_ps: simulation.now().as_ps(),
            makespan_ps: view.report.makespan().map(Span::as_ps),
            hosts: hosts(view.plan()),
            latency_p99_ns: view.report.percentile_of_all(0.99).map(classes::span_ns),
            busiest: bottleneck::busiest(&view, &links),
            deadlock_free: compiled.proof.is_free(),
            links: links::totals(&links),
            in_transit: in_transit::totals(&hosts_in_transit),
            congestion: trees::totals(&view),
            notes,
            draws: compiled.draws.clone(),
            findings: compiled.findings.iter().map(ToString::to_string).collect(),
            deadlock: view.deadlock(),
            classes,
            tables,
        }
    }
}

fn could_deadlock(view: &RunView<'_>) -> &'static str {
    let has_deadlocked = matches!(view.simulation.status(), Status::Deadlocked(_));
    if view.compiled.proof.is_free() || has_deadlocked {
        ""
    } else {
        "; the routes can deadlock (allow_deadlock): this run did not, but another seed, load or \
         length of run may"
    }
}

fn hosts(plan: &Plan) -> usize {
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    sources.map(|source| source.endpoint).collect::<BTreeSet<_>>().len()
}

fn tables(
    view: &RunView<'_>,
    classes: &[ClassSummary],
    links: &[links::Link],
    hosts_in_transit: &[in_transit::Host],
) -> Vec<Table> {
    let plan = view.plan();
    let names = Names::of(plan);
    let mut tables = vec![
        message_table(&names, &view.report.sample()),
        classes::table(classes),
        classes::percentile_table(classes),
        distributions::histogram(view),
        distributions::series(view),
        links::table(plan, links),
        nodes::table(&plan.fabric),
        in_transit::table(view, hosts_in_transit),
        in_transit::contention(&view.report.contention()),
        flows::table(&names, view),
        flows::series(&names, view),
        links::series(plan, &view.report.link_series()),
        streams::table(&names, view),
    ];
    tables.extend(trees::tables(&names, view));
    tables.extend(admission::tables(&names, view));
    tables
}

pub(crate) fn message_table(names: &Names, messages: &[Delivery]) -> Table {
    messages::table(names, messages)
}

/// Returns the columns of all result tables, without rows.
pub fn result_tables() -> Vec<Table> {
    let no_end = |_: ChannelId| unreachable!("a table without rows asks for no end");
    let names = Names::default();
    let no_host = |_| unreachable!("a table without rows asks for no host");
    let mut tables = vec![
        messages::table(&names, &[]),
        classes::table(&[]),
        classes::percentile_table(&[]),
        distributions::histogram_columns(Vec::new(), &[]),
        distributions::series_columns(Vec::new(), &[]),
        links::columns(Vec::new(), &[], no_end),
        nodes::columns(&[]),
        in_transit::columns(&[], no_host),
        in_transit::contention(&[]),
        flows::columns(&names, &[]),
        flows::series_columns(&names, &[]),
        links::series_columns(Vec::new(), &[], no_end),
        streams::columns(&names, &[]),
    ];
    tables.extend(trees::no_tables(&names, no_end));
    tables.extend(admission::no_tables(&names, no_end));
    tables
}

/// Returns the JSON Schema of the summary.
pub fn summary_schema() -> serde_json::Value {
    gingham_results::schema_of::<Record>()
}
