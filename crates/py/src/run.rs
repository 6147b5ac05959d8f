//! Fabric simulations.

use gingham_lab::{
    Compiled, Engine, NoProgress, NotStepped, OLD_NAMES, Progress, Run, SteppedBy, compile,
    result_tables, summary_schema,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::json;

use crate::patience::interruptible;
use crate::scenario::Scenario;
use crate::tables::{self, TableRow, columns};
use crate::{error, json as convert};

const ENGINES: &str = "fast, oracle, ports, columns";

/// Fabric run in progress.
#[pyclass(module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Simulation {
    run: Run,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, *, allow_deadlock=false, engine="fast"))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        allow_deadlock: bool,
        engine: &str,
    ) -> PyResult<Self> {
        let start: fn(Compiled) -> Result<Run, NotStepped> = match engine {
            "fast" => |compiled| Ok(Run::new(compiled, Engine::Fast)),
            "oracle" => |compiled| Ok(Run::new(compiled, Engine::Oracle)),
            "ports" => |compiled| Run::stepped_by(compiled, SteppedBy::Ports),
            "columns" => |compiled| Run::stepped_by(compiled, SteppedBy::Columns),
            _ => {
                let renamed = OLD_NAMES.iter().find(|it| it.what == "engine" && it.old == engine);
                let unknown = format!("no engine is called \"{engine}\"; engines are {ENGINES}");
                let message = renamed.map_or(unknown, ToString::to_string);
                return Err(error::refusal_of(py, "engine", message));
            }
        };
        let source = scenario.inner.clone();
        let run = interruptible(py, move || {
            start(compile(&source, allow_deadlock)?).map_err(|refused| refused.at(&source).into())
        })?;
        Ok(Self { run: run.map_err(|refused| error::lab(py, &refused))? })
    }

    /// Simulates at most `events_max` events without the GIL; returns the run's progress. Raises
    /// `InternalError` if simulated time does not advance.
    fn advance<'py>(&mut self, py: Python<'py>, events_max: u64) -> PyResult<Bound<'py, PyAny>> {
        let advanced = py.detach(|| self.run.advance(events_max));
        let Progress { fraction, now_ps, delivered, in_flight, done } =
            advanced.map_err(|stuck| error::internal(py, NoProgress::CODE, stuck))?;
        (fraction, now_ps, delivered, in_flight, done).into_bound_py_any(py)
    }

    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let compiled = self.run.compiled();
        let fabric = &compiled.plan.fabric;
        let mut about = json!({
            "switches": fabric.switches().len(),
            "endpoints": fabric.listed_endpoint_count(),
            "cables": fabric.listed_cables().len(),
            "deadlock_free": compiled.proof.is_free(),
            "files": compiled.files,
            "network": compiled.network,
            "routes": compiled.routes,
            "overloads": compiled.bound.notes(&compiled.plan),
            "switching": compiled.parameters.switching.kind(),
            "parameters": compiled.parameters,
            "sending": compiled.sending(),
            "notes": compiled.notes,
            "findings": compiled.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(stepping) = self.run.stepping() {
            about["stepping"] = json!(stepping);
        }
        convert::to_python(py, &about)
    }

    #[getter]
    fn keeps_all_messages(&self) -> bool {
        self.run.keeps_all_messages()
    }

    /// Returns the columns of the messages delivered since the last call, if messages are kept.
    fn take_messages<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let table = py.detach(|| self.run.take_messages());
        columns(py, &table)
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = py.detach(|| self.run.summary());
        convert::to_python(py, &record)
    }

    /// Returns the results so far: the summary, and the tables as (name, columns). A column is
    /// (name, meaning, unit, values, missing rows); its values are little-endian bytes of 64-bit
    /// integers (`"i64"`), doubles (`"f64"`), or 32-bit indices (`"u32"`) into a list of texts.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Vec<TableRow<'py>>)> {
        let record = py.detach(|| self.run.record());
        Ok((convert::to_python(py, &record)?, tables::rows(py, &record.tables)?))
    }
}

/// Returns the columns of every result table, and the JSON Schema of the summary.
#[pyfunction]
pub(crate) fn result_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    tables::schema(py, &result_tables(), &summary_schema())
}

/// Returns the 97.5 % quantile of Student's t, the half-width of a 95 % confidence interval in
/// standard errors.
#[pyfunction]
pub(crate) fn student_t(degrees: u32) -> f64 {
    gingham_lab::student_t(degrees)
}

/// Returns every name that scenarios may use for a mechanism, with its parameters.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &gingham_lab::catalogue())
}

/// Describes a scenario's network for plot titles; reads its fabric.
#[pyfunction]
pub(crate) fn network_said(py: Python<'_>, scenario: &Scenario) -> PyResult<String> {
    let source = &scenario.inner;
    let described = py.detach(|| gingham_lab::scenario::describe_network(source));
    described.map_err(|refused| error::lab(py, &refused))
}

/// Describes the source of a scenario's routes for plot titles; reads its fabric.
#[pyfunction]
pub(crate) fn routes_title(py: Python<'_>, scenario: &Scenario) -> PyResult<String> {
    let source = &scenario.inner;
    let title = py.detach(|| gingham_lab::routes_title(source));
    title.map_err(|refused| error::lab(py, &refused))
}

/// Returns the kinds of switching.
#[pyfunction]
pub(crate) fn switching_kinds(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &gingham_lab::KINDS)
}

/// Returns renamed items as (category, old name, new name).
#[pyfunction]
pub(crate) fn old_names(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let names: Vec<_> = OLD_NAMES.iter().chain(&gingham_stripelab::OLD_NAMES).collect();
    convert::to_python(py, &names)
}

/// Returns foreign names of scenario alternatives, each with our name and the difference in
/// meaning, if any.
#[pyfunction]
pub(crate) fn other_names() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    gingham_lab::OTHER_NAMES.iter().map(|other| (other.name, other.ours, other.differs)).collect()
}

/// Returns the JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn scenario_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &gingham_lab::scenario_schema())
}
