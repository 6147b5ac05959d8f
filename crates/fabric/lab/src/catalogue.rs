//! Catalogue of all names in scenarios and command lines, with meaning, source and parameters.
//!
//! A mechanism is an enum variant of its concept (`concepts`). Help, schema and reference pages are
//! generated from the doc comments of its types, its source and a tested example.

mod concepts;
mod keys;
mod names;
mod support;

pub(crate) use keys::refuse_foreign;
pub(crate) use names::{name_of, refuse_unsupported};
pub use support::{KINDS, Support, SwitchingKind};

use crate::scenario::Scenario;
use concepts::{CONCEPTS, Concept, FILES};
use gingham_results::schema_of;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use support::Feature;

/// Catalogue entry of one name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// Concept, such as `generator`, `routing` or `preset`.
    pub concept: &'static str,
    /// Heading of the concept in the reference.
    pub title: &'static str,
    /// Scenario keys that take the names; `*` stands for every index of a list.
    pub keys: &'static [&'static str],
    /// Name in scenarios.
    pub name: String,
    /// Description in one or two sentences.
    pub summary: String,
    /// Paper and section, or `textbook`.
    pub source: String,
    /// JSON Schema of the parameters; `null` without parameters.
    pub parameters: Value,
    /// Support under each switching kind.
    pub kinds: Vec<KindSupport>,
    /// Keys of an example scenario, as TOML.
    pub example: String,
    /// Files that the example reads.
    pub files: Vec<ExampleFile>,
}

/// Support of a name under one switching kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct KindSupport {
    /// Name of the switching kind.
    pub kind: &'static str,
    /// Support status, with the reason for a refusal.
    #[serde(flatten)]
    pub support: Support,
}

/// File that an example scenario reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ExampleFile {
    /// File name, relative to the scenario.
    pub name: &'static str,
    /// File content.
    pub text: &'static str,
}

/// Scenario schema as declared in the types, cached because generating it is slow.
static SCENARIO: LazyLock<Value> = LazyLock::new(schema_of::<Scenario>);

/// Returns the JSON Schema of scenarios.
pub fn scenario_schema() -> Value {
    let mut schema = SCENARIO.clone();
    keys::note_owners(&mut schema);
    schema
}

/// Returns all entries of the catalogue.
pub fn catalogue() -> Vec<Entry> {
    CONCEPTS.iter().flat_map(entries).collect()
}

fn entries(concept: &Concept) -> Vec<Entry> {
    let schema = (concept.schema)();
    let needs = keys::needs(concept.keys[0]);
    let entry = |(name, variant, parameters)| entry(concept, name, variant, parameters, &needs);
    variants(&schema).into_iter().map(entry).collect()
}

fn variants(schema: &Value) -> Vec<(&str, &Value, &Value)> {
    let branches = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
    let mut found: Vec<_> = branches.flatten().flat_map(variants).collect();
    let name = schema["const"].as_str().map(|name| (name, schema, &Value::Null));
    let properties = schema["properties"].as_object().into_iter().flatten();
    found.extend(name);
    found.extend(properties.map(|(name, of)| (&**name, schema, of)));
    // A variant may also appear as a bare name; the first form is kept.
    let mut names = BTreeSet::new();
    found.retain(|(name, ..)| names.insert(*name));
    found
}

fn entry(
    concept: &Concept,
    name: &str,
    variant: &Value,
    parameters: &Value,
    needs: &[Feature],
) -> Entry {
    let text = |key: &str| variant[key].as_str().map(ToOwned::to_owned);
    let example = match text("x-example").unwrap_or_else(|| format!("\"{name}\"")) {
        whole if whole.contains('\n') => whole,
        value => concept.example.replace("{}", &value),
    };
    let files = FILES.iter().filter(|(file, _)| example.contains(&format!("\"{file}\"")));
    let needs: Vec<Feature> = needs.iter().copied().chain(Feature::needed_by(variant)).collect();
    let under = |kind: &SwitchingKind| KindSupport {
        kind: kind.name,
        support: match concept.kind {
            Some(asks) if !asks(name, kind) => Support::Meaningless,
            _ => kind.support(&needs),
        },
    };
    Entry {
        concept: concept.name,
        title: concept.title,
        keys: concept.keys,
        name: name.to_owned(),
        summary: text("description").unwrap_or_default().replace('\n', " "),
        source: text("x-source").unwrap_or_default(),
        parameters: parameters.clone(),
        kinds: KINDS.iter().map(under).collect(),
        files: files.map(|&(name, text)| ExampleFile { name, text }).collect(),
        example,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_entries_have_summary_source_and_parameters() {
        let entries = catalogue();
        for entry in &entries {
            let Entry { concept, name, .. } = entry;
            assert!(!entry.summary.is_empty(), "{concept} {name} lacks a doc comment");
            assert!(!entry.source.is_empty(), "{concept} {name} lacks its `x-source`");
        }
        let find = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap();
        assert!(find("torus").parameters["properties"]["dimensions"].is_object());
        assert!(find("up-down").parameters["properties"]["root"].is_object());
        assert!(find("poisson").parameters.is_null());
    }
}
