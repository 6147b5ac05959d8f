//! Order of the switches that must remain possible while turns are forbidden.
//!
//! ```text
//!   forbidden:  u ─► v ─► w        so v must come after u and after w
//! ```
//!
//! Take any order of a connected component that puts a neighbour of each switch except the first
//! before it, and call each channel to an earlier switch "up". Up*/down* with this order joins all
//! switches, and never turns at a switch from one earlier switch to another. All pairs therefore
//! have a path if some order puts the switch of every forbidden turn after both of its neighbours.
//! Any dependency cycle contains a turn from down to up, which can be forbidden without changing
//! the order.

use crate::NodeId;
use crate::routing::paths::graph::SwitchGraph;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(super) struct Order {
    islands: Vec<NodeId>,
    earlier: Vec<BTreeSet<NodeId>>,
    place: Vec<usize>,
}

impl Order {
    pub(super) fn new(graph: &SwitchGraph) -> Self {
        let islands = graph.islands();
        let earlier = vec![BTreeSet::new(); graph.switch_count()];
        let mut order = Self { place: vec![0; islands.len()], islands, earlier };
        for first in graph.switches() {
            if order.islands[first.index()] == first {
                let places = order.places(graph, first).expect("any order will do");
                order.keep(&places);
            }
        }
        order
    }

    pub(super) fn forbid(&mut self, graph: &SwitchGraph, turn: [NodeId; 3]) {
        let places = self.places_without(graph, turn).expect("an order remains");
        let [from, at, to] = turn;
        self.earlier[at.index()].extend([from, to]);
        self.keep(&places);
    }

    pub(super) fn stands_without(&self, graph: &SwitchGraph, turn: [NodeId; 3]) -> bool {
        self.places_without(graph, turn).is_some()
    }

    /// Returns changed positions that permit forbidding `turn`; empty if the current order permits
    /// it, `None` if no order does.
    fn places_without(
        &self,
        graph: &SwitchGraph,
        turn: [NodeId; 3],
    ) -> Option<Vec<(NodeId, usize)>> {
        let [from, at, to] = turn.map(|switch| self.place[switch.index()]);
        if from < at && to < at {
            return Some(Vec::new());
        }
        let [from, at, to] = turn;
        let mut wished = self.clone();
        wished.earlier[at.index()].extend([from, to]);
        wished.places(graph, self.islands[at.index()])
    }

    fn keep(&mut self, places: &[(NodeId, usize)]) {
        for (switch, place) in places {
            self.place[switch.index()] = *place;
        }
    }

    fn places(&self, graph: &SwitchGraph, island: NodeId) -> Option<Vec<(NodeId, usize)>> {
        let members: Vec<_> =
            graph.switches().filter(|switch| self.islands[switch.index()] == island).collect();
        let may_begin = |switch: &&NodeId| self.earlier[switch.index()].is_empty();
        let roots = members.iter().filter(may_begin);
        let orders = roots.map(|root| self.taken_in(graph, &members, *root));
        let whole = orders.into_iter().find(|order| order.len() == members.len())?;
        Some(whole.into_iter().enumerate().map(|(place, switch)| (switch, place)).collect())
    }

    /// Returns the longest valid order from `root`. A greedy search suffices, because adding a
    /// switch never excludes another.
    fn taken_in(&self, graph: &SwitchGraph, members: &[NodeId], root: NodeId) -> Vec<NodeId> {
        let mut is_in = vec![false; graph.switch_count()];
        is_in[root.index()] = true;
        let mut order = vec![root];
        loop {
            let before = order.len();
            for &switch in members {
                let mut earlier = self.earlier[switch.index()].iter();
                let mut steps = graph.hops_from(switch).iter();
                if !is_in[switch.index()]
                    && earlier.all(|other| is_in[other.index()])
                    && steps.any(|step| is_in[step.to.index()])
                {
                    is_in[switch.index()] = true;
                    order.push(switch);
                }
            }
            if order.len() == before {
                return order;
            }
        }
    }
}
