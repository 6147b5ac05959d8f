//! Source of the routes of a run, for titles and notes.

use crate::check::{Check, note, when};
use crate::error::LabError;
use crate::scenario::{self, ScenarioSource};
use gingham_topology::routing::Proof;

const TABLES: &str = "routing.tables";

pub(super) fn describe(source: &ScenarioSource, is_dump: bool, proof: &Proof) -> String {
    let risk = if proof.is_free() { "" } else { ", which can deadlock" };
    format!("{}{risk}", named(source, is_dump))
}

/// Names the source of a scenario's routes, for titles. Loads the fabric, but does not compute
/// routes.
pub fn routes_title(source: &ScenarioSource) -> Result<String, LabError> {
    let is_dump = scenario::fabric(source)?.loaded.is_dump;
    Ok(named(source, is_dump))
}

fn named(source: &ScenarioSource, is_dump: bool) -> String {
    let routing = &source.scenario.routing;
    let algorithm = routing.algorithm.name();
    let own = if is_dump { "gingham's " } else { "" };
    let alternative = routing.alternative.as_ref().and_then(|it| it.algorithm.as_ref());
    match (&routing.tables, alternative) {
        (Some(tables), _) => format!("routes of {}", tables.as_ref()),
        (None, Some(other)) => format!("{own}{algorithm} and {} routes", other.name()),
        (None, None) if routing.adaptive.is_some() => format!("{own}adaptive {algorithm} routes"),
        (None, None) => format!("{own}{algorithm} routes"),
    }
}

pub(super) fn of_dump() -> [Check<bool>; 1] {
    [note(|it| {
        let routing = &it.source.scenario.routing;
        let is_given =
            routing.tables.is_some() || it.source.tree.get("routing.algorithm").is_some();
        when!(
            it.of && !is_given,
            "the routes are gingham's own ({}), not those of the dumped subnet, whose channels may be \
             loaded otherwise: name the subnet's forwarding tables with {TABLES} (a file from dump_lfts or dump_fts, \
             opensm-lfts.dump or opensm.fdbs), or the algorithm with routing.algorithm",
            routing.algorithm.name()
        )
    })]
}
