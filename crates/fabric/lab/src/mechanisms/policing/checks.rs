//! Checks of token buckets.

use super::plan::time_at;
use crate::check::{Check, SHARE, Sentence, note, refuse, say, when, within};
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::{PAYLOAD, longest_said};
use crate::compile::measure::TIME_MAX;
use crate::scenario::{Excess, Policing, TrafficClass};
use gingham_kernel::Bytes;
use gingham_net::traffic::{Arrivals, SourcePlan};
use gingham_net::{self as net, ClassPlan, Plan, REFILL_BYTES, SegmentationPlan};

pub(super) struct Policed<'a> {
    pub(super) context: &'a ClassContext<'a>,
    pub(super) policing: &'a Policing,
    pub(super) sources: &'a [SourcePlan],
}

pub(super) fn of_keys<'a>() -> [Check<Policed<'a>>; 9] {
    [
        refuse("policing.rate", |it| {
            within!(
                it.policing.rate,
                SHARE,
                "tokens flow in at a fraction of the host's link, above 0 and at most 1"
            )
        }),
        refuse("policing.burst", |it| {
            within!(it.policing.burst, PAYLOAD, "from 1 B to 1024 MiB of payload")
        }),
        refuse("policing.excess", |it| {
            let is_backlogged = matches!(it.context.class.arrivals, Arrivals::Backlogged);
            when!(
                is_backlogged && it.policing.excess == Excess::Drop,
                "a backlogged class creates a message whenever one leaves, so that there would be no \
                 end of dropping; choose \"delay\", or arrivals with a load",
            )
        }),
        refuse("policing.excess.demote", |it| {
            it.demoted_to()?;
            let (own, is_lowest) = (it.context.class.priority, it.lower().next().is_none());
            when!(
                is_lowest,
                "no class has a lower priority than {own} to send excess with: raise the priority of this one"
            )
        }),
        refuse("policing.excess.demote", |it| it.wrong_class()),
        refuse("policing.burst", |it| {
            let shortest = it.judged().map(|source| *source.payload_bytes().start()).min()?;
            let shortest = Bytes(shortest.into());
            when!(
                shortest > it.policing.burst,
                "the bucket never holds enough for the shortest message of {shortest}: all would be excess"
            )
        }),
        note(|it| {
            let longest = it.judged().map(|source| *source.payload_bytes().end()).max()?;
            let burst = it.policing.burst;
            when!(
                Bytes(longest.into()) > burst,
                "messages longer than its bucket of {burst} are always excess",
            )
        }),
        refuse("policing.rate", |it| {
            let Policing { rate, burst, .. } = *it.policing;
            let bytes = burst.0.max(REFILL_BYTES);
            let is_slow =
                |of: &&SourcePlan| time_at(it.context, of.endpoint, rate, bytes) > TIME_MAX;
            let host = it.context.fabric.endpoint_name(it.sources.iter().find(is_slow)?.endpoint);
            say!(
                "64 KiB, or a bucket of {burst}, take longer than {TIME_MAX} to flow in at {host}, and no run lasts as long"
            )
        }),
        refuse("policing.longest", |it| {
            within!(it.policing.longest?, PAYLOAD, "from 1 B to 1024 MiB of payload")
        }),
    ]
}

impl<'a> Policed<'a> {
    fn demoted_to(&self) -> Option<&'a str> {
        match &self.policing.excess {
            Excess::Demote(name) => Some(name),
            Excess::Delay | Excess::Drop => None,
        }
    }

    fn lower(&self) -> impl Iterator<Item = &'a TrafficClass> {
        let own = self.context.class.priority;
        self.context.source.scenario.traffic.iter().filter(move |class| class.priority < own)
    }

    fn wrong_class(&self) -> Option<Sentence> {
        let (name, own) = (self.demoted_to()?, self.context.class.priority);
        let sentence = match self.context.class_called(name) {
            None => say!("no class is called `{name}`"),
            Some(other) => {
                let other = self.context.source.scenario.traffic[other].priority;
                when!(
                    other >= own,
                    "excess goes to a class of lower priority than {own}, and that of `{name}` is {other}"
                )
            }
        };
        let names = self.lower().map(|class| &*class.name);
        Some(sentence?.suggesting(name, "classes of lower priority", names))
    }

    /// Returns the sources whose messages are checked for conformance once, when they are created.
    fn judged(&self) -> impl Iterator<Item = &'a SourcePlan> {
        let is_judged = self.policing.excess != Excess::Delay;
        self.sources.iter().filter(move |_| is_judged)
    }
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 1] {
    [refuse("traffic.*.policing.burst", |it| {
        it.classes.iter().enumerate().find_map(|(index, class)| {
            let policing = class.policing.as_ref()?;
            let message = class.sources.iter().map(|source| *source.payload_bytes().end()).max()?;
            if policing.excess != net::Excess::Delay || message <= policing.burst_bytes {
                return None;
            }
            let packet = message.min(longest_packet_bytes(it.of, class));
            let burst = Bytes(policing.burst_bytes.into());
            let sentence = when!(
                packet > policing.burst_bytes,
                "a packet {}, and would wait for ever for a bucket that holds {burst}: raise the burst, or cut \
                 packets with policing.longest or segmentation",
                longest_said(packet)
            );
            Some(sentence?.of_class(index))
        })
    })]
}

fn longest_packet_bytes(plan: &Plan, class: &ClassPlan) -> u32 {
    if matches!(class.segmentation, SegmentationPlan::None | SegmentationPlan::Fixed(_)) {
        return class.longest_packet_bytes(|| 1);
    }
    let over = |source: &SourcePlan| {
        let from = source.endpoint;
        let others = plan.fabric.endpoint_ids().filter(move |to| *to != from);
        let bytes = others.map(|to| class.longest_packet_bytes(|| plan.switches(from, to)));
        bytes.max().unwrap_or(0)
    };
    class.sources.iter().map(over).max().unwrap_or(0)
}
