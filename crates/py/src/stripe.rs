//! Striping scenarios and their runs.

use gingham_input::InputError;
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{Progress, Run, compile, result_tables, scenario_schema, summary_schema};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::Path;

use crate::tables::{self, TableRow};
use crate::{error, json as convert};

/// A striping scenario; never changes.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct StripeScenario {
    inner: ScenarioSource,
}

#[pymethods]
impl StripeScenario {
    /// The scenario in a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let loaded = py.detach(|| ScenarioSource::load(Path::new(path)));
        Self::from_loaded(py, loaded)
    }

    /// The scenario in a text; `name` stands for the file in messages.
    #[staticmethod]
    fn parse(py: Python<'_>, name: &str, text: &str, folder: &str) -> PyResult<Self> {
        Self::from_loaded(py, ScenarioSource::parse(name, text, Path::new(folder)))
    }

    /// The scenario with texts and values set at dotted paths, then with another seed.
    #[pyo3(signature = (*, settings=Vec::new(), values=None, seed=None))]
    fn changed(
        &self,
        py: Python<'_>,
        settings: Vec<(String, String)>,
        values: Option<&Bound<'_, PyDict>>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let value = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((path.extract()?, convert::from_python(&value)?))
        };
        let values = values.into_iter().flat_map(PyDictMethods::iter).map(value);
        let values = values.collect::<PyResult<Vec<(String, Value)>>>()?;
        let overrides = Overrides { settings, values, seed };
        Self::from_loaded(py, self.inner.with(&overrides))
    }

    /// The scenario of a record: what `resolved` said, paths in it being relative to `folder`, with
    /// the digest of the file that it once came from.
    #[staticmethod]
    fn restore(
        py: Python<'_>,
        name: &str,
        values: &Bound<'_, PyDict>,
        folder: &str,
        digest: &str,
    ) -> PyResult<Self> {
        let values = convert::from_python(values)?;
        let restored = ScenarioSource::restore(name, &values, Path::new(folder), digest);
        Self::from_loaded(py, restored)
    }

    /// Raises the `InputError` that says `message` of the value at a dotted path.
    fn refuse(&self, py: Python<'_>, key: &str, message: &str) -> PyResult<()> {
        Err(error::input(py, &InputError::at(&self.inner.tree, key, message)))
    }

    /// The scenario with defaults for what it does not say.
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::serialized(py, &self.inner.scenario)
    }

    /// The folder that paths in the scenario are relative to.
    #[getter]
    fn folder(&self) -> String {
        self.inner.folder.display().to_string()
    }

    /// SHA-256 of the file or text, before changes, in hexadecimal.
    #[getter]
    fn digest(&self) -> &str {
        &self.inner.digest
    }
}

impl StripeScenario {
    fn from_loaded(py: Python<'_>, loaded: Result<ScenarioSource, InputError>) -> PyResult<Self> {
        Ok(Self { inner: loaded.map_err(|refused| error::input(py, &refused))? })
    }
}

/// A striping run under way.
#[pyclass(module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct StripeSimulation {
    run: Run,
}

#[pymethods]
impl StripeSimulation {
    /// Checks the scenario and reads the files that it names.
    #[new]
    fn new(py: Python<'_>, scenario: &StripeScenario) -> PyResult<Self> {
        let compiled = py.detach(|| compile(&scenario.inner));
        let compiled = compiled.map_err(|refused| error::input(py, &refused))?;
        Ok(Self { run: Run::new(compiled) })
    }

    /// Simulates at most `events_max` events, without the interpreter's lock. Returns how far the
    /// run has come.
    fn advance<'py>(&mut self, py: Python<'py>, events_max: u64) -> PyResult<Bound<'py, PyAny>> {
        let Progress { fraction, now_ps, delivered, under_way, done } =
            py.detach(|| self.run.advance(events_max));
        (fraction, now_ps, delivered, under_way, done).into_bound_py_any(py)
    }

    /// What the scenario was compiled to, for people and manifests.
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

    /// The numbers of what was measured so far, without its tables.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = py.detach(|| self.run.summary());
        convert::serialized(py, &record)
    }

    /// What was measured so far: the summary, and the tables as (name, columns), columns as those of
    /// `Simulation.record`.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Vec<TableRow<'py>>)> {
        let record = py.detach(|| self.run.record());
        Ok((convert::serialized(py, &record)?, tables::rows(py, &record.tables)?))
    }
}

/// What every table of a striping result holds, and the JSON Schema of its summary.
#[pyfunction]
pub(crate) fn stripe_result_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    tables::schema(py, &result_tables(), &summary_schema())
}

/// JSON Schema of striping scenarios.
#[pyfunction]
pub(crate) fn stripe_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &scenario_schema())
}
