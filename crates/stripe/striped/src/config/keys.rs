//! Test that `docs/reference/striped.md` lists exactly the keys that the parser accepts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use super::{Channel, Config, PeerTable, PolicyTable};

struct Asked<'a>(&'a mut BTreeSet<String>);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(fields.iter().map(ToString::to_string));
        Err(Error::custom("it was asked for keys alone"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("it is not a table"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn asked<'de, T: Deserialize<'de>>() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let none = T::deserialize(Asked(&mut keys));
    assert!(none.is_err() && !keys.is_empty(), "it is a table");
    keys
}

fn listed(page: &str, title: &str) -> BTreeSet<String> {
    let (_, section) = page.split_once(&format!("\n## {title}\n")).expect("there is such a title");
    let section = section.split("\n## ").next().expect("there is a first part");
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let names = cells.flat_map(|cell| cell.split(['`', ',', '[', ']', ' ']));
    let names = names.map(|name| name.strip_prefix("peer.").unwrap_or(name));
    names.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
}

#[test]
fn reference_page_lists_exactly_the_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/striped.md");
    let page = fs::read_to_string(path).expect("the page is there");
    for (title, keys) in [
        ("The bundle", asked::<Config>()),
        ("A peer", asked::<PeerTable>()),
        ("A channel", asked::<Channel>()),
        ("A policy", asked::<PolicyTable>()),
    ] {
        assert_eq!(listed(&page, title), keys, "{title}");
    }
}
