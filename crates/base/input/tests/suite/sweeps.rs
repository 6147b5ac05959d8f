//! Contents of sweep files, and the messages for wrong ones.

use gingham_input::{FORMAT, SweepFile, Tree};

const LOADS: &str = "[[axis]]\nkey = \"traffic.0.load\"\n";

fn read(text: &str) -> Result<SweepFile, String> {
    let tree = Tree::parse("sweep.toml", text).expect("it is TOML");
    SweepFile::read(&tree).map_err(|refused| refused.to_string())
}

#[test]
fn sweep_defaults_apply_and_written_order_is_kept() {
    let text = "base = \"torus\"\nallow_deadlock = true\n[set]\n\"stop.time\" = \"1 ms\"\n\"seed\" = 2\n\
                [[axis]]\nname = \"scheme\"\n[axis.choices]\nnone = {}\nall.load = 0.5\n";
    let file = read(text).expect("it is a sweep");
    assert_eq!((file.seed, file.replications, file.keep.len()), (1, 1, 0));
    assert_eq!(file.set.keys().collect::<Vec<_>>(), ["stop.time", "seed"]);
    assert_eq!(file.others.keys().collect::<Vec<_>>(), ["allow_deadlock"]);
    let axes = serde_json::to_string(&file.axis).expect("it is JSON");
    assert_eq!(axes, r#"[{"name":"scheme","choices":{"none":{},"all":{"load":0.5}}}]"#);
}

#[test]
fn later_sweep_format_is_refused_with_its_error_code() {
    assert_eq!(read("").expect("the present format needs no number").format, FORMAT);
    assert_eq!(read("format = 1\n").expect("it is the present format").format, 1);
    let tree = Tree::parse("sweep.toml", "unknown = 1\nformat = 2\n").expect("it is TOML");
    let refused = SweepFile::read(&tree).expect_err("the format is not known");
    assert_eq!(refused.code(), "other-form");
    assert_eq!(refused.to_json()["line"], 2);
    let none = Tree::parse("sweep.toml", "format = 0\n").expect("it is TOML");
    assert_eq!(SweepFile::read(&none).expect_err("no format has this number").code(), "refused");
}

#[test]
fn sweep_errors_have_line_and_column() {
    let cases = [
        (
            "seed = -1\n".to_owned(),
            "1:8: in `seed`: found -1, expected a whole number from 0 to 9,223,372,036,854,775,807",
        ),
        (
            "replications = 0\n".to_owned(),
            "1:16: in `replications`: found 0, expected a whole number from 1 to 1,000,000",
        ),
        ("where = 1\n".to_owned(), "1:9: in `where`: found 1, expected text in quotes"),
        (
            format!("{LOADS}value = [1]\n"),
            "3:1: unknown key `value` in `axis[0]`\n  did you mean `values`? known keys: choices, key, \
             keys, name, range, values, zip",
        ),
        (
            "[[axis]]\nvalues = [1]\n".to_owned(),
            "1:1: in `axis[0]`: an axis has one of \"key\", \"keys\", \"zip\" and \"choices\", and \
             it has none",
        ),
        (
            LOADS.to_owned(),
            "1:1: in `axis[0]`: an axis with a key needs either \"values\" or \"range\"",
        ),
        (
            "[[axis]]\nname = \"x\"\nchoices = { a = {} }\nrange = {}\n".to_owned(),
            "4:9: in `axis[0].range`: an axis with \"choices\" has its values there, and no \"range\"",
        ),
        (
            "[[axis]]\nname = \"x\"\nkeys = { a = \"b\" }\nvalues = [1]\n".to_owned(),
            "3:14: in `axis[0].keys.a`: found \"b\", expected a number",
        ),
        (
            "[[axis]]\nzip = { a = 1 }\n".to_owned(),
            "2:13: in `axis[0].zip.a`: expected a list or a range",
        ),
        (
            "[[axis]]\nname = \"x\"\nchoices = {}\n".to_owned(),
            "3:11: in `axis[0].choices`: found 0 values, expected a table with keys",
        ),
        (
            "[[axis]]\nkeys = { a = 1 }\nvalues = [1]\n".to_owned(),
            "1:1: in `axis[0]`: an axis with \"keys\" needs a \"name\", which its column takes",
        ),
    ];
    for (text, expected) in cases {
        let message = read(&text).expect_err(&text);
        assert_eq!(message, format!("sweep.toml:{expected}"), "{text}");
    }
}

#[test]
fn missing_key_has_the_line_of_its_parent() {
    let tree = Tree::parse("sweep.toml", &format!("seed = 1\n{LOADS}")).expect("it is TOML");
    let lines = ["seed", "axis.0.key", "axis.0.name", "where"].map(|path| tree.line(path));
    assert_eq!(lines, [Some(1), Some(3), Some(2), None]);
}
