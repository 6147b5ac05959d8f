//! Channel adapters: their figures, and that no host gives away more credits than it has.

use crate::compile::cables::{DELAY_MAX, RATE_MIN};
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::error::LabError;
use crate::mechanisms::throttle;
use crate::scenario::{Adapters, CongestionControl, ScenarioSource};
use gingham_net::traffic::SourcePlan;
use gingham_net::{AdapterPlan, ClassPlan, Credits, DmaPlan, Excess, Plan, REFILL_BYTES};
use gingham_topology::EndpointId;
use std::ops::RangeInclusive;

/// Messages of a send buffer.
const BUFFERS: RangeInclusive<u32> = 1..=1_000_000;

/// The figures as integers; nothing where there are no adapters.
pub(crate) fn plan(
    source: &ScenarioSource,
    links: Links<'_>,
) -> Result<Option<AdapterPlan>, LabError> {
    let Some(adapters) = source.scenario.network.adapters else { return Ok(None) };
    let Adapters { send_buffer, dma, congestion_control } = adapters;
    let refuse = |key: &str, message: String| -> LabError {
        source.refuse(&format!("network.adapters.{key}"), message).into()
    };
    let held = u32::try_from(send_buffer).ok().filter(|messages| BUFFERS.contains(messages));
    let held = held.ok_or_else(|| {
        let message =
            format!("a send buffer holds from 1 to 1,000,000 messages, not {send_buffer}");
        refuse("send_buffer", message)
    })?;
    let throttle = throttle::plan(source, links, congestion_control)?;
    let plan = AdapterPlan { send_buffer: held, dma: None, throttle };
    let Some(dma) = dma else { return Ok(Some(plan)) };
    if dma.rate < RATE_MIN {
        let message = format!("a DMA engine copies at least {RATE_MIN}, not {}", dma.rate);
        return Err(refuse("dma.rate", message));
    }
    if dma.setup > DELAY_MAX {
        return Err(refuse(
            "dma.setup",
            format!("a delay is at most {DELAY_MAX}, not {}", dma.setup),
        ));
    }
    let refill = dma.rate.flit_time(REFILL_BYTES).span;
    let dma = DmaPlan { setup: dma.setup, refill };
    Ok(Some(AdapterPlan { dma: Some(dma), ..plan }))
}

/// Refuses what the classes of a host cannot have together, and cables on which a message would
/// arrive before it has left.
pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let Some(adapters) = plan.adapters else { return Ok(()) };
    for endpoint in plan.fabric.endpoint_ids() {
        check_credits(source, plan, endpoint, adapters.send_buffer)?;
        let cable = plan.fabric.endpoint_channel(endpoint);
        let is_switch = plan.is_switch(plan.ends(cable).target.node);
        if !is_switch && plan.channel(cable).delay == gingham_kernel::Span::ZERO {
            let message = format!(
                "the cable of {} leads to another host without a delay, so that what leaves is there already: give cables a \
                 length (network.cable_length), or leave adapters out",
                plan.fabric.endpoint_name(endpoint)
            );
            return Err(source.refuse("network.adapters", message).into());
        }
    }
    check_demoted(source, plan)?;
    note_unlimited(source, plan, gathered);
    Ok(())
}

/// Refuses credits of flows where a message may be sent as one of another class, in which it is of no
/// flow that has any.
fn check_demoted(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    for (index, class) in plan.classes.iter().enumerate() {
        let excess = class.policing.as_ref().map(|policing| policing.excess);
        if let (Credits::OfFlow(_), Some(Excess::Demote(other))) = (&class.post.credits, excess) {
            let message = format!(
                "credits belong to flows of `{}` here, and excess is sent as messages of `{}`, which are of none: give the credits to the \
                 host (per-host), or say excess = \"delay\"",
                class.name,
                plan.classes[other.index()].name
            );
            return Err(source.refuse(&format!("traffic.{index}.post.credits"), message).into());
        }
    }
    Ok(())
}

/// The credits of an endpoint are places of its send buffer.
fn check_credits(
    source: &ScenarioSource,
    plan: &Plan,
    endpoint: EndpointId,
    buffer: u32,
) -> Result<(), LabError> {
    let of_class = |index: usize, class: &ClassPlan| -> u64 {
        let mut senders = class.sources.iter().filter(|sender| sender.endpoint == endpoint);
        let Some(first) = senders.next() else { return 0 };
        match &class.post.credits {
            Credits::OfClass(credits) => credits[endpoint.index()].into(),
            Credits::OfFlow(credits) => {
                let admitted = admitted_at_most(plan, index, first).unwrap_or(u64::MAX);
                let flows = (1 + senders.count() as u64).min(admitted);
                u64::from(credits[endpoint.index()]) * flows
            }
            Credits::OfBuffer | Credits::Exempt => 0,
        }
    };
    let mut sum = 0;
    for (index, class) in plan.classes.iter().enumerate() {
        sum += of_class(index, class);
        if sum > u64::from(buffer) {
            let message = format!(
                "the classes of {} have {sum} credits or more together, and a credit is a place of its send buffer, which has {buffer}: \
                 give fewer, or raise network.adapters.send_buffer",
                plan.fabric.endpoint_name(endpoint)
            );
            return Err(source.refuse(&format!("traffic.{index}.post.credits"), message).into());
        }
    }
    Ok(())
}

/// How many streams like one may send at once from its host, where they ask first.
fn admitted_at_most(plan: &Plan, class: usize, sender: &SourcePlan) -> Option<u64> {
    let admission = plan.admission.as_ref().filter(|admission| admission.classes[class])?;
    let cable = plan.fabric.endpoint_channel(sender.endpoint);
    let rate = sender.stream()?.solicited_bytes_per_s();
    Some(admission.limits[cable.index()] / rate.max(1))
}

/// Says where every class is exempt, so that adapters hold back nothing.
fn note_unlimited(source: &ScenarioSource, plan: &Plan, gathered: &mut Gathered) {
    let adapters = source.scenario.network.adapters.as_ref();
    let control = adapters.map(|adapters| adapters.congestion_control);
    let is_exempt = |class: &ClassPlan| class.post.credits == Credits::Exempt;
    if control == Some(CongestionControl::Credits) && plan.classes.iter().all(is_exempt) {
        let note = "every class is exempt, so that credits hold back nothing";
        gathered.notes.push(note.to_owned());
    }
}
