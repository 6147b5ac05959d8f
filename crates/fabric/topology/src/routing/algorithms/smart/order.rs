//! An order of the switches that forbidden turns must leave possible.
//!
//! ```text
//!   forbidden:  u ─► v ─► w        so v must come after u and after w
//! ```
//!
//! Take any order of the switches of an island in which each but the first has an earlier
//! neighbour, and call "up" what leads to an earlier switch. Up*/down* by this order joins all
//! of them, and the turns that it does not make lead down into a switch and up again: from an
//! earlier switch to an earlier one. So while there is an order in which the switch of every
//! forbidden turn comes after both others, all pairs have a way that makes no forbidden
//! turn; and on any cycle of dependencies some turn leads down and up in that order, so it
//! may be forbidden and the same order remains. Cycles can be broken until none is left.
//!
//! Which order it will be is decided by the turns that are forbidden, not beforehand.

use crate::NodeId;
use crate::routing::paths::graph::SwitchGraph;
use std::collections::BTreeSet;

/// What is demanded of the order, and one that meets it.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The first switch of each switch's island.
    islands: Vec<NodeId>,
    /// By switch: those that must come earlier.
    earlier: Vec<BTreeSet<NodeId>>,
    /// By switch: its place in an order of its island that will do.
    place: Vec<usize>,
}

impl Order {
    /// Nothing is demanded yet.
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

    /// The turn from the first switch over the second to the third is forbidden.
    pub(super) fn forbid(&mut self, graph: &SwitchGraph, turn: [NodeId; 3]) {
        let places = self.places_without(graph, turn).expect("an order remains");
        let [from, at, to] = turn;
        self.earlier[at.index()].extend([from, to]);
        self.keep(&places);
    }

    /// Whether an order remains if this turn is forbidden, too.
    pub(super) fn stands_without(&self, graph: &SwitchGraph, turn: [NodeId; 3]) -> bool {
        self.places_without(graph, turn).is_some()
    }

    /// The places in an order of the turn's island without this turn; empty if those known
    /// will do.
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

    /// The places in an order of an island that meets all demands, if there is one.
    fn places(&self, graph: &SwitchGraph, island: NodeId) -> Option<Vec<(NodeId, usize)>> {
        let members: Vec<_> =
            graph.switches().filter(|switch| self.islands[switch.index()] == island).collect();
        let may_begin = |switch: &&NodeId| self.earlier[switch.index()].is_empty();
        let roots = members.iter().filter(may_begin);
        let orders = roots.map(|root| self.taken_in(graph, &members, *root));
        let whole = orders.into_iter().find(|order| order.len() == members.len())?;
        Some(whole.into_iter().enumerate().map(|(place, switch)| (switch, place)).collect())
    }

    /// The switches that an order takes in that begins with `root`. Taking one in never keeps
    /// another out, so it does not matter which comes first.
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
