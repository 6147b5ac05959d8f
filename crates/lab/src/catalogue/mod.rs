//! The catalogue: every name that a scenario or a command line may use, with what it means,
//! where it comes from, and its parameters.
//!
//! A mechanism is one line of the table (`lines`), with its support under every switching kind
//! (`support`) and an example that a test runs; its summary and parameters are the doc comments of its
//! types, from which help, schema and reference pages are made.

mod lines;
mod support;

pub use support::{KINDS, Kind, Support};

use crate::scenario::{Excess, Forwarding, Lanes, Preset, Scenario};
use gingham_model::traffic::{Arrivals, Destinations, Lengths};
use gingham_model::{Arbitration, Choose, Crossbar, Scheduler, Segmentation};
use gingham_topology::generate::Generator;
use gingham_topology::routing::Algorithm;
use lines::{FILES, LINES, Line};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

/// One name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// What kind of name: `generator`, `routing`, `path-choice`, `preset`, `arbitration`, `crossbar`, `forwarding`, `lanes`,
    /// `scheduler`, `arrivals`, `length`, `destinations`, `segmentation`, `policing`.
    pub concept: &'static str,
    /// The name.
    pub name: String,
    /// What it is, in a sentence or two.
    pub summary: String,
    /// Where it comes from.
    pub source: &'static str,
    /// JSON Schema of its parameters; `null` where it takes none.
    pub parameters: Value,
    /// Its support under each switching kind.
    pub kinds: Vec<KindSupport>,
    /// Keys of a scenario, as TOML, that use it.
    pub example: &'static str,
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
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    SchemaGenerator::new(settings).into_root_schema_for::<Scenario>().to_value()
}

/// Every name.
pub fn catalogue() -> Vec<Entry> {
    let mut known = Vec::new();
    known.extend(variants::<Generator>("generator"));
    known.extend(variants::<Algorithm>("routing"));
    known.extend(variants::<Choose>("path-choice"));
    known.extend(variants::<Preset>("preset"));
    known.extend(variants::<Arbitration>("arbitration"));
    known.extend(variants::<Crossbar>("crossbar"));
    known.extend(variants::<Forwarding>("forwarding"));
    known.push(property::<Lanes>("lanes", "datelines"));
    known.extend(variants::<Scheduler>("scheduler"));
    known.extend(variants::<Arrivals>("arrivals"));
    known.extend(variants::<Lengths>("length"));
    known.extend(variants::<Destinations>("destinations"));
    known.extend(variants::<Segmentation>("segmentation"));
    known.extend(variants::<Excess>("policing"));
    let entries: Vec<Entry> = LINES.iter().map(|line| entry(line, &known)).collect();
    assert_eq!(entries.len(), known.len(), "every variant has its line in the catalogue");
    entries
}

fn entry(line: &Line, known: &[Variant]) -> Entry {
    let Line { concept, name, source, support, example } = *line;
    let place = known.iter().find(|v| v.concept == concept && v.name == name);
    let variant = place.expect("the catalogue names a variant that exists");
    let supports = KINDS.iter().zip(support);
    let files = FILES.iter().filter(|(file, _)| example.contains(&format!("\"{file}\"")));
    Entry {
        concept,
        name: name.to_owned(),
        summary: variant.summary.clone(),
        source,
        parameters: variant.parameters.clone(),
        kinds: supports.map(|(k, support)| KindSupport { kind: k.name, support }).collect(),
        example,
        files: files.map(|&(name, text)| ExampleFile { name, text }).collect(),
    }
}

#[derive(Clone, Debug)]
struct Variant {
    concept: &'static str,
    name: String,
    summary: String,
    parameters: Value,
}

/// The variants of an externally tagged enum, from its JSON Schema.
fn variants<T: JsonSchema>(concept: &'static str) -> Vec<Variant> {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut found = Vec::new();
    collect(concept, schema.as_value(), &mut found);
    found
}

/// A key of a table that is a mechanism by itself.
fn property<T: JsonSchema>(concept: &'static str, name: &str) -> Variant {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    let summary = schema["properties"][name]["description"].as_str().unwrap_or_default();
    let (name, summary) = (name.to_owned(), summary.replace('\n', " "));
    Variant { concept, name, summary, parameters: Value::Null }
}

fn collect(concept: &'static str, schema: &Value, found: &mut Vec<Variant>) {
    for key in ["oneOf", "anyOf"] {
        for branch in schema[key].as_array().into_iter().flatten() {
            collect(concept, branch, found);
        }
    }
    let summary = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    let mut add = |name: &str, parameters: Value| {
        if let Some(known) = found.iter_mut().find(|variant| variant.name == name) {
            // A variant that may also be written as a bare name.
            if !parameters.is_null() {
                known.parameters = parameters;
            }
            if known.summary.is_empty() {
                known.summary.clone_from(&summary);
            }
        } else {
            let (name, summary) = (name.to_owned(), summary.clone());
            found.push(Variant { concept, name, summary, parameters });
        }
    };
    if let Some(name) = schema["const"].as_str() {
        add(name, Value::Null);
    }
    for name in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        add(name, Value::Null);
    }
    for (name, parameters) in schema["properties"].as_object().into_iter().flatten() {
        add(name, parameters.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_summary_and_the_parameters_of_its_type() {
        let entries = catalogue();
        for entry in &entries {
            assert!(
                !entry.summary.is_empty(),
                "{} {} lacks a doc comment",
                entry.concept,
                entry.name
            );
        }
        let find = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap();
        assert!(find("torus").parameters["properties"]["dimensions"].is_object());
        assert!(find("up-down").parameters["properties"]["root"].is_object());
        assert!(find("poisson").parameters.is_null());
    }
}
