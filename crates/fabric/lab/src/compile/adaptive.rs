//! Compilation of adaptive routing: its requirements, and the escape lanes.
//!
//! ```text
//!   routing.algorithm ──► tables ──► beside them any channel on a shortest way
//!   routing.adaptive.escape_lanes ──► the lowest lanes of each class, for the tables alone
//! ```
//!
//! Invariant: with escape lanes, every class also has an adaptive lane, and each adaptive lane
//! either receives whole packets or is empty before it accepts the next packet.

use super::network::NetworkKind;
use super::written::first_written;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_net::{Reallocation, Switching};
use gingham_topology::Fabric;
use gingham_topology::routing::{EscapeError, Form, LaneRule, Lanes, Routes};

const ESCAPE_KEY: &str = "routing.adaptive.escape_lanes";

/// Refuses keys that conflict with adaptive routing.
pub(super) fn check(source: &ScenarioSource) -> Result<(), LabError> {
    let (routing, network) = (&source.scenario.routing, &source.scenario.network);
    if routing.adaptive.is_none() {
        return Ok(());
    }
    let refusals = [
        (
            routing.form == Some(Form::Source),
            "routing.form",
            "a packet that chooses at every switch carries no route: say \"table\", or leave it out",
        ),
        (
            routing.alternative.is_some(),
            "routing.alternative",
            "packets choose at every switch (routing.adaptive) or where they begin, not both: leave one out",
        ),
        (
            routing.tables.is_some(),
            "routing.tables",
            "packets follow the tables of a subnet manager or choose at every switch (routing.adaptive): leave one out",
        ),
        (
            network.lanes.datelines.is_some(),
            "network.lanes.datelines",
            "packets that choose at every switch (routing.adaptive) have dateline classes on their escape lanes alone, where they \
             are needed: leave it out",
        ),
        (
            network.admission.is_some(),
            "network.admission",
            "admission reserves the links of a path, and packets that choose at every switch (routing.adaptive) have none: leave \
             one out",
        ),
        (
            source.scenario.measure.congestion.is_some(),
            "measure.congestion",
            "a tree has one output for every packet that waits, and packets that choose at every switch (routing.adaptive) wait \
             for several: leave one out",
        ),
    ];
    if let Some((_, key, message)) = refusals.into_iter().find(|(is_so, ..)| *is_so) {
        return Err(source.refuse(key, message.to_owned()).into());
    }
    routing.algorithm.check_choosing().map_err(|error| {
        let parameter = error.parameter().expect("a parameter keeps packets from choosing");
        LabError::from_routing(&source.tree, &format!("routing.algorithm.{parameter}"), &error)
    })
}

/// Adds the adaptive choices to the tables of the algorithm.
pub(super) fn routes(
    source: &ScenarioSource,
    fabric: &Fabric,
    routes: Routes,
) -> Result<Routes, LabError> {
    let Routes::Table(tables) = routes else { unreachable!("the form is that of tables") };
    let adaptive = tables.made_adaptive(fabric);
    adaptive
        .map(Routes::Table)
        .map_err(|longer| source.refuse("routing.algorithm", longer.describe(fabric)).into())
}

/// Returns the error for lanes that cannot be divided into escape and adaptive lanes. `user` gives
/// the name of a class with fewer lanes than its argument, and the key of its lanes, if any.
pub(super) fn no_escape(
    source: &ScenarioSource,
    error: EscapeError,
    user: impl FnOnce(usize) -> (Option<String>, Option<String>),
) -> LabError {
    let EscapeError::NoneLeft { lanes, escape } = error else {
        return source.refuse(ESCAPE_KEY, error.to_string()).into();
    };
    let (called, key) = user(escape + 1);
    let is_asked = source.tree.get(ESCAPE_KEY).is_some();
    let general = if is_asked {
        ESCAPE_KEY
    } else {
        first_written(source, &["network.lanes.count", "routing.adaptive"])
    };
    let key = key.unwrap_or_else(|| general.to_owned());
    let whose = called.unwrap_or_else(|| "a message that keeps to one lane".to_owned());
    let message = format!(
        "the lowest {escape} lanes of each class are for escape ({ESCAPE_KEY}), and {whose} has {lanes}: give it one more at least, on which \
         packets choose"
    );
    source.refuse(&key, message).into()
}

/// Refuses lanes on which a packet could wait behind another while it holds escape lanes.
pub(super) fn check_whole(
    source: &ScenarioSource,
    kind: &NetworkKind,
    lanes: &Lanes,
    allow_deadlock: bool,
) -> Result<(), LabError> {
    let (LaneRule::Escape(escape), Switching::VirtualLanes(pipeline)) =
        (lanes.rule(), &kind.switching)
    else {
        return Ok(());
    };
    if pipeline.reallocation == Reallocation::TailCredit {
        return Ok(());
    }
    let broken = escape.all_adaptive().lanes().find(|lane| !pipeline.cut_through.contains(*lane));
    match broken {
        Some(lane) if !allow_deadlock => {
            let message = format!(
                "a packet on lane {lane}, where it chose, could stand behind another and still hold escape lanes, so that others \
                 never get out: say \"virtual-cut-through\" for all lanes that are not for escape, or \
                 network.lanes.reallocation = \"tail-credit\", by which a buffer holds one packet, or allow it (--allow-deadlock)"
            );
            let keys = ["forwarding", "reallocation"].map(|key| format!("network.lanes.{key}"));
            let key = first_written(source, &[&keys[0], &keys[1], "routing.adaptive"]);
            Err(source.refuse(key, message).into())
        }
        _ => Ok(()),
    }
}
