//! Fabrics: generation, reading, writing and description.

use gingham_input::Tree;
use gingham_lab::load_fabric;
use gingham_topology::check::{self, Summary};
use gingham_topology::cluster::{Cluster as CoreCluster, Naming};
use gingham_topology::format::{self, Format};
use gingham_topology::generate::Generator;
use gingham_topology::routing::{self, Oversubscription, TreeLevel, TreeShape};
use gingham_topology::{Cable, Fabric as CoreFabric, LinkSpeed, Node, NodeId, PortRef};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::finding::{FindingRow, finding_rows};
use crate::patience::interruptible;
use crate::request::Request;
use crate::routes::Routes;
use crate::{cluster, error, json as convert};

/// Immutable network of switches and hosts.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Fabric {
    inner: Arc<CoreFabric>,
    file: String,
}

/// Kind, name, GUID, description and number of ports of a node.
type NodeRow = (&'static str, String, Option<String>, String, u16);
/// Two cable ends as (node index, port), speed, and length in millimetres.
type CableRow = ((usize, u16), (usize, u16), Option<String>, Option<u64>);
/// Format name, file extensions, and whether the format is readable and writable.
type FormatRow = (&'static str, &'static [&'static str], bool, bool);

impl Fabric {
    pub(crate) fn inner(&self) -> &CoreFabric {
        &self.inner
    }
}

#[pymethods]
impl Fabric {
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<(Self, Vec<FindingRow>)> {
        let (file, path) = (path.to_owned(), Path::new(path).to_owned());
        let loaded = interruptible(py, move || load_fabric(&path))?;
        let loaded = loaded.map_err(|refused| error::input(py, &refused))?;
        let fabric = Self { inner: Arc::new(loaded.fabric), file };
        Ok((fabric, finding_rows(&loaded.findings)))
    }

    /// Generates a fabric. `cables_tell`, such as `4xNDR`, is the reported speed of all cables.
    #[staticmethod]
    #[pyo3(signature = (kind, parameters, seed, cables_tell=None))]
    fn make(
        py: Python<'_>,
        kind: &str,
        parameters: &Bound<'_, PyAny>,
        seed: u64,
        cables_tell: Option<&str>,
    ) -> PyResult<Self> {
        let link_speed: Option<LinkSpeed> = cables_tell
            .map(|text| text.parse().map_err(|refused| error::refusal_of(py, "speed", refused)))
            .transpose()?;
        let request = json!({ kind: convert::from_python(parameters)? });
        let generator: Generator = Tree::from_json("Fabric.make", &request)
            .and_then(|tree| tree.read())
            .map_err(|refused| error::input(py, &refused))?;
        let made = interruptible(py, move || generator.generate(seed))?;
        let mut made =
            made.map_err(|refused| error::refusal_of(py, refused.parameter(), refused))?;
        if let Some(link_speed) = link_speed {
            made = made.at_speed(link_speed);
        }
        Ok(Self { inner: Arc::new(made), file: "the fabric".to_owned() })
    }

    fn text(&self, py: Python<'_>, format: &str) -> PyResult<(String, Vec<String>)> {
        let format: Format = format.parse().map_err(|unknown| error::refusal(py, unknown))?;
        let written = format::write(&self.inner, format);
        let written = written
            .map_err(|refused| error::refusal_with_code(py, "unwritable", &refused.to_string()))?;
        Ok((written.text, written.notes))
    }

    fn nodes(&self) -> Vec<NodeRow> {
        self.inner.nodes().iter().map(node_row).collect()
    }

    fn cables(&self) -> Vec<CableRow> {
        let end = |port: PortRef| (port.node.index(), port.port);
        let row = |cable: &Cable| {
            let speed = cable.reported_speed();
            let length = cable.length.map(gingham_kernel::Length::as_mm);
            (end(cable.ends[0]), end(cable.ends[1]), speed, length)
        };
        self.inner.cables().iter().map(row).collect()
    }

    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut facts = py.detach(|| summary_json(&check::summary(&self.inner)));
        let trees = py.detach(|| routing::trees(&self.inner));
        let cluster = py.detach(|| CoreCluster::of(&self.inner, &Naming::default()));
        facts["cluster"] = cluster::summary_json(&cluster);
        facts["trees"] = trees.iter().map(|tree| tree_json(&self.inner, tree)).collect();
        convert::to_python(py, &facts)
    }

    fn without(&self, nodes: Vec<usize>, cables: Vec<usize>) -> Self {
        let nodes = nodes.into_iter().map(NodeId::new).collect();
        let cables = cables.into_iter().collect();
        Self { inner: Arc::new(self.inner.without(&nodes, &cables)), file: self.file.clone() }
    }

    /// Returns the compute nodes of the fabric. `names` are the node and adapter names from the
    /// user's naming rule, by device.
    fn cluster(&self, py: Python<'_>, names: cluster::Names) -> cluster::Cluster {
        py.detach(|| cluster::Cluster::of(&self.inner, names))
    }

    fn check(&self, py: Python<'_>) -> Vec<FindingRow> {
        finding_rows(&py.detach(|| check::check(&self.inner)))
    }

    /// Computes routes in `source` or `table` form (by default chosen by fabric size). `when_full`
    /// is the reaction of a full in-transit host: `spill` or `stop`. Packets may use `lanes` lanes,
    /// optionally split into dateline classes. `memory_max`, such as `8 GB`, limits the memory of
    /// the routes. With `adaptive`, packets choose an output at every switch and have
    /// `escape_lanes` escape lanes.
    #[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
    #[pyo3(signature = (
        algorithm, form, when_full, lanes=1, datelines=None, memory_max=None, adaptive=false, escape_lanes=None
    ))]
    fn route(
        &self,
        py: Python<'_>,
        algorithm: &Bound<'_, PyAny>,
        form: Option<&str>,
        when_full: &str,
        lanes: u8,
        datelines: Option<&Bound<'_, PyAny>>,
        memory_max: Option<&str>,
        adaptive: bool,
        escape_lanes: Option<i64>,
    ) -> PyResult<Routes> {
        let (form, adaptive) = ((form, memory_max), (adaptive, escape_lanes));
        let request = Request::read(py, algorithm, form, when_full, lanes, datelines, adaptive)?;
        Routes::compute(py, &self.inner, request)
    }

    #[pyo3(signature = (tables, lanes=None, levels=None))]
    fn load_routes(
        &self,
        py: Python<'_>,
        tables: &str,
        lanes: Option<&str>,
        levels: Option<&str>,
    ) -> PyResult<Routes> {
        Routes::load(py, &self.inner, &self.file, tables, lanes, levels)
    }
}

fn node_row(node: &Node) -> NodeRow {
    let kind = node.kind.name();
    let guid = node.guid.map(|guid| guid.to_string());
    (kind, node.name.clone(), guid, node.description.clone(), node.ports)
}

fn summary_json(summary: &Summary) -> Value {
    let kinds = summary.nodes.iter().map(|(kind, count)| (kind.name(), *count));
    let ports = summary
        .ports
        .iter()
        .map(|(kind, ports)| (kind.name(), json!({ "used": ports.used, "free": ports.free })));
    let speeds = speeds_json(summary);
    let radixes = summary.switches_by_radix.iter().map(|(ports, count)| (ports.to_string(), count));
    json!({
        "nodes": kinds.collect::<BTreeMap<_, _>>(),
        "cables": summary.cables,
        "trunk_cables": summary.trunk_cables,
        "cables_by_speed": speeds,
        "cables_of_unknown_speed": summary.cables_by_speed.get(&None).copied().unwrap_or(0),
        "ports": ports.collect::<BTreeMap<_, _>>(),
        "switches_by_ports": radixes.collect::<BTreeMap<_, _>>(),
        "parts": summary.parts,
        "parallel_pairs": summary.parallel_pairs,
        "parallel_cables": summary.parallel_cables,
        "hosts_per_leaf": summary.hosts_per_leaf,
        "switch_diameter": summary.switch_diameter,
        "mean_switches_passed": summary.mean_switches_passed,
    })
}

/// Counts cables by speed as printed in dumps: `4xNDR`, `2x???` for a partially known speed, or
/// `unknown`.
fn speeds_json(summary: &Summary) -> BTreeMap<String, usize> {
    let halves = &summary.cables_by_partial_speed;
    let known = summary
        .cables_by_speed
        .iter()
        .filter_map(|(speed, cables)| speed.map(|speed| (speed.to_string(), *cables)));
    let unknown = summary.cables_by_speed.get(&None).copied().unwrap_or(0);
    let nothing = unknown - halves.values().sum::<usize>();
    known
        .chain(halves.iter().map(|(partial, cables)| (partial.to_string(), *cables)))
        .chain((nothing > 0).then(|| ("unknown".to_owned(), nothing)))
        .collect()
}

fn tree_json(fabric: &CoreFabric, tree: &TreeShape) -> Value {
    let name = |node: NodeId| fabric.node(node).name.as_str();
    let ratio = |of: Oversubscription| json!({ "min": of.min, "max": of.max, "narrowest": name(of.narrowest) });
    let level = |level: &TreeLevel| {
        json!({
            "switches": level.switches.len(),
            "oversubscription": level.oversubscription.map(ratio),
        })
    };
    let tops = tree.levels.first().into_iter().flat_map(|level| &level.switches);
    json!({
        "levels": tree.levels.iter().map(level).collect::<Vec<_>>(),
        "tops": tops.map(|top| name(*top)).collect::<Vec<_>>(),
    })
}

/// Returns the fabric file formats.
#[pyfunction]
pub(crate) fn formats() -> Vec<FormatRow> {
    let row = |format: Format| {
        (format.name(), format.extensions(), format.is_readable(), format.is_writable())
    };
    Format::ALL.map(row).into()
}
