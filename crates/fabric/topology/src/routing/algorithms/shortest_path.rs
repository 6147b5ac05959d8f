//! Shortest path: any path with the fewest switches, or with the least cable latency.
//!
//! On trees and folded Clos networks the routes are deadlock-free, because they go up and then
//! down; on rings of four or more switches and tori they are not.
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
    /// Quantity that shortest paths minimise.
    pub weight: PathWeight,
    /// Length added to each cable if the weight is `latency`, for example to account for switch
    /// delay. The default of 1 m corresponds to one cycle of BookSim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_length: Option<Length>,
}

/// Quantity that shortest paths minimise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathWeight {
    /// Number of channels between switches.
    #[default]
    Hops,
    /// Latency: total length of the cables between switches, plus `hop_length` for each cable.
    /// Every cable between switches needs a length.
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

pub(crate) fn onward(step: Hop) -> Choice {
    Choice { channel: step.channel, to: State::new(step.to.index()) }
}
