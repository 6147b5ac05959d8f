//! Conversion of the laboratory's errors to the exceptions of `gingham.errors`.

use gingham_input::InputError;
use gingham_lab::{DeadlockReport, LabError};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::fmt::Display;

use crate::json;

pub(crate) fn input(py: Python<'_>, error: &InputError) -> PyErr {
    let details = || {
        let fields = json::to_python(py, &error.to_json())?.cast_into::<PyDict>()?;
        fields.del_item("message")?;
        Ok(fields)
    };
    details().map_or_else(
        |failure: PyErr| failure,
        |fields| raise(py, "InputError", &error.to_string(), Some(&fields)),
    )
}

pub(crate) fn lab(py: Python<'_>, error: &LabError) -> PyErr {
    match error {
        LabError::Input(refused) => input(py, refused),
        LabError::Deadlock(report) => deadlock(py, report),
    }
}

pub(crate) fn refusal(py: Python<'_>, message: impl Display) -> PyErr {
    raise(py, "InputError", &message.to_string(), None)
}

pub(crate) fn refusal_of(py: Python<'_>, key: &str, message: impl Display) -> PyErr {
    let fields = PyDict::new(py);
    match fields.set_item("key", key) {
        Ok(()) => raise(py, "InputError", &message.to_string(), Some(&fields)),
        Err(failure) => failure,
    }
}

pub(crate) fn refusal_with_code(py: Python<'_>, code: &str, message: &str) -> PyErr {
    let fields = PyDict::new(py);
    match fields.set_item("code", code) {
        Ok(()) => raise(py, "InputError", message, Some(&fields)),
        Err(failure) => failure,
    }
}

pub(crate) fn internal(py: Python<'_>, code: &str, message: impl Display) -> PyErr {
    let fields = PyDict::new(py);
    match fields.set_item("code", code) {
        Ok(()) => raise(py, "InternalError", &message.to_string(), Some(&fields)),
        Err(failure) => failure,
    }
}

pub(crate) fn deadlock(py: Python<'_>, report: &DeadlockReport) -> PyErr {
    let fields = PyDict::new(py);
    let kept = fields.set_item("cycle", &report.channels);
    match kept.and_then(|()| fields.set_item("key", &report.key)) {
        Ok(()) => raise(py, "DeadlockError", &report.to_string(), Some(&fields)),
        Err(failure) => failure,
    }
}

/// Creates an exception of `gingham.errors`; if this fails, returns the exception raised instead.
fn raise(py: Python<'_>, class: &str, message: &str, fields: Option<&Bound<'_, PyDict>>) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let class = py.import("gingham.errors")?.getattr(class)?.cast_into::<PyType>()?;
        class.call((message,), fields)
    };
    match make() {
        Ok(exception) if exception.is_instance_of::<PyException>() => PyErr::from_value(exception),
        Ok(other) => PyException::new_err(other.to_string()),
        Err(failure) => failure,
    }
}
