//! Simple routes: the cheapest legal up*/down* path for each pair in turn.
//!
//! ```text
//!   cost of a channel:  1 + weight x (paths on it) / (mean number of paths on a channel)
//!
//!   s1 ── s0 ── s2      with weight 0.5, the path via s0 costs 2 if idle, and 3 if both channels
//!     └─ s3 ─ s4 ┘      carry the mean load; the idle path via s3 and s4 costs 3
//! ```
//!
//! The original Myrinet software distributed one path per pair over weighted links, and could
//! select a longer path although a shorter legal path existed. Its weights are unknown to us; the
//! cost above and the default weight are ours. The load of a path is the number of host pairs that
//! use it.
//!
//! Several passes are needed, because the first pairs are routed on idle channels. The search over
//! (switch, phase) is A* (Hart, Nilsson and Raphael 1968), with the hops of the shortest legal path
//! as lower bound.
//!
//! Source: Flich et al. 2001 (`in_transit.rs`), section IV-A, "simple_routes" (labelled UD).

use super::assignment::{Load, PathSpread, row_weight, rows};
use super::choices::State;
use super::error::RouteError;
use super::orientation::{self, Orientation, SpanningTree};
use super::phases::{self, PHASES};
use super::root::Root;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::{ChannelId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Parameters of `simple-routes`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimpleRoutes {
    /// Root switches; "up" is towards them.
    pub root: Root,
    /// Ranking of the switches, starting from the roots.
    pub tree: SpanningTree,
    /// Weight of load in the cost of a channel, which is 1 plus this weight times the load relative
    /// to the mean load of all channels. With 0, paths are shortest legal paths without balancing.
    #[schemars(range(min = 0, max = 100))]
    pub weight: f64,
    /// Whether the hosts of a switch may be reached by different paths.
    pub spread: PathSpread,
    /// Maximum number of rerouting passes. A pass removes and reroutes every path; a pass without
    /// changes is the last.
    pub passes: u32,
}

impl Default for SimpleRoutes {
    fn default() -> Self {
        Self {
            root: Root::default(),
            tree: SpanningTree::default(),
            weight: 0.5,
            spread: PathSpread::default(),
            passes: 3,
        }
    }
}

impl AlgorithmParameters for SimpleRoutes {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { fabric, graph, .. } = task;
        Ok(Rule::by_whole_paths(move || routes(fabric, graph, self)))
    }

    fn gives_source_routes_only(&self) -> bool {
        true
    }

    fn shares_paths(&self) -> bool {
        self.spread == PathSpread::Switches
    }

    fn roots_taken(&self, fabric: &Fabric, graph: &SwitchGraph) -> Result<Vec<NodeId>, RouteError> {
        orientation::roots_taken(fabric, graph, &self.root, self.tree)
    }
}

/// Cost of an unloaded channel; costs are in units of 2^-20.
const UNIT: u64 = 1 << 20;
const WEIGHT_MAX: f64 = 100.0;

pub(crate) fn routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    parameters: &SimpleRoutes,
) -> Result<SourceRoutes, RouteError> {
    let SimpleRoutes { root, tree, weight, spread, .. } = parameters;
    if !(0.0..=WEIGHT_MAX).contains(weight) {
        return Err(RouteError::Weight { given: format!("{weight:?}") });
    }
    let orientation = Orientation::new(fabric, graph, root, *tree)?;
    let paths = lay(fabric, graph, &orientation, parameters);
    let mut routes = SourceRoutesBuilder::new(fabric, graph);
    let mut laid = paths.iter();
    for switch in graph.switches() {
        for row in rows(graph, switch, *spread) {
            routes.begin_row(row);
            for path in laid.by_ref().take(graph.switch_count()) {
                routes.extend(path);
                routes.end_path();
            }
        }
    }
    Ok(routes.finish())
}

fn lay(
    fabric: &Fabric,
    graph: &SwitchGraph,
    orientation: &Orientation,
    parameters: &SimpleRoutes,
) -> Vec<Vec<ChannelId>> {
    let mut prices = Prices::new(fabric, graph, parameters.weight);
    let mut search = CheapestPaths::new(graph, orientation);
    let mut laid: Vec<Vec<ChannelId>> = Vec::new();
    for pass in 0..=parameters.passes {
        let (mut number, mut has_changed) = (0, false);
        for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
            let hops = phases::hops(graph, orientation, switch, |_| false);
            for row in rows(graph, switch, parameters.spread) {
                for source in graph.switches() {
                    if pass == 0 {
                        laid.push(Vec::new());
                    }
                    let paths = row_weight(graph, source, row);
                    let old = std::mem::take(&mut laid[number]);
                    prices.take_up(&old, paths);
                    let path = &mut laid[number];
                    if graph.has_senders(source) {
                        search.cheapest(source, &hops, &prices, path);
                    }
                    prices.lay(path, paths);
                    has_changed |= *path != old;
                    number += 1;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    laid
}

struct Prices {
    load: Load,
    total: u64,
    weight: f64,
}

impl Prices {
    fn new(fabric: &Fabric, graph: &SwitchGraph, weight: f64) -> Self {
        let channels = graph.switches().map(|switch| graph.hops_from(switch).len()).sum::<usize>();
        Self { load: Load::new(fabric), total: 0, weight: weight * real(channels as u64 * UNIT) }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bounded price")]
    fn of(&self, channel: ChannelId) -> u64 {
        let relative = real(self.load.on(channel)) / real(self.total.max(1));
        UNIT + (self.weight * relative).round() as u64
    }

    fn lay(&mut self, path: &[ChannelId], paths: u64) {
        self.load.lay(path, paths);
        self.total += paths * path.len() as u64;
    }

    fn take_up(&mut self, path: &[ChannelId], paths: u64) {
        self.load.take_up(path, paths);
        self.total -= paths * path.len() as u64;
    }
}

#[expect(clippy::cast_precision_loss, reason = "prices need few digits")]
fn real(count: u64) -> f64 {
    count as f64
}

#[derive(Clone, Copy, Default)]
struct Cheapest {
    search: u64,
    paid: u64,
    by: Option<(State, ChannelId)>,
}

struct CheapestPaths<'a> {
    graph: &'a SwitchGraph,
    orientation: &'a Orientation,
    known: Vec<Cheapest>,
    count: u64,
    open: BinaryHeap<Reverse<(u64, State)>>,
}

impl<'a> CheapestPaths<'a> {
    fn new(graph: &'a SwitchGraph, orientation: &'a Orientation) -> Self {
        let known = vec![Cheapest::default(); graph.switch_count() * PHASES];
        Self { graph, orientation, known, count: 0, open: BinaryHeap::new() }
    }

    fn cheapest(
        &mut self,
        source: NodeId,
        hops: &[u32],
        prices: &Prices,
        channels: &mut Vec<ChannelId>,
    ) {
        self.count += 1;
        self.open.clear();
        self.reach(phases::start(source), 0, None, hops);
        while let Some(Reverse((least, state))) = self.open.pop() {
            let paid = self.known[state.index()].paid;
            if hops[state.index()] == 0 {
                self.trace_back(state, channels);
                return;
            }
            if paid + UNIT * u64::from(hops[state.index()]) < least {
                continue;
            }
            for choice in phases::moves(self.graph, self.orientation, state, false) {
                let cost = paid + prices.of(choice.channel);
                self.reach(choice.to, cost, Some((state, choice.channel)), hops);
            }
        }
    }

    fn reach(&mut self, state: State, paid: u64, by: Option<(State, ChannelId)>, hops: &[u32]) {
        let left = hops[state.index()];
        let known = &mut self.known[state.index()];
        if left != UNREACHED && (known.search != self.count || paid < known.paid) {
            *known = Cheapest { search: self.count, paid, by };
            self.open.push(Reverse((paid + UNIT * u64::from(left), state)));
        }
    }

    fn trace_back(&self, mut state: State, channels: &mut Vec<ChannelId>) {
        let begin = channels.len();
        while let Some((before, channel)) = self.known[state.index()].by {
            channels.push(channel);
            state = before;
        }
        channels[begin..].reverse();
    }
}
