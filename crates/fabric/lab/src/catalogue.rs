//! The catalogue: every name that a scenario or a command line may use, with what it means,
//! where it comes from, and its parameters.
//!
//! A mechanism is a variant of the enum of its concept (`concepts`): its summary and parameters are
//! the doc comments of its types, its source and an example that a test runs stand beside them, and
//! all of help, schema and reference pages is made from there. `support` says what a switching kind
//! is; `keys` and `names` refuse what the kind of a scenario does not have.

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

/// One name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// What kind of name: `generator`, `routing`, `path-choice`, `preset`, `arbitration`,
    /// `crossbar`, `forwarding`, `read`, `overtaking`, `lanes`, `scheduler`, `arrivals`, `length`,
    /// `destinations`, `segmentation`, `policing`, `marking`, `response`, `flow`.
    pub concept: &'static str,
    /// The name.
    pub name: String,
    /// What it is, in a sentence or two.
    pub summary: String,
    /// Where it comes from.
    pub source: String,
    /// JSON Schema of its parameters; `null` where it takes none.
    pub parameters: Value,
    /// Its support under each switching kind.
    pub kinds: Vec<KindSupport>,
    /// Keys of a scenario, as TOML, that use it.
    pub example: String,
    /// Files that the example reads.
    pub files: Vec<ExampleFile>,
}

/// The support of a mechanism under one switching kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct KindSupport {
    /// The name of the kind.
    pub kind: &'static str,
    /// The support, and why where it is refused.
    #[serde(flatten)]
    pub support: Support,
}

/// A file beside a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ExampleFile {
    /// Its name, relative to the scenario.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// JSON Schema of scenarios, for editors and reference pages.
pub fn scenario_schema() -> Value {
    let mut schema = schema_of::<Scenario>();
    keys::note_owners(&mut schema);
    schema
}

/// Every name.
pub fn catalogue() -> Vec<Entry> {
    CONCEPTS.iter().flat_map(entries).collect()
}

/// The names of a concept.
fn entries(concept: &Concept) -> Vec<Entry> {
    let mut found = Vec::new();
    collect(concept, &(concept.schema)(), &mut found);
    found
}

/// Adds the variants of an externally tagged enum, from its JSON Schema.
fn collect(concept: &Concept, schema: &Value, found: &mut Vec<Entry>) {
    for key in ["oneOf", "anyOf"] {
        for branch in schema[key].as_array().into_iter().flatten() {
            collect(concept, branch, found);
        }
    }
    let mut add = |name: &str, parameters: Value| {
        // A variant that may also be written as a bare name.
        if found.iter().all(|entry| entry.name != name) {
            found.push(entry(concept, name, schema, parameters));
        }
    };
    if let Some(name) = schema["const"].as_str() {
        add(name, Value::Null);
    }
    for (name, parameters) in schema["properties"].as_object().into_iter().flatten() {
        add(name, parameters.clone());
    }
}

/// The entry of a variant.
fn entry(concept: &Concept, name: &str, variant: &Value, parameters: Value) -> Entry {
    let text = |key: &str| variant[key].as_str().map(ToOwned::to_owned);
    let example = match text("x-example").unwrap_or_else(|| format!("\"{name}\"")) {
        whole if whole.contains('\n') => whole,
        value => concept.example.replace("{}", &value),
    };
    let files = FILES.iter().filter(|(file, _)| example.contains(&format!("\"{file}\"")));
    let under = |kind: &SwitchingKind| KindSupport {
        kind: kind.name,
        support: (concept.support)(name, kind),
    };
    Entry {
        concept: concept.name,
        name: name.to_owned(),
        summary: text("description").unwrap_or_default().replace('\n', " "),
        source: text("x-source").unwrap_or_default(),
        parameters,
        kinds: KINDS.iter().map(under).collect(),
        files: files.map(|&(name, text)| ExampleFile { name, text }).collect(),
        example,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_summary_a_source_and_the_parameters_of_its_type() {
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
