//! Tables of results as columns, with the unit and meaning of each.
//!
//! ```text
//!   rows ──Builder──► columns: name │ unit │ meaning │ values
//! ```
//!
//! Where rows are also objects of a summary (`fields`), a field is a column: its name, its doc
//! comment as the meaning, and its unit as an extension of its schema, `x-unit`.
//!
//! A table without rows still has its columns: that is how the reference page is made.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

/// The values of a column. Two are equal where their bits are, so that NaN equals itself.
#[derive(Clone, Debug)]
pub enum ColumnData {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Real numbers; NaN where there is none.
    Reals(Vec<f64>),
    /// Text, as places in a list of the distinct values.
    Words {
        /// Place in `values` by row.
        codes: Vec<u32>,
        /// The distinct values.
        values: Vec<String>,
    },
}

impl PartialEq for ColumnData {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integers(one), Self::Integers(other)) => one == other,
            (Self::Reals(one), Self::Reals(other)) => {
                one.iter().map(|real| real.to_bits()).eq(other.iter().map(|real| real.to_bits()))
            }
            (
                Self::Words { codes, values },
                Self::Words { codes: other_codes, values: other_values },
            ) => codes == other_codes && values == other_values,
            _ => false,
        }
    }
}

impl ColumnData {
    /// What the values are, in a word: `integer`, `real` or `text`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Integers(_) => "integer",
            Self::Reals(_) => "real",
            Self::Words { .. } => "text",
        }
    }
}

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Name, ending in its unit.
    pub name: String,
    /// What a value counts or is measured in; `1` for a plain fraction, nothing for a text.
    pub unit: String,
    /// What it holds.
    pub meaning: String,
    /// The values.
    pub data: ColumnData,
}

/// A table of results.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Name: the file of the run folder that holds it.
    pub name: &'static str,
    /// What a row is.
    pub meaning: &'static str,
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

/// Collects the columns of a table from its rows.
#[must_use]
#[derive(Debug)]
pub struct Builder<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Builder<'a, R> {
    /// A table of these rows, without columns so far.
    pub const fn new(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// A column of whole numbers.
    pub fn integers(
        self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> u64,
    ) -> Self {
        let data = ColumnData::Integers(self.rows.iter().map(value).collect());
        self.column((name, unit), meaning, data)
    }

    /// A column of real numbers.
    pub fn reals(
        self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> f64,
    ) -> Self {
        let data = ColumnData::Reals(self.rows.iter().map(value).collect());
        self.column((name, unit), meaning, data)
    }

    /// Real numbers that may be missing.
    pub fn known(
        self,
        name_and_unit: (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        self.reals(name_and_unit, meaning, |row| value(row).unwrap_or(f64::NAN))
    }

    /// A column of places in `values`.
    pub fn words(
        self,
        name: &'static str,
        meaning: &'static str,
        values: Vec<String>,
        code: impl Fn(&R) -> usize,
    ) -> Self {
        let place = |row: &R| u32::try_from(code(row)).expect("few distinct values");
        let data = ColumnData::Words { codes: self.rows.iter().map(place).collect(), values };
        self.column((name, ""), meaning, data)
    }

    /// A column of texts, each of which may differ from all others.
    pub fn texts(
        self,
        name: &'static str,
        meaning: &'static str,
        text: impl Fn(&R) -> String,
    ) -> Self {
        let data = words_of(self.rows.iter().map(text));
        self.column((name, ""), meaning, data)
    }

    fn column(mut self, (name, unit): (&str, &str), meaning: &str, data: ColumnData) -> Self {
        let [name, unit, meaning] = [name, unit, meaning].map(str::to_owned);
        self.columns.push(Column { name, unit, meaning, data });
        self
    }

    /// A column for each field of the rows that has a unit; a text has an empty one.
    pub fn fields(self) -> Self
    where
        R: Serialize + JsonSchema,
    {
        let rows: Vec<Value> = self.rows.iter().map(value_of).collect();
        schema_of::<R>()["properties"].as_object().into_iter().flatten().fold(
            self,
            |table, (name, field)| match field["x-unit"].as_str() {
                Some(unit) => {
                    let meaning = meaning_of(field);
                    let values = rows.iter().map(|row| &row[name]);
                    table.column((name, unit), &meaning, data_of(&field["type"], values))
                }
                None => table,
            },
        )
    }

    /// The table.
    pub fn build(self, name: &'static str, meaning: &'static str) -> Table {
        Table { name, meaning, columns: self.columns }
    }
}

/// The JSON Schema of a type, with the types of its fields inside.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()
}

fn value_of(row: &impl Serialize) -> Value {
    serde_json::to_value(row).expect("our own types serialize")
}

/// The doc comment of a field, as the columns of other tables are told: on one line, and no
/// sentence of its own.
fn meaning_of(field: &Value) -> String {
    let told = field["description"].as_str().expect("a field has a doc comment").replace('\n', " ");
    let (first, rest) = told.split_at(told.chars().next().map_or(0, char::len_utf8));
    format!("{}{}", first.to_lowercase(), rest.trim_end_matches('.'))
}

/// The values of a field of some type.
fn data_of<'v>(kind: &Value, values: impl Iterator<Item = &'v Value>) -> ColumnData {
    if kind == "integer" {
        let whole = |value: &Value| value.as_u64().expect("a count is a whole number");
        ColumnData::Integers(values.map(whole).collect())
    } else if kind == "string" || kind.is_null() {
        // A choice among words has no type.
        words_of(values.map(|value| value.as_str().expect("a text is one").to_owned()))
    } else {
        // A number that may be missing has two.
        ColumnData::Reals(values.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect())
    }
}

fn words_of(texts: impl Iterator<Item = String>) -> ColumnData {
    let texts: Vec<String> = texts.collect();
    let mut values = texts.clone();
    values.sort_unstable();
    values.dedup();
    let place = |text| values.binary_search(text).expect("every text is among the distinct ones");
    let code = |text| u32::try_from(place(text)).expect("few distinct values");
    ColumnData::Words { codes: texts.iter().map(code).collect(), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something counted.
    #[derive(Serialize, JsonSchema)]
    struct Row {
        /// What it is called.
        name: &'static str,
        /// How many there are. In all.
        #[schemars(extend("x-unit" = "messages"))]
        messages: u64,
        /// How long it took,
        /// if it ended.
        #[schemars(extend("x-unit" = "ns"))]
        mean_ns: Option<f64>,
    }

    #[test]
    fn a_field_with_a_unit_is_a_column() {
        let rows = [("a", 1, Some(0.5)), ("b", u64::MAX, None)];
        let rows = rows.map(|(name, messages, mean_ns)| Row { name, messages, mean_ns });
        let table = Builder::new(&rows).fields().build("rows", "a row each");
        let column = |name: &str, unit: &str, meaning: &str, data| {
            let [name, unit, meaning] = [name, unit, meaning].map(str::to_owned);
            Column { name, unit, meaning, data }
        };
        let expected = [
            column(
                "messages",
                "messages",
                "how many there are. In all",
                ColumnData::Integers(vec![1, u64::MAX]),
            ),
            column(
                "mean_ns",
                "ns",
                "how long it took, if it ended",
                ColumnData::Reals(vec![0.5, f64::NAN]),
            ),
        ];
        assert_eq!(table.columns, expected);
    }

    #[test]
    fn texts_are_places_among_the_distinct_ones() {
        let table = Builder::new(&["b", "a", "b"])
            .texts("name", "a name", |row| (*row).to_owned())
            .build("names", "a row a name");
        let expected =
            ColumnData::Words { codes: vec![1, 0, 1], values: vec!["a".into(), "b".into()] };
        assert_eq!(table.columns[0].data, expected);
    }
}
