//! A shortest cycle of dependencies, and its words for people.
//!
//! ```text
//!   s0[2] -> s1[1]   then the next, from h0 to h2
//!   s1[2] -> s2[1]   then the next, from h1 to h3
//!   ...
//!   s0[2] -> s1[1]   closes the cycle
//! ```
//!
//! From each channel on a cycle, in ascending order, breadth-first search looks for the
//! shortest way back that comes through no lower channel, and gives up where it would
//! become as long as the shortest cycle known. Successors are looked at in ascending order, so the
//! answer is the one shortest cycle that, written from its lowest channel, is
//! lexicographically least. Worst case O(channels x dependencies) within the components that
//! have cycles; cycles of a few channels are found long before.

use super::Routes;
use super::components::Components;
use super::dependency::DependencyGraph;
use super::graph::SwitchGraph;
use crate::{ChannelId, EndpointId, Fabric};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// The lexicographically least of the shortest cycles, from its lowest channel on.
pub(super) fn shortest_cycle(
    graph: &DependencyGraph,
    components: &Components,
) -> Option<Vec<ChannelId>> {
    let mut best: Option<Vec<ChannelId>> = None;
    let mut search = Search::new(graph, components);
    for start in ChannelId::first(graph.channel_count()) {
        let length_max = best.as_ref().map_or(usize::MAX, |cycle| cycle.len() - 1);
        if let Some(cycle) = search.back_to(start, length_max) {
            best = Some(cycle);
        }
    }
    best
}

/// Buffers of the searches from one channel after the other.
struct Search<'a> {
    graph: &'a DependencyGraph,
    components: &'a Components,
    /// By channel: the start of the last search that found it, and from where.
    found: Vec<Option<(ChannelId, ChannelId)>>,
    queue: VecDeque<(ChannelId, usize)>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a DependencyGraph, components: &'a Components) -> Self {
        let found = vec![None; graph.channel_count()];
        Self { graph, components, found, queue: VecDeque::new() }
    }

    /// The shortest cycle through `start` and higher channels, of at most `length_max`.
    fn back_to(&mut self, start: ChannelId, length_max: usize) -> Option<Vec<ChannelId>> {
        self.queue.clear();
        self.queue.push_back((start, 1));
        while let Some((channel, length)) = self.queue.pop_front() {
            if length > length_max {
                return None;
            }
            for &next in self.graph.successors(channel) {
                if next == start {
                    return Some(self.way_to(channel, start));
                }
                if next > start && self.is_new(start, next) {
                    self.found[next.index()] = Some((start, channel));
                    self.queue.push_back((next, length + 1));
                }
            }
        }
        None
    }

    fn is_new(&self, start: ChannelId, next: ChannelId) -> bool {
        let seen = self.found[next.index()].is_some_and(|(search, _)| search == start);
        !seen && self.components.of[next.index()] == self.components.of[start.index()]
    }

    fn way_to(&self, end: ChannelId, start: ChannelId) -> Vec<ChannelId> {
        let mut way = vec![end];
        let mut channel = end;
        while channel != start {
            channel = self.found[channel.index()].expect("the way back was found").1;
            way.push(channel);
        }
        way.reverse();
        way
    }
}

/// For each channel of a cycle, one pair of endpoints whose route takes the next channel right
/// after it, if any does; a pair of hosts, if there is one.
pub fn cycle_witnesses(
    fabric: &Fabric,
    routes: &Routes,
    cycle: &[ChannelId],
) -> Vec<Option<(EndpointId, EndpointId)>> {
    let graph = SwitchGraph::new(fabric);
    let mut place = vec![None; fabric.channel_count()];
    for (index, channel) in cycle.iter().enumerate() {
        place[channel.index()] = Some(index);
    }
    let mut witnesses = vec![None; cycle.len()];
    let mut by_hosts = vec![None; cycle.len()];
    routes.walk_all(fabric, &graph, |walk| {
        for pair in walk.channels.windows(2) {
            if let Some(index) = place[pair[0].index()]
                && by_hosts[index].is_none()
                && cycle[(index + 1) % cycle.len()] == pair[1]
            {
                let found = |from| (from, walk.to);
                witnesses[index] = witnesses[index].or(walk.senders(&graph).next().map(found));
                by_hosts[index] = walk.host_sender(&graph).map(found);
            }
        }
    });
    by_hosts.into_iter().zip(witnesses).map(|(hosts, any)| hosts.or(any)).collect()
}

/// The cycle for people: a line for each channel, with a pair of endpoints whose route goes on to
/// the next, and the first channel again at the end.
pub fn describe_cycle(fabric: &Fabric, routes: &Routes, cycle: &[ChannelId]) -> String {
    let name = |channel: &ChannelId| fabric.channel_name(*channel);
    let width = cycle.iter().map(|channel| name(channel).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (channel, witness) in cycle.iter().zip(cycle_witnesses(fabric, routes, cycle)) {
        let reason = witness.map_or_else(String::new, |(from, to)| {
            let (from, to) = (fabric.endpoint_name(from), fabric.endpoint_name(to));
            format!("then the next, from {from} to {to}")
        });
        writeln!(text, "{:width$}   {reason}", name(channel)).expect("a string takes text");
    }
    if let Some(first) = cycle.first() {
        writeln!(text, "{:width$}   closes the cycle", name(first)).expect("a string takes text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortest(channel_count: usize, edges: &[(usize, usize)]) -> Option<Vec<usize>> {
        let graph = DependencyGraph::from_edges(channel_count, edges);
        let cycle = shortest_cycle(&graph, &Components::new(&graph))?;
        Some(cycle.into_iter().map(ChannelId::index).collect())
    }

    #[test]
    fn the_shorter_of_two_cycles() {
        let long_and_short = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 3)];
        assert_eq!(shortest(6, &long_and_short), Some(vec![3, 4, 5]));
    }

    #[test]
    fn of_equals_the_least_from_its_lowest_channel() {
        // Three-cycles 1-4-2, 1-3-5 and 2-6-7.
        let edges = [(1, 4), (4, 2), (2, 1), (1, 3), (3, 5), (5, 1), (2, 6), (6, 7), (7, 2)];
        assert_eq!(shortest(8, &edges), Some(vec![1, 3, 5]));
    }

    #[test]
    fn a_channel_that_waits_for_itself_and_no_cycle_at_all() {
        assert_eq!(shortest(3, &[(0, 1), (1, 0), (2, 2)]), Some(vec![2]));
        assert_eq!(shortest(3, &[(0, 1), (1, 2), (0, 2)]), None);
    }
}
