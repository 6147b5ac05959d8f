//! Scenarios and runs.

use gingham_input::{InputError, Tree};
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Engine, LabError, Progress, Run, compile, result_tables, summary_schema};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

use crate::patience::interruptible;
use crate::tables::{self, TableRow, columns};
use crate::{error, json as convert};

/// A scenario, checked as far as it can be without its fabric; never changes.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Scenario {
    inner: ScenarioSource,
}

#[pymethods]
impl Scenario {
    /// The scenario in a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let loaded = py.detach(|| ScenarioSource::load(Path::new(path), &Overrides::default()));
        Self::from_loaded(py, loaded)
    }

    /// The scenario in a text; `name` stands for the file in messages.
    #[staticmethod]
    fn parse(py: Python<'_>, name: &str, text: &str, folder: &str) -> PyResult<Self> {
        let none = Overrides::default();
        Self::from_loaded(py, ScenarioSource::parse(name, text, Path::new(folder), &none))
    }

    /// The scenario with another topology file, then with texts and values set at dotted paths, then
    /// with another seed.
    #[pyo3(signature = (*, topology=None, settings=Vec::new(), values=None, seed=None))]
    fn changed(
        &self,
        py: Python<'_>,
        topology: Option<PathBuf>,
        settings: Vec<(String, String)>,
        values: Option<&Bound<'_, PyDict>>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let value = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((path.extract()?, convert::from_python(&value)?))
        };
        let values = values.into_iter().flat_map(PyDictMethods::iter).map(value);
        let values = values.collect::<PyResult<Vec<(String, Value)>>>()?;
        let overrides = Overrides { topology, settings, values, seed };
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

impl Scenario {
    fn from_loaded(py: Python<'_>, loaded: Result<ScenarioSource, InputError>) -> PyResult<Self> {
        Ok(Self { inner: loaded.map_err(|refused| error::input(py, &refused))? })
    }
}

/// A run under way.
#[pyclass(module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Simulation {
    run: Run,
}

#[pymethods]
impl Simulation {
    /// Loads or generates the fabric, routes it and proves the routes.
    #[new]
    #[pyo3(signature = (scenario, *, allow_deadlock=false, engine="runs"))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        allow_deadlock: bool,
        engine: &str,
    ) -> PyResult<Self> {
        let engine = match engine {
            "runs" => Engine::Runs,
            "oracle" => Engine::Oracle,
            _ => {
                let message = format!("no engine is called \"{engine}\"; engines are runs, oracle");
                return Err(error::refusal(py, message));
            }
        };
        let source = scenario.inner.clone();
        let run =
            interruptible(py, move || Ok(Run::new(compile(&source, allow_deadlock)?, engine)))?;
        let run = run.map_err(|refused| match refused {
            LabError::Input(refused) => error::input(py, &refused),
            LabError::Deadlock(report) => error::deadlock(py, &report),
        })?;
        Ok(Self { run })
    }

    /// Simulates at most `events_max` events, without the interpreter's lock. Returns how far the
    /// run has come.
    fn advance<'py>(&mut self, py: Python<'py>, events_max: u64) -> PyResult<Bound<'py, PyAny>> {
        let Progress { fraction, now_ps, delivered, in_flight, done } =
            py.detach(|| self.run.advance(events_max));
        (fraction, now_ps, delivered, in_flight, done).into_bound_py_any(py)
    }

    /// What the scenario was compiled to, for people and manifests.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let compiled = self.run.compiled();
        let fabric = &compiled.plan.fabric;
        let about = json!({
            "switches": fabric.switches().len(),
            "endpoints": fabric.endpoints().len(),
            "cables": fabric.cables().len(),
            "deadlock_free": compiled.proof.is_free(),
            "files": compiled.files,
            "parameters": compiled.parameters,
            "sending": compiled.sending(),
            "notes": compiled.notes,
            "findings": compiled.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        convert::to_python(py, &about)
    }

    /// Whether every message is kept until `take_messages` is called.
    #[getter]
    fn keeps_all_messages(&self) -> bool {
        self.run.keeps_all_messages()
    }

    /// The columns of the messages delivered since the last call, where all are kept.
    fn take_messages<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let table = py.detach(|| self.run.take_messages());
        columns(py, &table)
    }

    /// The numbers of what was measured so far, without its tables.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = py.detach(|| self.run.summary());
        convert::serialized(py, &record)
    }

    /// What was measured so far: the summary, and the tables as (name, columns), a column being
    /// (name, meaning, unit, values). Values are little-endian bytes of 64-bit integers (`"u64"`) or
    /// reals (`"f64"`), or 32-bit places (`"u32"`) in a list of words.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Vec<TableRow<'py>>)> {
        let record = py.detach(|| self.run.record());
        Ok((convert::serialized(py, &record)?, tables::rows(py, &record.tables)?))
    }
}

/// What every table of a result holds, and the JSON Schema of its summary.
#[pyfunction]
pub(crate) fn result_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    tables::schema(py, &result_tables(), &summary_schema())
}

/// The 97.5 % point of Student's t: what a standard error is multiplied with for a 95 % interval.
#[pyfunction]
pub(crate) fn student_t(degrees: u32) -> f64 {
    gingham_lab::student_t(degrees)
}

/// The line of each key and list entry of a TOML text, by the steps that lead there; `name` stands
/// for the file in the message if it is none.
#[pyfunction]
pub(crate) fn toml_lines(
    py: Python<'_>,
    name: &str,
    text: &str,
) -> PyResult<Vec<(Vec<String>, u32)>> {
    let tree = Tree::parse(name, text).map_err(|refused| error::input(py, &refused))?;
    Ok(tree.lines())
}

/// Every name that a scenario may use, with its parameters.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::serialized(py, &gingham_lab::catalogue())
}

/// Every switching kind.
#[pyfunction]
pub(crate) fn switching_kinds(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::serialized(py, &gingham_lab::KINDS)
}

/// JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn scenario_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &gingham_lab::scenario_schema())
}
