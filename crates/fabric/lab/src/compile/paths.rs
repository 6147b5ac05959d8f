//! Path sets: one path a pair, or two and the rule that chooses between them.
//!
//! ```text
//!   routing.algorithm ─────────────► primary set ─────┐
//!   routing.alternative.algorithm ─► alternative set ┴─► the same pairs in both ─► one proof of all of them
//!   routing.tables ────────────────► one set
//! ```
//!
//! Invariants: two sets are of source form and connect the same pairs; they are proven free of
//! deadlock together, because packets of both meet in the same buffers.

use super::adaptive;
use super::classes::payload;
use super::gathered::Gathered;
use super::imported;
use super::lanes;
use super::network::NetworkKind;
use crate::error::{Cure, DeadlockReport, LabError};
use crate::scenario::{AlternativePaths, ScenarioSource};
use gingham_net::traffic::SourcePlan;
use gingham_net::{ByContention, Choose, ClassPlan, ContentionPlan, PathChoice};
use gingham_topology::routing::{self, Algorithm, Form, Proof, RouteError, RouteSet, Routes};
use gingham_topology::{EndpointId, Fabric, NodeId};

/// The rules of choice, for messages.
const WAYS: &str = "by-length, at-random or by-contention";

/// Path sets of a run, and how packets choose between them.
pub(crate) struct Paths {
    pub(crate) sets: Vec<Routes>,
    pub(crate) choice: PathChoice,
}

/// A complete section on alternative paths.
struct Alternative<'a> {
    algorithm: &'a Algorithm,
    choice: PathChoice,
}

/// Routes a fabric as the scenario specifies.
pub(crate) fn paths(
    source: &ScenarioSource,
    fabric: &Fabric,
    imported: Option<Routes>,
    gathered: &mut Gathered,
) -> Result<Paths, LabError> {
    if let Some(routes) = imported {
        adaptive::check(source)?;
        return Ok(Paths { sets: vec![routes], choice: PathChoice::Only });
    }
    let written = &source.scenario.routing;
    // Checks that need no routes come first: routing a large fabric takes a while.
    let alternative =
        written.alternative.as_ref().map(|written| read(source, written)).transpose()?;
    // A packet that chooses between two paths carries its route.
    adaptive::check(source)?;
    let form = match (written.form, &alternative) {
        (None, None) if written.adaptive.is_some() => Form::Table,
        (Some(form), _) => form,
        (None, Some(_)) => Form::Source,
        (None, None) => {
            let form = Form::by_default(fabric, &written.algorithm);
            if form == Form::Table {
                gathered.notes.push(note_of_tables());
            }
            form
        }
    };
    let route = |algorithm: &Algorithm, key: &str| {
        routing::route_within(fabric, algorithm, form, written.memory_max.0).map_err(|error| {
            let key = match (&error, error.parameter()) {
                (RouteError::TooLarge { .. }, _) => "routing.memory_max".to_owned(),
                (_, Some(parameter)) => format!("{key}.{parameter}"),
                (_, None) => key.to_owned(),
            };
            let error = if written.adaptive.is_some() { error.of_choosing() } else { error };
            LabError::from_routing(&source.tree, &key, &error)
        })
    };
    let mut sets = vec![route(&written.algorithm, "routing.algorithm")?];
    if written.adaptive.is_some() {
        sets = vec![adaptive::routes(source, fabric, sets.remove(0))?];
    }
    let Some(Alternative { algorithm, choice }) = alternative else {
        return Ok(Paths { sets, choice: PathChoice::Only });
    };
    sets.push(route(algorithm, "routing.alternative.algorithm")?);
    if let Some((from, to)) = joined_by_one(fabric, &sets[0], &sets[1]) {
        let [from, to] = [from, to].map(|host| fabric.endpoint_name(host));
        let message = format!(
            "only one of the two path sets leads from `{from}` to `{to}`; a packet may take either, so that both must \
             lead there: choose another algorithm for one of them"
        );
        return Err(source.refuse("routing.alternative.algorithm", message).into());
    }
    if *algorithm == written.algorithm {
        let note = "both path sets are of the same algorithm with the same parameters, so that it is no matter which a \
                    packet takes";
        gathered.notes.push(note.to_owned());
    }
    Ok(Paths { sets, choice })
}

fn note_of_tables() -> String {
    format!(
        "switches look routes up (routing.form = \"table\"), because there are more than {} pairs of a switch with hosts \
         and a host; say form = \"source\" to let packets carry them",
        routing::SOURCE_PAIRS_MAX
    )
}

fn read<'a>(
    source: &ScenarioSource,
    written: &'a AlternativePaths,
) -> Result<Alternative<'a>, LabError> {
    let refuse = |key: &str, message: String| -> LabError { source.refuse(key, message).into() };
    let missing = |what: String| refuse("routing.alternative", what);
    let algorithm = written.algorithm.as_ref().ok_or_else(|| {
        missing(
            "an alternative path set needs the `algorithm` that makes it, such as \"in-transit\""
                .into(),
        )
    })?;
    let choose = written.choose.as_ref().ok_or_else(|| {
        missing(format!("say with `choose` which packets take the alternative path: {WAYS}"))
    })?;
    if source.scenario.routing.form == Some(Form::Table) {
        let message = "a packet chooses between two paths where it starts, so that it must carry its route: say form = \
                       \"source\", or leave [routing.alternative] out";
        return Err(refuse("routing.form", message.to_owned()));
    }
    let choice = choice(choose)
        .map_err(|(key, message)| refuse(&format!("routing.alternative.choose.{key}"), message))?;
    Ok(Alternative { algorithm, choice })
}

/// Converts a rule of choice; the error has the key and the reason.
fn choice(choose: &Choose) -> Result<PathChoice, (&'static str, String)> {
    match choose {
        Choose::ByLength(of) => match payload(of.below.0) {
            Some(below_bytes) => Ok(PathChoice::ByLength { below_bytes }),
            None => Err((
                "by-length.below",
                format!(
                    "messages have from 1 B to 1024 MiB of payload, and a limit of {} tells none of them from another",
                    of.below
                ),
            )),
        },
        Choose::AtRandom(of) if (0.0..=100.0).contains(&of.percent) => {
            Ok(PathChoice::AtRandom { alternative: of.percent / 100.0 })
        }
        Choose::AtRandom(of) => Err((
            "at-random.percent",
            format!("packets out of a hundred, from 0 to 100, not {}", of.percent),
        )),
        Choose::ByContention(of) => contention(of),
    }
}

fn contention(of: &ByContention) -> Result<PathChoice, (&'static str, String)> {
    let ByContention { alpha, beta, above, below, start } = *of;
    let weights = [("by-contention.alpha", alpha), ("by-contention.beta", beta)];
    if let Some((key, weight)) = weights.into_iter().find(|(_, it)| !(0.0..1.0).contains(it)) {
        let message = format!(
            "the weight of the past is at least 0 and below 1, not {weight}: at 1 the coefficient would never change"
        );
        return Err((key, message));
    }
    if !(below >= 1.0 && below.is_finite()) {
        let message = format!(
            "a host goes back to primary paths when its coefficient falls below this, which is at least 1, not {below}; \
             the coefficient is 1 where no packet meets contention, and never less"
        );
        return Err(("by-contention.below", message));
    }
    if !(above >= below && above.is_finite()) {
        let message = format!(
            "a host would begin to use alternative paths above {above}, and go back to primary ones below {below} already: let \
             `above` be at least `below`"
        );
        return Err(("by-contention.above", message));
    }
    if !(start >= 1.0 && start.is_finite()) {
        let message = format!(
            "the coefficient of a host that has sent nothing is at least 1, not {start}: no packet leaves in less than \
             the time of its flits"
        );
        return Err(("by-contention.start", message));
    }
    Ok(PathChoice::ByContention(ContentionPlan { alpha, beta, above, below, start }))
}

/// Finds two hosts that only one of two path sets connects.
fn joined_by_one(
    fabric: &Fabric,
    one: &Routes,
    other: &Routes,
) -> Option<(EndpointId, EndpointId)> {
    let (Routes::Source(one), Routes::Source(other)) = (one, other) else { return None };
    let leads =
        |switch: NodeId, to| (one.kept(switch, to).is_some(), other.kept(switch, to).is_some());
    // Hosts of one switch share their paths.
    let mut seen = vec![false; fabric.nodes().len()];
    for from in hosts(fabric) {
        let switch = fabric.target(fabric.endpoint_channel(from)).node;
        if !fabric.node(switch).is_switch() || std::mem::replace(&mut seen[switch.index()], true) {
            continue;
        }
        let differs = |to: &EndpointId| {
            let (by_one, by_other) = leads(switch, *to);
            *to != from && by_one != by_other
        };
        if let Some(to) = hosts(fabric).find(differs) {
            return Some((from, to));
        }
    }
    None
}

pub(crate) fn hosts(fabric: &Fabric) -> impl Iterator<Item = EndpointId> {
    fabric.endpoint_ids().filter(|endpoint| fabric.is_host_endpoint(*endpoint))
}

/// Proves all path sets together.
pub(crate) fn prove(
    source: &ScenarioSource,
    fabric: &Fabric,
    routes: RouteSet<'_>,
    kind: &NetworkKind,
    allow_deadlock: bool,
) -> Result<Proof, LabError> {
    if let Some(lanes) = routes.lanes {
        adaptive::check_whole(source, kind, lanes, allow_deadlock)?;
    }
    // Only hosts send, so deadlocks between aggregation nodes and routers do not matter here.
    let proof = routing::prove_between_hosts(fabric, routes);
    match &proof {
        Proof::Cycle { buffers } if !allow_deadlock => {
            let is_imported = source.scenario.routing.tables.is_some()
                || imported::decides_on_lanes(&source.scenario.routing);
            let cure = lanes::cure_of_answers(source, fabric, routes, &kind.lanes)
                .unwrap_or_else(|| Cure::of_routes(fabric, routes, is_imported));
            let report = DeadlockReport::of_routes(fabric, routes, cure, buffers);
            Err(LabError::Deadlock(Box::new(report)))
        }
        _ => Ok(proof),
    }
}

/// Returns which of the two path sets packets of messages in a range of payloads may take.
pub(crate) fn sets_used(choice: &PathChoice, payload: &std::ops::RangeInclusive<u32>) -> [bool; 2] {
    match choice {
        PathChoice::Only => [true, false],
        PathChoice::ByLength { below_bytes } => {
            [payload.start() < below_bytes, payload.end() >= below_bytes]
        }
        PathChoice::AtRandom { alternative } => [*alternative < 1.0, *alternative > 0.0],
        PathChoice::ByContention(_) => [true, true],
    }
}

/// Notes a path set that no packet uses.
pub(crate) fn note_unused(choice: &PathChoice, classes: &[ClassPlan], gathered: &mut Gathered) {
    let sources = || classes.iter().flat_map(|class| &class.sources);
    if *choice == PathChoice::Only || sources().next().is_none() {
        return;
    }
    let answers =
        classes.iter().filter_map(|class| Some(class.window.as_ref()?.answer.payload_bytes));
    let lengths =
        sources().map(SourcePlan::payload_bytes).chain(answers.map(|bytes| bytes..=bytes));
    let used = lengths.map(|payload| sets_used(choice, &payload));
    let used = used.fold([false; 2], |all, of| [all[0] || of[0], all[1] || of[1]]);
    let [unused, taken] = match used {
        [true, true] => return note_no_return(choice, gathered),
        [false, _] => ["primary", "alternative"],
        [true, false] => ["alternative", "primary"],
    };
    let why = match choice {
        PathChoice::ByLength { below_bytes } => {
            let than = if taken == "primary" { "less payload than" } else { "at least" };
            format!(
                "all messages have {than} {below_bytes} B (routing.alternative.choose.by-length.below)"
            )
        }
        _ => "routing.alternative.choose.at-random.percent says so".to_owned(),
    };
    gathered
        .notes
        .push(format!("no packet takes its {unused} path, all take the {taken} one: {why}"));
}

fn note_no_return(choice: &PathChoice, gathered: &mut Gathered) {
    if matches!(choice, PathChoice::ByContention(plan) if plan.below <= 1.0) {
        let note = "a host that begins to use alternative paths never goes back: its contention coefficient is never below \
                    1, which routing.alternative.choose.by-contention.below asks for";
        gathered.notes.push(note.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::format::{self, Format};
    use gingham_topology::routing::UpDown;

    const JOINED: &str = r#"
        switch = [{ name = "s0" }, { name = "s1" }]
        host = [{ name = "h0" }, { name = "h1" }, { name = "h2" }]
        cable = [
          { ends = ["s0", "h0"] }, { ends = ["s0", "h1"] }, { ends = ["s1", "h2"] },
          { ends = ["s0", "s1"] },
        ]
    "#;

    fn routed(text: &str) -> (Fabric, Routes) {
        let fabric = format::read(text, Format::Toml).unwrap().fabric;
        let algorithm = Algorithm::UpDown(UpDown::default());
        let routes = routing::route(&fabric, &algorithm, Form::Source).unwrap();
        (fabric, routes)
    }

    #[test]
    fn a_pair_that_one_set_alone_joins_is_found() {
        let (fabric, joined) = routed(JOINED);
        assert_eq!(joined_by_one(&fabric, &joined, &joined), None);
        // The same nodes without the cable between the switches: only h0 and h1 are still
        // connected.
        let (_, parted) = routed(&JOINED.replace(r#"{ ends = ["s0", "s1"] },"#, ""));
        for (one, other) in [(&joined, &parted), (&parted, &joined)] {
            let (from, to) = joined_by_one(&fabric, one, other).unwrap();
            let names = [from, to].map(|host| fabric.endpoint_name(host));
            assert_eq!(names, ["h0", "h2"]);
        }
        assert_eq!(joined_by_one(&fabric, &parted, &parted), None);
    }
}
