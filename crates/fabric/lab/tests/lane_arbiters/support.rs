//! Two hosts at a switch, with given lane keys.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{LanePlan, PipelinePlan, Switching};
use std::path::Path;
use std::sync::Arc;

const STAR: &str = "[topology.generate.star]\nhosts = 2\n";

pub(crate) const SLOW: &str = r#"
[topology]
inline = """
[[switch]]
name = "s"
[[host]]
name = "h0"
[[host]]
name = "h1"
[[cable]]
ends = ["h0", "s"]
speed = "200 MB/s"
[[cable]]
ends = ["h1", "s"]
speed = "100 MB/s"
"""
"#;

const NETWORK: &str = r#"
[network]
preset = "yum-1600"

[[traffic]]
name = "all"
load = 0.1
length = { fixed = "64 B" }

[stop]
time = "1 ms"
"#;

pub(crate) fn compiled(lanes: &str) -> Result<Compiled, LabError> {
    compiled_in(Path::new("."), lanes)
}

pub(crate) fn compiled_in(folder: &Path, lanes: &str) -> Result<Compiled, LabError> {
    compiled_of(STAR, folder, lanes)
}

pub(crate) fn compiled_over(fabric: &str, lanes: &str) -> Result<Compiled, LabError> {
    compiled_of(fabric, Path::new("."), lanes)
}

fn compiled_of(fabric: &str, folder: &Path, lanes: &str) -> Result<Compiled, LabError> {
    let section = format!("\n[network.lanes]\n{lanes}\n\n[[traffic]]");
    let text = format!("{fabric}{}", NETWORK.replace("\n[[traffic]]", &section));
    let source = ScenarioSource::parse("two.toml", &text, folder, &Overrides::default())?;
    compile(&source, false)
}

pub(crate) fn plans(lanes: &str) -> (LanePlan, Arc<PipelinePlan>) {
    let plan = compiled(lanes).unwrap().plan;
    let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("virtual lanes") };
    (plan.lanes.clone(), Arc::clone(pipeline))
}
