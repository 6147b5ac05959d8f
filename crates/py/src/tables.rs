//! Result tables as byte columns, converted to Arrow tables in Python.

use gingham_results::{Column, ColumnData, Table};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::{Value, json};

use crate::json as convert;

pub(crate) type TableRow<'py> = (&'static str, Bound<'py, PyList>);

pub(crate) fn schema<'py>(
    py: Python<'py>,
    tables: &[Table],
    summary: &Value,
) -> PyResult<Bound<'py, PyAny>> {
    let column = |column: &Column| {
        let Column { name, unit, meaning, data, missing: _ } = column;
        json!({ "name": name, "unit": unit, "meaning": meaning, "type": data.kind() })
    };
    let table = |table: &Table| {
        let columns: Vec<_> = table.columns.iter().map(column).collect();
        json!({ "name": table.name, "meaning": table.meaning, "columns": columns })
    };
    let tables: Vec<_> = tables.iter().map(table).collect();
    convert::to_python(py, &json!({ "tables": tables, "summary": summary }))
}

pub(crate) fn rows<'py>(py: Python<'py>, tables: &[Table]) -> PyResult<Vec<TableRow<'py>>> {
    tables.iter().map(|table| Ok((table.name, columns(py, table)?))).collect()
}

pub(crate) fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyList>> {
    let column = |column: &Column| {
        let values = match &column.data {
            ColumnData::Integers(values) => {
                let signed =
                    |value: &u64| i64::try_from(*value).expect("counts and times are below 2^63");
                let bytes: Vec<u8> =
                    values.iter().flat_map(|value| signed(value).to_le_bytes()).collect();
                ("i64", PyBytes::new(py, &bytes), Vec::new())
            }
            ColumnData::Reals(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                ("f64", PyBytes::new(py, &bytes), Vec::new())
            }
            ColumnData::Words { codes, values } => {
                let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
                ("u32", PyBytes::new(py, &bytes), values.clone())
            }
        };
        (&column.name, &column.meaning, &column.unit, values, &column.missing).into_bound_py_any(py)
    };
    PyList::new(py, table.columns.iter().map(column).collect::<PyResult<Vec<_>>>()?)
}
