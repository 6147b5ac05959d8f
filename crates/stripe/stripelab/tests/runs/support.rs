//! Common parts of the tests of runs.

use gingham_results::{ColumnData, Table};
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{Record, Run, compile};
use std::path::Path;

pub(crate) fn run_in_calls(text: &str, events: u64) -> Record {
    let source = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default())
        .expect("it can be read");
    let mut run = Run::new(compile(&source).expect("it can be run"));
    while !run.advance(events).expect("time goes on").done {}
    run.record()
}

pub(crate) fn run(text: &str) -> Record {
    run_in_calls(text, 1_000)
}

/// Error of a scenario that cannot run.
pub(crate) fn refused(text: &str) -> Option<String> {
    let source = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default())
        .expect("it can be read");
    compile(&source).err().map(|error| error.to_string())
}

pub(crate) fn integers(record: &Record, table: &str, column: &str) -> Vec<u64> {
    match data(record, table, column) {
        ColumnData::Integers(values) => values.clone(),
        other => panic!("{column} holds {other:?}"),
    }
}

pub(crate) fn reals(record: &Record, table: &str, column: &str) -> Vec<f64> {
    match data(record, table, column) {
        ColumnData::Reals(values) => values.clone(),
        other => panic!("{column} holds {other:?}"),
    }
}

pub(crate) fn words(record: &Record, table: &str, column: &str) -> Vec<String> {
    match data(record, table, column) {
        ColumnData::Words { codes, values } => {
            codes.iter().map(|code| values[*code as usize].clone()).collect()
        }
        other => panic!("{column} holds {other:?}"),
    }
}

fn data<'a>(record: &'a Record, table: &str, column: &str) -> &'a ColumnData {
    let table: &Table = record.tables.iter().find(|one| one.name == table).expect("it is there");
    let column = table.columns.iter().find(|one| one.name == column);
    &column.expect("it is there").data
}
