//! Runs of small scenarios, with settings by key.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, Engine, Record, Run, compile};
use std::path::Path;

/// Compiles a valid scenario. Routes that could deadlock are allowed.
pub(crate) fn compiled(text: &str, settings: &[(&str, &str)]) -> Compiled {
    compiled_in(Path::new("."), text, settings)
}

pub(crate) fn compiled_in(folder: &Path, text: &str, settings: &[(&str, &str)]) -> Compiled {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("scenario.toml", text, folder, &overrides);
    let compiled = source.map_err(Into::into).and_then(|source| compile(&source, true));
    compiled.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn summary_of(compiled: &Compiled) -> Record {
    finished(compiled, Engine::Fast).summary()
}

pub(crate) fn record_by(engine: Engine, text: &str, settings: &[(&str, &str)]) -> Record {
    finished(&compiled(text, settings), engine).record()
}

pub(crate) fn record(text: &str, settings: &[(&str, &str)]) -> Record {
    record_by(Engine::Fast, text, settings)
}

fn finished(compiled: &Compiled, engine: Engine) -> Run {
    let mut run = Run::new(compiled.clone(), engine);
    while !run.advance(1_000_000).expect("time goes on").done {}
    run
}
