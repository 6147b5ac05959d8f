//! Tree of tables, lists and plain values, each with its source position.
//!
//! ```text
//! [[traffic]]          root ─ traffic ─ [ 0 ] ─ load ─ 0.4   (scenario.toml:2:8)
//! load = 0.4
//! ```
//!
//! Invariant: the keys of a table are unique and in source order.

use crate::convert::Places;
use crate::error::InputError;
use crate::path::{self, Step};
use crate::position::Positions;
use crate::syntax;
use crate::value::{Data, Origin, Value};
use serde::de::DeserializeOwned;
use std::fmt;

/// Scenario or other input as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    pub(crate) root: Value,
    pub(crate) round: u32,
    pub(crate) unnamed: &'static [(&'static str, &'static str)],
}

impl Tree {
    /// Parses TOML text; `source` is the name shown in messages.
    pub fn parse(source: &str, text: &str) -> Result<Self, InputError> {
        let table = syntax::parse(source, text)?;
        let whole = Origin::whole(source);
        let places = Places { whole: whole.clone(), positions: Some(Positions::of(text)) };
        let table = places.table(table.get_ref()).map_err(|fault| fault.report(&whole))?;
        Ok(Self { root: Value { data: Data::Table(table), origin: whole }, round: 0, unnamed: &[] })
    }

    /// Parses the bytes of a TOML file.
    pub fn from_bytes(source: &str, bytes: &[u8]) -> Result<Self, InputError> {
        let text = str::from_utf8(bytes).map_err(|error| syntax::not_text(source, bytes, error))?;
        Self::parse(source, text)
    }

    /// Returns the outermost table.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the value at a dotted path such as `traffic.0.hosts` or `traffic[0].hosts`.
    pub fn get(&self, path: &str) -> Option<&Value> {
        path::parse(path).ok()?.iter().try_fold(&self.root, |value, step| value.child(step))
    }

    /// Returns the origin of the value at a dotted path.
    pub fn origin(&self, path: &str) -> Option<Origin> {
        self.get(path).map(|value| value.origin.clone())
    }

    /// Returns the line of the value at a dotted path, or of its nearest enclosing value if it does
    /// not exist.
    pub fn line(&self, path: &str) -> Option<u32> {
        self.nearest_origin(&path::parse(path).unwrap_or_default()).line
    }

    pub(crate) fn nearest_origin(&self, steps: &[Step]) -> Origin {
        let mut value = &self.root;
        for step in steps {
            let Some(child) = value.child(step) else { break };
            value = child;
        }
        value.origin.clone()
    }

    /// Deserializes the tree.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        crate::deserialize::read(&self.root)
    }
}

impl InputError {
    /// Creates an error about the value at a dotted path, positioned there or at its nearest
    /// existing ancestor.
    pub fn at(tree: &Tree, path: &str, message: impl fmt::Display) -> Self {
        let steps = path::parse(path).unwrap_or_default();
        Self::new(tree.nearest_origin(&steps), message.to_string()).keyed(path::show(&steps), true)
    }
}
