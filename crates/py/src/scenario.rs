//! Scenarios of both laboratories: a class each, because a Python class has no type parameters,
//! made by one macro.

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
            /// The scenario in a file.
            #[staticmethod]
            fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
                let loaded = py.detach(|| Source::load(Path::new(path), &Overrides::default()));
                Self::from_loaded(py, loaded)
            }

            /// The scenario in a text; `name` stands for the file in messages.
            #[staticmethod]
            fn parse(py: Python<'_>, name: &str, text: &str, folder: &str) -> PyResult<Self> {
                let none = Overrides::default();
                Self::from_loaded(py, Source::parse(name, text, Path::new(folder), &none))
            }

            /// The scenario with values set at dotted paths, then texts, then values again, then
            /// another seed.
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

            /// The scenario of a record: what `resolved` said, paths in it being relative to
            /// `folder`, with the digest of the file that it once came from.
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

            /// The scenario that stands in a sweep file.
            #[staticmethod]
            fn within(py: Python<'_>, sweep: &SweepFile, folder: &str) -> PyResult<Self> {
                Self::from_loaded(py, Source::within(&sweep.tree, "scenario", Path::new(folder)))
            }

            /// A dotted path with the place of whatever it names in a list.
            fn placed(&self, py: Python<'_>, path: &str) -> PyResult<String> {
                self.inner.tree.placed(path).map_err(|refused| error::input(py, &refused))
            }

            /// Raises the `InputError` that says `message` of the value at a dotted path.
            fn refuse(&self, py: Python<'_>, key: &str, message: &str) -> PyResult<()> {
                Err(error::input(py, &self.inner.refuse(key, message)))
            }

            /// The scenario with defaults for what it does not say.
            fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                convert::to_python(py, &self.inner.scenario)
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
    /// A scenario of a fabric, checked as far as it can be without its fabric; never changes.
    Scenario of gingham_lab::scenario::Scenario
}

scenario_class! {
    /// A striping scenario; never changes.
    StripeScenario of gingham_stripelab::scenario::Scenario
}

/// What a dict of dotted paths changes.
fn changes(values: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Change>> {
    let change = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok(Change::Value(path.extract()?, convert::from_python(&value)?))
    };
    values.into_iter().flat_map(PyDictMethods::iter).map(change).collect()
}
