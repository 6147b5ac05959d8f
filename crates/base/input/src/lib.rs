//! Scenario reader: TOML text to typed values, with source positions for errors.
//!
//! ```text
//! scenario.toml ────────parse─────► Tree ──read──► T: Deserialize
//! --set path=text ───────set──────►  │               │ refused by serde
//! values from Python ──set_value──►  │               ▼
//! a name that does not exist ──origin(path)──► InputError: position, message, expected, nearest
//! ```
//!
//! A [`Tree`] holds the values as written and the [`Origin`] of each key and value; serde reads
//! typed values from it. Enums are externally tagged: a table with the variant name as its only
//! key, or a bare name for a variant with default parameters.
//!
//! Sources: TOML v1.1 (toml.io) without dates; the serde data model (serde.rs).
//!
//! Invariants: no text causes a panic; a message has at most four lines.

mod convert;
mod cure;
mod deserialize;
mod error;
mod fault;
mod files;
mod format;
mod json;
mod old_names;
mod overrides;
mod path;
mod position;
mod source;
mod suggest;
mod sweep;
mod syntax;
mod tree;
mod unpack;
mod value;
mod words;

pub use error::{InputError, OtherName};
pub use files::{FileRead, digest, read};
pub use format::{FORMAT, present as present_format};
pub use old_names::OldName;
pub use source::{Change, Overrides, Scenario, Source};
pub use suggest::nearest;
pub use sweep::{SweepAxis, SweepFile};
pub use tree::Tree;
pub use unpack::{unpack, unpacked_name};
pub use value::{Data, Entry, Origin, Table, Value};

use serde::Serialize;

/// Formats a scenario as TOML text for the run record.
///
/// # Panics
/// `value` has a map with non-text keys, or an integer outside the range of `i64`.
pub fn to_toml(value: &impl Serialize) -> String {
    toml::to_string(value).expect("our own types can be written as TOML")
}
