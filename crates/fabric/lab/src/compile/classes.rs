//! Compilation of traffic classes: host patterns become endpoints, files are read, loads and
//! lengths are checked.
//!
//! ```text
//!   hosts ── in canonical order: places 0, 1, ..., N - 1
//!     │
//!   arrivals + lengths + destinations ─► for each host a SourcePlan, or a reason to be silent
//!   schedule ─────────────────────────► a SourcePlan for each host in it
//!   reply + lengths ──────────────────► a SourcePlan for each host that receives messages to reply to
//!   streams ──────────────────────────► many SourcePlans for each host, one per stream
//! ```
//!
//! Invariants: every source has a destination, and every destination can be reached; notes report
//! unexpected results.

pub(crate) mod arrivals;
pub(crate) mod chosen_hosts;
pub(crate) mod context;
mod destinations;
mod group_shift;
mod hosts;
pub(crate) mod lengths;
mod matrix;
mod permutations;
mod replies;
mod schedule;
pub(crate) mod sending;
mod sheet;
mod stagger;
mod stencil;

pub(crate) use hosts::{Hosts, matching};
pub(crate) use sending::{check_limit, check_packet_max};
pub(crate) use sending::{checked_priority, packet_too_long, priority_out_of_range};

use super::gathered::Gathered;
use super::network::Links;
use crate::check::check;
use crate::error::LabError;
use crate::mechanisms::{policing, posting, streams, window};
use crate::scenario::{Parameters, ScenarioSource};
use context::ClassContext;
use destinations::Aim;
use gingham_input::InputError;
use gingham_net::traffic::{Arrivals, DrawnPlan, MessagePlan, SourcePlan};
use gingham_net::{Arbitration, ClassId, ClassPlan};
use replies::Compiled;
use std::collections::BTreeMap;

pub(crate) fn classes(
    source: &ScenarioSource,
    links: Links<'_>,
    gathered: &mut Gathered,
) -> Result<Vec<ClassPlan>, LabError> {
    let written = &source.scenario.traffic;
    if written.is_empty() {
        return Err(InputError::at(&source.tree, "traffic", "at least one class must send").into());
    }
    let hosts = Hosts::of(links.fabric);
    check_names(source)?;
    let replied = replies::replied(source)?;
    let mut compiled = Compiled::new();
    for index in replies::in_order(&replied) {
        let class = &written[index];
        let context =
            ClassContext { source, links, fabric: links.fabric, hosts: &hosts, index, class };
        let to = replied[index].map(ClassId::new);
        let plan = compile(&context, to, &compiled, gathered)?;
        compiled.insert(ClassId::new(index), plan);
    }
    let classes: Vec<ClassPlan> = compiled.into_values().collect();
    note_levels(links.parameters, &classes, gathered);
    Ok(classes)
}

fn check_names(source: &ScenarioSource) -> Result<(), LabError> {
    let written = &source.scenario.traffic;
    for (index, class) in written.iter().enumerate() {
        if written[..index].iter().any(|earlier| earlier.name == class.name) {
            let message =
                format!("two classes are called `{}`; each needs a name of its own", class.name);
            return Err(source.refuse(&format!("traffic.{index}.name"), message).into());
        }
    }
    Ok(())
}

/// Notes that switches arbitrate by priority although there is only one priority.
fn note_levels(parameters: &Parameters, classes: &[ClassPlan], gathered: &mut Gathered) {
    let first = classes[0].priority;
    let is_one = classes.iter().flat_map(ClassPlan::priorities).all(|level| level == first);
    if is_one && parameters.arbitration == Arbitration::StrictPriority {
        let note = "switches go by priority, but all classes have the same: outputs go to inputs round robin";
        gathered.notes.push(note.to_owned());
    }
}

/// Returns the plan of a class; if it replies to a class `to`, that one is `compiled` already.
fn compile(
    context: &ClassContext<'_>,
    to: Option<ClassId>,
    compiled: &Compiled,
    gathered: &mut Gathered,
) -> Result<ClassPlan, LabError> {
    let active = arrivals::active(context)?;
    stagger::check_stagger(context)?;
    let sources = match (&context.class.arrivals, to) {
        _ if context.class.streams.is_some() => streams::streams(context, &active, gathered)?,
        (Arrivals::Schedule(file), _) => schedule::scheduled(context, file, &active, gathered)?,
        (Arrivals::Reply(reply), Some(to)) => {
            replies::replies(context, reply, to, compiled, gathered)?
        }
        _ => drawn(context, gathered)?,
    };
    check(&sending::of_priority(), &context.subject(context), gathered)?;
    let priority = checked_priority(context.class.priority);
    let policing = policing::plan(context, &sources, gathered)?;
    let post = posting::post(context, &sources, policing.as_ref(), gathered)?;
    Ok(ClassPlan {
        name: context.class.name.clone(),
        active,
        priority,
        vc_class: context.links.kind.lanes.vc_class(context.index),
        segmentation: sending::segmentation(context, gathered)?,
        policing,
        post,
        window: window::window(context, priority, gathered)?,
        pace: window::pace(context, gathered)?,
        sources,
    })
}

/// Returns the sources of a class that draws its messages.
fn drawn(context: &ClassContext<'_>, gathered: &mut Gathered) -> Result<Vec<SourcePlan>, LabError> {
    let arrivals = arrivals::arrivals(context, gathered)?;
    let lengths = lengths::lengths(context, gathered)?;
    let hosts = chosen_hosts::sending_hosts(context)?;
    let aims = destinations::aims(context, &hosts, &arrivals, gathered)?;
    let mut sources = Vec::new();
    let mut silent: BTreeMap<&str, usize> = BTreeMap::new();
    for ((endpoint, aim), later) in
        hosts.iter().zip(aims).zip(stagger::later(context, hosts.len())?)
    {
        match aim {
            Aim::At { destinations, load_factor } => {
                let arrivals = arrivals.scaled(load_factor);
                arrivals::check_periods(context, *endpoint, &arrivals, &lengths)?;
                arrivals::check_cycles(context, *endpoint, &arrivals, &lengths)?;
                let lengths = lengths.clone();
                let drawn = DrawnPlan { later, arrivals, lengths, destinations };
                let messages = MessagePlan::Drawn(drawn);
                sources.push(SourcePlan { endpoint: *endpoint, messages });
            }
            Aim::Nowhere(why) => *silent.entry(why).or_default() += 1,
        }
    }
    if sources.is_empty() {
        return Err(nobody_sends(context, &silent).into());
    }
    for (why, count) in silent {
        let all = hosts.len();
        context.note(gathered, format!("{count} of {all} hosts {why} and are silent"));
    }
    Ok(sources)
}

/// Returns the error for a class without a sending host, with the reasons.
fn nobody_sends(context: &ClassContext<'_>, silent: &BTreeMap<&str, usize>) -> InputError {
    let key = match context.source.tree.get(&context.path("destinations")) {
        Some(_) => "destinations",
        None => "hosts",
    };
    let reasons: Vec<String> = silent.iter().map(|(why, count)| format!("{count} {why}")).collect();
    let reasons = reasons.join(", ");
    context.error(key, format!("none of the hosts has anywhere to send to: {reasons}"))
}
