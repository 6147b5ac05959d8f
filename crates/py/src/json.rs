//! Conversion between JSON values and Python objects.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTuple};
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// Maximum nesting depth; our own values nest less deeply.
const DEPTH_MAX: usize = 64;

pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(value).expect("our own types serialize");
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// Converts a Python object to a JSON value; raises `TypeError` if JSON cannot represent it.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0)
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEPTH_MAX {
        return Err(PyTypeError::new_err(format!("nested deeper than {DEPTH_MAX} levels")));
    }
    if object.is_instance_of::<PyNone>() {
        return Ok(Value::Null);
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return whole_number(object);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(real_number(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::String(object.extract()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let entries = dict.iter().map(|(key, value)| {
            let key: String = key.extract().map_err(|_| {
                PyTypeError::new_err(format!("expected a text as key, found {key}"))
            })?;
            Ok((key, value_at(&value, depth + 1)?))
        });
        return Ok(Value::Object(entries.collect::<PyResult<Map<_, _>>>()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let values = object.try_iter()?.map(|value| value_at(&value?, depth + 1));
        return Ok(Value::Array(values.collect::<PyResult<_>>()?));
    }
    let found = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("expected a number, a text, a list or a dict, found {found}")))
}

/// Converts a real number; NaN and infinities become text, for use in messages.
fn real_number(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

/// Converts an integer; integers beyond 64 bits become text, for use in messages.
fn whole_number(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = object.extract::<u64>() {
        return Ok(number.into());
    }
    object
        .extract::<i64>()
        .map_or_else(|_| Ok(Value::String(object.str()?.extract()?)), |number| Ok(number.into()))
}
