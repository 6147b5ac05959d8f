//! Where a scenario comes from: a file or a text, with what the command line changes.

use super::Scenario;
use gingham_input::{InputError, Tree, digest, read};
use std::path::{Path, PathBuf};

/// Changes to a scenario, applied in this order.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
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

impl ScenarioSource {
    /// Reads a scenario file.
    pub fn load(path: &Path) -> Result<Self, InputError> {
        let bytes = read(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let tree = Tree::from_bytes(&path.display().to_string(), &bytes)?;
        Self::from_tree(tree, folder, digest(&bytes), &Overrides::default())
    }

    /// The same for a text; paths in it are relative to `folder`.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Self, InputError> {
        let tree = Tree::parse(name, text)?;
        let digest = digest(text.as_bytes());
        Self::from_tree(tree, folder.to_path_buf(), digest, &Overrides::default())
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
        scenario.fill_defaults();
        Ok(Self { tree, scenario, folder, digest })
    }

    /// Where a file that the scenario names stands.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An error about the value at a dotted path.
    pub(crate) fn refuse(&self, path: &str, message: impl std::fmt::Display) -> InputError {
        InputError::at(&self.tree, path, message)
    }
}
