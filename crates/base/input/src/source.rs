//! Where a scenario comes from: a file or a text, with what the command line and programs change.
//!
//! ```text
//!   file, text or record ──► Tree ──changes, one after the other──► Tree ──read, fill in──► S
//! ```
//!
//! Each laboratory brings its type of scenario. Invariant: `scenario` is what `tree` says, and
//! whatever is wrong with it can be told by the place in `tree`.

use crate::{InputError, OtherName, Tree, digest, read};
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A type of scenario.
pub trait Scenario: DeserializeOwned {
    /// What could stand at a key that must be there, by the key, for whoever left it out.
    const EXAMPLES: &'static [(&'static str, &'static str)];

    /// The name of an entry of a list that says none, by the key of the list, where all have one.
    const UNNAMED: &'static [(&'static str, &'static str)] = &[];

    /// Names of alternatives in other simulators and the literature.
    const OTHER_NAMES: &'static [OtherName] = &[];

    /// Says what holds where nothing was written and the answer depends on the rest, such as
    /// running names.
    fn fill_in(&mut self);

    /// Refuses what is written with old names, before anything is read.
    fn refuse_old(_tree: &Tree) -> Result<(), InputError> {
        Ok(())
    }
}

/// Another value for a key, by its dotted path.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// A text, as `--set` gives it.
    Text(String, String),
    /// A value, as a program gives it.
    Value(String, serde_json::Value),
}

impl Change {
    /// The path and the value that a program gives.
    fn value(&self) -> Option<(&str, &serde_json::Value)> {
        match self {
            Self::Text(..) => None,
            Self::Value(path, value) => Some((path, value)),
        }
    }
}

/// Changes to a scenario, applied in their order, and the seed last. Of texts the last holds, as of
/// options; values that follow each other are made together and may not contradict each other.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Other values of keys.
    pub changes: Vec<Change>,
    /// Another seed.
    pub seed: Option<u64>,
}

impl Overrides {
    /// Texts alone, as (dotted path, text).
    pub fn texts(settings: Vec<(String, String)>) -> Self {
        let change = |(path, text)| Change::Text(path, text);
        Self { changes: settings.into_iter().map(change).collect(), seed: None }
    }

    fn apply(&self, tree: &mut Tree) -> Result<(), InputError> {
        let are_values =
            |one: &Change, next: &Change| one.value().and_then(|_| next.value()).is_some();
        for together in self.changes.chunk_by(are_values) {
            match together {
                [Change::Text(path, text)] => tree.set(path, text)?,
                values => tree.set_values(values.iter().filter_map(Change::value))?,
            }
        }
        self.seed.map_or(Ok(()), |seed| tree.set_value("seed", &seed.into()))
    }
}

/// A scenario with the positions of its keys and the folder that its paths are relative to.
#[derive(Clone, Debug)]
pub struct Source<S> {
    /// What was written, for messages about what it means.
    pub tree: Tree,
    /// The typed scenario.
    pub scenario: S,
    /// What paths in the scenario are relative to.
    pub folder: PathBuf,
    /// SHA-256 of the scenario file, in hexadecimal.
    pub digest: String,
}

impl<S: Scenario> Source<S> {
    /// Reads a scenario file and changes it.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, InputError> {
        let bytes = read(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let tree = Tree::from_bytes(&path.display().to_string(), &bytes)?;
        Self::from_tree(tree, folder, digest(&bytes), overrides)
    }

    /// The same for a text; `name` stands for the file, and paths in it are relative to `folder`.
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

    /// The scenario that stands below `path` in a file of another kind.
    pub fn within(tree: &Tree, path: &str, folder: &Path) -> Result<Self, InputError> {
        let missing = || InputError::at(tree, path, "there is no scenario");
        let root = tree.get(path).cloned().ok_or_else(missing)?;
        let part = Tree { root, round: tree.round, unnamed: &[] };
        Self::from_tree(part, folder.to_path_buf(), String::new(), &Overrides::default())
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
        tree.unnamed = S::UNNAMED;
        overrides.apply(&mut tree)?;
        S::refuse_old(&tree)?;
        let mut scenario: S = tree
            .read()
            .map_err(|error| error.exemplified(S::EXAMPLES).translated(S::OTHER_NAMES))?;
        scenario.fill_in();
        Ok(Self { tree, scenario, folder, digest })
    }
}

impl<S> Source<S> {
    /// Where a file that the scenario names stands.
    pub fn path_of(&self, name: impl AsRef<str>) -> PathBuf {
        self.folder.join(name.as_ref())
    }

    /// An error about the value at a dotted path.
    pub fn refuse(&self, path: &str, message: impl Display) -> InputError {
        InputError::at(&self.tree, path, message)
    }
}
