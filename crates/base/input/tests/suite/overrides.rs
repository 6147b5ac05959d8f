//! Tests of the effects of overrides; failed ones leave the tree unchanged.

use gingham_input::{Change, Data, InputError, Overrides, Source, Tree};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

const TEXT: &str = "name = \"mesh\"\nrouting.algorithm = \"up-down\"\n\
    [[traffic]]\nload = 0.4\nhosts = [\"a\", \"b\"]\n";

fn tree() -> Tree {
    Tree::parse("t.toml", TEXT).expect("the text is sound")
}

fn json(tree: &Tree) -> serde_json::Value {
    tree.read().expect("JSON holds any tree")
}

fn after(path: &str, text: &str) -> serde_json::Value {
    let mut tree = tree();
    tree.set(path, text).expect(path);
    json(&tree)
}

#[test]
fn override_text_parses_as_value_or_stays_text() {
    let mut tree = tree();
    let cases = [
        ("0.4", json!(0.4)),
        (" 7 ", json!(7)),
        ("true", json!(true)),
        ("\"7\"", json!("7")),
        ("[1, \"a\"]", json!([1, "a"])),
        ("{ poisson = { mean = \"2 us\" } }", json!({ "poisson": { "mean": "2 us" } })),
        ("80 MB/s", json!("80 MB/s")),
        ("up-down", json!("up-down")),
        ("a = b", json!("a = b")),
        ("", json!("")),
        ("2025-01-31", json!("2025-01-31")),
        ("99999999999999999999", json!("99999999999999999999")),
        ("[1, 2", json!("[1, 2")),
        ("größer", json!("größer")),
    ];
    for (text, expected) in cases {
        tree.set("x", text).unwrap();
        assert_eq!(json(&tree)["x"], expected, "{text}");
    }
}

#[test]
fn override_table_with_an_invalid_value_is_refused() {
    let refusal = |text: &str| tree().set("x", text).unwrap_err().to_string();
    let large = refusal("{ periodic = { every = 99999999999999999999 } }");
    let whole = "found 99999999999999999999, expected a whole number from -9223372036854775808";
    assert!(large.contains("in `periodic.every`") && large.contains(whole), "{large}");
    let date = refusal("[1, 2025-01-31]");
    assert!(date.contains("found the date or time 2025-01-31"), "{date}");
}

#[test]
fn overrides_replace_append_and_create_entries() {
    assert_eq!(after("traffic.0.load", "0.9")["traffic"][0]["load"], json!(0.9));
    assert_eq!(after("traffic[0].hosts[1]", "c")["traffic"][0]["hosts"], json!(["a", "c"]));
    assert_eq!(after("traffic.0.hosts.2", "c")["traffic"][0]["hosts"], json!(["a", "b", "c"]));
    assert_eq!(after("traffic.1.load", "1")["traffic"][1], json!({ "load": 1 }));
    assert_eq!(after("new.list.0.key", "1")["new"], json!({ "list": [{ "key": 1 }] }));
    assert_eq!(after("lanes.\"0\"", "1")["lanes"], json!({ "0": 1 }));
    assert_eq!(after("traffic", "{ load = 1 }")["traffic"], json!({ "load": 1 }));
    assert_eq!(after("routing.algorithm", "minimal")["routing"], json!({ "algorithm": "minimal" }));
}

#[test]
fn bare_variant_name_accepts_parameters() {
    let routing = &after("routing.algorithm.up-down.root", "3")["routing"];
    assert_eq!(*routing, json!({ "algorithm": { "up-down": { "root": 3 } } }));
}

/// Alternatives of a length.
#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Length {
    Fixed(u32),
    Exponential(u32),
    Uniform { from: u32, to: u32 },
    Any,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Class {
    length: Length,
}

fn length(written: &str, overrides: &[(&str, &str)]) -> Result<Length, InputError> {
    let mut tree = Tree::parse("t.toml", &format!("length = {written}\n"))?;
    for (path, text) in overrides {
        tree.set(&format!("length.{path}"), text)?;
    }
    tree.read::<Class>().map(|class| class.length)
}

#[test]
fn override_variant_replaces_the_written_one() {
    let of = |written, overrides: &[_]| length(written, overrides).unwrap();
    assert_eq!(of("{ exponential = 1 }", &[("fixed", "2")]), Length::Fixed(2));
    assert_eq!(of("\"any\"", &[("fixed", "2")]), Length::Fixed(2));
    let uniform = [("uniform.from", "1"), ("uniform.to", "2")];
    assert_eq!(of("{ fixed = 1 }", &uniform), Length::Uniform { from: 1, to: 2 });
    assert_eq!(of("\"any\"", &uniform), Length::Uniform { from: 1, to: 2 });
    assert_eq!(of("{ fixed = 1 }", &[("fixed", "2")]), Length::Fixed(2));
}

#[test]
fn last_variant_override_wins() {
    let there_and_back = [("fixed", "2"), ("exponential", "3")];
    assert_eq!(length("{ exponential = 1 }", &there_and_back).unwrap(), Length::Exponential(3));
    let part = length("{ fixed = 1 }", &[("uniform.from", "1")]).unwrap_err().to_string();
    assert_eq!(part, "--set length.uniform.from=1: missing key `to` in `length.uniform`");
    let slipped = "exponental"; // typos: on purpose
    let slip = length("{ fixed = 1 }", &[(slipped, "1")]).unwrap_err().to_string();
    let place = format!("--set length.{slipped}=1: in `length`: unknown name");
    assert!(slip.starts_with(&place), "{slip}");
    assert!(slip.contains("did you mean `exponential`?"), "{slip}");
    let two = length("{ fixed = 1, exponential = 2 }", &[]).unwrap_err().to_string();
    assert!(two.contains("found a table with both `fixed` and `exponential`"), "{two}");
}

#[derive(Deserialize, PartialEq, Debug)]
struct Classes {
    class: Class,
}

impl gingham_input::Scenario for Classes {
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    fn fill_in(&mut self) {}
}

fn length_after(calls: &[&[(&str, serde_json::Value)]]) -> Result<Length, String> {
    let (text, none) = ("class.length = { exponential = 1 }", Overrides::default());
    let mut source =
        Source::<Classes>::parse("t.toml", text, Path::new("."), &none).expect("the text is sound");
    for call in calls {
        let change =
            |(path, value): &(&str, _)| Change::Value((*path).to_owned(), Clone::clone(value));
        let changes = call.iter().map(change).collect();
        let overrides = Overrides { changes, seed: None };
        source = source.with(&overrides).map_err(|error| error.to_string())?;
    }
    Ok(source.scenario.class.length)
}

#[test]
fn contradictory_simultaneous_values_are_refused() {
    let fixed = ("class.length.fixed", json!(2));
    let whole = ("class.length", json!({ "fixed": 2 }));
    let further = ("class.length.exponential", json!(3));
    assert_eq!(length_after(&[std::slice::from_ref(&fixed)]), Ok(Length::Fixed(2)));
    for first in [fixed, whole] {
        let both = length_after(&[&[first.clone(), further.clone()]]).unwrap_err();
        assert!(both.contains("found a table with both `fixed` and `exponential`"), "{both}");
        let later = length_after(&[std::slice::from_ref(&first), std::slice::from_ref(&further)]);
        assert_eq!(later, Ok(Length::Exponential(3)));
    }
}

#[test]
fn digits_select_an_existing_table_key() {
    let mut tree = Tree::parse("t.toml", "[lanes]\n0 = 1\n").unwrap();
    tree.set("lanes.0", "2").unwrap();
    assert_eq!(json(&tree), json!({ "lanes": { "0": 2 } }));
}

#[test]
fn failed_override_changes_nothing() {
    let failing = [
        "",
        ".",
        "a..b",
        "name.0",
        "traffic.0.load.x",
        "traffic.2",
        "traffic.9.load",
        "traffic.load",
        "routing.0",
        "new.1",
        "traffic.1.x.3",
        "routing.algorithm.up-down.x.4",
        "traffic.0.hosts.a",
    ];
    for path in failing {
        let mut changed = tree();
        assert!(changed.set(path, "1").is_err(), "{path}");
        assert_eq!(changed, tree(), "{path}");
    }
}

#[test]
fn list_entry_is_addressed_by_name_or_index() {
    let text = "[[traffic]]\nname = \"bulk\"\nload = 0.4\n\
        [[traffic]]\nname = \"best effort\"\nload = 0.1\n[[traffic]]\nload = 0.2\n";
    let mut tree = Tree::parse("t.toml", text).unwrap();
    tree.set("traffic.bulk.load", "0.5").unwrap();
    tree.set("traffic.\"best effort\".load", "0.6").unwrap();
    tree.set_value("traffic.bulk.hosts", &json!(["a"])).unwrap();
    assert_eq!(json(&tree)["traffic"][0], json!({ "name": "bulk", "load": 0.5, "hosts": ["a"] }));
    assert_eq!(json(&tree)["traffic"][1]["load"], json!(0.6));
    let placed = |path: &str| tree.placed(path);
    assert_eq!(placed("traffic.bulk.load").unwrap(), "traffic.0.load");
    assert_eq!(placed("traffic[1].length.fixed").unwrap(), "traffic.1.length.fixed");
    assert_eq!(placed("traffic.\"best effort\"").unwrap(), "traffic.1");
    assert_eq!(placed("new.\"a b\".x").unwrap(), "new.\"a b\".x");
    let refusal = "traffic.bilk.load: `traffic` is a list without an entry named `bilk`; \
        its first entry has `traffic[0].bilk`\n  \
        did you mean `bulk`? its names: best effort, bulk";
    assert_eq!(placed("traffic.bilk.load").unwrap_err().to_string(), refusal);
    let error = tree.set("traffic.bilk.load", "0.7").unwrap_err();
    assert_eq!(error.to_string(), format!("--set {}", refusal.replacen("load:", "load=0.7:", 1)));
}

#[test]
fn overridden_value_has_the_override_as_origin() {
    let mut tree = tree();
    tree.set("traffic.0.load", "0.9").unwrap();
    tree.set("traffic.1.load", "0.1").unwrap();
    let source = |path: &str| tree.origin(path).unwrap().to_string();
    assert_eq!(source("traffic.0.load"), "--set traffic.0.load=0.9");
    assert_eq!(source("traffic.0"), "t.toml:3:1");
    assert_eq!(source("traffic.1"), "--set traffic.1.load=0.1");
}

#[test]
fn set_value_accepts_json_values() {
    let mut tree = tree();
    let class = json!({ "load": 0.5, "hosts": ["x"], "window": null, "count": 3, "on": true });
    tree.set_value("traffic.1", &class).unwrap();
    let expected = json!({ "load": 0.5, "hosts": ["x"], "count": 3, "on": true });
    assert_eq!(json(&tree)["traffic"][1], expected);
    assert!(matches!(tree.get("traffic.1.count").unwrap().data, Data::Integer(3)));
    assert!(matches!(tree.get("traffic.1.load").unwrap().data, Data::Float(_)));
}

#[test]
fn unrepresentable_json_values_are_refused() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let cases = [
        (json!(null), "override of x: found nothing, expected a value"),
        (json!([1, null]), "override of x: in `[1]`: found nothing, expected a value"),
        (
            json!({ "a": u64::MAX }),
            "override of x: in `a`: found 18446744073709551615, \
             expected a whole number of at most 9223372036854775807",
        ),
    ];
    for (value, message) in cases {
        let mut changed = tree();
        assert_eq!(changed.set_value("x", &value).unwrap_err().to_string(), message);
        assert_eq!(changed, tree());
    }
    let error = tree().set_value("x", &deep).unwrap_err().to_string();
    assert!(error.ends_with("found deeper nesting, expected at most 64 levels"), "{error}");
}

#[test]
fn scenario_can_be_built_from_json() {
    let tree = Tree::from_json("scenario", &json!({ "name": "mesh", "seed": null })).unwrap();
    assert_eq!(json(&tree), json!({ "name": "mesh" }));
    assert_eq!(tree.origin("name").unwrap().to_string(), "scenario");
    let error = Tree::from_json("scenario", &json!([1])).unwrap_err();
    assert_eq!(error.to_string(), "scenario: found a list, expected a table of keys and values");
}
