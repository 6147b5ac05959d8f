//! Two hosts at a switch, and what a scenario says of lanes.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_model::LanePlan;
use std::path::Path;

const TWO: &str = r#"
[topology.generate.star]
hosts = 2

[network]
preset = "yum-1600"

[[traffic]]
name = "all"
load = 0.1
length = { fixed = "64 B" }

[stop]
time = "1 ms"
"#;

/// The scenario with these lines in its section on lanes.
pub(crate) fn compiled(lanes: &str) -> Result<Compiled, LabError> {
    compiled_in(Path::new("."), lanes)
}

/// The same in a folder.
pub(crate) fn compiled_in(folder: &Path, lanes: &str) -> Result<Compiled, LabError> {
    let text = TWO.replace("\n[[traffic]]", &format!("\n[network.lanes]\n{lanes}\n\n[[traffic]]"));
    let source = ScenarioSource::parse("two.toml", &text, folder, &Overrides::default())?;
    compile(&source, false)
}

/// The plan of the lanes.
pub(crate) fn plan(lanes: &str) -> LanePlan {
    compiled(lanes).unwrap().plan.lane_plan().unwrap().clone()
}
