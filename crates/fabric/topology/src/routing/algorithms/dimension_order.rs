//! Dimension order: all hops in the first dimension, then in the second, and so on.
//!
//! ```text
//!   s0-0     s0-1     s0-2       from s0-0 to s2-2: first the first coordinate,
//!    ▼                           then the second
//!   s1-0     s1-1     s1-2
//!    ▼
//!   s2-0 ──► s2-1 ──► s2-2
//! ```
//!
//! In a ring, packets travel in the shorter direction; [`Ties`] decides between equally short ones.
//! If all switches of a ring of even size `k` send to each other, [`Ties::Up`] puts `k (k + 2) / 8`
//! paths on each upward channel and `k (k - 2) / 8` on each downward channel. [`Ties::Alternate`]
//! puts `k² / 8` on every channel if `k` is a multiple of 4 (otherwise half a path more or less).
//!
//! On a mesh the routes are deadlock-free: channels can be numbered by dimension, then by distance
//! along the direction of travel. On a torus, rings of four or more switches form cycles, because
//! some paths use two consecutive channels. Datelines (`lanes/datelines.rs`) break these cycles.
//!
//! Reference: Dally and Seitz 1987 (`proof/dependency.rs`), section IV (e-cube routing).

use super::choices::Choices;
use super::error::RouteError;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use super::shortest_path::onward;
use crate::routing::paths::graph::SwitchGraph;
use crate::{Grid, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `dimension-order`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {
    /// Direction of packets around a ring if both directions are equally long.
    pub ties: Ties,
}

/// Direction of packets around a ring of a torus if both directions are equally long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Towards larger coordinates.
    #[default]
    Up,
    /// From even coordinates towards larger ones, from odd coordinates towards smaller ones. With
    /// uniform all-to-all traffic, all channels of a ring have equal loads if the ring size is a
    /// multiple of 4.
    Alternate,
}

impl AlgorithmParameters for DimensionOrder {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { fabric, graph, .. } = task;
        let grid = Grid::recognise(fabric)?;
        Ok(Rule::by_choices(move |destination| toward(graph, &grid, self.ties, destination)))
    }

    fn needs_datelines(&self) -> bool {
        true
    }
}

pub(super) fn toward(graph: &SwitchGraph, grid: &Grid, ties: Ties, destination: NodeId) -> Choices {
    let hops = graph.switches().map(|switch| hops(grid, ties, switch, destination)).collect();
    Choices::one_hop_nearer(1, hops, |state| {
        let switch = NodeId::new(state.index());
        let next = next_switch(grid, ties, switch, destination);
        graph
            .hops_from(switch)
            .iter()
            .copied()
            .filter(move |step| Some(step.to) == next)
            .map(onward)
    })
}

struct DimensionHops {
    up: bool,
    hops: u32,
}

fn dimension_hops(
    grid: &Grid,
    ties: Ties,
    from: NodeId,
    to: NodeId,
    dimension: usize,
) -> DimensionHops {
    let [at, goal] = [from, to].map(|switch| grid.coordinate(switch, dimension));
    let direct = at.abs_diff(goal);
    let around = grid.dimensions()[dimension] - direct;
    // On the wrap-around cable, the upward direction leads to smaller coordinates.
    let ties_go_up = ties == Ties::Up || at.is_multiple_of(2);
    let is_tie_across = around == direct && ties_go_up != (goal > at);
    let crosses = grid.wraps()[dimension] && (around < direct || is_tie_across);
    DimensionHops { up: (goal > at) != crosses, hops: if crosses { around } else { direct } }
}

fn hops(grid: &Grid, ties: Ties, from: NodeId, to: NodeId) -> u32 {
    (0..grid.dimensions().len())
        .map(|dimension| dimension_hops(grid, ties, from, to, dimension).hops)
        .sum()
}

fn next_switch(grid: &Grid, ties: Ties, from: NodeId, to: NodeId) -> Option<NodeId> {
    let by_dimension = (0..grid.dimensions().len())
        .map(|dimension| (dimension, dimension_hops(grid, ties, from, to, dimension)));
    let (dimension, dimension_hops) =
        by_dimension.into_iter().find(|(_, dimension_hops)| dimension_hops.hops > 0)?;
    grid.step(from, dimension, dimension_hops.up)
}
