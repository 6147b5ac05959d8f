//! Rejection of old names.

use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{OLD_NAMES, result_tables, scenario_schema, summary_schema};
use std::path::Path;

const SCENARIO: &str = "stop.time = \"1 s\"\n[[channel]]\nrate = \"10 Mbit/s\"\n";

#[test]
fn old_values_are_refused_with_the_new_ones() {
    for name in OLD_NAMES.iter().filter(|name| name.what == "value") {
        let (key, value) = name.old.rsplit_once('.').expect("a key and its value");
        let set = Overrides::texts(vec![(key.to_owned(), value.to_owned())]);
        let read = ScenarioSource::parse("s.toml", SCENARIO, Path::new("."), &set);
        let error = read.expect_err("an old value").to_json();
        assert_eq!(error["key"], key);
        assert!(error["message"].as_str().expect("a text").contains(&name.to_string()), "{error}");
        let present = name.new.rsplit_once('.').expect("a key and its value");
        let set = Overrides::texts(vec![(present.0.to_owned(), present.1.to_owned())]);
        assert!(ScenarioSource::parse("s.toml", SCENARIO, Path::new("."), &set).is_ok(), "{name}");
    }
}

#[test]
fn no_column_has_an_old_name() {
    let tables = result_tables();
    let columns: Vec<&str> =
        tables.iter().flat_map(|table| &table.columns).map(|column| &*column.name).collect();
    let summary = summary_schema().to_string();
    let is_there =
        |name: &str| columns.contains(&name) || summary.contains(&format!("\"{name}\":"));
    for name in OLD_NAMES.iter().filter(|name| name.what == "column") {
        assert!(is_there(name.new) && !is_there(name.old), "{name}");
    }
    assert!(!scenario_schema().to_string().contains("\"told\""));
}
