//! Record of a run: verdict, summary and tables.

mod alone;
mod channels;
mod pipe;
mod rates;
mod series;
mod sources;
mod summary;
mod trace;
mod verdict;

pub use channels::ChannelSummary;
pub use sources::SourceSummary;
pub use summary::{PercentileSummary, Record, Verdict};

use crate::compile::Compiled;
use crate::run::Engine;
use gingham_results::Table;

impl Record {
    pub(crate) fn new(
        compiled: &Compiled,
        engine: &Engine,
        alone: Option<&Engine>,
        with_tables: bool,
    ) -> Self {
        let mut record = pipe::record(compiled, engine);
        (record.verdict, record.verdict_reason) = verdict::of(engine, &record);
        alone::compare(&mut record, compiled, alone);
        if with_tables {
            record.tables = tables(compiled, engine, &record);
        }
        record
    }
}

fn tables(compiled: &Compiled, engine: &Engine, record: &Record) -> Vec<Table> {
    let names: Vec<_> = compiled.plan.links.iter().map(|link| link.name.clone()).collect();
    let sources: Vec<_> = compiled.plan.sources.iter().map(|one| one.name.clone()).collect();
    let meter = engine.meter();
    vec![
        channels::table(&record.channels),
        sources::table(&record.sources),
        pipe::percentile_table(&record.percentiles),
        series::pipe_table(&meter.series, record.end_ns),
        series::channel_table(&meter.series, names.clone(), record.end_ns),
        trace::event_table(&meter.trace.events, names.clone()),
        trace::packet_table(&meter.trace.packets, names, sources),
    ]
}

/// Returns all result tables without rows, to document the columns.
pub fn result_tables() -> Vec<Table> {
    let no_series = crate::measure::Series::none();
    vec![
        channels::table(&[]),
        sources::table(&[]),
        pipe::percentile_table(&[]),
        series::pipe_table(&no_series, 0),
        series::channel_table(&no_series, Vec::new(), 0),
        trace::event_table(&[], Vec::new()),
        trace::packet_table(&[], Vec::new(), Vec::new()),
    ]
}

/// Returns the JSON Schema of the summary.
pub fn summary_schema() -> serde_json::Value {
    gingham_results::schema_of::<Record>()
}
