//! Conversion of TOML parser values to input values.

use crate::fault::Fault;
use crate::path::Step;
use crate::position::Positions;
use crate::{Data, Entry, Origin, Table, Value};
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) struct Places<'a> {
    pub(crate) whole: Origin,
    pub(crate) positions: Option<Positions<'a>>,
}

impl Places<'_> {
    fn origin(&self, offset: usize) -> Origin {
        let place = self.positions.as_ref().map(|positions| positions.at(offset));
        place.map_or(self.whole.clone(), |(line, column)| Origin {
            line: Some(line),
            column: Some(column),
            ..self.whole.clone()
        })
    }

    pub(crate) fn table(&self, table: &DeTable<'_>) -> Result<Table, Fault> {
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &_)| {
            let name = Cow::as_ref(key.get_ref()).to_owned();
            let value = self.value(value).map_err(|fault| fault.under(Step::from(&*name)))?;
            Ok(Entry { name, origin: self.origin(key.span().start), value })
        };
        Ok(Table::of(table.iter().map(entry).collect::<Result<_, Fault>>()?))
    }

    /// Converts a value; refuses dates and integers beyond 64 bits.
    pub(crate) fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Value, Fault> {
        let origin = self.origin(value.span().start);
        match self.data(value.get_ref()) {
            Ok(data) => Ok(Value { data, origin }),
            Err(fault) => Err(fault.located(&origin)),
        }
    }

    fn data(&self, value: &DeValue<'_>) -> Result<Data, Fault> {
        Ok(match value {
            DeValue::String(text) => Data::String(text.to_string()),
            DeValue::Integer(digits) => Data::Integer(
                i64::from_str_radix(digits.as_str(), digits.radix()).map_err(|_| {
                    let range = format!("a whole number from {} to {}", i64::MIN, i64::MAX);
                    Fault::wrong(digits.to_string(), [range])
                })?,
            ),
            DeValue::Float(digits) => Data::Float(float(digits.as_str())?),
            DeValue::Boolean(truth) => Data::Bool(*truth),
            DeValue::Datetime(date) => {
                let found = format!("the date or time {date}");
                return Err(Fault::wrong(found, [format!("a number, or text: \"{date}\"")]));
            }
            DeValue::Array(items) => {
                let item = |(index, item): (usize, &_)| {
                    self.value(item).map_err(|fault| fault.under(Step::Index(index)))
                };
                Data::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Data::Table(self.table(table)?),
        })
    }
}

/// Parses a number; refuses finite numbers too large for a double.
fn float(digits: &str) -> Result<f64, Fault> {
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() || !digits.contains(|c: char| c.is_ascii_digit()) => {
            Ok(number)
        }
        _ => Err(Fault::wrong(digits.to_owned(), ["a number of at most 1.8e308".to_owned()])),
    }
}
