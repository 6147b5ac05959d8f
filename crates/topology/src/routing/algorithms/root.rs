//! Where "up" leads to: the root of each island.

use super::error::RouteError;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// How the root of up*/down* is found. In a fabric of several islands each has a root.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// The first switch in canonical order: the one with the lowest GUID.
    #[default]
    LowestId,
    /// The switch with the smallest sum of hops to all others; of equals, the lowest.
    #[serde(rename = "smallest-distance")]
    SmallestTotalDistance,
    /// The switch with the largest sum of hops to all others; of equals, the lowest.
    #[serde(rename = "largest-distance")]
    LargestTotalDistance,
    /// The switch with this name, dump id or GUID. Islands without it take their lowest switch.
    Named(String),
}

/// One root for each island.
pub(crate) fn roots(
    fabric: &Fabric,
    graph: &SwitchGraph,
    root: &Root,
) -> Result<Vec<NodeId>, RouteError> {
    let islands = graph.islands();
    let lowest = graph.switches().filter(|switch| islands[switch.index()] == *switch);
    Ok(match root {
        Root::LowestId => lowest.collect(),
        Root::SmallestTotalDistance => {
            let first = |switch: NodeId| total_distance(graph, switch);
            lowest.map(|island| first_member(graph, &islands, island, first)).collect()
        }
        Root::LargestTotalDistance => {
            let first = |switch: NodeId| Reverse(total_distance(graph, switch));
            lowest.map(|island| first_member(graph, &islands, island, first)).collect()
        }
        Root::Named(name) => {
            let named = named_root(fabric, name)?;
            let of_island = |island| if island == islands[named.index()] { named } else { island };
            lowest.map(of_island).collect()
        }
    })
}

/// The switch of an island that comes first by `key`; of equals, the lowest.
fn first_member<K: Ord>(
    graph: &SwitchGraph,
    islands: &[NodeId],
    island: NodeId,
    key: impl Fn(NodeId) -> K,
) -> NodeId {
    let members = graph.switches().filter(|switch| islands[switch.index()] == island);
    members.min_by_key(|switch| key(*switch)).expect("an island has a switch")
}

/// Sum of the hops from a switch to all others of its island.
pub(super) fn total_distance(graph: &SwitchGraph, switch: NodeId) -> u64 {
    graph.distances(switch).into_iter().filter(|hops| *hops != UNREACHED).map(u64::from).sum()
}

fn named_root(fabric: &Fabric, name: &str) -> Result<NodeId, RouteError> {
    match fabric.find_node(name) {
        Some(node) if fabric.node(node).is_switch() => Ok(node),
        Some(_) => Err(RouteError::RootIsNoSwitch { name: name.to_owned() }),
        None => {
            let names = fabric.switches().map(|switch| &fabric.node(switch).name);
            let near = |candidate: &&String| strsim::levenshtein(candidate, name);
            let nearest = names.min_by_key(near).filter(|found| near(found) <= name.len() / 2);
            let nearest = nearest.cloned();
            Err(RouteError::UnknownRoot { name: name.to_owned(), nearest })
        }
    }
}
