//! Runs of small scenarios, with files beside them.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Column, ColumnData, Compiled, Engine, LabError, Run, compile};
use gingham_net::traffic::{DestinationPlan, MessagePlan, SourcePlan};
use gingham_topology::EndpointId;
use std::path::{Path, PathBuf};

/// Returns a folder with the files of a test, by (name, content).
pub(crate) fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("traffic").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, content) in files {
        std::fs::write(folder.join(name), content).unwrap();
    }
    folder
}

pub(crate) fn compiled_in(folder: &Path, text: &str) -> Result<Compiled, LabError> {
    let source = ScenarioSource::parse("traffic.toml", text, folder, &Overrides::default())?;
    compile(&source, true)
}

pub(crate) fn compiled(text: &str) -> Compiled {
    compiled_in(Path::new("."), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn scenario(topology: &str, class: &str) -> String {
    format!(
        "topology.generate.{topology}\nstop.time = \"1 ms\"\nstop.warm_up = \"0 ps\"\n[[traffic]]\n{class}"
    )
}

pub(crate) fn pairs(compiled: &Compiled) -> Vec<(String, String)> {
    let name = |endpoint: EndpointId| compiled.plan.fabric.endpoint_name(endpoint);
    let pair = |source: &SourcePlan| {
        let MessagePlan::Drawn(drawn) = &source.messages else { panic!("a schedule") };
        let DestinationPlan::Fixed(destination) = drawn.destinations else { panic!("many") };
        (name(source.endpoint), name(destination))
    };
    compiled.plan.classes[0].sources.iter().map(pair).collect()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Row {
    pub(crate) created_ps: u64,
    pub(crate) source: String,
    pub(crate) destination: String,
    pub(crate) payload_bytes: u64,
    pub(crate) entered_ps: u64,
    pub(crate) head_arrived_ps: u64,
    pub(crate) delivered_ps: u64,
}

pub(crate) fn messages(compiled: Compiled, engine: Engine) -> Vec<Row> {
    let mut run = Run::new(compiled, engine);
    while !run.advance(100_000).expect("time goes on").done {}
    let record = run.record();
    let table = record.tables.iter().find(|table| table.name == "messages").unwrap();
    let column = |name: &str| -> &Column {
        table.columns.iter().find(|column| column.name == name).unwrap()
    };
    let numbers = |name: &str| match &column(name).data {
        ColumnData::Integers(values) => values.clone(),
        other => panic!("{name} holds {other:?}"),
    };
    let words = |name: &str| match &column(name).data {
        ColumnData::Words { codes, values } => {
            codes.iter().map(|code| values[*code as usize].clone()).collect::<Vec<_>>()
        }
        other => panic!("{name} holds {other:?}"),
    };
    let (sources, destinations) = (words("source"), words("destination"));
    let (created, payload) = (numbers("created_ps"), numbers("payload_bytes"));
    let (entered, head) = (numbers("entered_ps"), numbers("head_arrived_ps"));
    let delivered = numbers("delivered_ps");
    let row = |index: usize| Row {
        created_ps: created[index],
        source: sources[index].clone(),
        destination: destinations[index].clone(),
        payload_bytes: payload[index],
        entered_ps: entered[index],
        head_arrived_ps: head[index],
        delivered_ps: delivered[index],
    };
    (0..created.len()).map(row).collect()
}
