//! Where a scenario comes from: a file or a text, with what the command line changes.

use super::{Scenario, Topology, TrafficClass};
use crate::error::LabError;
use crate::fabric_file::{LoadedFabric, load_fabric};
use gingham_input::{FileRead, InputError, Tree, digest, read};
use gingham_topology::format::{self, Format};
use std::path::{Path, PathBuf};

/// Changes to a scenario, applied in this order.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// A fabric file instead of the scenario's topology.
    pub topology: Option<PathBuf>,
    /// (dotted path, text), as `--set` gives them.
    pub settings: Vec<(String, String)>,
    /// (dotted path, value), as Python gives them.
    pub values: Vec<(String, serde_json::Value)>,
    /// Another seed.
    pub seed: Option<u64>,
}

/// A scenario with the positions of its keys and the folder that its paths are relative to.
#[derive(Clone, Debug)]
pub struct ScenarioSource {
    /// What was written, for messages about what it means.
    pub tree: Tree,
    /// The typed scenario.
    pub scenario: Scenario,
    /// What paths in the scenario are relative to.
    pub folder: PathBuf,
    /// SHA-256 of the scenario file, in hexadecimal.
    pub digest: String,
}

/// The fabric of a scenario, and the file it came from with its digest.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioFabric {
    pub(crate) loaded: LoadedFabric,
    pub(crate) file: Option<FileRead>,
}

impl ScenarioSource {
    /// Reads a scenario file and applies overrides.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, InputError> {
        let bytes = read(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let tree = Tree::from_bytes(&path.display().to_string(), &bytes)?;
        Self::from_tree(tree, folder, digest(&bytes), overrides)
    }

    /// The same for a text; paths in it are relative to `folder`.
    pub fn parse(
        name: &str,
        text: &str,
        folder: &Path,
        overrides: &Overrides,
    ) -> Result<Self, InputError> {
        let digest = digest(text.as_bytes());
        Self::from_tree(Tree::parse(name, text)?, folder.to_path_buf(), digest, overrides)
    }

    /// A scenario from the values that a record holds of it; a value of null means open.
    pub fn restore(
        name: &str,
        values: &serde_json::Value,
        folder: &Path,
        digest: &str,
    ) -> Result<Self, InputError> {
        let tree = Tree::from_json(name, values)?;
        Self::from_tree(tree, folder.to_path_buf(), digest.to_owned(), &Overrides::default())
    }

    /// This scenario with further changes.
    pub fn with(&self, overrides: &Overrides) -> Result<Self, InputError> {
        Self::from_tree(self.tree.clone(), self.folder.clone(), self.digest.clone(), overrides)
    }

    fn from_tree(
        mut tree: Tree,
        folder: PathBuf,
        digest: String,
        overrides: &Overrides,
    ) -> Result<Self, InputError> {
        if let Some(path) = &overrides.topology {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let file = serde_json::json!({ "file": absolute.display().to_string() });
            tree.set_value("topology", &file)?;
        }
        for (path, text) in &overrides.settings {
            tree.set(path, text)?;
        }
        for (path, value) in &overrides.values {
            tree.set_value(path, value)?;
        }
        if let Some(seed) = overrides.seed {
            tree.set_value("seed", &seed.into())?;
        }
        let mut scenario: Scenario = tree.read()?;
        scenario.traffic.iter_mut().for_each(TrafficClass::fill_defaults);
        Ok(Self { tree, scenario, folder, digest })
    }

    /// Where a file that the scenario names stands.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The fabric that the scenario names or generates.
    pub(crate) fn fabric(&self) -> Result<ScenarioFabric, LabError> {
        match &self.scenario.topology {
            Topology::File(name) => {
                let path = self.path_of(name);
                let loaded = load_fabric(&path)?;
                let file = FileRead {
                    key: "topology.file".to_owned(),
                    path: path.display().to_string(),
                    sha256: loaded.digest.clone(),
                };
                Ok(ScenarioFabric { loaded, file: Some(file) })
            }
            Topology::Inline(text) => {
                let reading = format::read(text, Format::Toml).map_err(|error| {
                    let line = error.line.max(1);
                    let message = format!("in line {line} of the fabric: {}", error.message);
                    InputError::at(&self.tree, "topology.inline", message)
                })?;
                let (fabric, findings) = (reading.fabric, reading.findings);
                let loaded = LoadedFabric { fabric, findings, digest: String::new() };
                Ok(ScenarioFabric { loaded, file: None })
            }
            Topology::Generate(generator) => {
                let path = format!("topology.generate.{}", generator.name());
                let fabric = generator
                    .generate(self.scenario.seed)
                    .map_err(|error| InputError::at(&self.tree, &path, error))?;
                let loaded = LoadedFabric { fabric, findings: Vec::new(), digest: String::new() };
                Ok(ScenarioFabric { loaded, file: None })
            }
        }
    }
}
