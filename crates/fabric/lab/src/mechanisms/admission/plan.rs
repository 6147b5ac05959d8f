//! Admission control: what streams may reserve, and where it cannot work.

use crate::compile::classes::priority_of;
use crate::compile::gathered::Gathered;
use crate::compile::network::NetworkKind;
use crate::error::LabError;
use crate::scenario::{Admission, ScenarioSource};
use gingham_kernel::{Bytes, Rate, Span};
use gingham_net::traffic::{SourcePlan, StreamPlan};
use gingham_net::{AdmissionPlan, ChannelPlan, ClassId, ClassPlan, Excess, PathSet, Plan};
use gingham_results::real;
use gingham_topology::routing::Lanes;
use gingham_topology::{ChannelId, Fabric};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The longest probe.
const PROBE_MAX_BYTES: u32 = 64 << 10;

const PS_PER_S: f64 = 1e12;

/// The admission control of a scenario, if it has one.
pub(crate) fn plan(
    source: &ScenarioSource,
    kind: &NetworkKind,
    channels: &[ChannelPlan],
) -> Result<Option<Arc<AdmissionPlan>>, LabError> {
    let Some(Admission { share, length, priority, best_effort_min, lease, .. }) =
        &source.scenario.network.admission
    else {
        return Ok(None);
    };
    let refuse = |key: &str, message: String| -> LabError {
        source.refuse(&format!("network.admission.{key}"), message).into()
    };
    if !(*share > 0.0 && *share <= 1.0) {
        let message =
            format!("streams reserve a share of a link, above 0 and at most 1, not {share}");
        return Err(refuse("share", message));
    }
    let payload_bytes = u32::try_from(length.0).ok();
    let payload_bytes = payload_bytes.filter(|bytes| (1..=PROBE_MAX_BYTES).contains(bytes));
    let payload_bytes = payload_bytes.ok_or_else(|| {
        refuse("length", format!("a probe has from 1 B to 64 KiB of payload, not {length}"))
    })?;
    let priority = priority_of(*priority).map_err(|why| refuse("priority", why))?;
    let others_min = u16::try_from(*best_effort_min).ok().filter(|min| (1..=64).contains(min));
    let others_min = others_min.ok_or_else(|| {
        let message =
            format!("a weight is from 1 to 64, in 64ths of a link, not {best_effort_min}");
        refuse("best_effort_min", message)
    })?;
    let asks = |class: &crate::scenario::TrafficClass| {
        class.streams.as_ref().is_some_and(|streams| streams.admission)
    };
    let rate = |channel: &ChannelPlan| PS_PER_S / kind.switching.byte_ps(channel);
    Ok(Some(Arc::new(AdmissionPlan {
        classes: source.scenario.traffic.iter().map(asks).collect(),
        limits: channels.iter().map(|channel| rounded(share * rate(channel))).collect(),
        rates: channels.iter().map(|channel| rounded(rate(channel))).collect(),
        others_min,
        lease: *lease,
        payload_bytes,
        priority,
        vc_class: kind.lanes.vc_class_of_admission(),
    })))
}

/// The fabric with all that sends in it: the ends of switches too, where these answer probes.
pub(crate) fn sending_fabric<'a>(source: &ScenarioSource, fabric: &'a Fabric) -> Cow<'a, Fabric> {
    match source.scenario.network.admission {
        None => Cow::Borrowed(fabric),
        Some(_) => Cow::Owned(fabric.clone().with_ports_0()),
    }
}

/// The lanes of that fabric.
pub(crate) fn sending_lanes<'a>(sending: &Fabric, lanes: &'a Lanes) -> Cow<'a, Lanes> {
    if sending.has_ports_0() {
        Cow::Owned(lanes.clone().with_ports_0(sending))
    } else {
        Cow::Borrowed(lanes)
    }
}

/// The plan with ends of switches, if these answer probes: last, since nothing else sees them.
pub(crate) fn settled(source: &ScenarioSource, plan: Plan) -> Result<Plan, LabError> {
    if plan.admission.is_none() {
        return Ok(plan);
    }
    let plan = plan.with_ports_0();
    check_answers(source, &plan)?;
    Ok(plan)
}

/// Streams that ask, one of each class between each two hosts: others are like it.
fn asking(plan: &Plan) -> impl Iterator<Item = (ClassId, &SourcePlan, &StreamPlan)> {
    let mut seen = BTreeSet::new();
    let asks = |class: ClassId| plan.admission.as_ref().is_some_and(|of| of.classes[class.index()]);
    plan.streams().filter(move |(class, sender, stream)| {
        asks(*class) && seen.insert((*class, sender.endpoint, stream.destination))
    })
}

/// Refuses routes by which a switch cannot answer a stream that it may refuse.
fn check_answers(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    for (_, sender, stream) in asking(plan) {
        let path = plan.path(PathSet::default(), sender.endpoint, stream.destination);
        for channel in path.unwrap_or_default() {
            let Some(end) = plan.fabric.port_0(plan.ends(channel).target.node) else { continue };
            if !plan.is_routed(end, sender.endpoint) {
                let message = format!(
                    "switch {} is on the way of a stream from {}, and has no way back to it by which it could answer a probe: route with \
                     another algorithm, or leave the admission control out",
                    plan.fabric.node(plan.ends(channel).target.node).name,
                    plan.fabric.endpoint_name(sender.endpoint)
                );
                return Err(source.refuse("network.admission", message).into());
            }
        }
    }
    Ok(())
}

/// Refuses networks in which what a probe reserves is not what its stream uses.
pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let Some(admission) = &plan.admission else { return Ok(()) };
    if let Some(lease) = admission.lease {
        check_lease(source, plan, lease, gathered)?;
    }
    check_rates(source, plan)?;
    note_promises(source, plan, gathered);
    let refuse = |message: &str| -> Result<(), LabError> {
        Err(source.refuse("network.admission", message.to_owned()).into())
    };
    if plan.path_sets.len() > 1 {
        return refuse(
            "a probe reserves the one way of its stream, and here are two: leave out routing.alternative",
        );
    }
    let asks = |(index, _): &(usize, &ClassPlan)| admission.classes[*index];
    let mut asking = plan.classes.iter().enumerate().filter(asks);
    let drops = |class: &ClassPlan| {
        class
            .policing
            .as_ref()
            .is_some_and(|of| matches!(of.excess, Excess::Drop | Excess::Demote(_)))
    };
    match asking.find(|(_, class)| drops(class)) {
        None => Ok(()),
        Some((index, class)) => {
            let message = format!(
                "the last packet of a stream of `{}` releases what it has reserved, and would not if it is dropped or demoted: say excess \
                 = \"delay\", or streams.admission = false",
                class.name
            );
            Err(source.refuse(&format!("traffic.{index}.policing.excess"), message).into())
        }
    }
}

/// Notes where streams and other lanes are promised more than a link together.
fn note_promises(source: &ScenarioSource, plan: &Plan, gathered: &mut Gathered) {
    let (Some(admission), Some(written)) = (&plan.admission, &source.scenario.network.admission)
    else {
        return;
    };
    let [_, others] = admission.lanes(plan);
    let others = others.len();
    let least = f64::from(admission.others_min) * f64::from(others) / 64.0;
    let over = written.share + least;
    let default = Admission::default().best_effort_min;
    if written.best_effort_min > default && over > 1.0 {
        let note = format!(
            "streams may reserve {} of a link, and {others} lanes of others have {least:.2} of it at least: where both are used, streams \
             do not have what they were promised (network.admission.share, best_effort_min)",
            written.share
        );
        gathered.notes.push(note);
    }
}

/// Refuses streams that could never be admitted, were they alone.
fn check_rates(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    let Some(admission) = &plan.admission else { return Ok(()) };
    for (class, sender, stream) in asking(plan) {
        let rate = stream.solicited_bytes_per_s();
        let path = plan.path(PathSet::default(), sender.endpoint, stream.destination);
        let too_small = |channel: &ChannelId| admission.limits[channel.index()] < rate;
        let link = path.unwrap_or_default().iter().copied().find(too_small);
        if let Some(link) = link {
            let [asked, limit] =
                [rate, admission.limits[link.index()]].map(Rate::from_bytes_per_second);
            let message = format!(
                "a stream solicits {asked}, and streams may have {limit} of {} on its way, so that it would never be admitted: \
                 solicit less, or raise network.admission.share",
                plan.fabric.channel_name(link)
            );
            let key = format!("traffic.{}.streams.solicits", class.index());
            return Err(source.refuse(&key, message).into());
        }
    }
    Ok(())
}

/// Refuses a lease that is over before a message has passed, and notes one that a silent stream loses.
fn check_lease(
    source: &ScenarioSource,
    plan: &Plan,
    lease: Span,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let longest = asking(plan).map(|(.., stream)| stream.data.message_bytes()).max();
    let slowest = plan.channels.iter().map(|channel| plan.switching.byte_ps(channel));
    let slowest = slowest.fold(0.0, f64::max);
    let takes = f64::from(longest.unwrap_or(0)) * slowest;
    if real(lease.as_ps().into()) < takes {
        let message = format!(
            "a lease is at least as long as a message of {} takes on the slowest link, {:.3} us, and not {lease}: a few times the \
             longest silence of a stream is enough",
            Bytes(longest.unwrap_or(0).into()),
            takes / 1e6
        );
        return Err(source.refuse("network.admission.lease", message).into());
    }
    let silence = asking(plan).map(|(.., stream)| stream.data.silence()).max();
    if let Some(silence) = silence.filter(|silence| lease < *silence) {
        let note = format!(
            "streams send nothing for {silence} between messages, and what they have reserved is free again after {lease} \
             (network.admission.lease): leases that outlast their silence keep it"
        );
        gathered.notes.push(note);
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates of links are far below"
)]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}
