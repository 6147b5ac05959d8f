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
use crate::routing::graph::SwitchGraph;
use std::collections::BTreeSet;

/// What is demanded of the order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The first switch of each switch's island.
    islands: Vec<NodeId>,
    /// By switch: those that must come earlier.
    earlier: Vec<BTreeSet<NodeId>>,
}

impl Order {
    /// Any order.
    pub(super) fn new(graph: &SwitchGraph) -> Self {
        Self { islands: graph.islands(), earlier: vec![BTreeSet::new(); graph.switch_count()] }
    }

    /// The turn from the first switch over the second to the third is forbidden.
    pub(super) fn forbid(&mut self, [from, at, to]: [NodeId; 3]) {
        self.earlier[at.index()].extend([from, to]);
    }

    /// Whether an order remains if this turn is forbidden, too.
    pub(super) fn stands_without(&self, graph: &SwitchGraph, turn: [NodeId; 3]) -> bool {
        let mut wished = self.clone();
        wished.forbid(turn);
        let island = self.islands[turn[1].index()];
        let members: Vec<_> =
            graph.switches().filter(|switch| self.islands[switch.index()] == island).collect();
        let may_begin = |switch: &&NodeId| wished.earlier[switch.index()].is_empty();
        members.iter().filter(may_begin).any(|root| wished.takes_in(graph, *root) == members.len())
    }

    /// How many switches an order takes in that begins with `root`. Taking one in never keeps
    /// another out, so it does not matter which comes first.
    fn takes_in(&self, graph: &SwitchGraph, root: NodeId) -> usize {
        let mut is_in = vec![false; graph.switch_count()];
        is_in[root.index()] = true;
        let mut count = 1;
        loop {
            let before = count;
            for switch in graph.switches().filter(|switch| *switch != root) {
                let has_neighbour =
                    || graph.steps(switch).iter().any(|step| is_in[step.to.index()]);
                let mut earlier = self.earlier[switch.index()].iter();
                if !is_in[switch.index()]
                    && earlier.all(|other| is_in[other.index()])
                    && has_neighbour()
                {
                    is_in[switch.index()] = true;
                    count += 1;
                }
            }
            if count == before {
                return count;
            }
        }
    }
}
