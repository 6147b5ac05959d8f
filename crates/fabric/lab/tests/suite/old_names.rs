//! Old names: each is refused with a message that gives its new name.

#![allow(clippy::unwrap_used, reason = "a text that cannot be read has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{OLD_NAMES, result_tables, scenario_schema};
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

#[test]
fn schema_has_new_names_but_no_old_ones() {
    let schema = scenario_schema();
    let key = |path: &str| {
        path.split('.').try_fold(&schema, |schema, step| schema["properties"].get(step)).is_some()
    };
    let tables = result_tables();
    let column =
        |name: &str| tables.iter().flat_map(|table| &table.columns).any(|it| it.name == name);
    for name in OLD_NAMES {
        let [is_old_there, is_new_there] = match name.what {
            "key" => [name.old, name.new].map(key),
            "column" => [name.old, name.new].map(column),
            _ => [false, true],
        };
        assert!(is_new_there && !is_old_there, "{name}");
    }
}
