//! Shortest path: any path with the fewest switches, or with the least latency of cables.
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
//! With the weight `latency` (`cable_cost.rs`) the sum over a path's cables decides, and of equal
//! sums the fewest channels. The choices left are balanced alike.
//!
//! References: Moore, "The shortest path through a maze", 1959; Dijkstra, "A note on two problems
//! in connexion with graphs", 1959. OpenSM calls the table form by hops "min hop".

use super::cable_cost::CableCosts;
use super::choices::{Choice, Choices, State};
use super::error::RouteError;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use crate::NodeId;
use crate::routing::paths::graph::{Hop, SwitchGraph};
use gingham_kernel::Length;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `shortest-path`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShortestPath {
    /// What the shortest path has least of.
    pub weight: PathWeight,
    /// With the weight `latency`: length of cable that counts for each channel beside its own
    /// cable, such as the delay of a switch. By default 1 m, a cycle of BookSim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_length: Option<Length>,
}

/// What the shortest path has least of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathWeight {
    /// Channels between switches.
    #[default]
    Hops,
    /// Latency: lengths of the cables between switches, with `hop_length` for each of them. Every
    /// such cable needs a length.
    Latency,
}

impl AlgorithmParameters for ShortestPath {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { fabric, graph, .. } = task;
        match (self.weight, self.hop_length) {
            (PathWeight::Hops, None) => {
                Ok(Rule::by_choices(|destination| toward(graph, destination)))
            }
            (PathWeight::Hops, Some(_)) => Err(RouteError::HopLengthOfHops),
            (PathWeight::Latency, hop_length) => {
                let costs = CableCosts::new(fabric, graph, hop_length)?;
                Ok(Rule::by_choices(move |destination| costs.toward(graph, destination)))
            }
        }
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
