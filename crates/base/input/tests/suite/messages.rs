//! Messages for wrong inputs. The snapshots are for review: each shows the mistake, and the message
//! below it.

use gingham_input::{InputError, Tree};
use gingham_kernel::{Bytes, Length, Rate, Span};
use insta::assert_snapshot;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Small scenario with every form of a real one.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Scenario {
    name: String,
    #[serde(default)]
    seed: u64,
    network: Network,
    routing: Routing,
    #[serde(default)]
    traffic: Vec<Traffic>,
    #[serde(default)]
    lane_of_level: BTreeMap<u8, u8>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Network {
    link_rate: Rate,
    cable: Length,
    switch_delay: Span,
    buffer: Option<Bytes>,
    lanes: u8,
    grid: Option<(u16, u16)>,
    scale: Option<f32>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Routing {
    algorithm: Algorithm,
    verify: bool,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only reading is tested")]
enum Algorithm {
    Minimal,
    UpDown(UpDown),
    DimensionOrder { order: String },
    Detour(f64),
    Paced(Rate),
    Traced(String),
    Imported(String, u32),
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct UpDown {
    root: Option<u32>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Traffic {
    name: String,
    load: f64,
    length: Bytes,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    destinations: Vec<u32>,
}

const GOOD: &str = r#"name = "mesh"
seed = 7

[network]
link_rate = "80 MB/s"
cable = "25 m"
switch_delay = "150 ns"
lanes = 2

[routing]
algorithm = "up-down"
verify = true

[[traffic]]
name = "bulk"
load = 0.4
length = "512 B"
hosts = ["a", "b"]

[[traffic]]
name = "voice"
load = 0.1
length = "64 B"
destinations = [3, 1, 4]
"#;

fn read(text: &str) -> Result<Scenario, InputError> {
    Tree::parse("scenario.toml", text)?.read()
}

fn messages(slips: &[(&str, &str)]) -> String {
    let mut table = String::new();
    for (from, to) in slips {
        assert_eq!(GOOD.matches(from).count(), 1, "{from} stands once in the scenario");
        let error = read(&GOOD.replace(from, to)).expect_err(to);
        let slip = if to.is_empty() { format!("(without) {from}") } else { (*to).to_owned() };
        write_case(&mut table, &slip, &error);
    }
    table
}

fn write_case(table: &mut String, slip: &str, error: &InputError) {
    let message = error.to_string();
    assert!(message.lines().count() <= 4, "{message}");
    let slip = slip.trim().replace('\n', "\n      | ");
    writeln!(table, "slip  | {slip}\n{message}\n").expect("a String takes any text");
}

#[test]
fn scenario_without_typos_is_read() {
    let scenario = read(GOOD).unwrap();
    assert_eq!(scenario.network.link_rate, Rate::from_bytes_per_second(80_000_000));
    assert_eq!(scenario.traffic[1].destinations, [3, 1, 4]);
    assert!(matches!(scenario.routing.algorithm, Algorithm::UpDown(UpDown { root: None })));
}

#[test]
fn keys() {
    let table = messages(&[
        ("load = 0.4", "laod = 0.4"),
        ("load = 0.1", "Load = 0.1"),
        ("seed = 7", "zebra = 7"),
        ("[network]", "[netwrok]"),
        ("[network]", "network.speed = 1\n[network.link]"),
        ("length = \"64 B\"\n", ""),
        ("[routing]\nalgorithm = \"up-down\"\nverify = true\n", ""),
        ("lanes = 2", "lanes = 2\nlanes = 4"),
        ("[routing]", "[network]\n[routing]"),
        ("seed = 7", "lane_of_level = { 0 = 1, x = 2 }"),
        ("seed = 7", "lane_of_level = { 256 = 1 }"),
    ]);
    assert_snapshot!(table);
}

#[test]
fn values() {
    let table = messages(&[
        ("\"80 MB/s\"", "80"),
        ("\"80 MB/s\"", "\"80 m\""),
        ("\"80 MB/s\"", "\"fast\""),
        ("\"150 ns\"", "150.0"),
        ("\"25 m\"", "[25]"),
        ("cable = \"25 m\"", "cable = { m = 25 }"),
        ("seed = 7", "seed = -7"),
        ("seed = 7", "seed = 7.0"),
        ("seed = 7", "seed = \"7\""),
        ("lanes = 2", "lanes = 256"),
        ("lanes = 2", "lanes = 2\ngrid = [3]"),
        ("lanes = 2", "lanes = 2\ngrid = [3, 70000]"),
        ("lanes = 2", "lanes = 2\nscale = 1e39"),
        ("[\"a\", \"b\"]", "{ a = 1 }"),
        ("load = 0.4", "load = \"0.4\""),
        ("load = 0.4", "load = true"),
        ("verify = true", "verify = 1"),
        ("\"mesh\"", "3"),
        ("destinations = [3, 1, 4]", "destinations = [3, 1, \"four\"]"),
        ("destinations = [3, 1, 4]", "destinations = 3"),
        ("[\"a\", \"b\"]", "[\"a\", 2]"),
        ("seed = 7", "seed = 9223372036854775808"),
        ("load = 0.4", "load = 1e999"),
        ("seed = 7", "seed = 2025-01-31"),
    ]);
    assert_snapshot!(table);
}

#[test]
fn table_in_place_of_a_list_is_advised_to_use_brackets() {
    let (before, _) = GOOD.split_once("[[traffic]]").unwrap();
    let refusal = |rest: &str| read(&format!("{before}{rest}")).unwrap_err().to_string();
    let advice = "found a table, expected a list: write `[[traffic]]`";
    assert_eq!(
        refusal("[traffic]\nlaod = 1\n"),
        format!("scenario.toml:14:1: in `traffic`: {advice}")
    );
}

#[test]
fn names_of_variants() {
    let table = messages(&[
        ("\"up-down\"", "\"updown\""),
        ("\"up-down\"", "\"ecmp\""),
        ("\"up-down\"", "\"80 MB/s\""),
        ("\"up-down\"", "\"80 MB\""),
        ("\"up-down\"", "{ up_down = { root = 3 } }"),
        ("\"up-down\"", "{ up-down = { rot = 3 } }"),
        ("\"up-down\"", "{ up-down = { root = -3 } }"),
        ("\"up-down\"", "{ up-down = 3 }"),
        ("\"up-down\"", "{ minimal = 3 }"),
        ("\"up-down\"", "{ up-down = {}, minimal = {} }"),
        ("\"up-down\"", "{}"),
        ("\"up-down\"", "7"),
        ("\"up-down\"", "\"dimension-order\""),
        ("\"up-down\"", "{ dimension-order = \"xy\" }"),
        ("\"up-down\"", "\"detour\""),
        ("\"up-down\"", "{ detour = \"long\" }"),
        ("\"up-down\"", "{ imported = [\"routes.txt\"] }"),
    ]);
    assert_snapshot!(table);
}

#[test]
fn syntax() {
    let table = messages(&[
        ("\"80 MB/s\"", "80 MB/s"),
        ("\"up-down\"", "up-down"),
        ("verify = true", "verify = yes"),
        ("verify = true", "verify = True"),
        ("seed = 7", "seed ="),
        ("seed = 7", "seed"),
        ("seed = 7", "seed: 7"),
        ("seed = 7", "seed = 7,"),
        ("seed = 7", "seed = 007"),
        ("seed = 7", "seed = 7_"),
        ("seed = 7", "= 7"),
        ("load = 0.4", "load = .4"),
        ("load = 0.4", "load = 0,4"),
        ("\"mesh\"", "\"mesh"),
        ("\"mesh\"", "\"C:\\mesh\""),
        ("[network]", "[network"),
        ("[network]", "[network]]"),
        ("[\"a\", \"b\"]", "[\"a\" \"b\"]"),
        ("[\"a\", \"b\"]", "[\"a\", \"b\""),
        ("\"up-down\"", "{ up-down = {}"),
        ("seed = 7", "name.seed = 7"),
        ("seed = 7", "größe = 7"),
        ("seed = 7", "\"größe\" = [1 2]"),
        ("seed = 7", "seed = \u{1b}[31m"),
    ]);
    assert_snapshot!(table);
}

#[test]
fn endless_nesting_is_refused() {
    let mut table = String::new();
    for text in [format!("x = {}", "[".repeat(500)), format!("{}x = 1", "a.".repeat(500))] {
        write_case(&mut table, &text[..20], &read(&text).unwrap_err());
    }
    assert_snapshot!(table);
}

#[test]
fn text_other_than_a_scenario_is_refused() {
    let mut table = String::new();
    let files: [(&str, &[u8]); 5] = [
        ("empty", b""),
        ("only a comment", b"# nothing\n"),
        ("Latin-1", b"name = \"K\xf6ln\"\n"),
        ("a program", b"\x7fELF\x02\x01\x01\0\0\0"),
        ("a byte order mark", b"\xef\xbb\xbfname = 3\n"),
    ];
    for (title, bytes) in files {
        let tree = Tree::from_bytes("scenario.toml", bytes);
        let error = tree.and_then(|tree| tree.read::<Scenario>()).expect_err(title);
        write_case(&mut table, title, &error);
    }
    assert_snapshot!(table);
}

#[test]
fn long_lines_and_values_are_truncated_in_errors() {
    let mut table = String::new();
    let many = "\"é\", ".repeat(2_000);
    let slips = [
        ("a slip in a long line", format!("hosts = [{many} 1 2, {many}]")),
        ("a long text", format!("name = \"mesh\"\nseed = \"{}\"", "x".repeat(5_000))),
        ("a long key", format!("{} = 1", "k".repeat(5_000))),
        ("a value after a long list", format!("name = [{many}]")),
    ];
    for (title, text) in slips {
        let error = read(&text).expect_err(title);
        assert!(error.to_string().chars().count() < 400, "{error}");
        write_case(&mut table, title, &error);
    }
    assert_snapshot!(table);
}

#[test]
fn columns_count_characters() {
    let text = "\"ключ\" = { ok = true }\n";
    let tree = Tree::parse("scenario.toml", text).unwrap();
    let error = tree.read::<BTreeMap<String, u8>>().unwrap_err();
    // Six characters with the quotes, a space, the sign and a space precede the brace.
    assert!(error.to_string().starts_with("scenario.toml:1:10: in `ключ`: found a table"));
}

#[test]
fn overrides() {
    let slips = [
        ("", "1"),
        ("traffic..load", "1"),
        ("\"traffic\"\u{7}.load", "1"),
        ("traffic[first].load", "1"),
        ("traffic.2.load", "0.4"),
        ("traffic.7.load", "0.4"),
        ("traffic.load", "0.4"),
        ("traffic.0.load.mean", "0.4"),
        ("network.0", "1"),
        ("trafic.1.load", "1"),
        ("trafic.0.load", "1"),
        ("traffic.0.laod", "1"),
        ("traffic[0].load", "high"),
        ("network.link_rate", "80"),
        ("network.link_rate", "80 MB"),
        ("network.lanes", "300"),
        ("routing.algorithm", "minimum"),
        ("routing.algorithm.up-down.root", "top"),
        ("routing.algorithm.minimal.root", "3"),
        ("traffic.0.hosts", "[1, 2"),
        ("seed", "2025-01-31"),
        ("traffic", "{ name = \"bulk\", laod = 0.4 }"),
        ("routing.algorithm", "80 MB/s"),
        ("network", "{ lanes = 2 }"),
    ];
    let mut table = String::new();
    for (path, text) in slips {
        let mut tree = Tree::parse("scenario.toml", GOOD).unwrap();
        let result = tree.set(path, text).and_then(|()| tree.read::<Scenario>());
        write_case(&mut table, &format!("{path}={text}"), &result.expect_err(path));
    }
    assert_snapshot!(table);
}

#[test]
fn unknown_name_errors_suggest_known_names() {
    let tree = Tree::parse("scenario.toml", GOOD).unwrap();
    let mut table = String::new();
    let missing = InputError::at(&tree, "traffic.0.hosts.1", "no host is named `b`");
    write_case(&mut table, "a host", &missing.suggesting("b", "known hosts", ["h1", "h2"]));
    let spine = InputError::at(&tree, "routing.algorithm.up-down.root", "no switch is `spin1`");
    let known = (1..=30).map(|number| format!("spine{number}"));
    write_case(&mut table, "a switch", &spine.suggesting("spin1", "known switches", known));
    let other = InputError::at(&tree, "network", "no switch is `core`");
    let known = (1..=30).map(|number| format!("spine{number}"));
    write_case(&mut table, "no such switch", &other.suggesting("core", "known switches", known));
    write_case(&mut table, "all of it", &InputError::at(&tree, "", "no traffic reaches a host"));
    let dump = InputError::from_parts(
        "fabric.ibnet",
        Some(17),
        None,
        None,
        "found `Swich`",
        ["Switch", "Ca", "Rt"].map(String::from),
        Some("Switch".into()),
    );
    write_case(&mut table, "another format", &dump);
    assert_snapshot!(table);
}

#[test]
fn errors_convert_to_json() {
    let unknown = read(&GOOD.replace("load = 0.4", "laod = 0.4")).unwrap_err();
    assert_eq!(
        unknown.to_json(),
        serde_json::json!({
            "code": "unknown-key",
            "file": "scenario.toml",
            "line": 16,
            "column": 1,
            "key": "traffic[0].laod",
            "message": "unknown key `laod` in `traffic[0]`",
            "expected": ["destinations", "hosts", "length", "load", "name"],
            "nearest": "load",
        })
    );
    let mut tree = Tree::parse("scenario.toml", GOOD).unwrap();
    tree.set_value("network.link_rate", &serde_json::json!(80)).unwrap();
    assert_eq!(
        tree.read::<Scenario>().unwrap_err().to_json(),
        serde_json::json!({
            "code": "wrong-type",
            "file": "override of network.link_rate",
            "line": null,
            "column": null,
            "key": "network.link_rate",
            "message": "in `network.link_rate`: found 80",
            "expected": ["a rate with its unit (TB/s, GB/s, MB/s, kB/s, B/s, Tbit/s, Gbit/s, Mbit/s, kbit/s, bit/s), such as \"80 MB/s\""],
            "nearest": null,
        })
    );
}
