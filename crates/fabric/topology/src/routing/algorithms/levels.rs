//! Levels of a tree, and the oversubscription of their switches.
//!
//! ```text
//!   level 0    s0    s1     tops
//!              │ ╲  ╱ │     leaves: 2 uplinks and 3 hosts each, all of the same speed,
//!   level 1    s2     s3            so the oversubscription is 3 / 2
//! ```
//!
//! `tops` recognises trees; a single switch counts as a tree of one level.

use super::tops;
use crate::routing::paths::graph::SwitchGraph;
use crate::{ChannelId, Fabric, NodeId, NodeKind};

/// Connected component of switches that forms a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeShape {
    /// Switches by rank, from the top level down.
    pub levels: Vec<TreeLevel>,
}

/// Switches of equal rank.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeLevel {
    /// Switches in ascending order.
    pub switches: Vec<NodeId>,
    /// Ratio of downward capacity (to hosts and lower switches) to upward capacity; `None` at the
    /// top level. Capacity is the sum of link rates, or the number of cables if a speed is unknown.
    pub oversubscription: Option<Oversubscription>,
}

/// Range of oversubscription ratios among the switches of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oversubscription {
    /// Smallest ratio.
    pub min: f64,
    /// Largest ratio.
    pub max: f64,
    /// First switch with the largest oversubscription ratio.
    pub narrowest: NodeId,
}

/// Returns the connected components that are trees, ordered by their lowest-numbered switch.
pub fn trees(fabric: &Fabric) -> Vec<TreeShape> {
    let graph = SwitchGraph::new(fabric);
    let (ranks, islands) = tops::ranked(fabric, &graph);
    let are_speeds_known = fabric.cables().iter().all(|cable| cable.speed.is_some());
    let of_levels = |levels: Vec<Vec<NodeId>>| {
        let of = |switches: Vec<NodeId>| {
            let ratios = switches.iter().filter_map(|switch| {
                ratio(fabric, &ranks, *switch, are_speeds_known).map(|ratio| (*switch, ratio))
            });
            let oversubscription = most_and_least(ratios);
            TreeLevel { switches, oversubscription }
        };
        TreeShape { levels: levels.into_iter().map(of).collect() }
    };
    let by_rank = |island: &tops::Island<'_>| {
        let mut levels: Vec<Vec<NodeId>> = Vec::new();
        for switch in &island.members {
            let rank = ranks[switch.index()] as usize;
            levels.resize_with(levels.len().max(rank + 1), Vec::new);
            levels[rank].push(*switch);
        }
        levels
    };
    let is_alone =
        |switch: &NodeId| graph.hops_from(*switch).is_empty() && graph.host_count(*switch) > 0;
    let alone = graph.switches().filter(is_alone).map(|switch| vec![vec![switch]]);
    let mut all: Vec<_> = islands.iter().map(by_rank).chain(alone).collect();
    all.sort_by_key(|levels| levels.iter().flatten().min().copied());
    all.into_iter().map(of_levels).collect()
}

fn most_and_least(ratios: impl Iterator<Item = (NodeId, f64)>) -> Option<Oversubscription> {
    let alone = |(narrowest, ratio)| Oversubscription { min: ratio, max: ratio, narrowest };
    ratios.map(alone).reduce(|all, next| {
        let most = if next.max > all.max { next } else { all };
        Oversubscription { min: all.min.min(next.min), ..most }
    })
}

/// Returns the oversubscription of a switch; `None` if its downward or upward capacity is zero.
fn ratio(fabric: &Fabric, ranks: &[u32], switch: NodeId, are_speeds_known: bool) -> Option<f64> {
    let (mut below, mut up) = (0, 0);
    for channel in fabric.channels_from(switch) {
        let far = fabric.target(channel).node;
        let node = fabric.node(far);
        if node.is_switch() && ranks[far.index()] < ranks[switch.index()] {
            up += width(fabric, channel, are_speeds_known);
        } else if node.is_switch() || node.kind == NodeKind::Host {
            below += width(fabric, channel, are_speeds_known);
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more digits than a double has"
    )]
    let ratio = below as f64 / up as f64;
    (below > 0 && up > 0).then_some(ratio)
}

fn width(fabric: &Fabric, channel: ChannelId, are_speeds_known: bool) -> u64 {
    let speed = fabric.cable_of(channel).speed.filter(|_| are_speeds_known);
    speed.map_or(1, |speed| speed.rate().bytes_per_second())
}
