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
    /// The entries that the last overrides went through. Where one of several alternatives is asked
    /// for, it is among them.
    pub(crate) overridden: Overridden,
}

/// Entries that overrides went through which were made together, by their places in the table.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Overridden {
    /// Counts overrides of a tree that follow each other.
    round: u32,
    places: Vec<usize>,
}

impl Overridden {
    /// Notes one more entry; those of earlier rounds no longer matter.
    pub(crate) fn note(&mut self, round: u32, place: usize) {
        if self.round != round {
            *self = Self { round, places: Vec::new() };
        }
        if !self.places.contains(&place) {
            self.places.push(place);
        }
    }
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
        Self { entries, overridden: Overridden::default() }
    }

    /// The entries of a table that names an alternative, of which there should be one: those of the
    /// last overrides, which replace what was written, or else all.
    pub(crate) fn alternatives(&self) -> Vec<&Entry> {
        match &*self.overridden.places {
            [] => self.entries.iter().collect(),
            places => places.iter().filter_map(|place| self.entries.get(*place)).collect(),
        }
    }
}

impl Value {
    /// A table without keys.
    pub(crate) fn empty_table(origin: Origin) -> Self {
        Self { data: Data::Table(Table::default()), origin }
    }

    /// Notes that an override brought all its keys.
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

    /// The same to write to.
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

    /// The value one step further in.
    pub(crate) fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.data, step) {
            (Data::Array(items), Step::Index(index)) => items.get(*index),
            (Data::Table(table), _) => table.entry(&step.name()).map(|entry| &entry.value),
            _ => None,
        }
    }
}
