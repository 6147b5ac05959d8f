//! Tests of typed values read from trees: every serde data type, and the origin of each.

use gingham_input::{InputError, Tree, to_toml};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, InputError> {
    Tree::parse("t.toml", text)?.read()
}

fn value<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut map =
        read::<BTreeMap<String, T>>(&format!("x = {text}\n")).map_err(|error| error.to_string())?;
    Ok(map.remove("x").expect("the text has this key"))
}

#[test]
fn integers_and_floats_of_every_width_are_read() {
    assert_eq!(value::<u8>("255"), Ok(255));
    assert_eq!(value::<i8>("-128"), Ok(-128));
    assert_eq!(value::<u16>("0xffff"), Ok(65_535));
    assert_eq!(value::<u64>("9_223_372_036_854_775_807"), Ok(u64::MAX / 2));
    assert_eq!(value::<i64>("-9223372036854775808"), Ok(i64::MIN));
    assert_eq!(value::<i128>("-1"), Ok(-1));
    assert_eq!(value::<usize>("0b101"), Ok(5));
    assert_eq!(value::<f64>("2.5e-3"), Ok(0.0025));
    assert_eq!(value::<f64>("3"), Ok(3.0));
    assert_eq!(value::<f64>("-inf"), Ok(f64::NEG_INFINITY));
    assert_eq!(value::<f32>("inf"), Ok(f32::INFINITY));
    assert!(value::<f64>("nan").unwrap().is_nan());
    assert_eq!(value::<NonZeroU16>("7").unwrap().get(), 7);
}

#[test]
fn out_of_range_number_error_names_the_range() {
    let place = "t.toml:1:5: in `x`: found";
    let cases = [
        (value::<u8>("256").map(drop), "256, expected a whole number from 0 to 255"),
        (value::<i8>("-129").map(drop), "-129, expected a whole number from -128 to 127"),
        (value::<i16>("32768").map(drop), "32768, expected a whole number from -32768 to 32767"),
        (value::<u64>("-1").map(drop), "-1, expected a whole number of 0 or more"),
        (value::<i64>("1.0").map(drop), "1.0, expected a whole number"),
        (value::<NonZeroU16>("0").map(drop), "0, expected a whole number from 1 to 65535"),
        (value::<f32>("-1e40").map(drop), "-1e40, expected a number of at most 3.4028235e38"),
        (value::<char>("\"ab\"").map(drop), "\"ab\", expected one character in quotes"),
        (
            value::<(u8, u8)>("[1, 2, 3]").map(drop),
            "a list of 3 values, expected a list of 2 values",
        ),
        (value::<[u8; 1]>("[]").map(drop), "a list of 0 values, expected a list of 1 value"),
    ];
    for (result, message) in cases {
        assert_eq!(result, Err(format!("{place} {message}")));
    }
}

#[derive(Deserialize, PartialEq, Eq, Debug, Clone, Copy, PartialOrd, Ord)]
#[serde(transparent)]
struct Lane(u8);

#[derive(Deserialize, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Class {
    RealTime,
    BestEffort,
}

#[test]
fn lists_maps_and_options_are_read() {
    assert_eq!(value::<Vec<Option<u8>>>("[1, 2]"), Ok(vec![Some(1), Some(2)]));
    assert_eq!(value::<(Lane, String)>("[3, \"a\"]"), Ok((Lane(3), "a".to_owned())));
    let lanes = value::<BTreeMap<Lane, Lane>>("{ 1 = 10, 2 = 20 }").unwrap();
    assert_eq!(lanes, BTreeMap::from([(Lane(1), Lane(10)), (Lane(2), Lane(20))]));
    let shares = value::<BTreeMap<Class, f64>>("{ best-effort = 1, real-time = 0.5 }").unwrap();
    assert_eq!(shares, BTreeMap::from([(Class::RealTime, 0.5), (Class::BestEffort, 1.0)]));
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Grid {
    #[serde(default)]
    sides: Vec<u16>,
    #[serde(default = "yes")]
    wrap: bool,
    hosts: Option<u32>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    Star,
    Grid(Grid),
    Tree { arity: u8 },
    Pair(u8, u8),
    Random(u64),
}

#[test]
fn variants_are_read_by_name_and_by_table() {
    let grid = |sides, wrap| Shape::Grid(Grid { sides, wrap, hosts: None });
    assert_eq!(value("\"star\""), Ok(Shape::Star));
    assert_eq!(value("{ star = {} }"), Ok(Shape::Star));
    assert_eq!(value("\"grid\""), Ok(grid(vec![], true)));
    assert_eq!(value("{ grid = { sides = [3, 3], wrap = false } }"), Ok(grid(vec![3, 3], false)));
    assert_eq!(value("{ tree = { arity = 4 } }"), Ok(Shape::Tree { arity: 4 }));
    assert_eq!(value("{ pair = [1, 2] }"), Ok(Shape::Pair(1, 2)));
    assert_eq!(value("{ random = 9 }"), Ok(Shape::Random(9)));
}

#[test]
fn list_and_table_are_not_interchangeable() {
    let message = value::<Grid>("[[3, 3], true]").unwrap_err();
    assert_eq!(
        message,
        "t.toml:1:5: in `x`: found a list, expected a table with keys of sides, wrap, hosts"
    );
    let message = value::<Vec<u8>>("{ a = 1 }").unwrap_err();
    assert_eq!(message, "t.toml:1:5: in `x`: found a table, expected a list");
}

/// serde reads the content of such an enum from its own buffer, which has no positions.
#[derive(Deserialize, Debug)]
#[serde(tag = "kind", deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
enum Tagged {
    Star { hosts: u8 },
}

#[test]
fn tagged_enum_errors_keep_their_position() {
    let wrong_key = value::<Tagged>("{ kind = \"Star\", host = 3 }").unwrap_err();
    assert!(
        wrong_key.starts_with("t.toml:1:22: unknown key `host` in `x`\n  did you mean `hosts`?")
    );
    let wrong_kind = value::<Tagged>("{ kind = \"Stat\" }").unwrap_err();
    assert!(
        wrong_kind.starts_with("t.toml:1:14: in `x.kind`: unknown name `Stat`"),
        "{wrong_kind}"
    );
    let wrong_value = value::<Tagged>("{ kind = \"Star\", hosts = 300 }").unwrap_err();
    assert!(wrong_value.starts_with("t.toml:1:5: in `x`: found 300"));
}

#[derive(Deserialize, Debug)]
#[serde(try_from = "String")]
struct Even;

impl TryFrom<String> for Even {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        if text.len().is_multiple_of(2) { Ok(Self) } else { Err(format!("{text} is odd")) }
    }
}

#[test]
fn custom_type_error_has_its_position() {
    assert!(value::<Even>("\"ab\"").is_ok());
    let message = value::<Vec<Even>>("[\"ab\", \"abc\"]").unwrap_err();
    assert_eq!(message, "t.toml:1:12: in `x[1]`: abc is odd");
}

#[derive(Deserialize, Debug)]
#[expect(dead_code, reason = "only reading is tested")]
struct Renamed {
    #[serde(alias = "rate")]
    speed: u8,
}

#[test]
fn key_and_its_alias_are_duplicates() {
    let message = value::<Renamed>("{ speed = 1, rate = 2 }").unwrap_err();
    assert_eq!(message, "t.toml:1:5: key `speed` is given twice in `x`");
}

#[test]
fn origins_are_found_by_path() {
    let text = "a = 1\n[[traffic]]\nload = 0.4\n[[traffic]]\nhosts = [\"x\",\n  \"y\"]\n[n.\"o p\"]\nq = { r = 1 }\n";
    let tree = Tree::parse("t.toml", text).unwrap();
    let place = |path: &str| tree.origin(path).map(|origin| origin.to_string());
    assert_eq!(place("a").unwrap(), "t.toml:1:5");
    assert_eq!(place("traffic.0.load").unwrap(), "t.toml:3:8");
    assert_eq!(place("traffic[1]").unwrap(), "t.toml:4:1");
    assert_eq!(place("traffic.1.hosts.1").unwrap(), "t.toml:6:3");
    assert_eq!(place("n.\"o p\".q.r").unwrap(), "t.toml:8:11");
    assert_eq!(place("").unwrap(), "t.toml");
    for missing in ["b", "traffic.2", "a.b", "traffic.load", "traffic..0", "a.0"] {
        assert_eq!(place(missing), None, "{missing}");
    }
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Resolved {
    name: String,
    seed: Option<u64>,
    rate: gingham_kernel::Rate,
    loads: Vec<f64>,
    shape: BTreeMap<String, u8>,
}

#[test]
fn written_toml_reads_back() {
    let resolved = Resolved {
        name: "two\nlines \"quoted\"".to_owned(),
        seed: None,
        rate: "80 MB/s".parse().unwrap(),
        loads: vec![0.5, 1.0],
        shape: BTreeMap::from([("a b".to_owned(), 1)]),
    };
    let text = to_toml(&resolved);
    assert!(text.contains("rate = \"80 MB/s\"\nloads = [0.5, 1.0]\n"), "{text}");
    assert_eq!(read::<Resolved>(&text).unwrap(), resolved);
}
