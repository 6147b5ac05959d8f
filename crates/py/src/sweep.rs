//! Sweep files, which Python expands into runs.

use gingham_input::{Tree, read};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

use crate::{error, json as convert};

/// Immutable sweep file with the positions of its keys.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct SweepFile {
    pub(crate) tree: Tree,
    file: gingham_input::SweepFile,
}

#[pymethods]
impl SweepFile {
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let bytes = read(Path::new(path)).map_err(|refused| error::input(py, &refused))?;
        Self::of(py, Tree::from_bytes(path, &bytes))
    }

    #[staticmethod]
    fn make(py: Python<'_>, name: &str, values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let values = convert::from_python(values)?;
        Self::of(py, Tree::from_json(name, &values))
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.file)
    }

    fn others<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.file.others)
    }

    fn line(&self, path: &str) -> Option<u32> {
        self.tree.line(path)
    }
}

impl SweepFile {
    fn of(py: Python<'_>, tree: Result<Tree, gingham_input::InputError>) -> PyResult<Self> {
        let file = tree.and_then(|tree| {
            let file = gingham_input::SweepFile::read(&tree)?;
            Ok(Self { tree, file })
        });
        file.map_err(|refused| error::input(py, &refused))
    }
}
