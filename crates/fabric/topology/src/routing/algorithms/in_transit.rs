//! In-transit hosts: deadlock-free shortest paths on any fabric.
//!
//! ```text
//!         s0 root         From s2 to s4, up*/down* allows only the path via the root. Two hops
//!       ↗    ↖            are enough via a host of s3:
//!     s1      s5
//!      ↑      ↑             h2  s2  s3 │ h3 │ s3  s4  h4      two legs, each up and then down
//!     s2      s4
//!       ↖    ↗
//!         s3 ── h3
//! ```
//!
//! Dependencies end at the host that ejects and re-injects a packet. Aggregation nodes and routers
//! cannot re-inject packets. A pair whose shortest paths all turn at switches without hosts falls
//! back to the shortest possible path (`fall_backs.rs`), at worst the up*/down* path.
//!
//! At a turn, the host with the fewest paths in transit takes the packet. Each cable of a host is a
//! separate endpoint, so a packet enters and leaves through the same cable.
//!
//! Source: Flich, Malumbres, Lopez and Duato, "Removing the Latency Overhead of the ITB Mechanism
//! in COWs with Source Routing", 2001, sections I and II: `any` is its UD_ITB and `fewest` its
//! UD_MITB.

use super::assignment::{PathSpread, row_weight, rows};
use super::balance::lay;
use super::choices::{Choices, State};
use super::error::RouteError;
use super::fall_backs::fall_backs;
use super::orientation::{self, Orientation, SpanningTree};
use super::phases::{self, is_turn};
use super::root::Root;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `in-transit`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InTransit {
    /// Root switches; "up" is towards them.
    pub root: Root,
    /// Ranking of the switches, starting from the roots.
    pub tree: SpanningTree,
    /// Shortest paths considered for each pair, by their number of in-transit hosts. The least
    /// loaded of these paths is used.
    pub hosts: TransitHosts,
    /// Whether the hosts of a switch may be reached by different paths.
    pub spread: PathSpread,
    /// Maximum number of rerouting passes. A pass removes and reroutes every path; a pass without
    /// changes is the last.
    pub passes: u32,
}

/// Shortest paths that `in-transit` considers for a pair of endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransitHosts {
    /// All shortest paths, regardless of their number of in-transit hosts.
    #[default]
    Any,
    /// Shortest paths with the fewest in-transit hosts.
    Fewest,
}

impl Default for InTransit {
    fn default() -> Self {
        Self {
            root: Root::default(),
            tree: SpanningTree::default(),
            hosts: TransitHosts::default(),
            spread: PathSpread::default(),
            passes: 3,
        }
    }
}

impl AlgorithmParameters for InTransit {
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

pub(crate) fn routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    parameters: &InTransit,
) -> Result<SourceRoutes, RouteError> {
    let InTransit { root, tree, hosts, spread, passes } = parameters;
    let orientation = Orientation::new(fabric, graph, root, *tree)?;
    let has_hosts = |switch| graph.host_count(switch) > 0;
    let laid = lay(fabric, graph, *spread, *passes, |destination| {
        let mut choices = phases::toward(graph, &orientation, destination, has_hosts);
        if *hosts == TransitHosts::Fewest {
            keep_fewest_turns(&mut choices);
        }
        choices
    });
    let mut passing = Passing::new(fabric, graph, &orientation);
    let mut routes = SourceRoutesBuilder::new(fabric, graph);
    let mut number = 0;
    for switch in graph.switches() {
        for row in rows(graph, switch, *spread) {
            routes.begin_row(row);
            for source in graph.switches() {
                passing.push(laid.path(number), row_weight(graph, source, row), &mut routes);
                routes.end_path();
                number += 1;
            }
        }
    }
    routes.set_fall_backs(fall_backs(graph, &orientation));
    Ok(routes.finish())
}

fn keep_fewest_turns(choices: &mut Choices) {
    let mut fewest = vec![UNREACHED; choices.state_count()];
    let after = |fewest: &[u32], from: State, to: State| {
        fewest[to.index()].saturating_add(u32::from(is_turn(from, to)))
    };
    for state in choices.farthest_first().into_iter().rev() {
        let turns = choices.from(state).iter().map(|choice| after(&fewest, state, choice.to)).min();
        fewest[state.index()] = turns.unwrap_or(0);
    }
    choices.retain(|from, choice| after(&fewest, from, choice.to) == fewest[from.index()]);
}

struct Passing<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    orientation: &'a Orientation,
    paths: Vec<u64>,
}

impl<'a> Passing<'a> {
    fn new(fabric: &'a Fabric, graph: &'a SwitchGraph, orientation: &'a Orientation) -> Self {
        Self { fabric, graph, orientation, paths: vec![0; graph.endpoint_count()] }
    }

    fn push(&mut self, path: &[ChannelId], paths: u64, routes: &mut SourceRoutesBuilder<'_>) {
        let mut has_gone_down = false;
        for &channel in path {
            let up = self.orientation.is_up(channel);
            if has_gone_down && up {
                let host = self.take(self.fabric.source(channel).node, paths);
                routes.push_in_transit(self.graph.ejection(host));
            }
            routes.push(channel);
            has_gone_down = !up;
        }
    }

    fn take(&mut self, switch: NodeId, paths: u64) -> EndpointId {
        let hosts = self.graph.residents(switch).iter().filter(|host| self.graph.is_host(**host));
        let least = hosts.min_by_key(|host| (self.paths[host.index()], **host));
        let host = *least.expect("paths turn only at switches with hosts");
        self.paths[host.index()] += paths;
        host
    }
}
