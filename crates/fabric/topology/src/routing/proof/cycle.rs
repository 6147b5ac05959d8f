//! Search for a shortest cycle of dependencies, and its description for users.
//!
//! Breadth-first search from each buffer in turn finds the shortest path back through higher
//! buffers, with successors in ascending order, so the cycle is lexicographically least. Worst
//! case: O(buffers x dependencies).

use super::adaptive::AdaptiveCollector;
use super::by_destination::Counted;
use super::components::Components;
use super::dependency::{DependencyGraph, VertexId, adaptive_tables, lane_groups};
use super::ejection::BackpressuredHosts;
use crate::routing::lanes::Lanes;
use crate::routing::lanes::route_set::{Buffer, LanedWalk, RouteSet};
use crate::routing::paths::graph::SwitchGraph;
use crate::{EndpointId, Fabric};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

pub(crate) fn shortest_cycle(
    graph: &DependencyGraph,
    components: &Components,
) -> Option<Vec<VertexId>> {
    let mut best: Option<Vec<VertexId>> = None;
    let mut search = CycleSearch::new(graph, components);
    for start in VertexId::first(graph.vertex_count()) {
        let length_max = best.as_ref().map_or(usize::MAX, |cycle| cycle.len() - 1);
        if let Some(cycle) = search.back_to(start, length_max) {
            best = Some(cycle);
        }
    }
    best
}

struct CycleSearch<'a> {
    graph: &'a DependencyGraph,
    components: &'a Components,
    found: Vec<Option<(VertexId, VertexId)>>,
    queue: VecDeque<(VertexId, usize)>,
}

impl<'a> CycleSearch<'a> {
    fn new(graph: &'a DependencyGraph, components: &'a Components) -> Self {
        let found = vec![None; graph.vertex_count()];
        Self { graph, components, found, queue: VecDeque::new() }
    }

    /// Finds the shortest cycle through `start` and higher vertices.
    fn back_to(&mut self, start: VertexId, length_max: usize) -> Option<Vec<VertexId>> {
        self.queue.clear();
        self.queue.push_back((start, 1));
        while let Some((vertex, length)) = self.queue.pop_front() {
            if length > length_max {
                return None;
            }
            for &next in self.graph.after(vertex) {
                if next == start {
                    return Some(self.way_to(vertex, start));
                }
                if next > start && self.is_new(start, next) {
                    self.found[next.index()] = Some((start, vertex));
                    self.queue.push_back((next, length + 1));
                }
            }
        }
        None
    }

    fn is_new(&self, start: VertexId, next: VertexId) -> bool {
        let seen = self.found[next.index()].is_some_and(|(search, _)| search == start);
        !seen && self.components.of[next.index()] == self.components.of[start.index()]
    }

    fn way_to(&self, end: VertexId, start: VertexId) -> Vec<VertexId> {
        let mut path = vec![end];
        let mut vertex = end;
        while vertex != start {
            vertex = self.found[vertex.index()].expect("the way back was found").1;
            path.push(vertex);
        }
        path.reverse();
        path
    }
}

/// Finds, for each buffer, a pair of endpoints (preferably hosts) whose route continues to the next
/// buffer. With adaptive routing, packets of the pair may wait for the next buffer.
pub fn cycle_witnesses<'a>(
    fabric: &Fabric,
    routes: impl Into<RouteSet<'a>>,
    cycle: &[Buffer],
) -> Vec<Option<(EndpointId, EndpointId)>> {
    let graph = SwitchGraph::new(fabric);
    let routes = routes.into();
    if let Some(tables) = adaptive_tables(routes) {
        let (tables, groups) = ((tables, routes), lane_groups(routes));
        return AdaptiveCollector::new(fabric, &graph, tables, &groups, Counted::All)
            .witnesses(cycle);
    }
    let place: BTreeMap<Buffer, usize> =
        cycle.iter().enumerate().map(|(index, buffer)| (*buffer, index)).collect();
    let mut witnesses = vec![None; cycle.len()];
    let mut by_hosts = vec![None; cycle.len()];
    let backpressured = BackpressuredHosts::new(fabric, &graph, routes);
    let mut visit = |laned: &LanedWalk<'_>| {
        backpressured.turns(fabric, &graph, routes, laned, |sender, held, wanted| {
            for held in held.each() {
                if let Some(&index) = place.get(&held)
                    && by_hosts[index].is_none()
                    && wanted.contains(cycle[(index + 1) % cycle.len()])
                {
                    let to = laned.walk.to;
                    witnesses[index] = witnesses[index].or(Some((sender, to)));
                    let is_own = sender == laned.sender;
                    let by_host = if is_own { laned.host_sender } else { Some(sender) };
                    by_hosts[index] = by_host.filter(|_| graph.is_host(to)).map(|from| (from, to));
                }
            }
        });
    };
    routes.walk_all(fabric, &graph, &mut visit);
    by_hosts.into_iter().zip(witnesses).map(|(hosts, any)| hosts.or(any)).collect()
}

/// Returns the name of a buffer: its channel, with the lane if there are several.
pub fn buffer_name(fabric: &Fabric, buffer: Buffer, lane_count: usize) -> String {
    let channel = fabric.channel_name(buffer.channel);
    if lane_count > 1 { format!("{channel} lane {}", buffer.lane) } else { channel }
}

/// Returns the name of a buffer in a cycle, with all lanes of its VL, because packets on all these
/// lanes wait for the next VL.
pub fn vertex_name<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>, buffer: Buffer) -> String {
    let routes = routes.into();
    let lanes_per_vl = routes.lanes.map_or(1, Lanes::lanes_per_vl);
    if lanes_per_vl == 1 {
        return buffer_name(fabric, buffer, routes.lane_count());
    }
    let vl = buffer.lane / lanes_per_vl;
    let first = vl * lanes_per_vl;
    let last = first + lanes_per_vl - 1;
    format!("{} VL {vl} (lanes {first} to {last})", fabric.channel_name(buffer.channel))
}

/// Describes a cycle, with a line and an example pair for each buffer.
pub fn describe_cycle<'a>(
    fabric: &Fabric,
    routes: impl Into<RouteSet<'a>>,
    cycle: &[Buffer],
) -> String {
    let routes = routes.into();
    let name = |buffer: &Buffer| vertex_name(fabric, routes, *buffer);
    let width = cycle.iter().map(|buffer| name(buffer).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (buffer, witness) in cycle.iter().zip(cycle_witnesses(fabric, routes, cycle)) {
        let reason = witness.map_or_else(String::new, |(from, to)| {
            let (from, to) = (fabric.endpoint_name(from), fabric.endpoint_name(to));
            match fabric.endpoint_at(fabric.target(buffer.channel)) {
                None => format!("then the next, from {from} to {to}"),
                Some(host) => {
                    let host = fabric.endpoint_name(host);
                    format!("in transit at {host}, which sends on by the next, from {from} to {to}")
                }
            }
        });
        writeln!(text, "{:width$}   {reason}", name(buffer)).expect("a string takes text");
    }
    if let Some(first) = cycle.first() {
        writeln!(text, "{:width$}   closes the cycle", name(first)).expect("a string takes text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortest(buffer_count: usize, edges: &[(usize, usize)]) -> Option<Vec<usize>> {
        let graph = DependencyGraph::from_edges(buffer_count, edges);
        let cycle = shortest_cycle(&graph, &Components::new(&graph))?;
        Some(cycle.into_iter().map(VertexId::index).collect())
    }

    #[test]
    fn shorter_of_two_cycles_is_found() {
        let long_and_short = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 3)];
        assert_eq!(shortest(6, &long_and_short), Some(vec![3, 4, 5]));
    }

    #[test]
    fn equal_cycles_are_ordered_by_lowest_channel() {
        // Cycles of three vertices: 1-4-2, 1-3-5 and 2-6-7.
        let edges = [(1, 4), (4, 2), (2, 1), (1, 3), (3, 5), (5, 1), (2, 6), (6, 7), (7, 2)];
        assert_eq!(shortest(8, &edges), Some(vec![1, 3, 5]));
    }

    #[test]
    fn self_loop_is_a_cycle_and_acyclic_graph_has_none() {
        assert_eq!(shortest(3, &[(0, 1), (1, 0), (2, 2)]), Some(vec![2]));
        assert_eq!(shortest(3, &[(0, 1), (1, 2), (0, 2)]), None);
    }
}
