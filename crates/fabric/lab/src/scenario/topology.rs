//! The topology section: the source of the fabric.

use super::ScenarioSource;
use crate::error::LabError;
use crate::fabric_file::{LoadedFabric, load_fabric};
use gingham_input::FileRead;
use gingham_kernel::FileName;
use gingham_topology::format::{self, Format};
use gingham_topology::generate::Generator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the fabric: a file, inline text or a generator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// Fabric file: an ibnetdiscover dump, a BookSim anynet file, or our TOML format. The path is
    /// relative to the scenario.
    File(FileName),
    /// Fabric as text in our TOML format, for small fabrics and self-contained scenarios.
    Inline(String),
    /// Generated fabric; random generators use the scenario's seed.
    Generate(Generator),
}

#[derive(Clone, Debug)]
pub(crate) struct ScenarioFabric {
    pub(crate) loaded: LoadedFabric,
    pub(crate) file: Option<FileRead>,
}

pub(crate) fn fabric(source: &ScenarioSource) -> Result<ScenarioFabric, LabError> {
    match &source.scenario.topology {
        Topology::File(name) => {
            let path = source.path_of(name);
            let loaded = load_fabric(&path)?;
            let file = FileRead {
                key: "topology.file".to_owned(),
                path: path.display().to_string(),
                sha256: loaded.digest.clone(),
            };
            Ok(ScenarioFabric { loaded, file: Some(file) })
        }
        Topology::Inline(text) => {
            let reading = format::read(text, Format::Toml).map_err(|faults| {
                let error = faults.first();
                let line = error.line.max(1);
                let message = format!("in line {line} of the fabric: {}", error.message);
                source.refuse("topology.inline", message)
            })?;
            let loaded = LoadedFabric::without_file(reading.fabric, reading.findings);
            Ok(ScenarioFabric { loaded, file: None })
        }
        Topology::Generate(generator) => {
            let path = format!("topology.generate.{}", generator.name());
            let fabric = generator
                .generate(source.scenario.seed)
                .map_err(|error| source.refuse(&path, error))?;
            let loaded = LoadedFabric::without_file(fabric, Vec::new());
            Ok(ScenarioFabric { loaded, file: None })
        }
    }
}
