//! Classes that reply to others: their order of compilation, and their sources.
//!
//! ```text
//!   requests: h0, h1 ──► h2, h3        replies: those of h2 and h3 that are hosts of the class ──► h0, h1
//! ```
//!
//! Invariant: every chain of replies begins with a class that replies to none.

use super::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_net::traffic::{
    Arrivals, DestinationPlan, LengthPlan, MessagePlan, Reply, ReplyPlan, SourcePlan,
};
use gingham_net::{ClassId, ClassPlan};
use gingham_topology::{EndpointId, Fabric};
use std::collections::BTreeMap;

/// Classes compiled so far.
pub(super) type Compiled = BTreeMap<ClassId, ClassPlan>;

/// Key of the class that is replied to.
const TO: &str = "arrivals.reply.to";

/// Returns for each class the one that it replies to, if any.
pub(super) fn replied(source: &ScenarioSource) -> Result<Vec<Option<usize>>, LabError> {
    let classes = &source.scenario.traffic;
    let key = |index: usize| format!("traffic.{index}.{TO}");
    let mut replied = Vec::new();
    for (index, class) in classes.iter().enumerate() {
        let Arrivals::Reply(reply) = &class.arrivals else {
            replied.push(None);
            continue;
        };
        let found = classes.iter().position(|other| other.name == reply.to);
        let found = found.ok_or_else(|| {
            let message = format!("no class is called `{}`", reply.to);
            let others = classes.iter().filter(|other| other.name != class.name);
            let names: Vec<&str> = others.map(|other| other.name.as_str()).collect();
            source.refuse(&key(index), message).suggesting(&reply.to, "classes", &names)
        })?;
        replied.push(Some(found));
    }
    for index in 0..classes.len() {
        if let Some(circle) = circle(&replied, index) {
            let named = |index: &usize| format!("`{}`", classes[*index].name);
            let others: Vec<String> = circle[1..].iter().chain([&index]).map(named).collect();
            let (whom, cure) = match &others[..] {
                [_] => ("itself".to_owned(), "let it reply to another"),
                _ => (others.join(", which waits for "), "let one of them have other arrivals"),
            };
            let message = format!(
                "class {} waits for {whom}: no message would ever be created, so {cure}",
                named(&index)
            );
            return Err(source.refuse(&key(index), message).into());
        }
    }
    Ok(replied)
}

/// Returns the cycle of classes from `index` on: each replies to the next and the last to the
/// first. `None` if it is in no cycle.
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

/// Returns all classes in order of compilation: each after the one that it replies to, otherwise in
/// the order of the scenario.
pub(super) fn in_order(replied: &[Option<usize>]) -> Vec<usize> {
    let before = |index: &usize| std::iter::successors(replied[*index], |to| replied[*to]).count();
    let mut order: Vec<usize> = (0..replied.len()).collect();
    order.sort_by_key(before);
    order
}

/// Returns the sources of a class that replies to another: those of its hosts that receive messages
/// of the other class.
pub(super) fn replies(
    context: &ClassContext<'_>,
    reply: &Reply,
    to: ClassId,
    compiled: &Compiled,
    gathered: &mut Gathered,
) -> Result<Vec<SourcePlan>, LabError> {
    check_reply(context, reply)?;
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

/// Refuses keys that conflict with replies, and think times beyond the run.
fn check_reply(context: &ClassContext<'_>, reply: &Reply) -> Result<(), LabError> {
    if context.class.load.is_some() {
        let message = "there are as many replies as messages to reply to; leave `load` out";
        return Err(context.error("load", message).into());
    }
    if context.class.destinations.is_some() {
        let message = "a reply goes back to where its message came from; leave `destinations` out";
        return Err(context.error("destinations", message).into());
    }
    let time = context.source.scenario.stop.time;
    if reply.think >= time {
        let message = format!(
            "a run of {time} ends before the first reply, which comes {} after a message",
            reply.think
        );
        return Err(context.error("arrivals.reply.think", message).into());
    }
    Ok(())
}

fn replier(endpoint: EndpointId, to: ClassId, reply: &Reply, lengths: &LengthPlan) -> SourcePlan {
    let plan = ReplyPlan { to, think: reply.think, lengths: lengths.clone() };
    SourcePlan { endpoint, messages: MessagePlan::Replies(plan) }
}

/// Returns for each endpoint whether it may receive messages of a class; `compiled` has the classes
/// that it may reply to.
fn receivers(fabric: &Fabric, class: &ClassPlan, compiled: &Compiled) -> Vec<bool> {
    let mut receives = vec![false; fabric.endpoints().len()];
    let mut mark = |host: EndpointId| receives[host.index()] = true;
    for source in &class.sources {
        match &source.messages {
            MessagePlan::Scheduled(messages) => {
                messages.iter().for_each(|message| mark(message.draft.destination));
            }
            MessagePlan::Replies(replies) => {
                compiled[&replies.to].sources.iter().for_each(|source| mark(source.endpoint));
            }
            MessagePlan::Stream(stream) => mark(stream.destination),
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
    fn who_waits_for_another_comes_behind_it() {
        // 0 replies to 3, which replies to 1; 2 replies to none.
        let replied = [Some(3), None, None, Some(1)];
        assert_eq!(in_order(&replied), [1, 2, 3, 0]);
        assert!((0..4).all(|index| circle(&replied, index).is_none()));
        assert_eq!(in_order(&[None; 3]), [0, 1, 2]);
    }

    #[test]
    fn a_circle_is_found_by_those_in_it_alone() {
        let replied = [Some(1), Some(2), Some(1), Some(3)];
        assert_eq!(circle(&replied, 0), None);
        assert_eq!(circle(&replied, 1), Some(vec![1, 2]));
        assert_eq!(circle(&replied, 2), Some(vec![2, 1]));
        assert_eq!(circle(&replied, 3), Some(vec![3]));
    }
}
