//! The tree of what was written: tables, lists and plain values, each with its origin.
//!
//! ```text
//! [[traffic]]          root ─ traffic ─ [ 0 ] ─ load ─ 0.4   (scenario.toml:2:8)
//! load = 0.4
//! ```
//!
//! Invariant: the keys of a table differ, and stand in the order of the text.

use crate::convert::Places;
use crate::path::{self, Step};
use crate::position::Positions;
use crate::{InputError, syntax};
use serde::de::DeserializeOwned;
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

    /// The value of the key `name`, to be changed.
    pub(crate) fn value_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.entries.iter_mut().find(|entry| entry.name == name).map(|entry| &mut entry.value)
    }
}

impl Value {
    /// A table without keys.
    pub(crate) fn empty_table(origin: Origin) -> Self {
        Self { data: Data::Table(Table::default()), origin }
    }

    fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.data, step) {
            (Data::Array(items), Step::Index(index)) => items.get(*index),
            (Data::Table(table), _) => table.entry(&step.name()).map(|entry| &entry.value),
            _ => None,
        }
    }
}

/// A whole scenario as it was written.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    pub(crate) root: Value,
}

impl Tree {
    /// Reads TOML text. `source` is the name that messages show, usually the file's.
    pub fn parse(source: &str, text: &str) -> Result<Self, InputError> {
        let table = syntax::parse(source, text)?;
        let whole = Origin::whole(source);
        let places = Places { whole: whole.clone(), positions: Some(Positions::of(text)) };
        let table = places.table(table.get_ref()).map_err(|fault| fault.report(&whole))?;
        Ok(Self { root: Value { data: Data::Table(table), origin: whole } })
    }

    /// Reads the bytes of a TOML file, which must be UTF-8.
    pub fn from_bytes(source: &str, bytes: &[u8]) -> Result<Self, InputError> {
        let text = str::from_utf8(bytes).map_err(|error| syntax::not_text(source, bytes, error))?;
        Self::parse(source, text)
    }

    /// The table that holds everything.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// The value at a dotted path such as `traffic.0.hosts` or `traffic[0].hosts`.
    pub fn get(&self, path: &str) -> Option<&Value> {
        path::parse(path).ok()?.iter().try_fold(&self.root, |value, step| value.child(step))
    }

    /// Where the value at a dotted path was written.
    pub fn origin(&self, path: &str) -> Option<Origin> {
        self.get(path).map(|value| value.origin.clone())
    }

    /// The line of the value at a dotted path, or of what it stands in if it was not written.
    pub fn line(&self, path: &str) -> Option<u32> {
        self.nearest_origin(&path::parse(path).unwrap_or_default()).line
    }

    /// Where the deepest value along `steps` was written.
    pub(crate) fn nearest_origin(&self, steps: &[Step]) -> Origin {
        let mut value = &self.root;
        for step in steps {
            let Some(child) = value.child(step) else { break };
            value = child;
        }
        value.origin.clone()
    }

    /// The typed value that the tree describes.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        super::deserialize::read(&self.root)
    }
}
