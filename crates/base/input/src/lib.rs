//! Scenario text to typed values, with positions.
//!
//! ```text
//! scenario.toml ────────parse─────► Tree ──read──► T: Deserialize
//! --set path=text ───────set──────►  │               │ what serde refuses
//! values from Python ──set_value──►  │               ▼
//! a name that does not exist ──origin(path)──► InputError: where, what, expected, nearest
//! ```
//!
//! A [`Tree`] holds what was written and, for each key and value, its [`Origin`]. Typed
//! values are read from the tree by serde, and whatever is wrong comes back as one
//! [`InputError`]: where, under which key, what was found, what was expected, and the
//! nearest name that would have been right. Enums are read externally tagged: a bare name,
//! or a table of one key that names the variant. A bare name stands for a variant whose
//! parameters are all left at their defaults.
//!
//! A [`SweepFile`] is read the same way; it varies a scenario and knows none.
//!
//! Sources: TOML v1.1 (toml.io) without dates; serde's data model (serde.rs).
//!
//! Invariants: no text panics; an override that fails leaves the tree as it was; a message
//! has at most four lines, however long the text that caused it.

mod convert;
mod cure;
mod deserialize;
mod error;
mod fault;
mod files;
mod json;
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
pub use source::{Change, Overrides, Scenario, Source};
pub use suggest::nearest;
pub use sweep::{SweepAxis, SweepFile};
pub use tree::Tree;
pub use unpack::{unpack, unpacked_name};
pub use value::{Data, Entry, Origin, Table, Value};

use serde::Serialize;

/// A scenario as TOML text, for the record of a run.
///
/// # Panics
/// If TOML cannot express `value` (a map whose keys are not text, a whole number beyond
/// 64 bits with sign): our own types can all be written.
pub fn to_toml(value: &impl Serialize) -> String {
    toml::to_string(value).expect("our own types can be written as TOML")
}
