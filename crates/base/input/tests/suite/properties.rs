//! Properties of inputs: any TOML text is read as by the TOML crate; broken text causes only
//! errors.

use gingham_input::{InputError, Tree};
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Value;

/// Any TOML value without dates, which scenarios refuse.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["\\PC{0,12}", "[a-z \\n\\t\"'\\\\]{0,12}"];
    let float = prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(0.0)];
    let leaf = prop_oneof![
        text.prop_map(Value::String),
        any::<i64>().prop_map(Value::Integer),
        float.prop_filter("NaN equals nothing", |x| !x.is_nan()).prop_map(Value::Float),
        any::<bool>().prop_map(Value::Boolean),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array);
        prop_oneof![list, table(inner).prop_map(Value::Table)]
    })
}

fn table(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = toml::Table> {
    let key = prop_oneof!["[a-z0-9_-]{1,6}", "\\PC{0,6}"];
    prop::collection::btree_map(key, inner, 0..5).prop_map(|map| map.into_iter().collect())
}

/// Pieces of TOML text in any order, closer to real mistakes than random letters.
fn broken_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[a]\n"),
        Just("[[a]]\n"),
        Just("a = 1\n"),
        Just("a.b = "),
        Just("é"),
        Just("\""),
        Just("\"\"\""),
        Just("'"),
        Just("'''"),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just("="),
        Just("."),
        Just("#"),
        Just("\n"),
        Just("\r"),
        Just("\\"),
        Just("\0"),
        Just("-"),
        Just("1979-05-27"),
        Just("0x"),
        Just("1e9"),
        Just("nan"),
        Just("true"),
        Just("80 MB/s"),
        Just("b"),
        Just(" "),
        Just("\u{feff}"),
        Just("\u{7f}"),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Small {
    a: Vec<BTreeMap<String, Option<f64>>>,
    b: u8,
}

fn assert_brief(error: &InputError) -> Result<(), TestCaseError> {
    let text = error.to_string();
    prop_assert!(text.lines().count() <= 4 && text.chars().count() < 700, "{}", text);
    prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    Ok(())
}

fn read_anything(tree: Result<Tree, InputError>) -> Result<(), TestCaseError> {
    match tree.and_then(|tree| tree.read::<Small>()) {
        Ok(_) => Ok(()),
        Err(error) => assert_brief(&error),
    }
}

proptest! {
    #[test]
    fn tree_of_written_toml_matches_the_toml_crate(table in table(value())) {
        let text = toml::to_string(&table).unwrap();
        let ours: toml::Table = Tree::parse("t.toml", &text).unwrap().read().unwrap();
        prop_assert_eq!(&ours, &toml::from_str::<toml::Table>(&text).unwrap());
        prop_assert_eq!(&ours, &table);
    }

    #[test]
    fn parser_accepts_toml_that_the_toml_crate_accepts(text in broken_text()) {
        let theirs = toml::from_str::<toml::Table>(&text);
        let Ok(theirs) = theirs else {
            return assert_brief(&Tree::parse("t.toml", &text).unwrap_err());
        };
        match Tree::parse("t.toml", &text) {
            Ok(tree) => prop_assert_eq!(
                format!("{:?}", tree.read::<toml::Table>().unwrap()),
                format!("{theirs:?}")
            ),
            Err(error) => prop_assert!(error.to_string().contains("found the date"), "{}", error),
        }
    }

    #[test]
    fn value_origin_is_its_line_and_column(
        before in "\\PC{0,300}",
        blank_lines in 0_usize..5,
        width in 0_usize..400,
    ) {
        let comment = format!("# {before}\n");
        let text = format!("{comment}{}[a]\nx = [\"{}\", 7]", "\n".repeat(blank_lines), "é".repeat(width));
        let origin = Tree::parse("t.toml", &text).unwrap().origin("a.x.1").unwrap();
        prop_assert_eq!(origin.line, Some(u32::try_from(blank_lines + 3).unwrap()));
        // Six characters precede the text; its closing quote, a comma and a space follow it.
        prop_assert_eq!(origin.column, Some(u32::try_from(6 + width + 3 + 1).unwrap()));
    }

    #[test]
    fn arbitrary_text_causes_no_panic(text in "(?s).{0,200}") {
        read_anything(Tree::parse("t.toml", &text))?;
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_anything(Tree::from_bytes("t.toml", &bytes))?;
    }

    #[test]
    fn arbitrary_override_causes_no_panic(
        path in prop_oneof!["(?s).{0,20}", "[ab01.\\[\\]\"']{0,12}"],
        text in prop_oneof!["(?s).{0,30}".boxed(), broken_text().boxed()],
    ) {
        let before = Tree::parse("t.toml", "b = 1\na = [{ b = 2 }, { a = 1 }]").unwrap();
        let mut after = before.clone();
        if let Err(error) = after.set(&path, &text) {
            assert_brief(&error)?;
            prop_assert_eq!(after, before);
        } else {
            prop_assert!(after.origin(&path).unwrap().source.starts_with("--set "));
            read_anything(Ok(after))?;
        }
    }
}
