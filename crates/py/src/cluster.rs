//! Compute nodes with several adapters, their rails and scalable units, and jobs on them.

use gingham_topology::cluster::{Adapter, Cluster as CoreCluster, ClusterSummary, Naming, Role};
use gingham_topology::job::{self, Edge, Effort, Forwarding, Paths, Pattern, Placement};
use gingham_topology::{ChannelId, Fabric as CoreFabric, NodeId};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use crate::patience::interruptible;
use crate::routes::Routes;
use crate::{error, json as convert};

/// Node name and adapter name of each device, by device index.
pub(crate) type Names = BTreeMap<usize, (String, Option<String>)>;

/// Compute nodes of a fabric with their rails, units and planes.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Cluster {
    fabric: Arc<CoreFabric>,
    inner: Arc<CoreCluster>,
}

/// Job: node indices in rank order, rails, pattern and number of ranks.
type JobRow = (Vec<usize>, Vec<usize>, PatternRow, usize);

/// Communication pattern by name, or as pairs of node positions in the job.
#[derive(FromPyObject)]
enum PatternRow {
    Name(String),
    Pairs(Vec<(u32, u32)>),
}

impl PatternRow {
    fn read(self) -> Result<Pattern, Refused> {
        let edge = |(from, to): (u32, u32)| Edge { from, to };
        match self {
            Self::Pairs(pairs) => Ok(Pattern::Pairs(pairs.into_iter().map(edge).collect())),
            Self::Name(name) => Pattern::named(&name).ok_or_else(|| {
                Refused::new(
                    "unknown-pattern",
                    format!("{name:?} is not a pattern of a collective"),
                )
            }),
        }
    }
}

impl Cluster {
    pub(crate) fn of(fabric: &Arc<CoreFabric>, names: Names) -> Self {
        let by_rule = names.into_iter().map(|(device, names)| (NodeId::new(device), names));
        let naming = Naming { by_rule: by_rule.collect() };
        let inner = Arc::new(CoreCluster::of(fabric, &naming));
        Self { fabric: Arc::clone(fabric), inner }
    }

    /// Runs `work`, interruptibly, on the fabric, its compute nodes and `routes` (adaptive switches
    /// if `None`).
    fn with_forwarding<'py>(
        &self,
        py: Python<'py>,
        routes: Option<Py<Routes>>,
        work: impl FnOnce(&CoreFabric, &CoreCluster, Forwarding<'_>) -> Result<Value, Refused>
        + Send
        + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (fabric, cluster) = (Arc::clone(&self.fabric), Arc::clone(&self.inner));
        let found = interruptible(py, move || {
            let proved = routes.as_ref().map(|routes| routes.get().proved.first());
            work(&fabric, &cluster, proved.map_or(Forwarding::Adaptive, Forwarding::Routes))
        })?;
        convert::to_python(py, &found.map_err(|refused| refused.raise(py))?)
    }
}

#[pymethods]
impl Cluster {
    /// Returns the compute nodes with their adapters, the units, rails and planes, and a summary.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = py.detach(|| facts_json(&self.fabric, &self.inner));
        convert::to_python(py, &facts)
    }

    /// Returns the bandwidth bound of a job's collective under `routes`, or with adaptive switches
    /// if `None`. The jobs `beside` send at the same time. At most `links_max` shared channels are
    /// listed, each with its host pairs.
    #[pyo3(signature = (job, routes, beside, links_max))]
    fn bound<'py>(
        &self,
        py: Python<'py>,
        job: JobRow,
        routes: Option<Py<Routes>>,
        beside: Vec<JobRow>,
        links_max: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with_forwarding(py, routes, move |fabric, cluster, forwarding| {
            let standing = standing(fabric, cluster, forwarding, beside)?;
            let (nodes, rails, pattern, ranks) = job;
            let pattern = pattern.read()?;
            let placement = Placement::new(cluster, nodes, rails)?;
            let mut paths = Paths::new(fabric, &placement, forwarding);
            let order: Vec<usize> = (0..placement.len()).collect();
            let bound = job::bound(&mut paths, &pattern, ranks, &order, &standing)?;
            let phases = pattern.phases(order.len(), placement.rails.len(), ranks);
            let (links, shared) =
                job::shared_links(&mut paths, &phases, &order, &standing, links_max)?;
            Ok(json!({
                "pattern": pattern.name(),
                "order_free": pattern.is_order_free(),
                "flows_max": bound.flows_max,
                "bus_bandwidth": finite(bound.bus_bandwidth),
                "at_one_switch": finite(bound.at_one_switch),
                "phases": bound.phases.iter().map(|phase| json!({
                    "flows_max": phase.flows_max,
                    "slowest": finite(phase.slowest),
                    "bottleneck": fabric.channel_name(phase.bottleneck),
                    "bottleneck_speed": fabric.cable_of(phase.bottleneck).reported_speed(),
                    "bottleneck_flows": finite(phase.bottleneck_flows),
                    "is_bottleneck_slow": phase.is_bottleneck_slow,
                    "seconds": finite(phase.seconds),
                })).collect::<Vec<_>>(),
                "shared": shared,
                "links": links.iter().map(|link| json!({
                    "channel": fabric.channel_name(link.channel),
                    "phase": link.phase,
                    "flows": link.flows,
                    "of_others": link.of_others,
                    "pairs": link.pairs,
                })).collect::<Vec<_>>(),
            }))
        })
    }

    /// Returns the switch-to-switch channels used in a job's busiest phase as (sender, receiver,
    /// flows).
    fn used<'py>(
        &self,
        py: Python<'py>,
        job: JobRow,
        routes: Option<Py<Routes>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with_forwarding(py, routes, move |fabric, cluster, forwarding| {
            let (nodes, rails, pattern, ranks) = job;
            let placement = Placement::new(cluster, nodes, rails)?;
            let mut paths = Paths::new(fabric, &placement, forwarding);
            let used = job::used_channels(&mut paths, &pattern.read()?, ranks)?;
            let row = |(channel, flows): (ChannelId, f64)| {
                let ends = [fabric.source(channel), fabric.target(channel)];
                let [from, to] = ends.map(|end| &fabric.node(end.node).name);
                json!([from, to, flows])
            };
            Ok(used.into_iter().map(row).collect())
        })
    }

    /// Searches for a node order with a high bandwidth bound; returns positions in the original
    /// order. `starts` are additional initial orders.
    #[pyo3(signature = (job, routes, beside, starts, moves, seed))]
    #[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
    fn improve<'py>(
        &self,
        py: Python<'py>,
        job: JobRow,
        routes: Option<Py<Routes>>,
        beside: Vec<JobRow>,
        starts: Vec<Vec<usize>>,
        moves: u32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with_forwarding(py, routes, move |fabric, cluster, forwarding| {
            let standing = standing(fabric, cluster, forwarding, beside)?;
            let (nodes, rails, pattern, ranks) = job;
            let placement = Placement::new(cluster, nodes, rails)?;
            let mut paths = Paths::new(fabric, &placement, forwarding);
            let effort = Effort { moves, seed };
            let pattern = pattern.read()?;
            let found = job::improve(&mut paths, &pattern, ranks, &starts, &standing, effort)?;
            Ok(json!({
                "order": found.order,
                "starts": found.candidates,
                "start_bandwidths": found.candidate_bandwidths,
                "flows_max": found.flows_max,
                "bus_bandwidth": finite(found.bus_bandwidth),
                "lower_bound": found.lower_bound,
                "is_best": found.is_best,
            }))
        })
    }
}

fn standing(
    fabric: &CoreFabric,
    cluster: &CoreCluster,
    forwarding: Forwarding<'_>,
    beside: Vec<JobRow>,
) -> Result<Vec<u64>, Refused> {
    let mut sum: Vec<u64> = Vec::new();
    for (nodes, rails, pattern, ranks) in beside {
        let placement = Placement::new(cluster, nodes, rails)?;
        let mut paths = Paths::new(fabric, &placement, forwarding);
        let loads = job::standing(&mut paths, &pattern.read()?, ranks)?;
        sum.resize(loads.len(), 0);
        for (sum, load) in sum.iter_mut().zip(loads) {
            *sum += load;
        }
    }
    Ok(sum)
}

/// Reason why a job has no bound, with its stable code.
#[derive(Debug)]
struct Refused {
    code: &'static str,
    message: String,
}

impl Refused {
    fn new(code: &'static str, message: impl Display) -> Self {
        Self { code, message: message.to_string() }
    }

    fn raise(&self, py: Python<'_>) -> PyErr {
        error::refusal_with_code(py, self.code, &self.message)
    }
}

impl From<job::PlacementError> for Refused {
    fn from(refused: job::PlacementError) -> Self {
        let code = match &refused {
            job::PlacementError::Repeated { .. } => "repeated-node",
            job::PlacementError::NoAdapter { .. } => "missing-adapter",
            job::PlacementError::NoRail { .. } => "unknown-rail",
        };
        Self::new(code, refused)
    }
}

impl From<job::PathError> for Refused {
    fn from(refused: job::PathError) -> Self {
        Self::new("unreached", refused)
    }
}

/// Returns `None` for infinity, which JSON cannot represent.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Returns the max-min fair rates of flows. Each flow is a list of channels, each with the share of
/// the flow's rate that crosses the channel.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(crate) fn max_min_rates(capacities: Vec<f64>, flows: Vec<Vec<(usize, f64)>>) -> Vec<f64> {
    job::max_min_rates(&capacities, &flows)
}

fn facts_json(fabric: &CoreFabric, cluster: &CoreCluster) -> Value {
    let name = |id: NodeId| fabric.node(id).name.clone();
    let names = |ids: &[NodeId]| ids.iter().map(|id| name(*id)).collect::<Vec<_>>();
    let adapter = |adapter: &Adapter| {
        json!({
            "device": name(adapter.device),
            "endpoint": adapter.endpoint.map(|endpoint| fabric.endpoint_name(endpoint)),
            "leaf": adapter.leaf.map(name),
            "name": adapter.name,
            "number": adapter.number,
            "rail": adapter.rail,
            "leaf_rail": adapter.leaf_rail,
            "basis": adapter.basis.name(),
        })
    };
    let nodes = cluster.nodes.iter().map(|node| {
        json!({
            "name": node.name,
            "role": node.role.name(),
            "unit": node.unit,
            "adapters": node.adapters.iter().map(adapter).collect::<Vec<_>>(),
        })
    });
    json!({
        "nodes": nodes.collect::<Vec<_>>(),
        "units": cluster.units.iter().map(|unit| {
            json!({ "leaves": names(&unit.leaves), "nodes": unit.nodes })
        }).collect::<Vec<_>>(),
        "rails": cluster.rails.iter().map(|rail| {
            json!({ "number": rail.number, "leaves": names(&rail.leaves) })
        }).collect::<Vec<_>>(),
        "planes": cluster.planes.iter().map(|plane| names(plane)).collect::<Vec<_>>(),
        "summary": summary_json(cluster),
    })
}

pub(crate) fn summary_json(cluster: &CoreCluster) -> Value {
    let summary = ClusterSummary::of(cluster);
    let by_role = |counts: &BTreeMap<Role, usize>| -> serde_json::Map<String, Value> {
        counts.iter().map(|(role, count)| (role.name().to_owned(), json!(count))).collect()
    };
    json!({
        "nodes": by_role(&summary.nodes),
        "adapters": by_role(&summary.adapters),
        "compute_by_adapters": summary.compute_by_adapters.iter().collect::<Vec<_>>(),
        "rails": summary.rails,
        "units": summary.units,
        "nodes_per_unit": summary.nodes_per_unit,
        "leaves_per_unit": summary.leaves_per_unit,
        "planes": summary.planes,
    })
}
