//! Renamed keys, columns and engines. Old names are refused with a message that gives the new one.

use gingham_input::{InputError, Tree};
use serde::Serialize;
use std::fmt;

/// A renamed key, column or engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OldName {
    /// Kind of name: `key` (of a scenario, a dotted path), `column` (of a table or summary) or
    /// `engine`.
    pub what: &'static str,
    /// Former name.
    pub old: &'static str,
    /// Current name.
    pub new: &'static str,
}

/// All renamed keys, columns and engines.
#[rustfmt::skip]
pub const OLD_NAMES: [OldName; 4] = [
    OldName { what: "key", old: "routing.second", new: "routing.alternative" },
    OldName { what: "column", old: "drawn_load", new: "generated_load" },
    OldName { what: "column", old: "second_share", new: "alternative_share" },
    OldName { what: "engine", old: "runs", new: "fast" },
];

impl fmt::Display for OldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, old, new } = self;
        write!(f, "the {what} `{old}` is called `{new}` now")
    }
}

/// Refuses a scenario with old keys, in one message about all of them.
pub(crate) fn refuse_old_keys(tree: &Tree) -> Result<(), InputError> {
    let is_written = |name: &&OldName| name.what == "key" && tree.get(name.old).is_some();
    let written: Vec<&OldName> = OLD_NAMES.iter().filter(is_written).collect();
    let Some(first) = written.first() else { return Ok(()) };
    let renamed: Vec<String> = written.iter().map(ToString::to_string).collect();
    let message = format!("{}; `gingham upgrade` rewrites a file", renamed.join("; "));
    Err(InputError::at(tree, first.old, message))
}
