//! Shortest path: any path with the fewest switches.
//!
//! Hops to each destination switch are found by breadth-first search from it, in
//! O(switches + cables); a packet may go on by every channel that leads one hop nearer. On a
//! tree, a star or a folded Clos network the result is free of deadlock, because shortest paths
//! there go up and then down; on a ring of four or more switches, or a torus, it is not.
//!
//! ```text
//!   s0 ── s1      s0 to s2: by s1 or by s3, whichever channel carries less so far
//!   │      │
//!   s3 ── s2
//! ```
//!
//! Reference: Moore, "The shortest path through a maze", 1959. OpenSM calls the table form
//! "min hop".

use super::choices::{Choice, Choices, State};
use super::error::RouteError;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use crate::NodeId;
use crate::routing::paths::graph::{Hop, SwitchGraph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `shortest-path`: none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPath {}

impl AlgorithmParameters for ShortestPath {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { graph, .. } = task;
        Ok(Rule::by_choices(|destination| toward(graph, destination)))
    }
}

/// The channels that lead one hop nearer to `destination`.
pub(super) fn toward(graph: &SwitchGraph, destination: NodeId) -> Choices {
    Choices::one_hop_nearer(1, graph.distances(destination), |state| {
        graph.hops_from(NodeId::new(state.index())).iter().copied().map(onward)
    })
}

/// A step as a choice of a rule with one phase.
pub(crate) fn onward(step: Hop) -> Choice {
    Choice { channel: step.channel, to: State::new(step.to.index()) }
}
