//! Channel costs derived from cable lengths, and cheapest paths.
//!
//! ```text
//!            8 m                 a channel costs its cable length plus 1 m:
//!     s0 ──────────── s1         s0 to s1: 9 m direct, 3 m + 3 m via s2
//!       └──── s2 ────┘
//!        2 m       2 m
//! ```
//!
//! Dijkstra's algorithm, run from each destination, minimises first the cost and then the number of
//! channels, so every channel leads one hop nearer ([`Choices`]).
//!
//! Sources: Dijkstra 1959 (`shortest_path.rs`); BookSim 2, `src/networks/anynet.cpp`, whose `min`
//! routing adds channel latencies.

use super::choices::Choices;
use super::error::RouteError;
use super::shortest_path::onward;
use crate::routing::paths::graph::{Hop, SwitchGraph, UNREACHED};
use crate::{Cable, Fabric, NodeId};
use gingham_kernel::Length;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const HOP_LENGTH: Length = Length::from_mm(1_000);

type PathCost = (u128, u32);

const NO_PATH: PathCost = (u128::MAX, UNREACHED);

#[derive(Debug)]
pub(super) struct CableCosts {
    /// By channel: cost; 0 for host channels, which all alternatives share.
    costs: Vec<u128>,
}

impl CableCosts {
    pub(super) fn new(
        fabric: &Fabric,
        graph: &SwitchGraph,
        hop_length: Option<Length>,
    ) -> Result<Self, RouteError> {
        let hop = u128::from(hop_length.unwrap_or(HOP_LENGTH).as_mm());
        let mut costs = vec![0; fabric.channel_count()];
        for step in hops(graph) {
            let length = fabric.cable_of(step.channel).length;
            let length = length.ok_or_else(|| unknown_length(fabric))?;
            costs[step.channel.index()] = hop + u128::from(length.as_mm());
        }
        Ok(Self { costs })
    }

    pub(super) fn toward(&self, graph: &SwitchGraph, destination: NodeId) -> Choices {
        let paths = self.cheapest(graph, destination);
        let hops = paths.iter().map(|(_, hops)| *hops).collect();
        Choices::one_hop_nearer(1, hops, |state| {
            let (cost, _) = paths[state.index()];
            let is_cheapest = |step: &Hop| self.onto(paths[step.to.index()], *step).0 == cost;
            let steps = graph.hops_from(NodeId::new(state.index())).iter().copied();
            steps.filter(is_cheapest).map(onward).collect::<Vec<_>>().into_iter()
        })
    }

    fn cheapest(&self, graph: &SwitchGraph, destination: NodeId) -> Vec<PathCost> {
        let mut paths = vec![NO_PATH; graph.switch_count()];
        paths[destination.index()] = (0, 0);
        let mut open = BinaryHeap::from([Reverse(((0, 0), destination))]);
        while let Some(Reverse((path, near))) = open.pop() {
            if path > paths[near.index()] {
                continue;
            }
            for step in graph.hops_from(near) {
                let longer = self.onto(path, *step);
                if longer < paths[step.to.index()] {
                    paths[step.to.index()] = longer;
                    open.push(Reverse((longer, step.to)));
                }
            }
        }
        paths
    }

    fn onto(&self, (cost, hops): PathCost, step: Hop) -> PathCost {
        (cost.saturating_add(self.costs[step.channel.index()]), hops.saturating_add(1))
    }
}

pub(super) fn differing_lengths(fabric: &Fabric) -> Option<[Length; 2]> {
    let lengths = || trunks(fabric).filter_map(|cable| cable.length);
    let (least, most) = (lengths().min()?, lengths().max()?);
    (least < most).then_some([least, most])
}

fn hops(graph: &SwitchGraph) -> impl Iterator<Item = Hop> + '_ {
    graph.switches().flat_map(|switch| graph.hops_from(switch)).copied()
}

fn trunks(fabric: &Fabric) -> impl Iterator<Item = &Cable> {
    let is_trunk = |cable: &&Cable| {
        let [from, to] = cable.ends.map(|end| end.node);
        from != to && fabric.node(from).is_switch() && fabric.node(to).is_switch()
    };
    fabric.cables().iter().filter(is_trunk)
}

fn unknown_length(fabric: &Fabric) -> RouteError {
    let unknown: Vec<_> = trunks(fabric).filter(|cable| cable.length.is_none()).collect();
    RouteError::UnknownLengths {
        unknown: unknown.len(),
        cables: trunks(fabric).count(),
        first: unknown[0].ends.map(|end| fabric.port_name(end)),
    }
}
