//! Tables of results as columns, with the unit and meaning of each.

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
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

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Name, ending in its unit.
    pub name: &'static str,
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
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

/// Collects the columns of a table from its rows.
pub(super) struct Builder<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Builder<'a, R> {
    pub(super) fn new(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    pub(super) fn integers(
        mut self,
        name: &'static str,
        meaning: &'static str,
        value: impl Fn(&R) -> u64,
    ) -> Self {
        let data = ColumnData::Integers(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, meaning, data });
        self
    }

    pub(super) fn reals(
        mut self,
        name: &'static str,
        meaning: &'static str,
        value: impl Fn(&R) -> f64,
    ) -> Self {
        let data = ColumnData::Reals(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, meaning, data });
        self
    }

    /// A column of places in `values`.
    pub(super) fn words(
        mut self,
        name: &'static str,
        meaning: &'static str,
        values: Vec<String>,
        code: impl Fn(&R) -> usize,
    ) -> Self {
        let place = |row: &R| u32::try_from(code(row)).expect("few distinct values");
        let data = ColumnData::Words { codes: self.rows.iter().map(place).collect(), values };
        self.columns.push(Column { name, meaning, data });
        self
    }

    pub(super) fn build(self, name: &'static str) -> Table {
        Table { name, columns: self.columns }
    }
}
