//! Shortest path: any path with the fewest switches, or with the least latency of cables.
//!
//! On trees and folded Clos networks the result is deadlock-free, because shortest paths there go
//! up and then down; on a ring of four or more switches, or a torus, it is not.
//!
//! ```text
//!   s0 ── s1      s0 to s2: via s1 or s3, whichever channel carries less
//!   │      │
//!   s3 ── s2
//! ```
//!
//! `cable_cost.rs` has the weight `latency`.
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
    /// Quantity that a shortest path minimises.
    pub weight: PathWeight,
    /// With the weight `latency`: cable length added for each channel beside its own cable, for
    /// example for the delay of a switch. By default 1 m, a cycle of BookSim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_length: Option<Length>,
}

/// Quantity that a shortest path minimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathWeight {
    /// Number of channels between switches.
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

pub(super) fn toward(graph: &SwitchGraph, destination: NodeId) -> Choices {
    Choices::one_hop_nearer(1, graph.distances(destination), |state| {
        graph.hops_from(NodeId::new(state.index())).iter().copied().map(onward)
    })
}

/// Converts a hop to a choice, for rules with one phase.
pub(crate) fn onward(step: Hop) -> Choice {
    Choice { channel: step.channel, to: State::new(step.to.index()) }
}
