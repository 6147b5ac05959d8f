//! Input values with their positions in the source.

use crate::path::Step;
use std::fmt;
use std::sync::Arc;

/// Position of a key or value in its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// File name, or an override such as `--set traffic.0.load=0.4`.
    pub source: Arc<str>,
    /// 1-based line number; `None` if the origin has no line.
    pub line: Option<u32>,
    /// 1-based column number in characters; `None` if the origin has no column.
    pub column: Option<u32>,
}

impl Origin {
    /// Returns an origin without line and column.
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

/// Value with its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Contents of the value.
    pub data: Data,
    /// Position of the value, or of the heading of a table.
    pub origin: Origin,
}

/// Contents of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Table of keys and values.
    Table(Table),
    /// List of values.
    Array(Vec<Value>),
    /// Text value.
    String(String),
    /// Integer.
    Integer(i64),
    /// Non-integer number.
    Float(f64),
    /// Boolean.
    Bool(bool),
}

/// Keys and values in source order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// Entries with unique names.
    pub entries: Vec<Entry>,
    pub(crate) overridden: Overridden,
}

/// Indices of the table entries set by the most recent overrides.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Overridden {
    round: u32,
    places: Vec<usize>,
}

impl Overridden {
    pub(crate) fn note(&mut self, round: u32, place: usize) {
        if self.round != round {
            *self = Self { round, places: Vec::new() };
        }
        if !self.places.contains(&place) {
            self.places.push(place);
        }
    }
}

/// Key with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Key name.
    pub name: String,
    /// Position of the key.
    pub origin: Origin,
    /// Value of the key.
    pub value: Value,
}

impl Table {
    /// Returns the entry named `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        Self { entries, overridden: Overridden::default() }
    }

    /// Returns the entries of a table that may select an alternative: the entries set by the latest
    /// overrides, or all entries without overrides.
    pub(crate) fn alternatives(&self) -> Vec<&Entry> {
        match &*self.overridden.places {
            [] => self.entries.iter().collect(),
            places => places.iter().filter_map(|place| self.entries.get(*place)).collect(),
        }
    }
}

impl Value {
    pub(crate) fn empty_table(origin: Origin) -> Self {
        Self { data: Data::Table(Table::default()), origin }
    }

    pub(crate) fn note_keys(&mut self, round: u32) {
        match &mut self.data {
            Data::Table(table) => {
                for (place, entry) in table.entries.iter_mut().enumerate() {
                    table.overridden.note(round, place);
                    entry.value.note_keys(round);
                }
            }
            Data::Array(items) => items.iter_mut().for_each(|item| item.note_keys(round)),
            Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_) => {}
        }
    }

    pub(crate) fn child_mut(&mut self, step: &Step) -> Option<&mut Self> {
        match (&mut self.data, step) {
            (Data::Array(items), Step::Index(index)) => items.get_mut(*index),
            (Data::Table(table), _) => {
                let mut entries = table.entries.iter_mut();
                entries.find(|entry| entry.name == step.name()).map(|entry| &mut entry.value)
            }
            _ => None,
        }
    }

    pub(crate) fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.data, step) {
            (Data::Array(items), Step::Index(index)) => items.get(*index),
            (Data::Table(table), _) => table.entry(&step.name()).map(|entry| &entry.value),
            _ => None,
        }
    }
}
