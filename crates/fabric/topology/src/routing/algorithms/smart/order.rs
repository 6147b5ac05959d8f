//! An order of the switches that forbidden turns must leave possible.
//!
//! ```text
//!   forbidden:  u ─► v ─► w        so v must come after u and after w
//! ```
//!
//! Take any order of the switches of a connected part that gives each but the first an earlier
//! neighbour, and call "up" each channel to an earlier switch. Up*/down* by this order joins all of
//! them, and the turns that it does not use lead down into a switch and up again: from an earlier
//! switch to an earlier one. While there is an order with the switch of every forbidden turn after
//! both others, all pairs therefore have a path without forbidden turns; and on any cycle of
//! dependencies some turn leads down and up in that order, so it may be forbidden without changing
//! the order. Cycles can be broken until none is left.
//!
//! The order is not fixed beforehand, but results from the turns that are forbidden.

use crate::NodeId;
use crate::routing::paths::graph::SwitchGraph;
use std::collections::BTreeSet;

/// Constraints on the order, and an order that meets them.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// First switch of each switch's connected part.
    islands: Vec<NodeId>,
    /// By switch: switches that must come earlier.
    earlier: Vec<BTreeSet<NodeId>>,
    /// By switch: its place in a valid order of its connected part.
    place: Vec<usize>,
}

impl Order {
    /// Creates an order without constraints.
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

    /// Forbids the turn from the first switch over the second to the third.
    pub(super) fn forbid(&mut self, graph: &SwitchGraph, turn: [NodeId; 3]) {
        let places = self.places_without(graph, turn).expect("an order remains");
        let [from, at, to] = turn;
        self.earlier[at.index()].extend([from, to]);
        self.keep(&places);
    }

    /// Returns whether an order remains if this turn is forbidden as well.
    pub(super) fn stands_without(&self, graph: &SwitchGraph, turn: [NodeId; 3]) -> bool {
        self.places_without(graph, turn).is_some()
    }

    /// Returns the places in an order of the turn's connected part without this turn; empty if the
    /// current order remains valid.
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

    /// Returns the places in an order of a connected part that meets all constraints, if there is
    /// one.
    fn places(&self, graph: &SwitchGraph, island: NodeId) -> Option<Vec<(NodeId, usize)>> {
        let members: Vec<_> =
            graph.switches().filter(|switch| self.islands[switch.index()] == island).collect();
        let may_begin = |switch: &&NodeId| self.earlier[switch.index()].is_empty();
        let roots = members.iter().filter(may_begin);
        let orders = roots.map(|root| self.taken_in(graph, &members, *root));
        let whole = orders.into_iter().find(|order| order.len() == members.len())?;
        Some(whole.into_iter().enumerate().map(|(place, switch)| (switch, place)).collect())
    }

    /// Returns the longest valid order that begins with `root`. Adding a switch never excludes
    /// another, so the sequence of additions does not matter.
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
