//! Columnar result tables with a unit and a meaning for each column.
//!
//! [`Builder::fields`] makes a column of each field that has the schema extension `x-unit`, which
//! contains the unit. The field's doc comment is the meaning.
//!
//! A column has its field's type even if values are missing. Missing real numbers are NaN; rows
//! with a missing integer or text are listed in `missing`.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;
use std::slice;

/// Values of a column. Equality compares bits, so that NaN equals itself.
#[derive(Clone, Debug)]
pub enum ColumnData {
    /// Integers.
    Integers(Vec<u64>),
    /// Real numbers, NaN if missing.
    Reals(Vec<f64>),
    /// Texts, dictionary-encoded.
    Words {
        /// For each row, the index of its text in `values`.
        codes: Vec<u32>,
        /// Distinct texts.
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
    /// Returns the type name: `integer`, `real` or `text`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Integers(_) => "integer",
            Self::Reals(_) => "real",
            Self::Words { .. } => "text",
        }
    }
}

/// Column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Column name, ending in its unit.
    pub name: String,
    /// Unit or counted object; `1` for a fraction, empty for text.
    pub unit: String,
    /// Meaning of the values, for users.
    pub meaning: String,
    /// Values of all rows. A missing integer is 0, a missing text the first distinct text.
    pub data: ColumnData,
    /// Indices of rows with a missing integer or text.
    pub missing: Vec<usize>,
}

/// Table of results.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Name of the table and of its file.
    pub name: &'static str,
    /// Meaning of a row.
    pub meaning: &'static str,
    /// Columns, all of the same length.
    pub columns: Vec<Column>,
}

/// Builder of a table from rows.
#[must_use]
#[derive(Debug)]
pub struct Builder<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Builder<'a, R> {
    /// Creates a table without columns.
    pub const fn new(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds an integer column.
    pub fn integers(
        self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> u64,
    ) -> Self {
        let data = ColumnData::Integers(self.rows.iter().map(value).collect());
        self.column((name, unit), meaning, data)
    }

    /// Adds a column of real numbers.
    pub fn reals(
        self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> f64,
    ) -> Self {
        let data = ColumnData::Reals(self.rows.iter().map(value).collect());
        self.column((name, unit), meaning, data)
    }

    /// Adds a column of real numbers; `None` marks a missing value.
    pub fn known(
        self,
        name_and_unit: (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        self.reals(name_and_unit, meaning, |row| value(row).unwrap_or(f64::NAN))
    }

    /// Adds a text column; `code` returns the index of a row's text in `values`.
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

    /// Adds a text column; the distinct texts are collected from the rows.
    pub fn texts(
        self,
        name: &'static str,
        meaning: &'static str,
        text: impl Fn(&R) -> String,
    ) -> Self {
        let data = words_of(self.rows.iter().map(|row| Some(text(row))));
        self.column((name, ""), meaning, data)
    }

    fn column(self, name_and_unit: (&str, &str), meaning: &str, data: ColumnData) -> Self {
        self.with_missing(name_and_unit, meaning, data, Vec::new())
    }

    fn with_missing(
        mut self,
        (name, unit): (&str, &str),
        meaning: &str,
        data: ColumnData,
        missing: Vec<usize>,
    ) -> Self {
        let [name, unit, meaning] = [name, unit, meaning].map(str::to_owned);
        self.columns.push(Column { name, unit, meaning, data, missing });
        self
    }

    /// Adds a column for each row field that has a unit.
    pub fn fields(self) -> Self
    where
        R: Serialize + JsonSchema,
    {
        let rows: Vec<Value> = self.rows.iter().map(value_of).collect();
        schema_of::<R>()["properties"].as_object().into_iter().flatten().fold(
            self,
            |table, (name, field)| match field["x-unit"].as_str() {
                Some(unit) => {
                    let values: Vec<&Value> = rows.iter().map(|row| &row[name]).collect();
                    let (data, missing) = data_of(field, &values);
                    table.with_missing((name, unit), &meaning_of(field), data, missing)
                }
                None => table,
            },
        )
    }

    /// Builds the table.
    pub fn build(self, name: &'static str, meaning: &'static str) -> Table {
        Table { name, meaning, columns: self.columns }
    }
}

/// Returns the JSON Schema with inlined field types.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()
}

fn value_of(row: &impl Serialize) -> Value {
    serde_json::to_value(row).expect("our own types serialize")
}

/// Converts a field's doc comment to a meaning: one line without initial capital or full stop.
fn meaning_of(field: &Value) -> String {
    let description =
        field["description"].as_str().expect("a field has a doc comment").replace('\n', " ");
    let (first, rest) = description.split_at(description.chars().next().map_or(0, char::len_utf8));
    format!("{}{}", first.to_lowercase(), rest.trim_end_matches('.'))
}

fn data_of(field: &Value, values: &[&Value]) -> (ColumnData, Vec<usize>) {
    let data = match type_of(field) {
        "integer" => ColumnData::Integers(
            known(values, Value::as_u64).map(Option::unwrap_or_default).collect(),
        ),
        "string" => words_of(known(values, |value| value.as_str().map(str::to_owned))),
        "number" => {
            let reals = known(values, Value::as_f64).map(|value| value.unwrap_or(f64::NAN));
            return (ColumnData::Reals(reals.collect()), Vec::new());
        }
        other => panic!("a column holds numbers or texts, and no {other}"),
    };
    (data, (0..values.len()).filter(|row| values[*row].is_null()).collect())
}

/// Returns the JSON type of a field; an enum of names has no type and counts as text.
fn type_of(field: &Value) -> &str {
    let types = &field["type"];
    let types = types.as_array().map_or(slice::from_ref(types), Vec::as_slice);
    types.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("string")
}

fn known<'v, T>(
    values: &[&'v Value],
    value: impl Fn(&'v Value) -> Option<T>,
) -> impl Iterator<Item = Option<T>> {
    let of_its_type = move |one: &'v Value| value(one).expect("a value is of its field's type");
    values.iter().map(move |one| (!one.is_null()).then(|| of_its_type(one)))
}

fn words_of(texts: impl Iterator<Item = Option<String>>) -> ColumnData {
    let texts: Vec<Option<String>> = texts.collect();
    let mut values: Vec<String> = texts.iter().flatten().cloned().collect();
    values.sort_unstable();
    values.dedup();
    let place = |text| values.binary_search(text).expect("every text is among the distinct ones");
    let code = |text| u32::try_from(place(text)).expect("few distinct values");
    let codes = texts.iter().map(|text| text.as_ref().map_or(0, code)).collect();
    ColumnData::Words { codes, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted object.
    #[derive(Serialize, JsonSchema)]
    struct Row {
        /// Name.
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
    fn fields_with_units_become_columns() {
        let rows = [("a", 1, Some(0.5)), ("b", u64::MAX, None)];
        let rows = rows.map(|(name, messages, mean_ns)| Row { name, messages, mean_ns });
        let table = Builder::new(&rows).fields().build("rows", "a row each");
        let column = |name: &str, unit: &str, meaning: &str, data| {
            let [name, unit, meaning] = [name, unit, meaning].map(str::to_owned);
            Column { name, unit, meaning, data, missing: Vec::new() }
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
    fn text_columns_are_dictionary_encoded() {
        let table = Builder::new(&["b", "a", "b"])
            .texts("name", "a name", |row| (*row).to_owned())
            .build("names", "a row a name");
        let expected =
            ColumnData::Words { codes: vec![1, 0, 1], values: vec!["a".into(), "b".into()] };
        assert_eq!(table.columns[0].data, expected);
    }

    /// Choice.
    #[derive(Clone, Copy, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Colour {
        /// Red.
        Red,
        /// Dark blue.
        DarkBlue,
    }

    /// Row of optional fields.
    #[derive(Serialize, JsonSchema)]
    struct Sparse {
        /// Number of messages.
        #[schemars(extend("x-unit" = "messages"))]
        count: Option<u64>,
        /// Fraction of the messages.
        #[schemars(extend("x-unit" = "1"))]
        share: Option<f64>,
        /// Text value.
        #[schemars(extend("x-unit" = ""))]
        text: Option<&'static str>,
        /// Enum value.
        #[schemars(extend("x-unit" = ""))]
        colour: Option<Colour>,
    }

    fn held(rows: &[Sparse]) -> Vec<(ColumnData, Vec<usize>)> {
        let columns = Builder::new(rows).fields().build("rows", "a row each").columns;
        columns.into_iter().map(|column| (column.data, column.missing)).collect()
    }

    fn words(codes: &[u32], values: &[&str]) -> ColumnData {
        let values = values.iter().copied().map(str::to_owned).collect();
        ColumnData::Words { codes: codes.to_vec(), values }
    }

    #[test]
    fn missing_values_do_not_change_the_column_type() {
        let sparse = |count, share, text, colour| Sparse { count, share, text, colour };
        let whole = sparse(Some(u64::MAX), Some(0.5), Some("b"), Some(Colour::Red));
        let other = sparse(Some(0), Some(0.0), Some("a"), Some(Colour::DarkBlue));
        let rows = [whole, sparse(None, None, None, None), other];
        let expected = [
            (ColumnData::Integers(vec![u64::MAX, 0, 0]), vec![1]),
            (ColumnData::Reals(vec![0.5, f64::NAN, 0.0]), vec![]),
            (words(&[1, 0, 0], &["a", "b"]), vec![1]),
            (words(&[1, 0, 0], &["dark-blue", "red"]), vec![1]),
        ];
        assert_eq!(held(&rows), expected);
    }

    #[test]
    fn all_missing_column_keeps_its_type() {
        let none = || Sparse { count: None, share: None, text: None, colour: None };
        let expected = [
            (ColumnData::Integers(vec![0, 0]), vec![0, 1]),
            (ColumnData::Reals(vec![f64::NAN; 2]), vec![]),
            (words(&[0, 0], &[]), vec![0, 1]),
            (words(&[0, 0], &[]), vec![0, 1]),
        ];
        assert_eq!(held(&[none(), none()]), expected);
    }

    #[derive(Serialize, JsonSchema)]
    struct Listed {
        /// List of numbers.
        #[schemars(extend("x-unit" = "1"))]
        list: Vec<u64>,
    }

    #[test]
    #[should_panic(expected = "no array")]
    fn list_field_panics() {
        let _ = Builder::new(&[Listed { list: vec![] }]).fields();
    }
}
