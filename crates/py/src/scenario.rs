//! Fabric and striping scenarios. Python classes cannot be generic, so a macro generates each
//! class.

use gingham_input::{Change, InputError, Overrides, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

use crate::sweep::SweepFile;
use crate::{error, json as convert};

macro_rules! scenario_class {
    ($(#[$doc:meta])* $name:ident of $scenario:ty) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "gingham._core")]
        #[derive(Debug)]
        pub(crate) struct $name {
            pub(crate) inner: Source<$scenario>,
        }

        #[pymethods]
        impl $name {
            #[staticmethod]
            fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
                let loaded = py.detach(|| Source::load(Path::new(path), &Overrides::default()));
                Self::from_loaded(py, loaded)
            }

            /// Parses a scenario; `name` replaces the file name in messages.
            #[staticmethod]
            fn parse(py: Python<'_>, name: &str, text: &str, folder: &str) -> PyResult<Self> {
                let none = Overrides::default();
                Self::from_loaded(py, Source::parse(name, text, Path::new(folder), &none))
            }

            /// Returns the scenario with changes at dotted paths applied in the order `first`,
            /// `settings`, `values`, `seed`.
            #[pyo3(signature = (*, first=None, settings=Vec::new(), values=None, seed=None))]
            fn changed(
                &self,
                py: Python<'_>,
                first: Option<&Bound<'_, PyDict>>,
                settings: Vec<(String, String)>,
                values: Option<&Bound<'_, PyDict>>,
                seed: Option<u64>,
            ) -> PyResult<Self> {
                let mut changes = changes(first)?;
                changes.extend(settings.into_iter().map(|(path, text)| Change::Text(path, text)));
                changes.extend(self::changes(values)?);
                Self::from_loaded(py, self.inner.with(&Overrides { changes, seed }))
            }

            /// Restores a scenario from the `resolved` values of a run record. Paths are relative
            /// to `folder`; `digest` is the original file's digest.
            #[staticmethod]
            fn restore(
                py: Python<'_>,
                name: &str,
                values: &Bound<'_, PyDict>,
                folder: &str,
                digest: &str,
            ) -> PyResult<Self> {
                let values = convert::from_python(values)?;
                Self::from_loaded(py, Source::restore(name, &values, Path::new(folder), digest))
            }

            #[staticmethod]
            fn within(py: Python<'_>, sweep: &SweepFile, folder: &str) -> PyResult<Self> {
                Self::from_loaded(py, Source::within(&sweep.tree, "scenario", Path::new(folder)))
            }

            fn placed(&self, py: Python<'_>, path: &str) -> PyResult<String> {
                self.inner.tree.placed(path).map_err(|refused| error::input(py, &refused))
            }

            fn refuse(&self, py: Python<'_>, key: &str, message: &str) -> PyResult<()> {
                Err(error::input(py, &self.inner.refuse(key, message)))
            }

            fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                convert::to_python(py, &self.inner.scenario)
            }

            #[getter]
            fn folder(&self) -> String {
                self.inner.folder.display().to_string()
            }

            #[getter]
            fn digest(&self) -> &str {
                &self.inner.digest
            }
        }

        impl $name {
            fn from_loaded(
                py: Python<'_>,
                loaded: Result<Source<$scenario>, InputError>,
            ) -> PyResult<Self> {
                Ok(Self { inner: loaded.map_err(|refused| error::input(py, &refused))? })
            }
        }
    };
}

scenario_class! {
    /// Immutable fabric scenario, checked as far as possible without its fabric.
    Scenario of gingham_lab::scenario::Scenario
}

scenario_class! {
    /// Immutable striping scenario.
    StripeScenario of gingham_stripelab::scenario::Scenario
}

fn changes(values: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Change>> {
    let change = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok(Change::Value(path.extract()?, convert::from_python(&value)?))
    };
    values.into_iter().flat_map(PyDictMethods::iter).map(change).collect()
}
