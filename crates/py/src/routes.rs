//! Routes with their deadlock proof, costs and paths.

use gingham_lab::ProvedRoutes;
use gingham_topology::routing::{
    self, Algorithm, AllToAll, Bisection, Detour, Lanes, Sharing, Statistics, SwitchTables,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, Finding};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::finding::finding_row;
use crate::patience::interruptible;
use crate::request::{Refused, Request};
use crate::{error, json as convert};

/// Routes of a fabric, with a proof of deadlock freedom or a deadlock cycle.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Routes {
    pub(crate) proved: ProvedRoutes,
    pub(crate) decided: Decided,
    pub(crate) findings: Vec<(String, Finding)>,
}

/// Origin of the routes, which also determines the forwarding entries for switch LIDs.
#[derive(Debug)]
pub(crate) enum Decided {
    ByAlgorithm(Algorithm),
    BySubnet(SwitchTables),
}

/// File, line, severity, kind and text of a finding.
type FileFindingRow = (String, Option<u32>, &'static str, &'static str, String);

impl Routes {
    pub(crate) fn compute(
        py: Python<'_>,
        fabric: &Arc<Fabric>,
        request: Request,
    ) -> PyResult<Self> {
        let fabric = Arc::clone(fabric);
        let computed = interruptible(py, move || {
            let lanes = request.lanes(&fabric)?;
            let routes = request.routes(&fabric)?;
            let proved = ProvedRoutes::new(fabric, vec![routes], lanes, request.ejection());
            let decided = Decided::ByAlgorithm(request.algorithm);
            Ok(Self { proved, decided, findings: vec![] })
        })?;
        computed.map_err(|refused: Refused| refused.raise(py))
    }
}

/// Returns the algorithms whose routes can be expressed as forwarding tables.
#[pyfunction]
pub(crate) fn table_algorithms() -> Vec<&'static str> {
    Algorithm::every().iter().filter(|one| one.has_tables()).map(Algorithm::name).collect()
}

#[pymethods]
impl Routes {
    /// Returns a shortest cycle of channels (and lanes) that wait for one another, or an empty
    /// list.
    fn cycle(&self) -> Vec<String> {
        self.proved.cycle()
    }

    fn cycle_without_loops(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.proved.cycle_without_loops())
    }

    fn cycle_between_hosts(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.proved.cycle_between_hosts())
    }

    /// Returns a sentence about the proof, or the deadlock cycle with a route for each step.
    fn explain(&self) -> String {
        self.proved.explain()
    }

    /// Returns the escape lanes, the adaptive lanes, and the mean and maximum number of outputs to
    /// choose from; `None` without adaptive routing.
    fn adaptive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let choice = py.detach(|| self.proved.choice());
        let json = choice.map(|choice| {
            json!({
                "escape_lanes": choice.escape_lanes,
                "adaptive_lanes": choice.adaptive_lanes,
                "mean_outputs": choice.outputs.mean_outputs,
                "max_outputs": choice.outputs.max_outputs,
            })
        });
        convert::to_python(py, &json.unwrap_or(Value::Null))
    }

    fn roots(&self, py: Python<'_>) -> Vec<String> {
        let Decided::ByAlgorithm(algorithm) = &self.decided else {
            return Vec::new();
        };
        let roots = py.detach(|| routing::roots_taken(self.proved.fabric(), algorithm));
        let roots = roots.expect("what has been routed has roots");
        roots.into_iter().map(|root| self.proved.fabric().node(root).name.clone()).collect()
    }

    /// Returns notes on fabric properties that the algorithm ignores; each note starts with its
    /// code.
    fn notes(&self) -> Vec<String> {
        let Decided::ByAlgorithm(algorithm) = &self.decided else {
            return Vec::new();
        };
        algorithm.note_of_lengths(self.proved.fabric()).into_iter().collect()
    }

    /// Returns `source` for source routes or `table` for forwarding tables.
    fn form(&self) -> &'static str {
        self.proved.form()
    }

    fn alternatives(&self) -> usize {
        self.proved.by_offset().len()
    }

    fn lanes(&self, py: Python<'_>) -> Vec<u32> {
        let lanes = py.detach(|| self.proved.set().lane_use(self.proved.fabric())).lanes;
        lanes.into_iter().map(u32::from).collect()
    }

    /// Returns the number of dateline classes: two if lanes are split at datelines, otherwise one.
    fn dateline_classes(&self) -> usize {
        self.proved.lanes().map_or(1, Lanes::dateline_classes)
    }

    fn dateline_rule(&self) -> Option<&'static str> {
        self.proved.dateline_rule()
    }

    fn findings(&self) -> Vec<FileFindingRow> {
        let row = |(file, finding): &(String, Finding)| {
            let (line, severity, kind, text) = finding_row(finding);
            (file.clone(), line, severity, kind, text)
        };
        self.findings.iter().map(row).collect()
    }

    /// Returns a sentence for each reason why some packets cannot be delivered.
    fn faults(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.proved.faults())
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let statistics = py.detach(|| Statistics::new(self.proved.fabric(), self.proved.first()));
        let mut json = statistics_json(self.proved.fabric(), &statistics);
        json["hostless_switches"] = self.proved.hostless_switches().into();
        convert::to_python(py, &json)
    }

    /// Returns all endpoint names, and the path lengths by source and destination, counted in
    /// switches.
    fn lengths(&self, py: Python<'_>) -> (Vec<String>, Vec<Vec<Option<usize>>>) {
        let names = |fabric: &Fabric| {
            fabric.endpoint_ids().map(|endpoint| fabric.endpoint_name(endpoint)).collect()
        };
        let matrix = py.detach(|| self.proved.first().lengths(self.proved.fabric()));
        (names(self.proved.fabric()), matrix)
    }

    /// Returns the congestion of random matchings between two halves of the hosts; `None` for fewer
    /// than two hosts.
    fn bisection<'py>(
        &self,
        py: Python<'py>,
        samples: u32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let measured =
            py.detach(|| Bisection::new(self.proved.fabric(), self.proved.set(), samples, seed));
        convert::to_python(py, &measured.map_or(Value::Null, bisection_json))
    }

    /// Returns, for each list of failed channels, the number of channel groups that can still
    /// deadlock.
    fn deadlock_groups(&self, py: Python<'_>, without: Vec<Vec<String>>) -> PyResult<Vec<usize>> {
        let counted = py.detach(move || self.proved.deadlock_groups(&without));
        counted.map_err(|refused| error::input(py, &refused))
    }

    /// Returns the number of host pairs that share a channel, by default the busiest channel
    /// between switches, and at most `at_most` of the pairs.
    #[pyo3(signature = (channel, at_most))]
    fn sharing<'py>(
        &self,
        py: Python<'py>,
        channel: Option<&str>,
        at_most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fabric = self.proved.fabric();
        let channel = match channel {
            Some(name) => {
                let found = self.proved.channel("Routes.sharing", "channel", name);
                Some(found.map_err(|refused| error::input(py, &refused))?)
            }
            None => Statistics::new(fabric, self.proved.first()).busiest.first().copied(),
        };
        let sharing = channel
            .map(|channel| py.detach(|| Sharing::new(fabric, self.proved.set(), channel, at_most)));
        let json = sharing.map(|sharing| {
            let names = |(from, to): &(EndpointId, EndpointId)| {
                [fabric.endpoint_name(*from), fabric.endpoint_name(*to)]
            };
            json!({
                "channel": fabric.channel_name(sharing.channel),
                "pairs": sharing.pairs,
                "examples": sharing.examples.iter().map(names).collect::<Vec<_>>(),
            })
        });
        convert::to_python(py, &json.unwrap_or(Value::Null))
    }

    fn tables(&self, py: Python<'_>) -> PyResult<String> {
        self.tables_text(py)
    }

    fn path(
        &self,
        py: Python<'_>,
        source: &str,
        destination: &str,
    ) -> PyResult<Option<Vec<String>>> {
        self.proved.path(source, destination).map_err(|refused| error::input(py, &refused))
    }
}

fn bisection_json(measured: Bisection) -> Value {
    json!({
        "samples": measured.samples,
        "pairs": measured.flows,
        "busiest": measured.busiest.mean,
        "busiest_half_width": measured.busiest.half_width,
        "bandwidth": measured.bandwidth.mean,
        "bandwidth_half_width": measured.bandwidth.half_width,
    })
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
            "assumed_speed": bound.assumed.map(|assumed| assumed.speed.to_string()),
            "assumed_cables": bound.assumed.map_or(0, |assumed| assumed.cables),
        })
    };
    let detour = |detour: &Detour| {
        json!({
            "from": fabric.endpoint_name(detour.from),
            "to": fabric.endpoint_name(detour.to),
            "distance": detour.distance,
            "least": detour.least,
        })
    };
    let in_transit = statistics.busiest_in_transit_hosts();
    let passed = |host: &EndpointId| {
        let name = fabric.endpoint_name(*host);
        json!({ "host": name, "paths": statistics.in_transit_paths[host.index()] })
    };
    json!({
        "host_pairs": statistics.host_pairs,
        "unreachable_pairs": statistics.unreachable_pairs,
        "mean_switches": statistics.switches.mean(),
        "max_switches": statistics.switches.max(),
        "pairs_by_switches": statistics.switches.pairs(),
        "mean_distance": statistics.distance.mean(),
        "max_distance": statistics.distance.max(),
        "pairs_by_distance": statistics.distance.pairs(),
        "minimal_share": statistics.minimal_share(),
        "by_least_distance": by_least_distance(statistics),
        "detour_pairs": statistics.detour_pairs(),
        "longest_detour": statistics.detour.as_ref().map(detour),
        "mean_in_transit_hosts": statistics.in_transit_hosts.mean(),
        "max_in_transit_hosts": statistics.in_transit_hosts.max(),
        "pairs_by_in_transit_hosts": statistics.in_transit_hosts.pairs(),
        "busiest_in_transit_hosts": in_transit.iter().map(passed).collect::<Vec<_>>(),
        "mean_channel_paths": statistics.mean_channel_paths(),
        "max_channel_paths": statistics.max_channel_paths(),
        "busiest": statistics.busiest.iter().map(busiest).collect::<Vec<_>>(),
        "all_to_all": statistics.all_to_all.as_ref().map(all_to_all),
    })
}

fn by_least_distance(statistics: &Statistics) -> Vec<Value> {
    let pairs = statistics.least_distance.pairs().iter().enumerate();
    pairs
        .filter(|(_, pairs)| **pairs > 0)
        .map(|(distance, pairs)| {
            let minimal = statistics.minimal.of(distance);
            json!({ "distance": distance, "pairs": pairs, "minimal_pairs": minimal })
        })
        .collect()
}
