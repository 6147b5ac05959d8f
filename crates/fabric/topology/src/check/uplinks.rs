//! Check for switches with fewer uplinks than their siblings.
//!
//! ```text
//!   spine0  spine1  spine2       leaf0, leaf1, leaf2    three uplinks each
//!     │ ╲ ╲    │ ╲    │           leaf3                  two, none to spine2
//! ```
//!
//! Two switches of a level are **siblings** if they share more than half of the upper switches of
//! at least one of them. A switch has too few uplinks if more than half of its siblings (at least
//! two) have the same larger number of uplinks.
//!
//! A switch with equal bundles to all upper switches of its siblings, but at most half of their
//! usual number of uplinks, is a thin design and is not reported. Switches without hosts or lower
//! switches are skipped.

use super::levels::Levels;
use super::listed;
use crate::{Fabric, Finding, FindingKind, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

const SIBLINGS_MIN: usize = 2;

/// Maximum number of siblings compared to find the upper switches with missing cables.
const ASKED_MAX: usize = 64;

pub(super) fn check(fabric: &Fabric, levels: &Levels) -> Vec<Finding> {
    let mut by_level: BTreeMap<usize, BTreeMap<Vec<NodeId>, Class>> = BTreeMap::new();
    for switch in fabric.switches() {
        if let Some(level) = levels.of_switch(switch) {
            let uplinks = Uplinks::of(fabric, levels, switch);
            let above = uplinks.bundles.keys().copied().collect();
            by_level.entry(level).or_default().entry(above).or_default().add(uplinks);
        }
    }
    let mut findings = Vec::new();
    for classes in by_level.values() {
        for (above, class) in classes {
            let siblings = Siblings::of(above, classes);
            let members = class.members.iter();
            let found =
                members.filter_map(|one| Some((one.switch, siblings.missing(fabric, one)?)));
            findings.extend(found);
        }
    }
    findings.sort_by_key(|(switch, _)| *switch);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Switches connected to the same set of upper switches.
#[derive(Default)]
struct Class {
    members: Vec<Uplinks>,
    counts: BTreeMap<usize, usize>,
}

impl Class {
    fn add(&mut self, uplinks: Uplinks) {
        *self.counts.entry(uplinks.count()).or_default() += 1;
        self.members.push(uplinks);
    }
}

struct Siblings<'a> {
    classes: Vec<&'a Class>,
    counts: BTreeMap<usize, usize>,
}

impl<'a> Siblings<'a> {
    fn of(above: &[NodeId], classes: &'a BTreeMap<Vec<NodeId>, Class>) -> Self {
        let mut siblings = Self { classes: Vec::new(), counts: BTreeMap::new() };
        for (other, class) in classes {
            let common = above.iter().filter(|above| other.binary_search(above).is_ok()).count();
            if 2 * common > above.len().min(other.len()) {
                siblings.classes.push(class);
                for (count, times) in &class.counts {
                    *siblings.counts.entry(*count).or_default() += times;
                }
            }
        }
        siblings
    }

    fn missing(&self, fabric: &Fabric, uplinks: &Uplinks) -> Option<Finding> {
        let own = uplinks.count();
        // `counts` includes the switch itself.
        let of = self.counts.values().sum::<usize>().saturating_sub(1);
        let (usual, times) = self.counts.iter().find(|(_, times)| 2 * **times > of)?;
        if !uplinks.is_used || of < SIBLINGS_MIN || own >= *usual {
            return None;
        }
        let members = self.classes.iter().flat_map(|class| &class.members);
        let agree: Vec<&Uplinks> =
            members.filter(|sibling| sibling.count() == *usual).take(ASKED_MAX).collect();
        let above: BTreeSet<NodeId> =
            agree.iter().flat_map(|sibling| sibling.bundles.keys().copied()).collect();
        if uplinks.is_thin_by_design(*usual, &above) {
            return None;
        }
        let name = &fabric.node(uplinks.switch).name;
        let fewer = fewer_to(uplinks, &agree, &above);
        let fewer = listed(fewer.map(|above| fabric.node(above).name.clone()));
        let place = if fewer.is_empty() { String::new() } else { format!(", fewer to {fewer}") };
        let most = format!("{times} of its {of} siblings have {usual}");
        let text = format!("{name} has {own} uplinks, and {most}{place}");
        Some(Finding::of_fabric(FindingKind::MissingUplink, text))
    }
}

struct Uplinks {
    switch: NodeId,
    bundles: BTreeMap<NodeId, usize>,
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

    fn is_thin_by_design(&self, usual: usize, above: &BTreeSet<NodeId>) -> bool {
        let sizes: BTreeSet<usize> = self.bundles.values().copied().collect();
        let reaches_all = above.iter().all(|above| self.bundles.contains_key(above));
        sizes.len() == 1 && reaches_all && 2 * self.count() <= usual
    }
}

fn fewer_to(
    uplinks: &Uplinks,
    siblings: &[&Uplinks],
    above: &BTreeSet<NodeId>,
) -> impl Iterator<Item = NodeId> {
    let cables =
        |uplinks: &Uplinks, above: NodeId| uplinks.bundles.get(&above).copied().unwrap_or(0);
    above.iter().copied().filter(move |above| {
        let own = cables(uplinks, *above);
        let more = siblings.iter().filter(|sibling| cables(sibling, *above) > own);
        2 * more.count() > siblings.len()
    })
}
