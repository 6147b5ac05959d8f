//! Old names, refused with their new names.

#![allow(clippy::unwrap_used, reason = "a text that cannot be read has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{OLD_NAMES, result_tables, scenario_schema, summary_schema};
use serde_json::Value;
use std::path::Path;

const OLD: &str = r#"
topology.generate.ring = { switches = 4 }
stop.time = "1 ms"

[[traffic]]
load = 0.1
length = { fixed = "64 B" }

[routing.second]
algorithm = "up-down"
choose = "at-random"
"#;

fn refusal(text: &str, settings: &[(&str, &str)]) -> String {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let read = ScenarioSource::parse("ring.toml", text, Path::new("."), &overrides);
    read.unwrap_err().to_string()
}

#[test]
fn old_key_error_gives_the_new_name() {
    let now = "in `routing.second`: the key `routing.second` is called `routing.alternative` now; \
               `gingham upgrade` rewrites a file";
    assert_eq!(refusal(OLD, &[]), format!("ring.toml:9:1: {now}"));
    let new = OLD.replace("second", "alternative");
    let set = refusal(&new, &[("routing.second.choose.at-random.percent", "25")]);
    assert!(set.ends_with(now) && set.lines().count() == 1, "{set}");
}

/// Old keys of classes.
const OF_CLASSES: [(&str, &str, &str); 3] = [
    ("window", "{ packets = 4, answer = { length = \"20 B\" } }", "window.answer"),
    ("window", "{ packets = 4, answered = { every = 2 } }", "window.answered"),
    ("pace", "0.5", "pace"),
];

#[test]
fn old_keys_of_classes_are_refused_in_files_and_settings() {
    let new = OLD.replace("second", "alternative");
    for (key, value, old) in OF_CLASSES {
        let name = OLD_NAMES.iter().find(|name| name.old == format!("traffic.*.{old}")).unwrap();
        let set = refusal(&new, &[(&format!("traffic.0.{key}"), value)]);
        assert!(set.contains(&format!("in `traffic[0].{old}`: {name};")), "{set}");
        let file =
            refusal(&new.replace("load = 0.1", &format!("load = 0.1\n{key} = {value}")), &[]);
        assert!(file.starts_with("ring.toml:") && file.contains(&name.to_string()), "{file}");
    }
}

#[test]
fn old_key_of_a_mechanism_over_a_preset_is_refused() {
    let new = OLD.replace("second", "alternative");
    let key = "network.packets.flow_control.pfc.answer";
    let set = refusal(&new, &[("network.preset", "roce-100"), (key, "50 ns")]);
    assert!(
        set.contains(&format!("in `{key}`: ")) && set.contains("pfc.response_time` now"),
        "{set}"
    );
}

/// Whether a schema has a property at a path, in any of its alternatives; `*` is a list's entry.
fn has_key(schema: &Value, steps: &[&str]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let below = if *step == "*" { schema.get("items") } else { schema["properties"].get(*step) };
    let alternatives =
        ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    below.is_some_and(|below| has_key(below, rest))
        || alternatives.into_iter().any(|schema| has_key(schema, steps))
}

fn has_property(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(entries) => {
            entries.get("properties").is_some_and(|keys| keys.get(name).is_some())
                || entries.values().any(|below| has_property(below, name))
        }
        Value::Array(items) => items.iter().any(|below| has_property(below, name)),
        _ => false,
    }
}

#[test]
fn schema_has_new_names_but_no_old_ones() {
    let (schema, summary, tables) = (scenario_schema(), summary_schema(), result_tables());
    let key = |path: &str| has_key(&schema, &path.split('.').collect::<Vec<_>>());
    let column = |name: &str| {
        tables.iter().flat_map(|table| &table.columns).any(|it| it.name == name)
            || has_property(&summary, name)
    };
    for name in OLD_NAMES {
        let [is_old_there, is_new_there] = match name.what {
            "key" => [name.old, name.new].map(key),
            "column" => [name.old, name.new].map(column),
            _ => [false, true],
        };
        assert!(is_new_there && !is_old_there, "{name}");
    }
}
