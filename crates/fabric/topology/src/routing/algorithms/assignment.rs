//! From choices to routes: among equally long ways, the least loaded channel.
//!
//! The load of a channel is the number of host-to-host paths laid over it so far. It is
//! counted per source switch, weighted by the hosts there, because all hosts of a switch share
//! their path to a destination. Aggregation nodes and routers are routed and weigh nothing.
//! Parallel cables are balanced like any other channels.
//!
//! Among several roots the choice on the way up decides on the channel down as well. There both the
//! next channel alone and the busiest channel on all the way are tried ([`Outlook`]), and of the two
//! sets of routes that is kept whose busiest channel carries less.
//!
//! Destinations are taken switch by switch and, on a switch, in canonical order; so the
//! routes depend on the fabric alone. On a full fat tree this gives the well known spread
//! "destination modulo number of spines".
//!
//! Source routes are assigned here, tables in `tables`. Cost of the former: one call of the algorithm
//! a destination switch, then for every destination endpoint the channels looked at along one path
//! a source switch.

use super::balance;
use super::choices::{Choice, Choices, State};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
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

/// Whose load decides among equally long ways. Neither is always better: the next channel's spreads
/// a whole tree perfectly, all the way's a tree in which cables are missing or parallel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outlook {
    /// The next channel's.
    NextChannel,
    /// That of the busiest channel on all the way.
    WholeWay,
}

/// Routes, and the paths over the busiest channel between switches.
pub(super) struct Assigned<R> {
    pub(super) routes: R,
    pub(super) busiest: u64,
}

impl<R> Assigned<R> {
    /// The routes of the outlook under which the busiest channel carries least; of equals, of the
    /// first. None is tried after one whose busiest channel carries no more than `least`, the
    /// least that any routes could.
    pub(super) fn best(outlooks: &[Outlook], least: u64, assign: impl Fn(Outlook) -> Self) -> R {
        let mut best: Option<Self> = None;
        for outlook in outlooks {
            let is_optimal = best.as_ref().is_some_and(|best| best.busiest <= least);
            if is_optimal {
                break;
            }
            let assigned = assign(*outlook);
            if best.as_ref().is_none_or(|best| assigned.busiest < best.busiest) {
                best = Some(assigned);
            }
        }
        best.expect("there is an outlook").routes
    }
}

/// Paths that the busiest channel between switches carries at least, whatever the routes: those
/// from the hosts of a switch to all others that cables join it to share the channels that leave it.
pub(super) fn least_busiest(graph: &SwitchGraph) -> u64 {
    let islands = graph.islands();
    let mut hosts = vec![0; graph.switch_count()];
    for switch in graph.switches() {
        hosts[islands[switch.index()].index()] += u64::from(graph.host_count(switch));
    }
    let least = |switch: NodeId| {
        let own = u64::from(graph.host_count(switch));
        let paths = own * (hosts[islands[switch.index()].index()] - own);
        paths.div_ceil(graph.hops_from(switch).len().max(1) as u64)
    };
    graph.switches().map(least).max().unwrap_or(0)
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
        first_by(choices, |choice| self.on(choice.channel))
    }

    /// The paths laid over the busiest channel.
    pub(super) fn busiest(&self) -> u64 {
        self.paths.iter().copied().max().unwrap_or(0)
    }

    /// By state: the load of the busiest channel on the way on where that is least.
    pub(super) fn least_worst(&self, choices: &Choices, farthest_first: &[State]) -> Vec<u64> {
        let mut worst = vec![0; choices.state_count()];
        for &state in farthest_first.iter().rev() {
            let by = |choice: &Choice| self.on(choice.channel).max(worst[choice.to.index()]);
            let least = choices.from(state).iter().map(by).min();
            worst[state.index()] = least.unwrap_or(0);
        }
        worst
    }

    /// The paths laid over a channel.
    pub(crate) fn on(&self, channel: ChannelId) -> u64 {
        self.paths[channel.index()]
    }

    pub(super) fn add(&mut self, channel: ChannelId, paths: u64) {
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

/// The choice that comes first by `key`; of equals, the lowest channel.
pub(super) fn first_by<K: Ord>(choices: &[Choice], key: impl Fn(&Choice) -> K) -> Choice {
    let first = choices.iter().min_by_key(|choice| (key(choice), choice.channel));
    *first.expect("a state with hops left has a way on")
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
    outlook: Outlook,
    toward: impl Fn(NodeId) -> Choices,
) -> Assigned<SourceRoutes> {
    if outlook == Outlook::WholeWay {
        return best_source_routes(fabric, graph, toward);
    }
    let mut load = Load::new(fabric);
    let mut routes = SourceRoutesBuilder::new(fabric, graph);
    for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
        let choices = toward(switch);
        if choices.are_none() {
            lay_column(fabric, graph, &choices, switch, &mut load, &mut routes);
            continue;
        }
        for &to in graph.residents(switch) {
            routes.begin_row(&[to]);
            for source in graph.switches() {
                if graph.has_senders(source) {
                    lay_path(graph, &choices, source, to, &mut load, &mut routes);
                }
                routes.end_path();
            }
        }
    }
    Assigned { routes: routes.finish(), busiest: load.busiest() }
}

/// The same with the least loaded of all choices that a path has, which `balance` finds.
fn best_source_routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    toward: impl Fn(NodeId) -> Choices,
) -> Assigned<SourceRoutes> {
    let laid = balance::lay(fabric, graph, PathSpread::Hosts, 0, toward);
    let mut routes = SourceRoutesBuilder::new(fabric, graph);
    let mut number = 0;
    for switch in graph.switches() {
        for row in rows(graph, switch, PathSpread::Hosts) {
            routes.begin_row(row);
            for _ in graph.switches() {
                routes.extend(laid.path(number));
                routes.end_path();
                number += 1;
            }
        }
    }
    Assigned { routes: routes.finish(), busiest: laid.busiest }
}

/// All paths to the endpoints of a switch, where there is nothing to choose.
fn lay_column(
    fabric: &Fabric,
    graph: &SwitchGraph,
    choices: &Choices,
    switch: NodeId,
    load: &mut Load,
    routes: &mut SourceRoutesBuilder<'_>,
) {
    let residents = graph.residents(switch);
    let mut paths: Vec<u64> = vec![0; choices.state_count()];
    for source in graph.switches() {
        paths[choices.start(source).index()] = row_weight(graph, source, residents);
    }
    for state in choices.farthest_first() {
        for choice in choices.from(state) {
            load.add(choice.channel, paths[state.index()]);
            paths[choice.to.index()] += paths[state.index()];
        }
    }
    let step = |switch| {
        let state = choices.start(switch);
        match choices.from(state) {
            [] => (0, 0),
            [choice, ..] => (fabric.source(choice.channel).port, choices.hops(state)),
        }
    };
    routes.column(residents, graph.switches().map(step));
}

fn lay_path(
    graph: &SwitchGraph,
    choices: &Choices,
    source: NodeId,
    to: EndpointId,
    load: &mut Load,
    routes: &mut SourceRoutesBuilder<'_>,
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
