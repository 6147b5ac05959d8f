//! Switches with fewer uplinks than their siblings, from which a cable is probably missing.
//!
//! ```text
//!   spine0  spine1  spine2       leaf0, leaf1, leaf2    three uplinks each
//!     │ ╲ ╲    │ ╲    │           leaf3                  two, none to spine2
//! ```
//!
//! **Siblings** are switches of one level of a tree that share more than half of the switches above
//! either. A switch has too few uplinks if more than half of its siblings, of which there must be two,
//! have one number of uplinks, and it has fewer.
//!
//! A switch with equal bundles to all switches above its siblings, and at most half of their cables, is
//! thinner by design, and remains a note. A switch with nothing below is not compared.

use super::levels::Levels;
use super::listed;
use crate::{Fabric, Finding, FindingKind, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of siblings for a comparison.
const SIBLINGS_MIN: usize = 2;

/// One finding for each switch with fewer uplinks than its siblings.
pub(super) fn check(fabric: &Fabric, levels: &Levels) -> Vec<Finding> {
    let mut by_level: BTreeMap<usize, Vec<Uplinks>> = BTreeMap::new();
    for switch in fabric.switches() {
        if let Some(level) = levels.of_switch(switch) {
            by_level.entry(level).or_default().push(Uplinks::of(fabric, levels, switch));
        }
    }
    let found = by_level
        .values()
        .flat_map(|level| level.iter().filter_map(|uplinks| missing(fabric, uplinks, level)));
    found.collect()
}

/// The cables of a switch to the switches above it.
struct Uplinks {
    switch: NodeId,
    /// By switch above: the number of cables.
    bundles: BTreeMap<NodeId, usize>,
    /// Whether hosts or switches hang below.
    is_used: bool,
}

impl Uplinks {
    fn of(fabric: &Fabric, levels: &Levels, switch: NodeId) -> Self {
        let level = levels.of_switch(switch);
        let mut bundles = BTreeMap::new();
        let mut is_used = false;
        for channel in fabric.channels_from(switch) {
            let far = fabric.target(channel).node;
            let node = fabric.node(far);
            if node.is_switch() && levels.of_switch(far) < level {
                *bundles.entry(far).or_default() += 1;
            } else {
                is_used |= node.is_switch() || node.kind == NodeKind::Host;
            }
        }
        Self { switch, bundles, is_used }
    }

    fn count(&self) -> usize {
        self.bundles.values().sum()
    }

    fn is_sibling(&self, other: &Self) -> bool {
        let common = self.bundles.keys().filter(|above| other.bundles.contains_key(above)).count();
        let fewer = self.bundles.len().min(other.bundles.len());
        self.switch != other.switch && 2 * common > fewer
    }

    /// Whether the bundles are equal, reach all switches above the siblings, and have at most half of
    /// the siblings' cables.
    fn is_thin_by_design(&self, usual: usize, above: &BTreeSet<NodeId>) -> bool {
        let sizes: BTreeSet<usize> = self.bundles.values().copied().collect();
        let reaches_all = above.iter().all(|above| self.bundles.contains_key(above));
        sizes.len() == 1 && reaches_all && 2 * self.count() <= usual
    }
}

fn missing(fabric: &Fabric, uplinks: &Uplinks, level: &[Uplinks]) -> Option<Finding> {
    let siblings: Vec<&Uplinks> = level.iter().filter(|other| uplinks.is_sibling(other)).collect();
    let usual = usual(siblings.iter().map(|sibling| sibling.count()))?;
    let agree: Vec<&Uplinks> =
        siblings.iter().copied().filter(|sibling| sibling.count() == usual).collect();
    if !uplinks.is_used || siblings.len() < SIBLINGS_MIN || uplinks.count() >= usual {
        return None;
    }
    let above: BTreeSet<NodeId> = agree.iter().flat_map(|s| s.bundles.keys().copied()).collect();
    if uplinks.is_thin_by_design(usual, &above) {
        return None;
    }
    let name = &fabric.node(uplinks.switch).name;
    let (own, count, of) = (uplinks.count(), agree.len(), siblings.len());
    let fewer = listed(fewer_to(uplinks, &agree).map(|above| fabric.node(above).name.clone()));
    let place = if fewer.is_empty() { String::new() } else { format!(", fewer to {fewer}") };
    let text =
        format!("{name} has {own} uplinks, and {count} of its {of} siblings have {usual}{place}");
    Some(Finding::of_fabric(FindingKind::MissingUplink, text))
}

/// The number that more than half of the counts are equal to.
fn usual(counts: impl Iterator<Item = usize>) -> Option<usize> {
    let mut times: BTreeMap<usize, usize> = BTreeMap::new();
    counts.for_each(|count| *times.entry(count).or_default() += 1);
    let all: usize = times.values().sum();
    times.into_iter().find(|(_, times)| 2 * times > all).map(|(count, _)| count)
}

/// Upper switches to which most siblings have more cables.
fn fewer_to(uplinks: &Uplinks, siblings: &[&Uplinks]) -> impl Iterator<Item = NodeId> {
    let above: BTreeSet<NodeId> = siblings.iter().flat_map(|s| s.bundles.keys().copied()).collect();
    let cables =
        |uplinks: &Uplinks, above: NodeId| uplinks.bundles.get(&above).copied().unwrap_or(0);
    let is_less = |above: &NodeId| {
        let more = siblings.iter().filter(|s| cables(s, *above) > cables(uplinks, *above));
        2 * more.count() > siblings.len()
    };
    above.into_iter().filter(is_less).collect::<Vec<_>>().into_iter()
}
