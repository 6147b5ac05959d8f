//! Values as they were written, each with its origin.

use crate::path::Step;
use std::fmt;
use std::sync::Arc;

/// Where a key or a value was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// File name, or the override that brought it, such as `--set traffic.0.load=0.4`.
    pub source: Arc<str>,
    /// Line from 1, where the source has lines.
    pub line: Option<u32>,
    /// Column from 1, in characters.
    pub column: Option<u32>,
}

impl Origin {
    /// A source as a whole.
    pub fn whole(source: impl Into<Arc<str>>) -> Self {
        Self { source: source.into(), line: None, column: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// A value and where it was written.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// Where it was written; a table's is its heading.
    pub origin: Origin,
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Keys and values.
    Table(Table),
    /// A list.
    Array(Vec<Value>),
    /// Text.
    String(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Bool(bool),
}

/// Keys and values in the order of the text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// The entries; no two have one name.
    pub entries: Vec<Entry>,
    /// The entry that an override went through last. Where one of several alternatives is asked
    /// for, it is the one that holds.
    pub overridden: Option<usize>,
}

/// A key of a table and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// Where the key was written.
    pub origin: Origin,
    /// Its value.
    pub value: Value,
}

impl Table {
    /// The entry of the key `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// A table as it was written.
    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        Self { entries, overridden: None }
    }

    /// The one entry of a table that names an alternative: the only one, or else the one of an
    /// override, which replaces what was written.
    pub(crate) fn alternative(&self) -> Option<&Entry> {
        match (&*self.entries, self.overridden) {
            ([only], _) => Some(only),
            (entries, Some(place)) => entries.get(place),
            _ => None,
        }
    }
}

impl Value {
    /// A table without keys.
    pub(crate) fn empty_table(origin: Origin) -> Self {
        Self { data: Data::Table(Table::default()), origin }
    }

    /// The value one step further in.
    pub(crate) fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.data, step) {
            (Data::Array(items), Step::Index(index)) => items.get(*index),
            (Data::Table(table), _) => table.entry(&step.name()).map(|entry| &entry.value),
            _ => None,
        }
    }
}
