//! Routes: their proof, costs and paths.

use gingham_topology::routing::{
    self, Algorithm, AllToAll, Bisection, Choice, DatelineRule, Detour, Ejection, LaneRule,
    LaneSet, Lanes, Proof, RouteSet, Routes as CoreRoutes, Sharing, Statistics, SwitchTables,
    TableRoutes, prove, prove_between_hosts, prove_without_loops,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, Finding, NodeId};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::finding::finding_row;
use crate::patience::interruptible;
use crate::request::{Refused, Request};
use crate::{error, json as convert};

/// The routes of a fabric, proved or refuted.
#[pyclass(frozen, module = "gingham._core")]
#[derive(Debug)]
pub(crate) struct Routes {
    pub(crate) fabric: Arc<Fabric>,
    /// The routes of each LID offset.
    pub(crate) by_offset: Vec<CoreRoutes>,
    lanes: Option<Lanes>,
    ejection: Ejection,
    pub(crate) decided: Decided,
    proof: Proof,
    findings: Vec<(String, Finding)>,
}

/// Who decided on routes, and how management packets reach the switches.
#[derive(Debug)]
pub(crate) enum Decided {
    ByAlgorithm(Algorithm),
    BySubnet(SwitchTables),
}

/// Of a longer cycle the beginning is shown.
const CYCLE_LINES_MAX: usize = 11;

/// File, line, severity, kind, text.
type FileFindingRow = (String, Option<u32>, &'static str, &'static str, String);

impl Routes {
    /// Routes `fabric` as asked, and proves the result.
    pub(crate) fn compute(
        py: Python<'_>,
        fabric: &Arc<Fabric>,
        request: Request,
    ) -> PyResult<Self> {
        let fabric = Arc::clone(fabric);
        let computed = interruptible(py, move || {
            let lanes = request.lanes(&fabric)?;
            let routes = request.routes(&fabric)?;
            let ejection = request.ejection();
            let decided = Decided::ByAlgorithm(request.algorithm);
            Ok(Self::proved(fabric, vec![routes], lanes, ejection, decided, vec![]))
        })?;
        computed.map_err(|refused: Refused| refused.raise(py))
    }

    /// Proves or refutes routes.
    pub(crate) fn proved(
        fabric: Arc<Fabric>,
        routes: Vec<CoreRoutes>,
        lanes: Option<Lanes>,
        ejection: Ejection,
        decided: Decided,
        findings: Vec<(String, Finding)>,
    ) -> Self {
        let set = RouteSet { routes: &routes, lanes: lanes.as_ref(), ejection };
        let proof = prove(&fabric, set);
        Self { fabric, by_offset: routes, lanes, ejection, decided, proof, findings }
    }

    fn set(&self) -> RouteSet<'_> {
        RouteSet { routes: &self.by_offset, lanes: self.lanes.as_ref(), ejection: self.ejection }
    }

    /// The first path of every pair.
    fn first(&self) -> &CoreRoutes {
        &self.by_offset[0]
    }

    /// The tables, if packets choose beside them at every switch.
    fn tables_to_choose(&self) -> Option<&TableRoutes> {
        match self.first() {
            CoreRoutes::Table(tables) if tables.are_adaptive() => Some(tables),
            _ => None,
        }
    }

    /// The lanes on which packets that choose follow the tables alone.
    fn escape_lanes(&self) -> LaneSet {
        match self.lanes.as_ref().map(Lanes::rule) {
            Some(LaneRule::Escape(escape)) => escape.all_escape(),
            _ => LaneSet::EMPTY,
        }
    }

    /// The proof of packets that choose and can escape, in sentences.
    fn escaped(&self, order: &[u32]) -> String {
        let lanes = self.escape_lanes().len() as usize;
        let count = order.len() / self.set().lane_count() * lanes;
        format!(
            "free of deadlock: the extended dependency graph of {count} escape lanes of channels is acyclic, so that whoever waits has \
             a way out (Duato 1995)\nif no packet on an adaptive lane stands behind another: with virtual cut-through \
             (network.lanes.forwarding), or lanes that are empty before they are granted again (network.lanes.reallocation = \
             \"tail-credit\")"
        )
    }

    /// Whether any path visits an in-transit host.
    fn visits_hosts(&self) -> bool {
        self.by_offset.iter().any(CoreRoutes::has_in_transit_hosts)
    }

    /// The switches at which shortest paths would need a host to turn, and that have none.
    fn hostless_switches(&self) -> Vec<&str> {
        match self.first() {
            CoreRoutes::Source(routes) => {
                let name = |switch: &NodeId| self.fabric.node(*switch).name.as_str();
                routes.fall_backs().switches.iter().map(name).collect()
            }
            CoreRoutes::Table(_) => Vec::new(),
        }
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

    fn cycle_names(&self, proof: &Proof) -> Vec<String> {
        let lanes = self.set().lane_count();
        match proof {
            Proof::Free { .. } => Vec::new(),
            Proof::Cycle { buffers } => buffers
                .iter()
                .map(|buffer| routing::buffer_name(&self.fabric, *buffer, lanes))
                .collect(),
        }
    }

    fn channel(&self, py: Python<'_>, name: &str) -> PyResult<ChannelId> {
        let mut channels = ChannelId::first(self.fabric.channel_count());
        channels
            .find(|channel| self.fabric.channel_name(*channel) == name)
            .ok_or_else(|| error::refusal(py, format!("\"{name}\" is no channel of this fabric")))
    }
}

#[pymethods]
impl Routes {
    /// A shortest cycle of channels (and lanes) that wait for one another; empty if there is none.
    fn cycle(&self) -> Vec<String> {
        self.cycle_names(&self.proof)
    }

    /// The same without the packets that go round for ever.
    fn cycle_without_loops(&self, py: Python<'_>) -> Vec<String> {
        if self.proof.is_free() {
            return Vec::new();
        }
        self.cycle_names(&py.detach(|| prove_without_loops(&self.fabric, self.set())))
    }

    /// The same between hosts alone, as if aggregation nodes and routers sent nothing.
    fn cycle_between_hosts(&self, py: Python<'_>) -> Vec<String> {
        if self.proof.is_free() {
            return Vec::new();
        }
        self.cycle_names(&py.detach(|| prove_between_hosts(&self.fabric, self.set())))
    }

    /// The proof in a sentence, or the cycle with a route for each of its steps.
    fn explain(&self) -> String {
        match &self.proof {
            Proof::Free { order } if !self.escape_lanes().is_empty() => self.escaped(order),
            Proof::Free { order } => {
                let what =
                    if self.set().lane_count() > 1 { "lanes of channels" } else { "channels" };
                let count = order.len();
                let stretch = match self.ejection {
                    _ if self.tables_to_choose().is_some() => "every way that packets may choose",
                    Ejection::Always if self.visits_hosts() => "every leg between two hosts",
                    Ejection::Always => "every route",
                    Ejection::UntilFull => "every route, also through hosts that are full,",
                };
                format!(
                    "free of deadlock: the dependency graph of {count} {what} is acyclic, numbered so that \
                     {stretch} uses increasing numbers"
                )
            }
            Proof::Cycle { buffers } => format!(
                "can deadlock: packets that hold the {} {} of this cycle wait for each other\n{}",
                buffers.len(),
                if self.set().lane_count() > 1 { "lanes" } else { "channels" },
                shortened(routing::describe_cycle(&self.fabric, self.set(), buffers).trim_end())
            ),
        }
    }

    /// Where packets choose at every switch: their escape lanes and adaptive lanes, and among how many
    /// outputs they choose; `None` where they follow one path.
    fn adaptive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let choice =
            self.tables_to_choose().map(|tables| py.detach(|| Choice::new(&self.fabric, tables)));
        let json = choice.map(|choice| {
            let count = self.lanes.as_ref().map_or(1, Lanes::count);
            let is_escape = |lane: &u8| self.escape_lanes().contains(*lane);
            let (escape, adaptive): (Vec<u8>, Vec<u8>) = (0..).take(count).partition(is_escape);
            json!({
                "escape_lanes": escape,
                "adaptive_lanes": adaptive,
                "mean_outputs": choice.mean_outputs,
                "max_outputs": choice.max_outputs,
            })
        });
        convert::to_python(py, &json.unwrap_or(Value::Null))
    }

    /// The switches from which the algorithm measures which way is up; none if it does not.
    fn roots(&self, py: Python<'_>) -> Vec<String> {
        let Decided::ByAlgorithm(algorithm) = &self.decided else {
            return Vec::new();
        };
        let roots = py.detach(|| routing::roots_taken(&self.fabric, algorithm));
        let roots = roots.expect("what has been routed has roots");
        roots.into_iter().map(|root| self.fabric.node(root).name.clone()).collect()
    }

    /// Whether packets carry their route (`source`) or switches look it up (`table`).
    fn form(&self) -> &'static str {
        match self.first() {
            CoreRoutes::Source(_) => "source",
            CoreRoutes::Table(_) => "table",
        }
    }

    /// How many alternatives a pair has at most.
    fn alternatives(&self) -> usize {
        self.by_offset.len()
    }

    /// The lanes on which packets travel between switches.
    fn lanes(&self, py: Python<'_>) -> Vec<u32> {
        let lanes = py.detach(|| self.set().lane_use(&self.fabric)).lanes;
        lanes.into_iter().map(u32::from).collect()
    }

    /// How many dateline classes packets go through: two where lanes are shared out at datelines.
    fn dateline_classes(&self) -> usize {
        self.lanes.as_ref().map_or(1, Lanes::dateline_classes)
    }

    /// By which rule packets take their dateline class; `None` where there are no datelines.
    fn dateline_rule(&self) -> Option<&'static str> {
        match self.lanes.as_ref()?.rule() {
            LaneRule::Datelines(datelines) => Some(match datelines.rule() {
                DatelineRule::ByHop => "by-hop",
                DatelineRule::ByWrap => "by-wrap",
            }),
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => None,
        }
    }

    /// What the files had to say beside the routes.
    fn findings(&self) -> Vec<FileFindingRow> {
        let row = |(file, finding): &(String, Finding)| {
            let (line, severity, kind, text) = finding_row(finding);
            (file.clone(), line, severity, kind, text)
        };
        self.findings.iter().map(row).collect()
    }

    /// A sentence for each way in which packets do not arrive.
    fn faults(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| {
            let mut faults = Vec::new();
            for (number, routes) in self.by_offset.iter().enumerate() {
                let of = match self.by_offset.len() {
                    1 => String::new(),
                    count => format!(" [path {} of {count}]", number + 1),
                };
                let trace = routes.trace(&self.fabric);
                faults.extend(trace.faults.iter().map(|fault| fault.describe(&self.fabric) + &of));
            }
            let drops = self.set().lane_use(&self.fabric).drops;
            faults.extend(drops.iter().map(|drop| drop.describe(&self.fabric)));
            faults
        })
    }

    /// Path lengths, loads of channels, and the bound on all-to-all traffic.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let statistics = py.detach(|| Statistics::new(&self.fabric, self.first()));
        let mut json = statistics_json(&self.fabric, &statistics);
        json["hostless_switches"] = self.hostless_switches().into();
        convert::to_python(py, &json)
    }

    /// Names of all endpoints, and for each as source the number of switches to each.
    fn lengths(&self, py: Python<'_>) -> (Vec<String>, Vec<Vec<Option<usize>>>) {
        let names = |fabric: &Fabric| {
            fabric.endpoint_ids().map(|endpoint| fabric.endpoint_name(endpoint)).collect()
        };
        let matrix = py.detach(|| self.first().lengths(&self.fabric));
        (names(&self.fabric), matrix)
    }

    /// What random matchings of half of the hosts with the other half see; `None` without two
    /// hosts.
    fn bisection<'py>(
        &self,
        py: Python<'py>,
        samples: u32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let measured = py.detach(|| Bisection::new(&self.fabric, self.set(), samples, seed));
        convert::to_python(py, &measured.map_or(Value::Null, bisection_json))
    }

    /// The pairs of hosts that share a channel, by default the busiest between switches.
    #[pyo3(signature = (channel, at_most))]
    fn sharing<'py>(
        &self,
        py: Python<'py>,
        channel: Option<&str>,
        at_most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fabric = &*self.fabric;
        let channel = match channel {
            Some(name) => Some(self.channel(py, name)?),
            None => Statistics::new(fabric, self.first()).busiest.first().copied(),
        };
        let sharing =
            channel.map(|channel| py.detach(|| Sharing::new(fabric, self.set(), channel, at_most)));
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

    /// The tables as a text that OpenSM loads.
    fn tables(&self, py: Python<'_>) -> PyResult<String> {
        self.tables_text(py)
    }

    /// The channels from one endpoint to another; `None` if no route leads there.
    fn path(
        &self,
        py: Python<'_>,
        source: &str,
        destination: &str,
    ) -> PyResult<Option<Vec<String>>> {
        let (from, to) = (self.endpoint(py, source)?, self.endpoint(py, destination)?);
        let path = self.first().path(&self.fabric, from, to);
        Ok(path.map(|path| self.names(path.channels())))
    }
}

/// The beginning and the end of a cycle of more lines than people read.
fn shortened(cycle: &str) -> String {
    let lines: Vec<&str> = cycle.lines().collect();
    let Some(left) = lines.len().checked_sub(CYCLE_LINES_MAX).filter(|left| *left > 0) else {
        return cycle.to_owned();
    };
    // The last closes the cycle.
    let [begin, end] = [&lines[..CYCLE_LINES_MAX - 1], &lines[lines.len() - 1..]];
    let more = format!("... and {left} more; all of them: `Routes.cycle`");
    [begin, &[more.as_str()], end].concat().join("\n")
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

/// For each distance that cables allow: how many pairs of hosts are so far apart, and for how
/// many of them the path is no longer.
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
