//! Tables of results as columns, with the unit and meaning of each.
//!
//! ```text
//!   rows ──Builder──► columns: name │ unit │ meaning │ values
//! ```
//!
//! A table without rows still has its columns: that is how the reference page is made.

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
    pub name: &'static str,
    /// What a value counts or is measured in; `1` for a plain fraction, nothing for a text.
    pub unit: &'static str,
    /// What it holds.
    pub meaning: &'static str,
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
        mut self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> u64,
    ) -> Self {
        let data = ColumnData::Integers(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, unit, meaning, data });
        self
    }

    /// A column of real numbers.
    pub fn reals(
        mut self,
        (name, unit): (&'static str, &'static str),
        meaning: &'static str,
        value: impl Fn(&R) -> f64,
    ) -> Self {
        let data = ColumnData::Reals(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, unit, meaning, data });
        self
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
        mut self,
        name: &'static str,
        meaning: &'static str,
        values: Vec<String>,
        code: impl Fn(&R) -> usize,
    ) -> Self {
        let place = |row: &R| u32::try_from(code(row)).expect("few distinct values");
        let data = ColumnData::Words { codes: self.rows.iter().map(place).collect(), values };
        self.columns.push(Column { name, unit: "", meaning, data });
        self
    }

    /// A column of texts, each of which may differ from all others.
    pub fn texts(
        self,
        name: &'static str,
        meaning: &'static str,
        text: impl Fn(&R) -> String,
    ) -> Self {
        let mut values: Vec<String> = self.rows.iter().map(&text).collect();
        values.sort_unstable();
        values.dedup();
        let distinct = values.clone();
        self.words(name, meaning, values, |row| {
            distinct.binary_search(&text(row)).expect("every text is among the distinct ones")
        })
    }

    /// The table.
    pub fn build(self, name: &'static str, meaning: &'static str) -> Table {
        Table { name, meaning, columns: self.columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
