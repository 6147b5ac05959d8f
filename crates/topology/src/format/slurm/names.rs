//! Names that `topology.conf` can hold.

use std::collections::BTreeSet;

/// Names in use, so that new ones can be told apart from them.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
}

impl Names {
    /// The wanted name; with a number after it if the name is in use.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
        let name = candidates.find(|name| !self.used.contains(name)).expect("numbers do not end");
        self.used.insert(name.clone());
        name
    }
}

/// The text with an underscore for every character that a list of names cannot hold.
pub(super) fn word(text: &str) -> String {
    let is_lawful = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    text.chars().map(|c| if is_lawful(c) { c } else { '_' }).collect()
}
