//! From choices to routes: among equally long ways, the least loaded channel.
//!
//! The load of a channel is the number of host-to-host paths laid over it so far. It is
//! counted per source switch, weighted by the hosts there, because all hosts of a switch share
//! their path to a destination. Aggregation nodes and routers are routed and weigh nothing.
//! Parallel cables are balanced like any other channels.
//!
//! Destinations are taken switch by switch and, on a switch, in canonical order; so the
//! routes depend on the fabric alone. On a full fat tree this gives the well known spread
//! "destination modulo number of spines".
//!
//! Cost: one call of the algorithm a destination switch, then for every destination endpoint
//! the channels looked at along one path a source switch (source form) or at every switch once
//! (table form).

use super::choices::{Choice, Choices, State};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::routing::paths::switch_tables::SwitchTables;
use crate::routing::paths::table_routes::TableRoutes;
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether paths to a switch are spread over its hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathSpread {
    /// Each host of a switch may be reached by a path of its own.
    #[default]
    Hosts,
    /// All hosts of a switch are reached by one path from each other switch: faster and smaller,
    /// for fabrics of hundreds of switches.
    Switches,
}

/// Host-to-host paths by channel.
#[derive(Debug)]
pub(super) struct Load {
    paths: Vec<u64>,
}

impl Load {
    /// Nothing laid yet.
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self { paths: vec![0; fabric.channel_count()] }
    }

    /// The choice whose channel carries least; of equals, the lowest channel.
    fn lightest(&self, choices: &[Choice]) -> Choice {
        let weigh = |choice: &&Choice| (self.paths[choice.channel.index()], choice.channel);
        *choices.iter().min_by_key(weigh).expect("a state with hops left has a way on")
    }

    /// The paths laid over a channel.
    pub(crate) fn on(&self, channel: ChannelId) -> u64 {
        self.paths[channel.index()]
    }

    fn add(&mut self, channel: ChannelId, paths: u64) {
        self.paths[channel.index()] += paths;
    }

    /// Lays paths over all channels of one.
    pub(crate) fn lay(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            self.add(*channel, paths);
        }
    }

    /// Takes them up again.
    pub(super) fn take_up(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            self.paths[channel.index()] -= paths;
        }
    }
}

/// How many paths to `to` begin at `switch`, for the balance.
fn weight(graph: &SwitchGraph, switch: NodeId, to: EndpointId) -> u64 {
    row_weight(graph, switch, &[to])
}

/// How many paths to endpoints that share their paths begin at `switch`, for the balance.
pub(super) fn row_weight(graph: &SwitchGraph, switch: NodeId, row: &[EndpointId]) -> u64 {
    let hosts = row.iter().filter(|to| graph.is_host(**to)).count() as u64;
    hosts * u64::from(graph.host_count(switch))
}

/// The endpoints of a switch in rows that share their paths.
pub(crate) fn rows(
    graph: &SwitchGraph,
    switch: NodeId,
    spread: PathSpread,
) -> impl Iterator<Item = &[EndpointId]> {
    let residents = graph.residents(switch);
    let size = match spread {
        PathSpread::Hosts => 1,
        PathSpread::Switches => residents.len().max(1),
    };
    residents.chunks(size)
}

/// One path from every switch with endpoints to every endpoint.
pub(crate) fn source_routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    toward: impl Fn(NodeId) -> Choices,
) -> SourceRoutes {
    let mut load = Load::new(fabric);
    let mut routes = SourceRoutesBuilder::new(graph);
    for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
        let choices = toward(switch);
        for &to in graph.residents(switch) {
            routes.begin_row(graph, &[to]);
            for source in graph.switches() {
                if !graph.residents(source).is_empty() {
                    lay_path(graph, &choices, source, to, &mut load, &mut routes);
                }
                routes.end_path();
            }
        }
    }
    routes.finish()
}

fn lay_path(
    graph: &SwitchGraph,
    choices: &Choices,
    source: NodeId,
    to: EndpointId,
    load: &mut Load,
    routes: &mut SourceRoutesBuilder,
) {
    let mut state = choices.start(source);
    if choices.hops(state) == UNREACHED {
        return;
    }
    let paths = weight(graph, source, to);
    while choices.hops(state) > 0 {
        let choice = load.lightest(choices.from(state));
        load.add(choice.channel, paths);
        routes.push(choice.channel);
        state = choice.to;
    }
}

/// One entry at every switch for every endpoint that it reaches. The choices must have one
/// phase, because a table knows nothing of where a packet comes from.
pub(crate) fn table_routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    toward: impl Fn(NodeId) -> Choices,
) -> TableRoutes {
    let mut load = Load::new(fabric);
    let mut routes = TableRoutes::new(fabric);
    for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
        let choices = toward(switch);
        for &to in graph.residents(switch) {
            fill_column(fabric, graph, &choices, to, &mut load, &mut routes);
        }
    }
    routes
}

/// From the farthest switch inwards, so that the paths that come through a switch are known
/// when its entry is chosen.
fn fill_column(
    fabric: &Fabric,
    graph: &SwitchGraph,
    choices: &Choices,
    to: EndpointId,
    load: &mut Load,
    routes: &mut TableRoutes,
) {
    let mut paths: Vec<u64> = graph.switches().map(|switch| weight(graph, switch, to)).collect();
    for state in choices.farthest_first() {
        let switch = NodeId::new(state.index());
        let channel = if choices.hops(state) == 0 {
            graph.ejection(to)
        } else {
            let choice = load.lightest(choices.from(state));
            load.add(choice.channel, paths[state.index()]);
            paths[choice.to.index()] += paths[state.index()];
            choice.channel
        };
        routes.set_port(switch, to, Some(fabric.source(channel).port));
    }
}

/// One output port per switch and destination switch; of equally long ways, those to different
/// switches take different ones, round robin.
pub(super) fn switch_tables(
    fabric: &Fabric,
    graph: &SwitchGraph,
    toward: impl Fn(NodeId) -> Choices,
) -> SwitchTables {
    let mut tables = SwitchTables::new(fabric);
    for to in graph.switches() {
        let choices = toward(to);
        for switch in graph.switches() {
            let onward = choices.from(State::new(switch.index()));
            if !onward.is_empty() {
                let choice = onward[to.index() % onward.len()];
                let port = fabric.source(choice.channel).port;
                tables.set_port(switch, to, Some(port));
            }
        }
    }
    tables
}
