//! Scenario sources: a file, a text or a run record, with overrides applied.
//!
//! Invariant: every fault in `scenario` can be reported with its position in `tree`.

use crate::{InputError, OldName, OtherName, Tree, digest, format, old_names, read};
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Scenario type that can be read from TOML.
pub trait Scenario: DeserializeOwned {
    /// Whether files may have the key `format`.
    const HAS_FORMAT: bool = false;

    /// Example values of required keys as (key, value), shown when a key is missing.
    const EXAMPLES: &'static [(&'static str, &'static str)];

    /// Lists whose unnamed entries get a default name, as (list key, name).
    const UNNAMED: &'static [(&'static str, &'static str)] = &[];

    /// Renamed keys and values. A scenario that uses an old name is refused before it is read.
    const OLD_NAMES: &'static [OldName] = &[];

    /// Names used by other simulators or the literature for our alternatives.
    const OTHER_NAMES: &'static [OtherName] = &[];

    /// Fills in omitted values that derive from other values, such as generated names.
    fn fill_in(&mut self);

    /// Refuses keys that moved to another table; called before the scenario is read.
    fn refuse_old(_tree: &Tree) -> Result<(), InputError> {
        Ok(())
    }
}

/// Change of the value at a dotted path.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Path and text of a `--set` option.
    Text(String, String),
    /// Path and value set by a program.
    Value(String, serde_json::Value),
}

impl Change {
    fn value(&self) -> Option<(&str, &serde_json::Value)> {
        match self {
            Self::Text(..) => None,
            Self::Value(path, value) => Some((path, value)),
        }
    }
}

/// Overrides applied in order, the seed last. The last [`Change::Text`] for a key applies;
/// consecutive [`Change::Value`]s are set together and must not contradict one another.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Changes in order of application.
    pub changes: Vec<Change>,
    /// New seed; `None` keeps the scenario's seed.
    pub seed: Option<u64>,
}

impl Overrides {
    /// Creates overrides from (dotted path, text) pairs.
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

/// Scenario with the positions of its keys.
#[derive(Clone, Debug)]
pub struct Source<S> {
    /// Scenario as written, with overrides.
    pub tree: Tree,
    /// Typed scenario.
    pub scenario: S,
    /// Base folder for relative paths.
    pub folder: PathBuf,
    /// Hexadecimal SHA-256 of the file or text before overrides.
    pub digest: String,
}

impl<S: Scenario> Source<S> {
    /// Reads a file and applies the overrides.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, InputError> {
        let bytes = read(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let tree = Tree::from_bytes(&path.display().to_string(), &bytes)?;
        Self::from_tree(tree, folder, digest(&bytes), overrides)
    }

    /// Reads a text. Messages use `name` instead of a file name.
    pub fn parse(
        name: &str,
        text: &str,
        folder: &Path,
        overrides: &Overrides,
    ) -> Result<Self, InputError> {
        let digest = digest(text.as_bytes());
        Self::from_tree(Tree::parse(name, text)?, folder.to_path_buf(), digest, overrides)
    }

    /// Restores a scenario from the values of a run record; null means an omitted key.
    pub fn restore(
        name: &str,
        values: &serde_json::Value,
        folder: &Path,
        digest: &str,
    ) -> Result<Self, InputError> {
        let tree = Tree::from_json(name, values)?;
        Self::from_tree(tree, folder.to_path_buf(), digest.to_owned(), &Overrides::default())
    }

    /// Reads the scenario embedded in another file at the key `path`.
    pub fn within(tree: &Tree, path: &str, folder: &Path) -> Result<Self, InputError> {
        let missing = || InputError::at(tree, path, "there is no scenario");
        let root = tree.get(path).cloned().ok_or_else(missing)?;
        let part = Tree { root, round: tree.round, unnamed: &[] };
        Self::from_tree(part, folder.to_path_buf(), String::new(), &Overrides::default())
    }

    /// Returns the scenario with further overrides.
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
        if S::HAS_FORMAT {
            format::require_present(&tree)?;
        }
        old_names::refuse(&tree, S::OLD_NAMES)?;
        S::refuse_old(&tree)?;
        let mut scenario: S = tree
            .read()
            .map_err(|error| error.exemplified(S::EXAMPLES).translated(S::OTHER_NAMES))?;
        scenario.fill_in();
        Ok(Self { tree, scenario, folder, digest })
    }
}

impl<S> Source<S> {
    /// Returns the path of a file named by the scenario.
    pub fn path_of(&self, name: impl AsRef<str>) -> PathBuf {
        self.folder.join(name.as_ref())
    }

    /// Creates an error about the value at a dotted path.
    pub fn refuse(&self, path: &str, message: impl Display) -> InputError {
        InputError::at(&self.tree, path, message)
    }
}
