//! Assignment of routes to the least loaded of several equally long paths.
//!
//! The load of a channel is the number of host-to-host paths assigned to it so far. With several
//! roots, the choice on the ascent also determines the descent, so both criteria of [`Outlook`] are
//! tried, and the routes with the less loaded busiest channel are kept.
//!
//! On a full fat tree, packets to destination `d` go via spine `d` modulo the number of spines.

use super::balance;
use super::choices::{Choice, Choices, State};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Assignment of paths to the hosts of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathSpread {
    /// Independent paths to the hosts of a switch.
    #[default]
    Hosts,
    /// One path from each source switch, shared by all hosts of the destination switch. Faster, and
    /// needs less memory on large fabrics.
    Switches,
}

/// Criterion for comparing equally long paths: the load of the next channel, or of the busiest
/// channel on the path. `NextChannel` balances complete trees perfectly; `WholePath` suits trees
/// with missing or parallel cables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outlook {
    NextChannel,
    WholePath,
}

pub(super) struct Assigned<R> {
    pub(super) routes: R,
    pub(super) busiest: u64,
}

impl<R> Assigned<R> {
    /// Returns the routes with the lowest load on their busiest channel; the first in a tie. Stops
    /// early if this load reaches the lower bound `least`.
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

/// Returns a lower bound on the load of the busiest channel: the paths from the hosts of a switch
/// share its outgoing channels.
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

#[derive(Debug)]
pub(super) struct Load {
    paths: Vec<u64>,
}

impl Load {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self { paths: vec![0; fabric.channel_count()] }
    }

    fn lightest(&self, choices: &[Choice]) -> Choice {
        first_by(choices, |choice| self.on(choice.channel))
    }

    pub(super) fn busiest(&self) -> u64 {
        self.paths.iter().copied().max().unwrap_or(0)
    }

    pub(super) fn least_worst(&self, choices: &Choices, farthest_first: &[State]) -> Vec<u64> {
        let mut worst = vec![0; choices.state_count()];
        for &state in farthest_first.iter().rev() {
            let by = |choice: &Choice| self.on(choice.channel).max(worst[choice.to.index()]);
            let least = choices.from(state).iter().map(by).min();
            worst[state.index()] = least.unwrap_or(0);
        }
        worst
    }

    pub(crate) fn on(&self, channel: ChannelId) -> u64 {
        self.paths[channel.index()]
    }

    pub(super) fn add(&mut self, channel: ChannelId, paths: u64) {
        self.paths[channel.index()] += paths;
    }

    pub(crate) fn lay(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            self.add(*channel, paths);
        }
    }

    pub(super) fn take_up(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            self.paths[channel.index()] -= paths;
        }
    }
}

/// Returns the choice with the least `key`; the lowest-numbered channel in a tie.
pub(super) fn first_by<K: Ord>(choices: &[Choice], key: impl Fn(&Choice) -> K) -> Choice {
    let first = choices.iter().min_by_key(|choice| (key(choice), choice.channel));
    *first.expect("a state with hops left has a way on")
}

fn weight(graph: &SwitchGraph, switch: NodeId, to: EndpointId) -> u64 {
    row_weight(graph, switch, &[to])
}

/// Returns the number of paths from the hosts of a switch to the hosts in `row`.
pub(super) fn row_weight(graph: &SwitchGraph, switch: NodeId, row: &[EndpointId]) -> u64 {
    let hosts = row.iter().filter(|to| graph.is_host(**to)).count() as u64;
    hosts * u64::from(graph.host_count(switch))
}

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

pub(crate) fn source_routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    outlook: Outlook,
    toward: impl Fn(NodeId) -> Choices,
) -> Assigned<SourceRoutes> {
    if outlook == Outlook::WholePath {
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
