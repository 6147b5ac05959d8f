//! Keys that a scenario sets, as opposed to values of its preset, for errors about contradicting
//! values.

use crate::scenario::ScenarioSource;

/// Returns the first of the given keys that the scenario sets; by default `network.preset` if set,
/// or else the first key.
pub(crate) fn first_written<'a>(source: &ScenarioSource, keys: &[&'a str]) -> &'a str {
    let is_written = |key: &&str| source.tree.get(key).is_some();
    let known = keys.iter().copied().chain(["network.preset"]);
    known.into_iter().find(is_written).unwrap_or(keys[0])
}

/// Names the preset as the origin of a key's value, for messages; empty if the scenario sets the
/// key.
pub(crate) fn whose(source: &ScenarioSource, key: &str) -> String {
    if source.tree.get(key).is_some() {
        return String::new();
    }
    format!(" (of the preset {})", source.scenario.network.preset().name())
}
