//! Path sets: one path per host pair, or two paths and the rule that chooses between them.
//!
//! Invariants: two sets use source routing and connect the same pairs. One proof covers both sets,
//! because their packets share buffers.

use super::adaptive;
use super::classes::lengths::{PAYLOAD, checked_payload};
use super::gathered::Gathered;
use super::imported;
use super::lanes;
use super::network::NetworkKind;
use crate::check::{Check, Sentence, Subject, check, note, outside, refuse, say, when, within};
use crate::error::{Cure, DeadlockReport, LabError};
use crate::scenario::{AdaptiveRouting, AlternativePaths, Routing, ScenarioSource};
use gingham_net::traffic::SourcePlan;
use gingham_net::{
    AtRandom, ByContention, ByLength, Choose, ContentionPlan, Decision, PathId, Plan,
    RoutingScheme, SwitchDecision,
};
use gingham_topology::routing::{self, Algorithm, Form, Proof, RouteError, RouteSet, Routes};
use gingham_topology::{EndpointId, Fabric, NodeId};
use std::ops::Range;

const WAYS: &str = "by-length, at-random or by-contention";
/// Allowed contention coefficients; below 1, a packet would leave in less than its transmission
/// time.
const FROM_1: Range<f64> = 1.0..f64::INFINITY;

pub(crate) fn paths(
    source: &ScenarioSource,
    fabric: &Fabric,
    imported: Option<Routes>,
    gathered: &mut Gathered,
) -> Result<RoutingScheme, LabError> {
    let written = &source.scenario.routing;
    if let Some(alternative) = &written.alternative {
        check(&of_alternative(), &Subject::of_table(source, "routing", alternative), gathered)?;
    }
    if written.adaptive.is_some() {
        let scenario = Subject::of_table(source, "", &source.scenario);
        check(&adaptive::of_keys(), &scenario, gathered)?;
    }
    if let Some(routes) = imported {
        return Ok(RoutingScheme::by_pair(routes));
    }
    // A packet that chooses between two paths must carry its route.
    let form = match (written.form, &written.alternative) {
        (None, None) if written.adaptive.is_some() => Form::Table,
        (Some(form), _) => form,
        (None, Some(_)) => Form::Source,
        (None, None) => Form::by_default(fabric, &written.algorithm),
    };
    check(&of_form(), &Subject::of_table(source, "", form), gathered)?;
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
    let routes = route(&written.algorithm, "routing.algorithm")?;
    if let Some(AdaptiveRouting { select, .. }) = written.adaptive {
        let reselect = written.adaptive.as_ref().map(AdaptiveRouting::reselect).unwrap_or_default();
        let decision = Decision::AtSwitches(SwitchDecision { select, reselect });
        let paths = vec![adaptive::routes(source, fabric, routes)?];
        return Ok(RoutingScheme::new(paths, decision));
    }
    let Some((algorithm, decision)) = written.alternative.as_ref().and_then(chosen) else {
        return Ok(RoutingScheme::by_pair(routes));
    };
    let paths = vec![routes, route(algorithm, "routing.alternative.algorithm")?];
    check(&of_sets(), &Subject::of_table(source, "", (fabric, &paths[..])), gathered)?;
    Ok(RoutingScheme::new(paths, decision))
}

fn of_alternative<'a>() -> [Check<&'a AlternativePaths>; 10] {
    [
        refuse("alternative", |it| {
            when!(
                it.algorithm.is_none(),
                "an alternative path set needs the `algorithm` that makes it, such as \"in-transit\""
            )
        }),
        refuse("alternative", |it| {
            when!(
                it.choose.is_none(),
                "say with `choose` which packets take the alternative path: {WAYS}"
            )
        }),
        refuse("form", |it| {
            when!(
                it.source.scenario.routing.form == Some(Form::Table),
                "a packet chooses between two paths where it starts, so that it must carry its route: say form = \
                 \"source\", or leave [routing.alternative] out"
            )
        }),
        refuse("alternative.choose.by-length.below", |it| {
            let Choose::ByLength(ByLength { below }) = it.choose.as_ref()? else { return None };
            when!(
                !PAYLOAD.contains(below),
                "messages have from 1 B to 1024 MiB of payload, and a limit of {below} does not separate them"
            )
        }),
        refuse("alternative.choose.at-random.percent", |it| {
            let Choose::AtRandom(AtRandom { percent }) = it.choose.as_ref()? else { return None };
            within!(*percent, 0.0..=100.0, "packets out of a hundred, from 0 to 100")
        }),
        refuse("alternative.choose.by-contention.alpha", |it| wrong_weight(contention(it)?.alpha)),
        refuse("alternative.choose.by-contention.beta", |it| wrong_weight(contention(it)?.beta)),
        refuse("alternative.choose.by-contention.below", |it| {
            let below = outside(contention(it)?.below, FROM_1)?;
            say!(
                "a host goes back to primary paths when its coefficient falls below this, which is at least 1, not {below}; \
                 the coefficient is 1 where no packet meets contention, and never less"
            )
        }),
        refuse("alternative.choose.by-contention.above", |it| {
            let ByContention { above, below, .. } = *contention(it)?;
            when!(
                !(below..f64::INFINITY).contains(&above),
                "a host would begin to use alternative paths above {above}, and go back to primary ones below {below} already: let \
                 `above` be at least `below`"
            )
        }),
        refuse("alternative.choose.by-contention.start", |it| {
            let start = outside(contention(it)?.start, FROM_1)?;
            say!(
                "the coefficient of a host that has sent nothing is at least 1, not {start}: no packet leaves in less than \
                 the time of its flits"
            )
        }),
    ]
}

fn contention(paths: &AlternativePaths) -> Option<&ByContention> {
    match paths.choose.as_ref()? {
        Choose::ByContention(of) => Some(of),
        Choose::ByLength(_) | Choose::AtRandom(_) => None,
    }
}

fn wrong_weight(weight: f64) -> Option<Sentence> {
    let weight = outside(weight, 0.0..1.0)?;
    say!(
        "the weight of the previous coefficient is at least 0 and below 1, not {weight}: at 1 it would never \
         change"
    )
}

fn of_form() -> [Check<Form>; 1] {
    [note(|it| {
        let Routing { form, alternative, adaptive, .. } = &it.source.scenario.routing;
        let is_default = form.is_none() && alternative.is_none() && adaptive.is_none();
        when!(
            is_default && it.of == Form::Table,
            "switches look routes up (routing.form = \"table\"), because there are more than {} pairs of a switch with hosts \
             and a host; say form = \"source\" to let packets carry them",
            routing::SOURCE_PAIRS_MAX
        )
    })]
}

fn of_sets<'a>() -> [Check<(&'a Fabric, &'a [Routes])>; 2] {
    [
        refuse("routing.alternative.algorithm", |it| {
            let (fabric, sets) = it.of;
            let (from, to) = joined_by_one(fabric, &sets[0], &sets[1])?;
            let [from, to] = [from, to].map(|host| fabric.endpoint_name(host));
            say!(
                "only one of the two path sets leads from `{from}` to `{to}`; a packet may take either, so that both must \
                 lead there: choose another algorithm for one of them"
            )
        }),
        note(|it| {
            let Routing { algorithm, alternative, .. } = &it.source.scenario.routing;
            when!(
                alternative.as_ref()?.algorithm.as_ref()? == algorithm,
                "both path sets have the same algorithm with the same parameters, so the choice has no effect"
            )
        }),
    ]
}

fn chosen(written: &AlternativePaths) -> Option<(&Algorithm, Decision)> {
    let choice = match written.choose.as_ref()? {
        Choose::ByLength(of) => Decision::ByLength { below_bytes: checked_payload(of.below) },
        Choose::AtRandom(of) => Decision::AtRandom { alternative: of.percent / 100.0 },
        Choose::ByContention(of) => {
            let ByContention { alpha, beta, above, below, start } = *of;
            Decision::ByContention(ContentionPlan { alpha, beta, above, below, start })
        }
    };
    Some((written.algorithm.as_ref()?, choice))
}

fn joined_by_one(
    fabric: &Fabric,
    one: &Routes,
    other: &Routes,
) -> Option<(EndpointId, EndpointId)> {
    let (Routes::Source(one), Routes::Source(other)) = (one, other) else { return None };
    let leads =
        |switch: NodeId, to| (one.kept(switch, to).is_some(), other.kept(switch, to).is_some());
    // Hosts of one switch share their paths, so one host per switch is enough.
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

pub(crate) fn prove(
    source: &ScenarioSource,
    fabric: &Fabric,
    routes: RouteSet<'_>,
    kind: &NetworkKind,
    allow_deadlock: bool,
    gathered: &mut Gathered,
) -> Result<Proof, LabError> {
    if let (Some(lanes), false) = (routes.lanes, allow_deadlock) {
        check(&adaptive::of_lanes(), &Subject::of_table(source, "", (kind, lanes)), gathered)?;
    }
    // Deadlocks of packets from aggregation nodes and routers do not matter, because here only
    // hosts send.
    let proof = routing::prove_between_hosts(fabric, routes);
    match &proof {
        Proof::Cycle { buffers } if !allow_deadlock => {
            let is_imported = source.scenario.routing.tables.is_some()
                || imported::decides_on_lanes(&source.scenario.routing);
            let cure = lanes::cure_of_acks(source, fabric, routes, &kind.lanes)
                .unwrap_or_else(|| Cure::of_routes(fabric, routes, is_imported));
            let report = DeadlockReport::of_routes(fabric, routes, cure, buffers);
            Err(LabError::Deadlock(Box::new(report)))
        }
        _ => Ok(proof),
    }
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 2] {
    [
        note(|it| {
            let choice = Some(&it.routing.decision).filter(|decision| decision.is_at_source())?;
            let [unused, taken] = match used(it.of)? {
                [true, true] => return None,
                [false, _] => ["primary", "alternative"],
                [true, false] => ["alternative", "primary"],
            };
            let why = match choice {
                Decision::ByLength { below_bytes } => {
                    let than = if taken == "primary" { "less payload than" } else { "at least" };
                    format!(
                        "all messages have {than} {below_bytes} B (routing.alternative.choose.by-length.below)"
                    )
                }
                _ => "set by routing.alternative.choose.at-random.percent".to_owned(),
            };
            say!("no packet takes its {unused} path, all take the {taken} one: {why}")
        }),
        note(|it| {
            let Decision::ByContention(choice) = &it.routing.decision else { return None };
            when!(
                choice.below <= 1.0 && used(it.of).is_some(),
                "a host that begins to use alternative paths never goes back: its contention coefficient is never below \
                 1, which routing.alternative.choose.by-contention.below asks for"
            )
        }),
    ]
}

/// Returns whether any packet may take the primary path, and whether any may take the alternative;
/// `None` without sources.
fn used(plan: &Plan) -> Option<[bool; 2]> {
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    let acks = plan.classes.iter().filter_map(|class| class.window.as_ref());
    let acks = acks.map(|window| window.ack.payload_bytes);
    let lengths = sources.map(SourcePlan::payload_bytes).chain(acks.map(|bytes| bytes..=bytes));
    let paths = [PathId::PRIMARY, PathId::ALTERNATIVE];
    let used = lengths.map(|payload| paths.map(|path| plan.routing.may_take(path, &payload)));
    used.reduce(|all, of| [all[0] || of[0], all[1] || of[1]])
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
    fn pair_connected_by_one_path_only_is_found() {
        let (fabric, joined) = routed(JOINED);
        assert_eq!(joined_by_one(&fabric, &joined, &joined), None);
        // Without the cable between the switches, only h0 and h1 are still connected.
        let (_, parted) = routed(&JOINED.replace(r#"{ ends = ["s0", "s1"] },"#, ""));
        for (one, other) in [(&joined, &parted), (&parted, &joined)] {
            let (from, to) = joined_by_one(&fabric, one, other).unwrap();
            let names = [from, to].map(|host| fabric.endpoint_name(host));
            assert_eq!(names, ["h0", "h2"]);
        }
        assert_eq!(joined_by_one(&fabric, &parted, &parted), None);
    }
}
