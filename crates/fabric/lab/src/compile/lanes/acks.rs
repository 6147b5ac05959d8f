//! Detection of deadlocks caused by the lanes of acknowledgements.

use super::LaneFigures;
use super::users::{LaneUser, users};
use crate::compile::gathered::Gathered;
use crate::error::Cure;
use crate::scenario::ScenarioSource;
use gingham_topology::Fabric;
use gingham_topology::routing::{LaneRule, Lanes, RouteSet, prove_between_hosts};

/// Returns a remedy if routes can deadlock only because acknowledgements do not use the lanes of
/// their classes.
pub(crate) fn cure(
    source: &ScenarioSource,
    fabric: &Fabric,
    routes: RouteSet<'_>,
    figures: &LaneFigures,
) -> Option<Cure> {
    let has_own =
        |user: &LaneUser<'_>| user.is_ack && (user.lanes.is_some() || user.service_level.is_some());
    let all: Vec<LaneUser<'_>> = users(source).filter(has_own).collect();
    let is_free_without = |culprits: &[LaneUser<'_>]| {
        let classes = culprits.iter().map(|user| user.class);
        is_free(source, fabric, routes, &figures.with_acks_as(classes))
    };
    let one = all.iter().position(|user| is_free_without(std::slice::from_ref(user)));
    let culprits = match one {
        Some(place) => &all[place..=place],
        None if is_free_without(&all) => &all[..],
        None => return None,
    };
    let by_tables = figures.levels.is_some();
    let name = if by_tables { "service_level" } else { "lanes" };
    let keys: Vec<String> = culprits.iter().map(|user| user.key(name)).collect();
    let keys = keys.join(" and ");
    let text = if by_tables {
        format!(
            "acknowledgements cause this cycle: on the service levels of their classes these routes are free of deadlock. Leave {keys} \
             out, name another level there, or allow it (allow_deadlock=True)"
        )
    } else {
        format!(
            "acknowledgements cause this cycle: on the lanes of their classes these routes are free of deadlock. Leave {keys} out, \
             name at least two lanes there that no class uses, or allow it (allow_deadlock=True)"
        )
    };
    let first = culprits.first()?;
    Some(Cure { text, key: Some(format!("traffic[{}].window.ack.{name}", first.class)) })
}

fn is_free(
    source: &ScenarioSource,
    fabric: &Fabric,
    routes: RouteSet<'_>,
    figures: &LaneFigures,
) -> bool {
    let imported = match routes.lanes.map(Lanes::rule) {
        Some(LaneRule::Tables { map, levels, .. }) => Some((map.clone(), levels.clone())),
        _ => None,
    };
    let lanes = figures.allowed(source, fabric, imported, &mut Gathered::default());
    lanes.is_ok_and(|lanes| {
        prove_between_hosts(fabric, RouteSet { lanes: Some(&lanes), ..routes }).is_free()
    })
}
