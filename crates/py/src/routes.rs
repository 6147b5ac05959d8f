//! Routes: their proof, costs and paths.

use gingham_lab::input::Tree;
use gingham_topology::routing::{
    self, Algorithm, AllToAll, Form, Proof, Routes as CoreRoutes, Statistics, prove,
};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::patience::interruptible;
use crate::{error, json as convert};

/// The routes of a fabric, proved or refuted.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Routes {
    fabric: Arc<Fabric>,
    inner: CoreRoutes,
    proof: Proof,
}

/// What a request for routes consists of.
#[derive(serde::Deserialize)]
struct Request {
    algorithm: Algorithm,
    form: Form,
}

impl Routes {
    /// Routes `fabric` by `algorithm`, a name or a dict of one, and proves the result.
    pub(crate) fn compute(
        py: Python<'_>,
        fabric: &Arc<Fabric>,
        algorithm: &Bound<'_, PyAny>,
        form: &str,
    ) -> PyResult<Self> {
        let request = json!({ "algorithm": convert::from_python(algorithm)?, "form": form });
        let Request { algorithm, form } = Tree::from_json("Fabric.route", &request)
            .and_then(|tree| tree.read())
            .map_err(|refused| error::input(py, &refused))?;
        let fabric = Arc::clone(fabric);
        let shared = Arc::clone(&fabric);
        let computed = interruptible(py, move || {
            let routes = routing::route(&shared, &algorithm, form)?;
            let proof = prove(&shared, &routes);
            Ok::<_, routing::RouteError>((routes, proof))
        })?;
        let (routes, proof) = computed.map_err(|refused| error::refusal(py, refused))?;
        Ok(Self { fabric, inner: routes, proof })
    }

    fn endpoint(&self, py: Python<'_>, name: &str) -> PyResult<EndpointId> {
        let fabric = &self.fabric;
        fabric
            .endpoint_ids()
            .find(|endpoint| fabric.endpoint_name(*endpoint) == name)
            .ok_or_else(|| error::refusal(py, format!("\"{name}\" is no host of this fabric")))
    }

    fn names(&self, channels: &[ChannelId]) -> Vec<String> {
        channels.iter().map(|channel| self.fabric.channel_name(*channel)).collect()
    }
}

#[pymethods]
impl Routes {
    /// A shortest cycle of channels that wait for one another; empty if there is none.
    fn cycle(&self) -> Vec<String> {
        match &self.proof {
            Proof::Free { .. } => Vec::new(),
            Proof::Cycle { channels } => self.names(channels),
        }
    }

    /// The proof in a sentence, or the cycle with a route for each of its steps.
    fn explain(&self) -> String {
        match &self.proof {
            Proof::Free { order } => format!(
                "free of deadlock: {} channels are numbered so that every route takes ever \
                 higher ones",
                order.len()
            ),
            Proof::Cycle { channels } => format!(
                "can deadlock: packets that hold the channels of this cycle wait for each other\n{}",
                routing::describe_cycle(&self.fabric, &self.inner, channels).trim_end()
            ),
        }
    }

    /// Path lengths, loads of channels, and the bound on all-to-all traffic.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let statistics = py.detach(|| Statistics::new(&self.fabric, &self.inner));
        convert::to_python(py, &statistics_json(&self.fabric, &statistics))
    }

    /// The channels from one endpoint to another; `None` if no route leads there.
    fn path(
        &self,
        py: Python<'_>,
        source: &str,
        destination: &str,
    ) -> PyResult<Option<Vec<String>>> {
        let (from, to) = (self.endpoint(py, source)?, self.endpoint(py, destination)?);
        let path = self.inner.path(&self.fabric, from, to);
        Ok(path.map(|path| self.names(path.channels())))
    }
}

fn statistics_json(fabric: &Fabric, statistics: &Statistics) -> Value {
    let busiest = |channel: &ChannelId| {
        let paths = statistics.channel_paths[channel.index()];
        json!({ "channel": fabric.channel_name(*channel), "paths": paths })
    };
    let all_to_all = |bound: &AllToAll| {
        json!({
            "load": bound.fraction,
            "bottleneck": fabric.channel_name(bound.bottleneck),
            "rate": bound.reference.map(|rate| rate.to_string()),
        })
    };
    json!({
        "host_pairs": statistics.host_pairs,
        "unreachable_pairs": statistics.unreachable_pairs,
        "mean_switches": statistics.mean_switches(),
        "max_switches": statistics.max_switches(),
        "minimal_share": statistics.minimal_share(),
        "pairs_by_switches": statistics.pairs_by_switches,
        "mean_channel_paths": statistics.mean_channel_paths(),
        "max_channel_paths": statistics.max_channel_paths(),
        "busiest": statistics.busiest.iter().map(busiest).collect::<Vec<_>>(),
        "all_to_all": statistics.all_to_all.as_ref().map(all_to_all),
    })
}
