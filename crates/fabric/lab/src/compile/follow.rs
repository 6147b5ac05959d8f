//! Compilation of the followed flows and channels, from their names.
//!
//! Invariant: every followed flow can have messages, and has a path to its destination.

use super::classes::Hosts;
use super::longest::{destinations, sent_as};
use super::measure::wrong_step;
use super::paths::hosts;
use crate::check::{Check, Sentence, refuse, when};
use crate::error::LabError;
use crate::scenario::{Follow, ScenarioSource};
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassId, ClassPlan, FlowKey, FollowPlan, Plan, StreamId};
use gingham_topology::{ChannelId, EndpointId, Fabric, PortRef};
use std::collections::BTreeSet;

const ROWS_MAX: u64 = 10_000_000;
const FLOW: &str = "`class: source -> destination`, such as";
const ARROW: &str = "->";
const ALL: &str = "*";

pub(crate) fn of_keys<'a>() -> [Check<&'a Follow>; 5] {
    [
        refuse("", |it| {
            let rule = "there is nothing to follow: name flows or links, or leave the table out";
            when!(it.flows.is_empty() && it.links.is_empty(), "{rule}")
        }),
        refuse("step", |it| wrong_step(it.source, it.step)),
        refuse("step", |it| too_many_rows(it.source, it.of, it.flows.len() + it.links.len())),
        refuse("window", |it| {
            let window = it.window;
            when!(
                window < 1 || window % 2 == 0,
                "a centred mean goes over an odd number of steps, such as 5, not {window}"
            )
        }),
        refuse("window", |it| {
            let (Follow { step, window, .. }, time) = (it.of, it.source.scenario.stop.time);
            when!(
                window.unsigned_abs() > time.as_ps() / step.as_ps(),
                "{window} steps of {step} are longer than the run, which lasts {time}"
            )
        }),
    ]
}

pub(crate) fn of_plan<'a>() -> [Check<&'a FollowPlan>; 1] {
    [refuse("measure.follow.step", |it| {
        let follow = it.source.scenario.measure.follow.as_ref()?;
        too_many_rows(it.source, follow, it.flows.len() + it.channels.len())
    })]
}

fn too_many_rows(source: &ScenarioSource, of: &Follow, followed: usize) -> Option<Sentence> {
    let (step, time) = (of.step, source.scenario.stop.time);
    let rows = followed as u64 * time.div_ceil(step);
    when!(
        rows > ROWS_MAX,
        "{followed} flows and links in steps of {step} have {rows} rows in a run of {time}, and {ROWS_MAX} are kept at \
         the most: follow fewer, or make a step longer"
    )
}

pub(crate) fn plan(source: &ScenarioSource, plan: &Plan) -> Result<FollowPlan, LabError> {
    let Some(follow) = &source.scenario.measure.follow else { return Ok(FollowPlan::default()) };
    let reader = Reader { source, plan, hosts: Hosts::of(&plan.fabric) };
    let flows = reader.each("flows", &follow.flows, Reader::flow)?;
    let channels = match &follow.links[..] {
        [all] if all == ALL => ChannelId::first(plan.fabric.channel_count()).collect(),
        links => reader.each("links", links, Reader::channel)?,
    };
    let window_steps = u32::try_from(follow.window).expect("checked");
    Ok(FollowPlan { flows, channels, step: follow.step, window_steps })
}

struct Reader<'a> {
    source: &'a ScenarioSource,
    plan: &'a Plan,
    hosts: Hosts,
}

impl Reader<'_> {
    fn each<T: PartialEq>(
        &self,
        list: &str,
        texts: &[String],
        read: impl Fn(&Self, &str, &str) -> Result<T, LabError>,
    ) -> Result<Vec<T>, LabError> {
        let mut found = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            let key = format!("measure.follow.{list}.{place}");
            let one = read(self, &key, text)?;
            if found.contains(&one) {
                return Err(self.source.refuse(&key, format!("`{text}` is there twice")).into());
            }
            found.push(one);
        }
        Ok(found)
    }

    fn flow(&self, key: &str, text: &str) -> Result<FlowKey, LabError> {
        let refuse = |message: String| self.source.refuse(key, message);
        let (class, pair) = self.class(key, text)?;
        let (pair, number) = numbered(pair);
        let (from, to) = ends(pair).ok_or_else(|| refuse(self.not_a_flow(text)))?;
        let find = |name: &str| {
            self.hosts.find(&self.plan.fabric, name).map_err(|fault| fault.within(refuse))
        };
        let (source, destination) = (find(from)?, find(to)?);
        let name = &self.plan.classes[class.index()].name;
        let senders = self.senders(class);
        if !senders.contains(&source) {
            let names = senders.iter().map(|host| self.plan.fabric.endpoint_name(*host));
            let error = refuse(format!("`{from}` sends nothing in class `{name}`"));
            return Err(error.suggesting(from, "hosts that do", names).into());
        }
        if !self.hosts.joined(source, destination) {
            return Err(refuse(format!("no path leads from `{from}` to `{to}`")).into());
        }
        let own = || self.sources(class).filter(|own| own.endpoint == source);
        let reaches = |host: &EndpointId| own().any(|own| may_send(self.plan, own, *host));
        if source == destination && !reaches(&destination) {
            return Err(refuse(format!("`{from}` sends nothing to itself")).into());
        }
        if !reaches(&destination) {
            let fabric = &self.plan.fabric;
            let names = hosts(fabric).filter(reaches).map(|host| fabric.endpoint_name(host));
            let error = refuse(format!("`{from}` sends nothing to `{to}` in class `{name}`"));
            return Err(error.suggesting(to, "hosts that it sends to", names).into());
        }
        let flow = FlowKey { class, source, destination, stream: None };
        Ok(FlowKey { stream: self.stream(key, text, flow, number)?, ..flow })
    }

    fn stream(
        &self,
        key: &str,
        text: &str,
        flow: FlowKey,
        number: Option<usize>,
    ) -> Result<Option<StreamId>, LabError> {
        let wanted = &self.plan.classes[flow.class.index()];
        let is_sent_so = |class: ClassId| {
            let class = &self.plan.classes[class.index()];
            sent_as(self.plan, class).any(|other| std::ptr::eq(other, wanted))
        };
        let found: Vec<usize> = (0..)
            .zip(self.plan.streams())
            .filter(|(_, (class, source, stream))| {
                is_sent_so(*class)
                    && source.endpoint == flow.source
                    && stream.destination == flow.destination
            })
            .map(|(number, _)| number)
            .collect();
        let (message, names) = match (number, &found[..]) {
            (None, []) => return Ok(None),
            (None, [one]) => return Ok(Some(StreamId::new(*one))),
            (Some(number), found) if found.contains(&number) => {
                return Ok(Some(StreamId::new(number)));
            }
            (Some(number), []) => (format!("no stream {number} is one of this flow"), found),
            (Some(number), _) => (format!("stream {number} is none of this flow"), found),
            (None, several) => {
                (format!("`{text}` stands for {} streams; one is needed", several.len()), found)
            }
        };
        let names = names.iter().map(|number| format!("#{number}"));
        Err(self.source.refuse(key, message).suggesting(text, "its streams", names).into())
    }

    /// Splits the class off a flow name; class names may contain colons.
    fn class<'t>(&self, key: &str, text: &'t str) -> Result<(ClassId, &'t str), LabError> {
        let classes = &self.plan.classes;
        let behind = |class: &ClassPlan| {
            let rest = text.trim_start().strip_prefix(&class.name)?;
            rest.trim_start().strip_prefix(':')
        };
        let possible = (0..classes.len())
            .filter_map(|index| Some((ClassId::new(index), behind(&classes[index])?)));
        if let Some(found) = possible.min_by_key(|(_, rest)| rest.len()) {
            return Ok(found);
        }
        let Some((name, _)) = text.split_once(':') else {
            return Err(self.source.refuse(key, self.not_a_flow(text)).into());
        };
        let names = classes.iter().map(|class| &class.name);
        let error = self.source.refuse(key, format!("no class is called `{}`", name.trim()));
        Err(error.suggesting(name.trim(), "classes", names).into())
    }

    fn sources(&self, class: ClassId) -> impl Iterator<Item = &SourcePlan> {
        let wanted = &self.plan.classes[class.index()];
        let sends =
            |of: &&ClassPlan| sent_as(self.plan, of).any(|other| std::ptr::eq(other, wanted));
        self.plan.classes.iter().filter(sends).flat_map(|of| &of.sources)
    }

    fn senders(&self, class: ClassId) -> Vec<EndpointId> {
        let senders: BTreeSet<EndpointId> =
            self.sources(class).map(|source| source.endpoint).collect();
        senders.into_iter().collect()
    }

    fn not_a_flow(&self, text: &str) -> String {
        let class = &self.plan.classes[0].name;
        format!("a flow is written as {FLOW} `{class}: h0 -> h1`, and not as `{text}`")
    }

    fn channel(&self, key: &str, text: &str) -> Result<ChannelId, LabError> {
        let fabric = &self.plan.fabric;
        let all = || ChannelId::first(fabric.channel_count());
        let (from, to) = ends(text).ok_or_else(|| {
            let example = fabric.channel_name(ChannelId::new(0));
            let message = if text == ALL {
                "`*` stands for every link: name no other beside it".to_owned()
            } else {
                format!("a link is written as `{example}`, and not as `{text}`")
            };
            self.source.refuse(key, message)
        })?;
        let leads = |channel: &ChannelId| {
            is_called(fabric, fabric.source(*channel), from)
                && is_called(fabric, fabric.target(*channel), to)
        };
        let found: Vec<ChannelId> = all().filter(leads).collect();
        let (message, heading, mut names): (_, _, Vec<String>) = match &found[..] {
            [one] => return Ok(*one),
            [] => {
                let name = if text.contains('[') { Fabric::channel_name } else { short_name };
                let names = all().map(|channel| name(fabric, channel)).collect();
                (format!("no link is called `{text}`"), "known links", names)
            }
            several => {
                let names = several.iter().map(|channel| fabric.channel_name(*channel)).collect();
                (format!("`{text}` stands for several; one is needed"), "it stands for", names)
            }
        };
        names.sort();
        names.dedup();
        Err(self.source.refuse(key, message).suggesting(text, heading, names).into())
    }
}

/// Returns whether a source may ever send a message to a host. A reply is possible if the host can
/// send a request to the source.
fn may_send(plan: &Plan, source: &SourcePlan, to: EndpointId) -> bool {
    let Some(replies) = source.replies() else {
        return destinations(plan, source).any(|host| host == to);
    };
    let mut requests = plan.classes[replies.to.index()].sources.iter();
    requests.any(|request| request.endpoint == to && may_send(plan, request, source.endpoint))
}

fn numbered(text: &str) -> (&str, Option<usize>) {
    let found =
        text.rsplit_once('#').and_then(|(flow, number)| Some((flow, number.trim().parse().ok()?)));
    found.map_or((text, None), |(flow, number)| (flow, Some(number)))
}

pub(crate) fn ends(text: &str) -> Option<(&str, &str)> {
    let (from, to) = text.split_once(ARROW)?;
    let (from, to) = (from.trim(), to.trim());
    (!from.is_empty() && !to.is_empty()).then_some((from, to))
}

fn is_called(fabric: &Fabric, port: PortRef, name: &str) -> bool {
    fabric.node(port.node).name == name || fabric.port_name(port) == name
}

fn short_name(fabric: &Fabric, channel: ChannelId) -> String {
    let name = |port: PortRef| &fabric.node(port.node).name;
    format!("{} {ARROW} {}", name(fabric.source(channel)), name(fabric.target(channel)))
}
