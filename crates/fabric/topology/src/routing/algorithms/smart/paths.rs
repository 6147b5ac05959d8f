//! Assigned paths, and their load on channels and turns.

use super::search::{Ground, LightestPaths};
use super::turns::{Turn, TurnIndex, turns_of};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::routing::proof::dependency::DependencyGraph;
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use gingham_kernel::id_type;
use std::collections::BTreeSet;

id_type!(
    /// Index of a demand, a request for a path between a source switch and a destination.
    DemandId
);

#[derive(Clone, Copy, Debug)]
struct Demand {
    source: NodeId,
    switch: NodeId,
    to: EndpointId,
    weight: u64,
}

/// Path of each demand, ordered by destination switch, destination and source switch.
#[derive(Clone, Debug)]
pub(super) struct Paths<'a> {
    pub(super) graph: &'a SwitchGraph,
    pub(super) index: &'a TurnIndex,
    demands: Vec<Demand>,
    by_demand: Vec<Option<Vec<ChannelId>>>,
    load: Vec<u64>,
    uses: Vec<u32>,
    takers: Vec<BTreeSet<DemandId>>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(graph: &'a SwitchGraph, index: &'a TurnIndex) -> Self {
        let mut demands = Vec::new();
        for switch in graph.switches() {
            for &to in graph.residents(switch) {
                let has_endpoints = |from: &NodeId| graph.has_senders(*from);
                let hosts = |from| if graph.is_host(to) { graph.host_count(from) } else { 0 };
                demands.extend(graph.switches().filter(has_endpoints).map(|source| Demand {
                    source,
                    switch,
                    to,
                    weight: u64::from(hosts(source)),
                }));
            }
        }
        let by_demand = vec![None; demands.len()];
        let load = vec![0; index.channel_count()];
        let takers = vec![BTreeSet::new(); index.channel_count()];
        Self { graph, index, demands, by_demand, load, uses: vec![0; index.turn_count()], takers }
    }

    pub(super) fn demands(&self) -> impl Iterator<Item = DemandId> + use<> {
        DemandId::first(self.demands.len())
    }

    pub(super) fn ends(&self, demand: DemandId) -> (NodeId, NodeId) {
        let demand = self.demands[demand.index()];
        (demand.source, demand.switch)
    }

    pub(super) fn weight(&self, demand: DemandId) -> u64 {
        self.demands[demand.index()].weight
    }

    pub(super) fn path(&self, demand: DemandId) -> Option<&[ChannelId]> {
        self.by_demand[demand.index()].as_deref()
    }

    pub(super) fn load(&self) -> &[u64] {
        &self.load
    }

    pub(super) fn takers(&self, channel: ChannelId) -> &BTreeSet<DemandId> {
        &self.takers[channel.index()]
    }

    pub(super) fn makers(&self, turn: Turn) -> Vec<DemandId> {
        let makes = |demand: &&DemandId| {
            self.path(**demand).is_some_and(|path| turns_of(path).any(|made| made == turn))
        };
        self.takers(turn.held).iter().filter(makes).copied().collect()
    }

    pub(super) fn lay(&mut self, demand: DemandId, path: Vec<ChannelId>) {
        for channel in &path {
            self.load[channel.index()] += self.weight(demand);
            self.takers[channel.index()].insert(demand);
        }
        for turn in turns_of(&path) {
            self.uses[self.index.of(turn)] += 1;
        }
        self.by_demand[demand.index()] = Some(path);
    }

    pub(super) fn lift(&mut self, demand: DemandId) -> Option<Vec<ChannelId>> {
        let path = self.by_demand[demand.index()].take()?;
        for channel in &path {
            self.load[channel.index()] -= self.weight(demand);
            self.takers[channel.index()].remove(&demand);
        }
        for turn in turns_of(&path) {
            self.uses[self.index.of(turn)] -= 1;
        }
        Some(path)
    }

    pub(super) fn lightest(
        &self,
        search: &mut LightestPaths,
        demand: DemandId,
        is_lawful: impl Fn(Option<ChannelId>, ChannelId) -> bool,
    ) -> Option<Vec<ChannelId>> {
        let ground = Ground { graph: self.graph, index: self.index, is_lawful };
        search.lightest(&ground, self.ends(demand), &self.load)
    }

    pub(super) fn dependencies(&self) -> DependencyGraph {
        let made = |turn: &Turn| self.uses[self.index.of(*turn)] > 0;
        let turns = self.index.all(self.graph).filter(made);
        let edges: Vec<_> = turns.map(|turn| (turn.held.index(), turn.wanted.index())).collect();
        DependencyGraph::from_edges(self.index.channel_count(), &edges)
    }

    /// Returns the cost to minimise: the load of the busiest channel, then the total load of all
    /// channels.
    pub(super) fn burden(&self) -> (u64, u64) {
        (self.load.iter().copied().max().unwrap_or(0), self.load.iter().sum())
    }

    pub(super) fn adopt(&mut self, fabric: &Fabric, routes: &SourceRoutes) {
        for id in self.demands() {
            let Demand { source, to, .. } = self.demands[id.index()];
            if let Some(onward) = routes.path(fabric, source, to) {
                self.lay(id, onward.before_the_last().collect());
            }
        }
    }

    pub(super) fn into_routes(self, fabric: &Fabric) -> SourceRoutes {
        let mut routes = SourceRoutesBuilder::new(fabric, self.graph);
        let mut paths = self.by_demand.iter().zip(&self.demands).peekable();
        while let Some((_, demand)) = paths.peek() {
            let to = demand.to;
            routes.begin_row(&[to]);
            for switch in self.graph.switches() {
                let here = |(_, demand): &(_, &Demand)| (demand.to, demand.source) == (to, switch);
                if let Some((Some(path), _)) = paths.next_if(here) {
                    for channel in path {
                        routes.push(*channel);
                    }
                }
                routes.end_path();
            }
        }
        routes.finish()
    }
}
