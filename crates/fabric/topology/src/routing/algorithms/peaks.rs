//! Reduction to one peak per connected component, so that up*/down* joins any two of its switches.
//!
//! ```text
//!   two roots                       one peak
//!
//!   s0    s1                          s3             s3, below both, and the switches above it
//!   │ ╲  ╱ │                         ╱  ╲            change order: s3 is now the highest
//!   s2    s3     s0 -> s3 -> s1    s0    s1          s0 -> s3 -> s1    up, down
//!                down, up            ╲  ╱            s2 -> s0 -> s3    up, up, as before
//!                                     s2
//! ```
//!
//! A peak is a switch without a higher neighbour. A legal path joins two switches if and only if
//! both reach a common switch by going up, which is impossible for two peaks. While a connected
//! component has several peaks, the switch below most of them is lifted: this switch and all
//! switches above it move to the front, in reverse order.
//!
//! **The procedure ends with one peak.** The lifted switch replaces the peaks above it: all other
//! moved switches are now below it, and the remaining switches keep their higher neighbours. While
//! there are two peaks, some switch is below two of them, because the component is connected.
//!
//! **Every pair keeps a legal path.** A legal path becomes illegal only if it went up and then down
//! among moved switches. Both ends of that section then reach the lifted switch by going up. In a
//! tree, shortest paths between leaves stay legal. The construction is ours.

use crate::NodeId;
use crate::routing::paths::graph::SwitchGraph;

#[derive(Debug)]
pub(super) struct Order {
    /// By switch: position in the order; 0 for the highest.
    places: Vec<usize>,
}

impl Order {
    pub(super) fn by_rank(graph: &SwitchGraph, ranks: &[u32]) -> Self {
        let mut switches: Vec<_> = graph.switches().collect();
        switches.sort_by_key(|switch| (ranks[switch.index()], *switch));
        Self::of(&switches)
    }

    fn of(switches: &[NodeId]) -> Self {
        let mut places = vec![0; switches.len()];
        for (place, switch) in switches.iter().enumerate() {
            places[switch.index()] = place;
        }
        Self { places }
    }

    pub(super) fn is_higher(&self, switch: NodeId, than: NodeId) -> bool {
        self.places[switch.index()] < self.places[than.index()]
    }

    pub(super) fn peaks(&self, graph: &SwitchGraph) -> Vec<NodeId> {
        let tops_out = |switch: &NodeId| {
            let mut steps = graph.hops_from(*switch).iter();
            steps.all(|step| self.is_higher(*switch, step.to))
        };
        graph.switches().filter(tops_out).collect()
    }

    /// Leaves one peak per connected component; returns whether any component had several.
    pub(super) fn join_peaks(&mut self, graph: &SwitchGraph) -> bool {
        let islands = graph.islands();
        let mut had_several = false;
        while let Some(switch) = self.below_most_peaks(graph, &islands) {
            self.lift(graph, switch);
            had_several = true;
        }
        had_several
    }

    /// Breaks ties in favour of the switch that is lowest in the order.
    fn below_most_peaks(&self, graph: &SwitchGraph, islands: &[NodeId]) -> Option<NodeId> {
        let peaks = self.peaks(graph);
        let island = |switch: NodeId| islands[switch.index()];
        let mut peaks_of_island = vec![0; graph.switch_count()];
        for peak in &peaks {
            peaks_of_island[island(*peak).index()] += 1;
        }
        let crowded = graph.switches().find(|island| peaks_of_island[island.index()] > 1)?;
        let mut above = vec![0; graph.switch_count()];
        for peak in peaks.into_iter().filter(|peak| island(*peak) == crowded) {
            for switch in reached(graph, peak, |from, to| self.is_higher(from, to)) {
                above[switch.index()] += 1;
            }
        }
        graph.switches().max_by_key(|switch| (above[switch.index()], self.places[switch.index()]))
    }

    fn lift(&mut self, graph: &SwitchGraph, switch: NodeId) {
        let lifted = reached(graph, switch, |from, to| self.is_higher(to, from));
        let mut is_lifted = vec![false; graph.switch_count()];
        for switch in &lifted {
            is_lifted[switch.index()] = true;
        }
        let mut switches: Vec<_> = graph.switches().collect();
        switches.sort_by_key(|switch| {
            let place = self.places[switch.index()];
            if is_lifted[switch.index()] { (0, usize::MAX - place) } else { (1, place) }
        });
        *self = Self::of(&switches);
    }
}

fn reached(
    graph: &SwitchGraph,
    from: NodeId,
    leads_on: impl Fn(NodeId, NodeId) -> bool,
) -> Vec<NodeId> {
    let mut seen = vec![false; graph.switch_count()];
    seen[from.index()] = true;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&switch) = reached.get(next) {
        for step in graph.hops_from(switch) {
            if !seen[step.to.index()] && leads_on(switch, step.to) {
                seen[step.to.index()] = true;
                reached.push(step.to);
            }
        }
        next += 1;
    }
    reached
}
