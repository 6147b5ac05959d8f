//! Host pairs whose shortest paths all turn from down to up at switches without hosts.

use super::choices::State;
use super::orientation::Orientation;
use super::phases::{self, PHASES, is_turn, switch_of};
use crate::NodeId;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::source_routes::FallBacks;
use std::collections::BTreeSet;

pub(super) fn fall_backs(graph: &SwitchGraph, orientation: &Orientation) -> FallBacks {
    let has_hosts = |switch: NodeId| graph.host_count(switch) > 0;
    if graph.switches().all(has_hosts) {
        return FallBacks::default();
    }
    let (mut pairs, mut switches) = (0, BTreeSet::new());
    for destination in graph.switches().filter(|switch| has_hosts(*switch)) {
        let lawful = phases::hops(graph, orientation, destination, has_hosts);
        let shortest = graph.distances(destination);
        let falls_back = |source: &NodeId| {
            has_hosts(*source) && lawful[phases::start(*source).index()] > shortest[source.index()]
        };
        let sources: Vec<_> = graph.switches().filter(falls_back).collect();
        let hosts: u64 = sources.iter().map(|source| u64::from(graph.host_count(*source))).sum();
        pairs += hosts * u64::from(graph.host_count(destination));
        if !sources.is_empty() {
            switches.extend(hostless_turns(graph, orientation, destination, &sources));
        }
    }
    FallBacks { pairs, switches: switches.into_iter().collect() }
}

fn hostless_turns(
    graph: &SwitchGraph,
    orientation: &Orientation,
    destination: NodeId,
    sources: &[NodeId],
) -> Vec<NodeId> {
    let shortest = phases::toward(graph, orientation, destination, |_| true);
    let mut open: Vec<State> = sources.iter().map(|source| phases::start(*source)).collect();
    let mut seen = vec![false; graph.switch_count() * PHASES];
    let mut turns = Vec::new();
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut seen[state.index()], true) {
            continue;
        }
        let choices = shortest.from(state);
        open.extend(choices.iter().map(|choice| choice.to));
        let switch = switch_of(state);
        let turns_here = choices.iter().any(|choice| is_turn(state, choice.to));
        if turns_here && graph.host_count(switch) == 0 {
            turns.push(switch);
        }
    }
    turns
}
