//! Removal of dependency cycles, one turn at a time.
//!
//! ```text
//!   a ► b ► c ► a      a shortest cycle: the turn with the lowest price
//!       └ forbidden    is forbidden, and its paths are rerouted
//! ```
//!
//! The price of a turn is the number of channels that rerouting would add to its host-to-host paths
//! in total; in a tie, the turn with fewer paths is forbidden. A turn that some pair needs is kept,
//! so a cycle may remain unless an order of the switches (`order.rs`) is preserved.

use super::order::Order;
use super::paths::Paths;
use super::search::{Ground, LightestPaths};
use super::turns::Turn;
use crate::routing::proof::components::Components;
use crate::routing::proof::cycle::shortest_cycle;
use crate::{ChannelId, Fabric, NodeId};
use std::collections::BTreeMap;

pub(super) struct Breaking<'a> {
    paths: Paths<'a>,
    search: LightestPaths,
    is_allowed: Vec<bool>,
    order: Option<Order>,
}

impl<'a> Breaking<'a> {
    pub(super) fn new(paths: Paths<'a>, order: Option<Order>) -> Self {
        let turns = paths.index.all(paths.graph);
        // A turn back into the same cable is useless.
        let is_allowed = turns.map(|turn| turn.wanted != Fabric::reverse(turn.held)).collect();
        let search = LightestPaths::new(paths.index.channel_count());
        let demands = paths.demands();
        let mut breaking = Self { paths, search, is_allowed, order };
        demands.for_each(|demand| breaking.lay(demand));
        breaking
    }

    /// Breaks all cycles; `None` if no turn of a cycle can be forbidden, which cannot happen with
    /// an order.
    pub(super) fn run(mut self) -> Option<Paths<'a>> {
        loop {
            let graph = self.paths.dependencies();
            let Some(cycle) = shortest_cycle(&graph, &Components::new(&graph)) else {
                return Some(self.paths);
            };
            let channel = |place: usize| graph.channel(cycle[place % cycle.len()]);
            let turn = |place| Turn { held: channel(place), wanted: channel(place + 1) };
            let turns: Vec<_> = (0..cycle.len()).map(turn).collect();
            let cheapest = self.cheapest(&turns)?;
            self.forbid(cheapest);
        }
    }

    fn lay(&mut self, demand: super::paths::DemandId) {
        let (index, is_allowed) = (self.paths.index, &self.is_allowed);
        let path = self.paths.lightest(&mut self.search, demand, |held, wanted| {
            held.is_none_or(|held| is_allowed[index.of(Turn { held, wanted })])
        });
        if let Some(path) = path {
            self.paths.lay(demand, path);
        }
    }

    fn cheapest(&mut self, cycle: &[Turn]) -> Option<Turn> {
        let may_go: Vec<_> = cycle.iter().filter(|turn| self.may_go(**turn)).copied().collect();
        let priced = may_go.into_iter().filter_map(|turn| Some((self.price(turn)?, turn)));
        priced.min_by_key(|(price, _)| *price).map(|(_, turn)| turn)
    }

    fn may_go(&self, turn: Turn) -> bool {
        let order = self.order.as_ref();
        order.is_none_or(|order| order.stands_without(self.paths.graph, self.corner(turn)))
    }

    fn price(&mut self, without: Turn) -> Option<(u64, u64)> {
        let mut paths = 0;
        let mut by_ends: BTreeMap<(NodeId, NodeId), (u64, u64)> = BTreeMap::new();
        for demand in self.paths.makers(without) {
            let weight = self.paths.weight(demand);
            let length = self.paths.path(demand).map_or(0, <[ChannelId]>::len);
            let (count, channels) = by_ends.entry(self.paths.ends(demand)).or_default();
            *count += weight;
            *channels += weight * length as u64;
            paths += weight;
        }
        let (index, is_allowed) = (self.paths.index, &self.is_allowed);
        let is_lawful = |held: Option<ChannelId>, wanted: ChannelId| {
            held.is_none_or(|held| {
                let turn = Turn { held, wanted };
                turn != without && is_allowed[index.of(turn)]
            })
        };
        let ground = Ground { graph: self.paths.graph, index, is_lawful };
        let mut more = 0;
        for (ends, (count, channels)) in by_ends {
            more += count * u64::from(self.search.hops(&ground, ends)?) - channels;
        }
        Some((more, paths))
    }

    fn forbid(&mut self, turn: Turn) {
        self.is_allowed[self.paths.index.of(turn)] = false;
        let corner = self.corner(turn);
        if let Some(order) = &mut self.order {
            order.forbid(self.paths.graph, corner);
        }
        let demands = self.paths.makers(turn);
        for demand in &demands {
            self.paths.lift(*demand);
        }
        for demand in demands {
            self.lay(demand);
        }
    }

    fn corner(&self, turn: Turn) -> [NodeId; 3] {
        let target = |channel| self.paths.index.target(channel);
        [target(Fabric::reverse(turn.held)), target(turn.held), target(turn.wanted)]
    }
}
