//! Check for cables of unknown or partly known speed among cables of known speed.
//!
//! If no speed is known, nothing is reported, because the scenario then sets the speeds.

use crate::finding::plural;
use crate::{Cable, Fabric, Finding, FindingKind};
use std::collections::BTreeMap;

const NAMED_MAX: usize = 8;

pub(super) fn check(fabric: &Fabric) -> Option<Finding> {
    let cables = fabric.listed_cables();
    let unknown: Vec<&Cable> = cables.iter().filter(|cable| cable.speed.is_none()).collect();
    let none_known = cables.iter().all(|cable| cable.reported_speed().is_none());
    if unknown.is_empty() || none_known {
        return None;
    }
    let text = format!(
        "the speed of {} of {} is unknown{}: {}",
        unknown.len(),
        plural(cables.len(), "cable", "cables"),
        halves(&unknown),
        names(fabric, &unknown)
    );
    Some(Finding::of_fabric(FindingKind::UnknownSpeed, text))
}

fn halves(unknown: &[&Cable]) -> String {
    let mut counts = BTreeMap::new();
    for partial in unknown.iter().filter_map(|cable| cable.partial_speed) {
        *counts.entry(partial).or_insert(0_usize) += 1;
    }
    let describe = |(partial, count)| format!(", {count} of them {partial}");
    counts.into_iter().map(describe).collect()
}

fn names(fabric: &Fabric, unknown: &[&Cable]) -> String {
    let name = |cable: &&Cable| cable.ends.map(|end| fabric.port_name(end)).join(" - ");
    let named: Vec<String> = unknown.iter().take(NAMED_MAX).map(name).collect();
    match unknown.len() - named.len() {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}
