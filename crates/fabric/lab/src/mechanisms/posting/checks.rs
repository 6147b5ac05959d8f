//! Checks of adapters and posts.

use crate::check::{Check, Sentence, delay_too_long, note, refuse, say, when, within};
use crate::compile::cables::RATE_MIN;
use crate::compile::classes::context::ClassContext;
use crate::compile::measure::TIME_MAX;
use crate::scenario::{Adapters, CongestionControl, Credits, LaneName, RefusedPost, Retry};
use gingham_kernel::Span;
use gingham_net::traffic::SourcePlan;
use gingham_net::{self as net, ClassPlan, Plan, PolicingPlan};
use gingham_topology::EndpointId;
use std::ops::{Bound, RangeInclusive};

const MESSAGES: RangeInclusive<i64> = 1..=1_000_000;

pub(super) fn of_buffer() -> [Check<Adapters>; 1] {
    [refuse("send_buffer", |it| {
        within!(it.send_buffer, MESSAGES, "a send buffer holds from 1 to 1,000,000 messages")
    })]
}

pub(super) fn of_dma() -> [Check<Adapters>; 2] {
    [
        refuse("dma.rate", |it| {
            within!(it.dma?.rate, RATE_MIN.., "a DMA engine copies at least {RATE_MIN}")
        }),
        refuse("dma.setup", |it| delay_too_long(it.dma?.setup)),
    ]
}

pub(super) struct Posted<'a> {
    pub(super) context: &'a ClassContext<'a>,
    pub(super) sources: &'a [SourcePlan],
    pub(super) policing: Option<&'a PolicingPlan>,
}

impl Posted<'_> {
    fn control(&self) -> Option<CongestionControl> {
        Some(self.context.source.scenario.network.adapters?.congestion_control)
    }

    fn credits(&self) -> Option<Credits> {
        self.context.class.post?.credits
    }
}

pub(super) fn of_class<'a>() -> [Check<Posted<'a>>; 7] {
    [
        refuse("lane", |it| {
            let class = it.context.class;
            let is_held = class.window.is_some()
                || class.rate_limit.is_some()
                || it.policing.is_some_and(|of| of.excess == net::Excess::Delay);
            when!(
                is_held && class.lane == LaneName::AtRandom,
                "packets of a flow that is held back, by a window, a rate limit or tokens, go one after the other on its lanes: say \
                 lane = \"of-flow\""
            )
        }),
        refuse("post", |it| {
            when!(
                it.control().is_none() && it.context.class.post.is_some(),
                "messages are posted to channel adapters, and there are none: add the table [network.adapters], or leave \
                 this out"
            )
        }),
        refuse("post.credits", |it| {
            when!(
                it.control()? == CongestionControl::Credits && it.credits().is_none(),
                "class `{}` has no credits, so that it could send nothing: say post = {{ credits = {{ per-host = 200 }} }}, {{ per-flow \
                 = 1 }} or \"exempt\"",
                it.context.class.name
            )
        }),
        refuse("post.credits", |it| {
            let is_exempt = matches!(it.credits()?, Credits::Exempt);
            when!(
                it.control()? != CongestionControl::Credits && !is_exempt,
                "without credits all classes share the send buffer: say network.adapters.congestion_control = \
                 \"credits\", or leave this out"
            )
        }),
        refuse("post.credits", |it| {
            let has_rate = it.sources.iter().any(|of| of.stream().is_some());
            when!(
                it.credits()? == Credits::ByRate && !has_rate,
                "only streams solicit a rate: say {{ per-host = 200 }} or {{ per-flow = 1 }}, or make the class of streams"
            )
        }),
        refuse("post.credits", |it| {
            let (key, count) = match it.credits()? {
                Credits::PerHost(count) => ("per-host", count),
                Credits::PerFlow(count) => ("per-flow", count),
                Credits::Exempt | Credits::ByRate => return None,
            };
            let sentence = when!(
                !MESSAGES.contains(&count),
                "from 1 to 1,000,000 credits, not {count}: without any nothing could be sent"
            );
            Some(sentence?.under(key.to_owned()))
        }),
        refuse("post.refused.retry.after", |it| {
            let RefusedPost::Retry(Retry { after }) = it.context.class.post?.refused else {
                return None;
            };
            let allowed = (Bound::Excluded(Span::ZERO), Bound::Included(TIME_MAX));
            let rule = "a message is posted again after more than 0 and at most";
            within!(after?, allowed, "{rule} {TIME_MAX}")
        }),
    ]
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 3] {
    [
        refuse("network.adapters", |it| {
            let adapters = it.adapters?;
            let mut hosts = it.fabric.endpoint_ids();
            hosts.find_map(|host| {
                let beyond = too_many_credits(it.of, host, adapters.send_buffer);
                beyond.or_else(|| immediate_cable(it.of, host))
            })
        }),
        // Demoted messages belong to no flow with credits.
        refuse("traffic.*.post.credits", |it| {
            it.classes.iter().enumerate().find_map(|(index, class)| {
                let excess = class.policing.as_ref()?.excess;
                let (net::Credits::OfFlow(_), net::Excess::Demote(other)) =
                    (&class.post.credits, excess)
                else {
                    return None;
                };
                let sentence = say!(
                    "credits belong to flows of `{}` here, and excess is sent as messages of `{}`, which are of none: give the credits to the \
                     host (per-host), or say excess = \"delay\"",
                    class.name,
                    it.classes[other.index()].name
                );
                Some(sentence?.of_class(index))
            })
        }),
        note(|it| {
            let control = it.source.scenario.network.adapters?.congestion_control;
            let is_exempt = |class: &ClassPlan| class.post.credits == net::Credits::Exempt;
            when!(
                control == CongestionControl::Credits && it.classes.iter().all(is_exempt),
                "every class is exempt, so that credits hold back nothing"
            )
        }),
    ]
}

fn too_many_credits(plan: &Plan, host: EndpointId, buffer: u32) -> Option<Sentence> {
    let mut sum = 0;
    let (index, _) = plan.classes.iter().enumerate().find(|(index, class)| {
        sum += credits_at(plan, host, (*index, class));
        sum > buffer.into()
    })?;
    let sentence = say!(
        "the classes of {} have {sum} credits or more together, and a credit is a place of its send buffer, which has {buffer}: \
         give fewer, or raise network.adapters.send_buffer",
        plan.fabric.endpoint_name(host)
    );
    Some(sentence?.at(format!("traffic.{index}.post.credits")))
}

fn credits_at(plan: &Plan, host: EndpointId, (index, class): (usize, &ClassPlan)) -> u64 {
    let mut senders = class.sources.iter().filter(|sender| sender.endpoint == host);
    let Some(first) = senders.next() else { return 0 };
    match &class.post.credits {
        net::Credits::OfClass(credits) => credits[host.index()].into(),
        net::Credits::OfFlow(credits) => {
            let admitted = admitted_at_most(plan, index, first).unwrap_or(u64::MAX);
            let flows = (1 + senders.count() as u64).min(admitted);
            u64::from(credits[host.index()]) * flows
        }
        net::Credits::OfBuffer | net::Credits::Exempt => 0,
    }
}

/// Returns the number of equal streams that admission control allows a host to send at the same
/// time.
fn admitted_at_most(plan: &Plan, class: usize, sender: &SourcePlan) -> Option<u64> {
    let admission = plan.admission.as_ref().filter(|admission| admission.classes[class])?;
    let cable = plan.fabric.endpoint_channel(sender.endpoint);
    let rate = sender.stream()?.solicited_bytes_per_s();
    Some(admission.limits[cable.index()] / rate.max(1))
}

/// Refuses a cable without delay between two hosts: a message would arrive before it is sent.
fn immediate_cable(plan: &Plan, host: EndpointId) -> Option<Sentence> {
    let cable = plan.fabric.endpoint_channel(host);
    let is_switch = plan.is_switch(plan.ends(cable).target.node);
    when!(
        !is_switch && plan.channel(cable).delay == Span::ZERO,
        "the cable of {} leads to another host without a delay, so that what leaves is there already: give cables a \
         length (network.cable_length), or leave adapters out",
        plan.fabric.endpoint_name(host)
    )
}
