//! How much of a class a host may send: rates become times, names classes, and what could never be
//! sent is refused.

use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Excess, Policing, ScenarioSource};
use gingham_input::InputError;
use gingham_kernel::{Bytes, Span};
use gingham_net::traffic::{Arrivals, SourcePlan};
use gingham_net::{
    self as net, ClassId, ClassPlan, Plan, PolicingPlan, REFILL_BYTES, SegmentationPlan,
};
use gingham_topology::EndpointId;

/// How a class with these sources is policed.
pub(crate) fn policing(
    context: &ClassContext<'_>,
    sources: &[SourcePlan],
    gathered: &mut Gathered,
) -> Result<Option<PolicingPlan>, LabError> {
    let Some(policing) = &context.class.policing else { return Ok(None) };
    let rate = policing.rate;
    if !(rate > 0.0 && rate <= 1.0) {
        let message = format!(
            "tokens flow in at a fraction of the host's link, above 0 and at most 1, not {rate}"
        );
        return Err(context.error("policing.rate", message).into());
    }
    let burst_bytes = policed_bytes(context, "burst", policing.burst)?;
    let longest = policing.longest.map(|bytes| policed_bytes(context, "longest", bytes));
    let excess = excess(context, &policing.excess)?;
    if excess != net::Excess::Delay {
        check_lengths(context, policing, burst_bytes, sources, gathered)?;
    }
    let refill = sources.iter().map(|source| refill(context, policing, source));
    Ok(Some(PolicingPlan {
        refill: refill.collect::<Result<_, _>>()?,
        burst_bytes,
        longest_bytes: longest.transpose()?.unwrap_or(u32::MAX),
        excess,
    }))
}

fn policed_bytes(context: &ClassContext<'_>, key: &str, bytes: Bytes) -> Result<u32, LabError> {
    payload(bytes.0).ok_or_else(|| {
        let message = format!("from 1 B to 1024 MiB of payload, not {bytes}");
        context.error(&format!("policing.{key}"), message).into()
    })
}

fn excess(context: &ClassContext<'_>, excess: &Excess) -> Result<net::Excess, LabError> {
    match excess {
        Excess::Delay => Ok(net::Excess::Delay),
        Excess::Drop if matches!(context.class.arrivals, Arrivals::Backlogged) => {
            let message = "a backlogged class creates a message whenever one leaves, so that there would be no \
                           end of dropping; choose \"delay\", or arrivals with a load";
            Err(context.error("policing.excess", message).into())
        }
        Excess::Drop => Ok(net::Excess::Drop),
        Excess::Demote(name) => Ok(net::Excess::Demote(demoted_to(context, name)?)),
    }
}

fn demoted_to(context: &ClassContext<'_>, name: &str) -> Result<ClassId, LabError> {
    let classes = &context.source.scenario.traffic;
    let key = "policing.excess.demote";
    let own = context.class.priority;
    let lower = || classes.iter().filter(|class| class.priority < own);
    if lower().next().is_none() {
        let message = format!(
            "no class has a lower priority than {own} to send excess with: raise the priority of this one"
        );
        return Err(context.error(key, message).into());
    }
    let Some(index) = classes.iter().position(|class| class.name == name) else {
        let names: Vec<&str> = lower().map(|class| class.name.as_str()).collect();
        let error = context.error(key, format!("no class is called `{name}`"));
        return Err(error.suggesting(name, "classes of lower priority", &names).into());
    };
    let other = classes[index].priority;
    if other >= own {
        let message = format!(
            "excess goes to a class of lower priority than {own}, and that of `{name}` is {other}"
        );
        let names: Vec<&str> = lower().map(|class| class.name.as_str()).collect();
        let error = context.error(key, message);
        return Err(error.suggesting(name, "classes of lower priority", &names).into());
    }
    Ok(ClassId::new(index))
}

/// What is judged as a whole must fit the bucket: none of it is an error, some of it a note.
fn check_lengths(
    context: &ClassContext<'_>,
    policing: &Policing,
    burst_bytes: u32,
    sources: &[SourcePlan],
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let ranges = || sources.iter().map(SourcePlan::payload_bytes);
    let shortest = ranges().map(|range| *range.start()).min().unwrap_or(0);
    let longest = ranges().map(|range| *range.end()).max().unwrap_or(0);
    let burst = policing.burst;
    if shortest > burst_bytes {
        let shortest = Bytes(shortest.into());
        let message = format!(
            "the bucket never holds enough for a message, the shortest of which has {shortest}: all would be excess"
        );
        return Err(context.error("policing.burst", message).into());
    }
    if longest > burst_bytes {
        context.note(
            gathered,
            format!("messages longer than its bucket of {burst} are always excess"),
        );
    }
    Ok(())
}

/// The time in which 64 KiB of tokens flow in at a host.
fn refill(
    context: &ClassContext<'_>,
    policing: &Policing,
    source: &SourcePlan,
) -> Result<Span, LabError> {
    let Policing { rate, burst, .. } = *policing;
    if time_at(context, source.endpoint, rate, burst.0.max(REFILL_BYTES)) > TIME_MAX {
        let message = format!(
            "64 KiB, or a bucket of {burst}, take longer than {TIME_MAX} to flow in at {}, and no run lasts as long",
            context.fabric.endpoint_name(source.endpoint)
        );
        return Err(context.error("policing.rate", message).into());
    }
    Ok(time_at(context, source.endpoint, rate, REFILL_BYTES))
}

/// The time of so many bytes at a fraction of a host's link, the longest span if it is longer.
pub(crate) fn time_at(
    context: &ClassContext<'_>,
    host: EndpointId,
    share: f64,
    bytes: u64,
) -> Span {
    #[expect(clippy::cast_precision_loss, reason = "rounded to a picosecond in 64 KiB, once")]
    let span_ps = bytes as f64 * context.links.byte_ps(host) / share;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Span::from_ps(span_ps.round() as u64)
}

/// Refuses packets that would wait for more tokens than their bucket ever holds.
pub(crate) fn check_packets(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    for (index, class) in plan.classes.iter().enumerate() {
        let Some(policing) = &class.policing else { continue };
        if policing.excess != net::Excess::Delay {
            continue;
        }
        let message = class.sources.iter().map(|source| *source.payload_bytes().end()).max();
        let message = message.unwrap_or(0);
        if message <= policing.burst_bytes {
            continue;
        }
        let packet = message.min(longest_packet_bytes(plan, class));
        if packet > policing.burst_bytes {
            let burst = Bytes(policing.burst_bytes.into());
            let has = if packet == u32::MAX {
                "may be of any length".to_owned()
            } else {
                format!("may have {} of payload", Bytes(packet.into()))
            };
            let message = format!(
                "a packet {has}, and would wait for ever for a bucket that holds {burst}: raise the burst, or cut \
                 packets with policing.longest or segmentation"
            );
            let key = format!("traffic.{index}.policing.burst");
            return Err(InputError::at(&source.tree, &key, message).into());
        }
    }
    Ok(())
}

/// The most payload of a packet of a class over any of its routes.
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
