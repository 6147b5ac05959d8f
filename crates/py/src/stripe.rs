//! Striping simulations.

use gingham_stripelab::scenario::ScenarioSource;
use gingham_stripelab::{Progress, Run, compile, result_tables, scenario_schema, summary_schema};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use serde_json::json;

use crate::scenario::StripeScenario;
use crate::tables::{self, TableRow};
use crate::{error, json as convert};

/// Striping run in progress.
#[pyclass(module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct StripeSimulation {
    run: Run,
    source: ScenarioSource,
}

#[pymethods]
impl StripeSimulation {
    #[new]
    fn new(py: Python<'_>, scenario: &StripeScenario) -> PyResult<Self> {
        let compiled = py.detach(|| compile(&scenario.inner));
        let compiled = compiled.map_err(|refused| error::input(py, &refused))?;
        Ok(Self { run: Run::new(compiled), source: scenario.inner.clone() })
    }

    /// Simulates at most `events_max` events, like `Simulation.advance`, but raises `InputError` if
    /// simulated time does not advance.
    fn advance<'py>(&mut self, py: Python<'py>, events_max: u64) -> PyResult<Bound<'py, PyAny>> {
        let progress = py.detach(|| self.run.advance(events_max));
        let Progress { fraction, now_ps, delivered, in_flight, done } =
            progress.map_err(|stuck| {
                error::input(py, &self.source.refuse(&stuck.key(), stuck.to_string()))
            })?;
        (fraction, now_ps, delivered, in_flight, done).into_bound_py_any(py)
    }

    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let compiled = self.run.compiled();
        let channels: Vec<_> = compiled
            .plan
            .links
            .iter()
            .map(|link| json!({ "name": link.name, "quantum_bytes": link.quantum_bytes }))
            .collect();
        let about = json!({
            "channels": channels,
            "files": compiled.files,
            "notes": compiled.notes,
        });
        convert::to_python(py, &about)
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = py.detach(|| self.run.summary());
        convert::to_python(py, &record)
    }

    /// Returns the results so far: the summary and the tables, as in `Simulation.record`.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Vec<TableRow<'py>>)> {
        let record = py.detach(|| self.run.record());
        Ok((convert::to_python(py, &record)?, tables::rows(py, &record.tables)?))
    }
}

/// Returns the columns of every striping result table, and the JSON Schema of the summary.
#[pyfunction]
pub(crate) fn stripe_result_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    tables::schema(py, &result_tables(), &summary_schema())
}

/// Returns the JSON Schema of striping scenarios.
#[pyfunction]
pub(crate) fn stripe_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &scenario_schema())
}
