//! Which keys a scenario writes, and which values its preset has: where values contradict each other,
//! the message stands at what the user wrote.
//!
//! ```text
//!   network.preset = "booksim-iq"          output_depth = 0, whose is " (of the preset booksim-iq)"
//!   network.lanes.crossbar = "full"   ◄──  the message stands here
//! ```

use crate::scenario::ScenarioSource;

/// The first of these keys that is written; where none is, that of the preset, and the first where
/// no preset is written either.
pub(crate) fn first_written<'a>(source: &ScenarioSource, keys: &[&'a str]) -> &'a str {
    let is_written = |key: &&str| source.tree.get(key).is_some();
    let known = keys.iter().copied().chain(["network.preset"]);
    known.into_iter().find(is_written).unwrap_or(keys[0])
}

/// What a message says behind a value of a key that is not written: whose it is.
pub(crate) fn whose(source: &ScenarioSource, key: &str) -> String {
    if source.tree.get(key).is_some() {
        return String::new();
    }
    format!(" (of the preset {})", source.scenario.network.preset().name())
}
