//! Compilation of traffic classes.
//!
//! Invariant: every source has a destination, and every destination can be reached.

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
pub(crate) use sending::{checked_priority, packet_too_long, priority_out_of_range};

use super::gathered::Gathered;
use super::network::Links;
use crate::check::{Check, Subject, check, note, refuse, say, when};
use crate::error::LabError;
use crate::mechanisms::{policing, posting, streams, window};
use crate::scenario::{ScenarioSource, TrafficClass};
use arrivals::Sending;
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
    check(&of_traffic(), &Subject::of_table(source, "", &written[..]), gathered)?;
    let hosts = Hosts::of(links.fabric);
    let replied = replies::replied(written);
    check(&replies::of_replied(), &Subject::of_table(source, "", &replied[..]), gathered)?;
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
    let levels = Subject::of_table(source, "", (links.parameters.arbitration, &classes[..]));
    check(&of_levels(), &levels, gathered)?;
    Ok(classes)
}

fn of_traffic<'a>() -> [Check<&'a [TrafficClass]>; 3] {
    [
        refuse("traffic", |it| when!(it.is_empty(), "at least one class must send")),
        refuse("traffic.*.name", |it| {
            let is_twice = |index: &usize| it[..*index].iter().any(|of| of.name == it[*index].name);
            let index = (0..it.len()).find(is_twice)?;
            let name = &it[index].name;
            let sentence = say!("two classes are called `{name}`; each needs a name of its own");
            Some(sentence?.of_class(index))
        }),
        refuse("traffic.*.arrivals.reply.to", |it| replies::unknown(it.of)),
    ]
}

fn of_levels<'a>() -> [Check<(Arbitration, &'a [ClassPlan])>; 1] {
    [note(|it| {
        let (arbitration, classes) = it.of;
        let mut levels = classes.iter().flat_map(ClassPlan::priorities);
        when!(
            arbitration == Arbitration::StrictPriority
                && levels.all(|level| level == classes[0].priority),
            "switches go by priority, but all classes have the same: outputs go to inputs round robin"
        )
    })]
}

fn compile(
    context: &ClassContext<'_>,
    to: Option<ClassId>,
    compiled: &Compiled,
    gathered: &mut Gathered,
) -> Result<ClassPlan, LabError> {
    let subject = &context.subject(context);
    check(&arrivals::of_times(), subject, gathered)?;
    check(&stagger::of_arrivals(), subject, gathered)?;
    let active = arrivals::active(context);
    let sources = match (&context.class.arrivals, to) {
        _ if context.class.streams.is_some() => streams::streams(context, &active, gathered)?,
        (Arrivals::Schedule(file), _) => schedule::scheduled(context, file, &active, gathered)?,
        (Arrivals::Reply(reply), Some(to)) => {
            replies::replies(context, reply, to, compiled, gathered)?
        }
        _ => drawn(context, gathered)?,
    };
    check(&sending::of_priority(), subject, gathered)?;
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
        rate_limit: window::rate_limit(context, gathered)?,
        sources,
    })
}

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
                let of = Sending { context, host: *endpoint, plan: &arrivals, lengths: &lengths };
                check(&arrivals::of_host(), &context.subject(of), gathered)?;
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

fn nobody_sends(context: &ClassContext<'_>, silent: &BTreeMap<&str, usize>) -> InputError {
    let key = match context.source.tree.get(&context.path("destinations")) {
        Some(_) => "destinations",
        None => "hosts",
    };
    let reasons: Vec<String> = silent.iter().map(|(why, count)| format!("{count} {why}")).collect();
    let reasons = reasons.join(", ");
    context.error(key, format!("none of the hosts has anywhere to send to: {reasons}"))
}
