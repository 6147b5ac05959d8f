//! Slurm topology files for several fabrics.

use gingham_topology::format::slurm::{self, Form, Topology};
use pyo3::prelude::*;

use crate::error;
use crate::fabric::Fabric;

/// Returns the text of a `topology.yaml` and its notes. `topologies` are (name, fabric, `tree` or
/// `block`); the first is the cluster's default.
#[pyfunction]
pub(crate) fn slurm_yaml(
    py: Python<'_>,
    topologies: Vec<(String, PyRef<'_, Fabric>, String)>,
) -> PyResult<(String, Vec<String>)> {
    let mut named = Vec::with_capacity(topologies.len());
    for (name, fabric, form) in topologies {
        let form = Form::of_name(&form).ok_or_else(|| {
            error::refusal_with_code(
                py,
                "unknown-form",
                &format!("\"{form}\" is not tree or block"),
            )
        })?;
        let topology = Topology::of(fabric.inner(), form).map_err(|refused| {
            error::refusal_with_code(py, "no-nodes", &format!("{name}: {refused}"))
        })?;
        named.push((name, topology));
    }
    let written = slurm::yaml(&named).map_err(|refused| {
        error::refusal_with_code(py, "bad-topology-name", &refused.to_string())
    })?;
    Ok((written.text, written.notes))
}
