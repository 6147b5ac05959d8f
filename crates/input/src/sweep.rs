//! Sweep files: a base scenario, and what is varied.
//!
//! ```text
//! sweep.toml ──► Tree ──read──► SweepFile ──► points, runs   (Python)
//!                  └─ scenario ──► Source of a laboratory
//! ```
//!
//! Both laboratories are swept by files of one form, so what stands in them is read here, and what it means for a
//! scenario is known to whoever makes the points. Keys that only some kinds of scenarios have are kept as `others`.
//!
//! Invariant: an axis has exactly one of the ways to say what it varies, and its values once.

use crate::{InputError, Tree};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// What a sweep file says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepFile {
    /// What the sweep shows.
    pub title: Option<String>,
    /// The base: a scenario file, or the name of an example.
    pub base: Option<String>,
    /// The base, if it stands in the file itself.
    pub scenario: Option<Map<String, Value>>,
    /// Seed of all replications.
    #[serde(default = "one", deserialize_with = "seed")]
    pub seed: u64,
    /// Runs of each point.
    #[serde(default = "one", deserialize_with = "replications")]
    pub replications: u64,
    /// Tables that are kept of each run.
    #[serde(default)]
    pub keep: Vec<String>,
    /// A condition in SQL over the columns of the axes.
    pub r#where: Option<String>,
    /// What all points change of the base, by dotted path.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// The dimensions of the grid.
    #[serde(default)]
    pub axis: Vec<SweepAxis>,
    /// What else stands at the top.
    #[serde(flatten, skip_serializing)]
    pub others: Map<String, Value>,
}

/// A dimension of the grid.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepAxis {
    /// Name of its column, or names of its columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Value>,
    /// The one key that it varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Several keys, each of which is its value times a factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Map<String, Value>>,
    /// Several keys that advance together, each with a list or range of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    zip: Option<Map<String, Value>>,
    /// Named alternatives, each with what it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Map<String, Value>>,
    /// The values of `key` or `keys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Value>>,
    /// The same as a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Map<String, Value>>,
}

impl SweepFile {
    /// What the tree of a sweep file says.
    pub fn read(tree: &Tree) -> Result<Self, InputError> {
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
    /// What makes no sense together, as the key below the axis and a sentence.
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
            let message = format!("an axis with \"{way}\" has its values there, and no \"{}\"", &key[1..]);
            return Err((key, message));
        }
        if self.name.is_none() && (way == "keys" || way == "choices") {
            let message = format!("an axis with \"{way}\" needs a \"name\", which its column takes");
            return Err(("", message));
        }
        self.check_tables()
    }

    fn check_tables(&self) -> Result<(), (&'static str, String)> {
        let empty = [
            (".keys", self.keys.as_ref().is_some_and(Map::is_empty)),
            (".zip", self.zip.as_ref().is_some_and(Map::is_empty)),
            (".choices", self.choices.as_ref().is_some_and(Map::is_empty)),
        ];
        if let Some((key, _)) = empty.into_iter().find(|(_, empty)| *empty) {
            return Err((key, format!("\"{}\" must be a table with keys", &key[1..])));
        }
        for (key, factor) in self.keys.iter().flatten() {
            if !factor.is_number() {
                let message = format!("the factor of \"{key}\" must be a number, and is {factor}");
                return Err((".keys", message));
            }
        }
        for (key, values) in self.zip.iter().flatten() {
            if !values.is_array() && !values.is_object() {
                return Err((".zip", format!("\"{key}\" must be a list or a range, and is {values}")));
            }
        }
        for (choice, changes) in self.choices.iter().flatten() {
            if !changes.is_object() {
                return Err((".choices", format!("\"{choice}\" must be a table, and is {changes}")));
            }
        }
        Ok(())
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

/// A whole number within bounds.
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
