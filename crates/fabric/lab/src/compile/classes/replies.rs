//! Classes that reply to other classes: the order of compilation, and the sources of replies.
//!
//! ```text
//!   requests: h0, h1 ──► h2, h3        replies: h2, h3 (if hosts of the class) ──► h0, h1
//! ```
//!
//! Invariant: every chain of replies starts with a class that does not reply.

use super::context::ClassContext;
use crate::check::{Check, Sentence, check, refuse, say, when};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::TrafficClass;
use gingham_net::traffic::{
    Arrivals, DestinationPlan, LengthPlan, MessagePlan, Reply, ReplyPlan, SourcePlan,
};
use gingham_net::{ClassId, ClassPlan};
use gingham_topology::{EndpointId, Fabric};
use std::collections::BTreeMap;

pub(super) type Compiled = BTreeMap<ClassId, ClassPlan>;

pub(super) fn unknown(classes: &[TrafficClass]) -> Option<Sentence> {
    classes.iter().enumerate().find_map(|(index, class)| {
        let Arrivals::Reply(Reply { to, .. }) = &class.arrivals else { return None };
        let is_known = classes.iter().any(|other| other.name == *to);
        let sentence = when!(!is_known, "no class is called `{to}`")?;
        let others = classes.iter().filter(|other| other.name != class.name);
        let names = others.map(|other| &*other.name);
        Some(sentence.of_class(index).suggesting(to, "classes", names))
    })
}

pub(super) fn replied(classes: &[TrafficClass]) -> Vec<Option<usize>> {
    let replied = |class: &TrafficClass| match &class.arrivals {
        Arrivals::Reply(reply) => classes.iter().position(|other| other.name == reply.to),
        _ => None,
    };
    classes.iter().map(replied).collect()
}

pub(super) fn of_replied<'a>() -> [Check<&'a [Option<usize>]>; 1] {
    [refuse("traffic.*.arrivals.reply.to", |it| {
        (0..it.len()).find_map(|index| {
            let circle = circle(it.of, index)?;
            let named = |index: &usize| format!("`{}`", it.source.scenario.traffic[*index].name);
            let others: Vec<String> = circle[1..].iter().chain([&index]).map(named).collect();
            let (whom, cure) = match &others[..] {
                [_] => ("itself".to_owned(), "let it reply to another"),
                _ => (others.join(", which waits for "), "let one of them have other arrivals"),
            };
            let sentence = say!(
                "class {} waits for {whom}: no message would ever be created, so {cure}",
                named(&index)
            );
            Some(sentence?.of_class(index))
        })
    })]
}

fn circle(replied: &[Option<usize>], index: usize) -> Option<Vec<usize>> {
    let mut circle = vec![index];
    while circle.len() <= replied.len() {
        match replied[circle[circle.len() - 1]]? {
            next if next == index => return Some(circle),
            next => circle.push(next),
        }
    }
    None
}

/// Places each class after the class that it replies to, and otherwise keeps the order of the
/// scenario.
pub(super) fn in_order(replied: &[Option<usize>]) -> Vec<usize> {
    let before = |index: &usize| std::iter::successors(replied[*index], |to| replied[*to]).count();
    let mut order: Vec<usize> = (0..replied.len()).collect();
    order.sort_by_key(before);
    order
}

pub(super) fn replies(
    context: &ClassContext<'_>,
    reply: &Reply,
    to: ClassId,
    compiled: &Compiled,
    gathered: &mut Gathered,
) -> Result<Vec<SourcePlan>, LabError> {
    check(&of_reply(), &context.subject((context, reply)), gathered)?;
    let lengths = super::lengths::lengths(context, gathered)?;
    let hosts = super::chosen_hosts::sending_hosts(context)?;
    let requests = &compiled[&to];
    let receives = receivers(context.fabric, requests, compiled);
    let receives = |host: &EndpointId| receives[host.index()];
    let repliers: Vec<EndpointId> = hosts.iter().copied().filter(receives).collect();
    let (silent, all) = (hosts.len() - repliers.len(), hosts.len());
    if repliers.is_empty() {
        let message = format!("none of the hosts is sent a message of class `{}`", requests.name);
        return Err(context.error("hosts", message).into());
    }
    let is_everybody = context.class.hosts.as_deref() == Some(&["*".to_owned()]);
    if silent > 0 && !is_everybody {
        let to = &requests.name;
        let text =
            format!("{silent} of {all} hosts are sent no message of class `{to}` and are silent");
        context.note(gathered, text);
    }
    Ok(repliers.into_iter().map(|host| replier(host, to, reply, &lengths)).collect())
}

fn of_reply<'a>() -> [Check<(&'a ClassContext<'a>, &'a Reply)>; 3] {
    [
        refuse("load", |it| {
            when!(
                it.of.0.class.load.is_some(),
                "there are as many replies as messages to reply to; leave `load` out"
            )
        }),
        refuse("destinations", |it| {
            when!(
                it.of.0.class.destinations.is_some(),
                "a reply goes back to where its message came from; leave `destinations` out"
            )
        }),
        refuse("arrivals.reply.think", |it| {
            let (think, time) = (it.of.1.think, it.source.scenario.stop.time);
            when!(
                think >= time,
                "a run of {time} ends before the first reply, which comes {think} after a message"
            )
        }),
    ]
}

fn replier(endpoint: EndpointId, to: ClassId, reply: &Reply, lengths: &LengthPlan) -> SourcePlan {
    let plan = ReplyPlan { to, think: reply.think, lengths: lengths.clone() };
    SourcePlan { endpoint, messages: MessagePlan::Replies(plan) }
}

fn receivers(fabric: &Fabric, class: &ClassPlan, compiled: &Compiled) -> Vec<bool> {
    let mut receives = vec![false; fabric.endpoints().len()];
    let mut mark = |host: EndpointId| receives[host.index()] = true;
    for source in &class.sources {
        match &source.messages {
            MessagePlan::Replies(replies) => {
                compiled[&replies.to].sources.iter().for_each(|source| mark(source.endpoint));
            }
            MessagePlan::Stream(stream) => mark(stream.destination),
            MessagePlan::Scheduled(schedule) => {
                schedule.iter().for_each(|message| mark(message.draft.destination));
            }
            MessagePlan::Drawn(drawn) => match &drawn.destinations {
                DestinationPlan::Fixed(to) => mark(*to),
                DestinationPlan::Weighted(weighted) => {
                    weighted.things().iter().copied().for_each(&mut mark);
                }
                DestinationPlan::Uniform(others) | DestinationPlan::HotSpot { all: others, .. } => {
                    others.iter().for_each(&mut mark);
                }
            },
        }
    }
    receives
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_class_is_ordered_after_its_request_class() {
        // Class 0 replies to class 3, which replies to class 1; class 2 does not reply.
        let replied = [Some(3), None, None, Some(1)];
        assert_eq!(in_order(&replied), [1, 2, 3, 0]);
        assert!((0..4).all(|index| circle(&replied, index).is_none()));
        assert_eq!(in_order(&[None; 3]), [0, 1, 2]);
    }

    #[test]
    fn reply_cycle_is_found_only_from_its_members() {
        let replied = [Some(1), Some(2), Some(1), Some(3)];
        assert_eq!(circle(&replied, 0), None);
        assert_eq!(circle(&replied, 1), Some(vec![1, 2]));
        assert_eq!(circle(&replied, 2), Some(vec![2, 1]));
        assert_eq!(circle(&replied, 3), Some(vec![3]));
    }
}
