//! Roots of each connected component, towards which "up" leads.

use super::error::RouteError;
use super::names::Names;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Selection of the roots of up*/down*, separately in each connected component of the fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// On a tree, all its top switches, so that paths spread over all of them. On other fabrics,
    /// and for a depth-first tree, the first switch in canonical order (lowest GUID).
    #[default]
    TopSwitches,
    /// First switch in canonical order (lowest GUID).
    LowestId,
    /// Switch with the smallest sum of hops to all others; the lowest GUID in a tie.
    #[serde(rename = "smallest-distance")]
    SmallestTotalDistance,
    /// Switch with the largest sum of hops to all others; the lowest GUID in a tie.
    #[serde(rename = "largest-distance")]
    LargestTotalDistance,
    /// Switch with this name, dump id or GUID, or a list of switches. Connected components without
    /// any listed switch use their first switch.
    Named(Names),
}

/// Returns at least one root per connected component. Treats [`Root::TopSwitches`] like
/// [`Root::LowestId`]; the module `tops` finds the top switches of trees.
pub(super) fn roots(
    fabric: &Fabric,
    graph: &SwitchGraph,
    root: &Root,
) -> Result<Vec<NodeId>, RouteError> {
    let islands = graph.islands();
    let lowest = graph.switches().filter(|switch| islands[switch.index()] == *switch);
    Ok(match root {
        Root::TopSwitches | Root::LowestId => lowest.collect(),
        Root::SmallestTotalDistance => {
            let first = |switch: NodeId| total_distance(graph, switch);
            lowest.map(|island| first_member(graph, &islands, island, first)).collect()
        }
        Root::LargestTotalDistance => {
            let first = |switch: NodeId| Reverse(total_distance(graph, switch));
            lowest.map(|island| first_member(graph, &islands, island, first)).collect()
        }
        Root::Named(names) => {
            let roots = names.iter().map(|name| named_root(fabric, name));
            let mut roots = roots.collect::<Result<Vec<_>, _>>()?;
            roots.sort_unstable();
            roots.dedup();
            let has_none =
                |island: &NodeId| roots.iter().all(|root| islands[root.index()] != *island);
            let others: Vec<_> = lowest.filter(has_none).collect();
            roots.extend(others);
            roots
        }
    })
}

pub(super) fn one_root_an_island(
    fabric: &Fabric,
    graph: &SwitchGraph,
    root: &Root,
) -> Result<Vec<NodeId>, RouteError> {
    let islands = graph.islands();
    let roots = roots(fabric, graph, root)?;
    let mut by_island = BTreeMap::new();
    for root in &roots {
        if let Some(other) = by_island.insert(islands[root.index()], *root) {
            let [first, second] = [other, *root].map(|root| fabric.node(root).name.clone());
            return Err(RouteError::TwoRootsDepthFirst { first, second });
        }
    }
    Ok(roots)
}

fn first_member<K: Ord>(
    graph: &SwitchGraph,
    islands: &[NodeId],
    island: NodeId,
    key: impl Fn(NodeId) -> K,
) -> NodeId {
    let members = graph.switches().filter(|switch| islands[switch.index()] == island);
    members.min_by_key(|switch| key(*switch)).expect("an island has a switch")
}

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
