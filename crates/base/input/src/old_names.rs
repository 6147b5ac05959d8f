//! Names used by earlier versions. Scenarios with old names are refused with a message that gives
//! the current names.

use crate::path::{self, Step};
use crate::{Data, InputError, Tree, Value};
use serde::Serialize;
use std::fmt;

/// Former name of a key, value, column, engine or example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OldName {
    /// Category: `key` (a dotted path in a scenario), `value` (the path of its key, with the value
    /// as the last step), `column` (of a table or summary), `engine` or `example`. The path step
    /// `*` matches any list entry.
    pub what: &'static str,
    /// Former name.
    pub old: &'static str,
    /// Current name. A path differs from the former path only in its last step.
    pub new: &'static str,
}

impl OldName {
    /// Creates a renamed key.
    pub const fn key(old: &'static str, new: &'static str) -> Self {
        Self { what: "key", old, new }
    }

    /// Creates a renamed value of a key.
    pub const fn value(old: &'static str, new: &'static str) -> Self {
        Self { what: "value", old, new }
    }

    /// Creates a renamed column.
    pub const fn column(old: &'static str, new: &'static str) -> Self {
        Self { what: "column", old, new }
    }

    fn written(&self, tree: &Tree) -> Option<String> {
        let steps: Vec<&str> = self.old.split('.').collect();
        let mut found = Vec::new();
        match self.what {
            "key" => first_path(tree.root(), &steps, &mut found, |_| true),
            "value" => {
                let (old, key) = steps.split_last()?;
                let is_old =
                    |value: &Value| matches!(&value.data, Data::String(text) if text == old);
                first_path(tree.root(), key, &mut found, is_old)
            }
            _ => false,
        }
        .then(|| path::dotted(&found))
    }
}

impl fmt::Display for OldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, old, new } = self;
        write!(f, "the {what} `{old}` is called `{new}` now")
    }
}

fn first_path(
    value: &Value,
    steps: &[&str],
    found: &mut Vec<Step>,
    is_accepted: impl Fn(&Value) -> bool + Copy,
) -> bool {
    let Some((step, rest)) = steps.split_first() else { return is_accepted(value) };
    let candidates = match (&value.data, *step) {
        (Data::Array(items), "*") => (0..items.len()).map(Step::Index).collect(),
        (Data::Table(_), name) if name != "*" => vec![Step::from(name)],
        _ => Vec::new(),
    };
    candidates.into_iter().any(|step| {
        let Some(child) = value.child(&step) else { return false };
        found.push(step);
        let is_found = first_path(child, rest, found, is_accepted);
        if !is_found {
            found.pop();
        }
        is_found
    })
}

pub(crate) fn refuse(tree: &Tree, names: &[OldName]) -> Result<(), InputError> {
    let written = names.iter().filter_map(|name| Some((name, name.written(tree)?)));
    let written: Vec<(&OldName, String)> = written.collect();
    let Some((_, first)) = written.first() else { return Ok(()) };
    let renamed: Vec<String> = written.iter().map(|(name, _)| name.to_string()).collect();
    let message = format!("{}; `gingham upgrade` rewrites a file", renamed.join("; "));
    Err(InputError::at(tree, first, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [OldName; 3] = [
        OldName::key("class.*.old", "class.*.new"),
        OldName::value("plan.by.old", "plan.by.new"),
        OldName::column("plan", "plans"),
    ];

    fn refused(text: &str) -> Option<serde_json::Value> {
        let tree = Tree::parse("a.toml", text).expect("valid TOML");
        refuse(&tree, &NAMES).err().map(|error| error.to_json())
    }

    #[test]
    fn old_keys_of_list_entries_and_old_values_are_refused() {
        let key = refused("class = [{ new = 1 }, { new = 1, old = 2 }]").expect("an old key");
        assert_eq!((&key["key"], &key["line"]), (&"class[1].old".into(), &1.into()));
        let value = refused("plan.by = \"old\"").expect("an old value");
        assert_eq!(value["key"], "plan.by");
        assert_eq!(refused("class = [{ new = 1 }]\nplan.by = \"new\""), None);
        assert_eq!(refused("class = { old = 1 }\nold = 1\nplan.by = 1"), None);
    }

    #[test]
    fn one_message_has_every_old_name() {
        let both = refused("class = [{ old = 2 }]\nplan.by = \"old\"").expect("old names");
        let message = both["message"].as_str().expect("a text");
        for name in &NAMES[..2] {
            assert!(message.contains(&name.to_string()), "{message}");
        }
    }
}
