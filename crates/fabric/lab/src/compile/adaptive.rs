//! Requirements of adaptive routing, and its escape lanes.
//!
//! Invariant: with escape lanes, every class also has an adaptive lane. Each adaptive lane either
//! receives whole packets or is empty before it accepts the next packet.

use super::network::NetworkKind;
use super::written::first_written;
use crate::check::{Check, refuse, say, when};
use crate::error::LabError;
use crate::scenario::{Scenario, ScenarioSource};
use gingham_net::{Reallocation, Switching};
use gingham_topology::Fabric;
use gingham_topology::routing::{EscapeError, Form, LaneRule, Lanes, Routes};

const ESCAPE_KEY: &str = "routing.adaptive.escape_lanes";

pub(super) fn of_keys<'a>() -> [Check<&'a Scenario>; 7] {
    [
        refuse("routing.form", |it| {
            when!(
                it.routing.form == Some(Form::Source),
                "a packet that chooses at every switch carries no route: say \"table\", or leave it out"
            )
        }),
        refuse("routing.alternative", |it| {
            when!(
                it.routing.alternative.is_some(),
                "packets choose at every switch (routing.adaptive) or where they begin, not both: leave one out"
            )
        }),
        refuse("routing.tables", |it| {
            when!(
                it.routing.tables.is_some(),
                "packets follow the tables of a subnet manager or choose at every switch (routing.adaptive): leave one out"
            )
        }),
        refuse("network.lanes.datelines", |it| {
            when!(
                it.network.lanes.datelines.is_some(),
                "packets that choose at every switch (routing.adaptive) use dateline classes only on their escape lanes, as needed: leave it out"
            )
        }),
        refuse("network.admission", |it| {
            when!(
                it.network.admission.is_some(),
                "admission reserves the links of a path, and packets that choose at every switch (routing.adaptive) have none: leave \
                 one out"
            )
        }),
        refuse("measure.congestion", |it| {
            when!(
                it.measure.congestion.is_some(),
                "a tree has one output for every packet that waits, and packets that choose at every switch (routing.adaptive) wait \
                 for several: leave one out"
            )
        }),
        refuse("routing.algorithm", |it| {
            let error = it.routing.algorithm.check_choosing().err()?;
            let parameter = error.parameter().expect("a parameter keeps packets from choosing");
            Some(say!("{error}")?.under(parameter.to_owned()))
        }),
    ]
}

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

/// Builds the error about missing lanes. `user` returns the name of a class with fewer lanes than
/// its argument, and the key that sets the lanes of this class.
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
        "the lowest {escape} lanes of each class are for escape ({ESCAPE_KEY}), and {whose} has {lanes}: give it \
         at least one more for packets to choose"
    );
    source.refuse(&key, message).into()
}

/// Refuses lanes where a packet that holds escape lanes could wait behind another packet.
pub(super) fn of_lanes<'a>() -> [Check<(&'a NetworkKind, &'a Lanes)>; 1] {
    [refuse("network.lanes.forwarding", |it| {
        let (LaneRule::Escape(escape), Switching::VirtualLanes(pipeline)) =
            (it.of.1.rule(), &it.of.0.switching)
        else {
            return None;
        };
        let is_mixed = |lane: &u8| !pipeline.cut_through.contains(*lane);
        let lane = escape.all_adaptive().lanes().find(is_mixed)?;
        let sentence = when!(
            pipeline.reallocation != Reallocation::TailCredit,
            "a packet on adaptive lane {lane} could wait behind another and still hold escape lanes, so that others wait forever: say \"virtual-cut-through\" for all lanes that are not for escape, or \
             network.lanes.reallocation = \"tail-credit\", so that a buffer holds only one packet, or allow it (--allow-deadlock)"
        );
        let keys = ["network.lanes.forwarding", "network.lanes.reallocation", "routing.adaptive"];
        Some(sentence?.at(first_written(it.source, &keys)))
    })]
}
