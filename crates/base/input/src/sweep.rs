//! Sweep files: a base scenario and the keys to vary.
//!
//! Invariant: each axis has exactly one of `key`, `keys`, `zip` and `choices`.

use crate::{InputError, Tree, format};
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::marker::PhantomData;

/// Contents of a sweep file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepFile {
    /// Number of the file format.
    #[serde(default = "format::present")]
    pub format: u32,
    /// Title of the sweep.
    pub title: Option<String>,
    /// Base scenario: file name or example name.
    pub base: Option<String>,
    /// Base scenario embedded in the sweep file.
    pub scenario: Option<Map<String, Value>>,
    /// Seed that determines the seeds of all replications.
    #[serde(default = "one", deserialize_with = "seed")]
    pub seed: u64,
    /// Runs per grid point.
    #[serde(default = "one", deserialize_with = "replications")]
    pub replications: u64,
    /// Result tables stored for each run.
    #[serde(default)]
    pub keep: Vec<String>,
    /// SQL condition over the axis columns that selects grid points.
    pub r#where: Option<String>,
    /// Changes to the base scenario for all grid points, by dotted path.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// Axes of the grid.
    #[serde(default)]
    pub axis: Vec<SweepAxis>,
    /// Remaining top-level keys, for the caller.
    #[serde(flatten, skip_serializing)]
    pub others: Map<String, Value>,
}

/// Axis of the parameter grid.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepAxis {
    /// Result column name, or names of several columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Keys and factors: each key is set to the axis value times its factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Keyed<Number>>,
    /// Keys that vary in lockstep, each with its own list or range of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    zip: Option<Keyed<Values>>,
    /// Named alternatives, each with changes by dotted path.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Keyed<Map<String, Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Value>>,
    /// Range of values of `key` or `keys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Map<String, Value>>,
}

impl SweepFile {
    /// Reads and checks a sweep file.
    ///
    /// # Errors
    /// The file is of a later format, a key has a wrong type, or an axis is inconsistent.
    pub fn read(tree: &Tree) -> Result<Self, InputError> {
        format::require_present(tree)?;
        let file: Self = tree.read()?;
        for (place, axis) in file.axis.iter().enumerate() {
            axis.check().map_err(|(key, message)| {
                InputError::at(tree, &format!("axis.{place}{key}"), message)
            })?;
        }
        Ok(file)
    }
}

impl SweepAxis {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let ways = [
            ("key", self.key.is_some()),
            ("keys", self.keys.is_some()),
            ("zip", self.zip.is_some()),
            ("choices", self.choices.is_some()),
        ];
        let given: Vec<_> = ways.iter().filter(|(_, given)| *given).map(|(way, _)| *way).collect();
        let [way] = *given else {
            let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
            let expected = "an axis has one of \"key\", \"keys\", \"zip\" and \"choices\"";
            return Err(("", format!("{expected}, and it has {found}")));
        };
        let given = [(".values", self.values.is_some()), (".range", self.range.is_some())];
        if way == "key" || way == "keys" {
            if given[0].1 == given[1].1 {
                let message = "an axis with a key needs either \"values\" or \"range\"";
                return Err(("", message.to_owned()));
            }
        } else if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
            let message =
                format!("an axis with \"{way}\" has its values there, and no \"{}\"", &key[1..]);
            return Err((key, message));
        }
        if self.name.is_none() && (way == "keys" || way == "choices") {
            let message =
                format!("an axis with \"{way}\" needs a \"name\", which its column takes");
            return Err(("", message));
        }
        Ok(())
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list or a range")]
enum Values {
    List(Vec<Value>),
    Range(Map<String, Value>),
}

#[derive(Clone, PartialEq, Debug)]
struct Keyed<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Keyed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeyedVisitor(PhantomData))
    }
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for KeyedVisitor<T> {
    type Value = Keyed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Keyed<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = table.next_entry()? {
            entries.push(entry);
        }
        if entries.is_empty() {
            Err(A::Error::invalid_length(0, &self))
        } else {
            Ok(Keyed(entries))
        }
    }
}

fn one() -> u64 {
    1
}

fn seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let words = "a whole number from 0 to 9,223,372,036,854,775,807";
    deserializer.deserialize_u64(Whole { least: 0, most: i64::MAX.unsigned_abs(), words })
}

fn replications<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let words = "a whole number from 1 to 1,000,000";
    deserializer.deserialize_u64(Whole { least: 1, most: 1_000_000, words })
}

struct Whole {
    least: u64,
    most: u64,
    words: &'static str,
}

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        let bounds = self.least..=self.most;
        let whole = u64::try_from(number).ok().filter(|whole| bounds.contains(whole));
        whole.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
