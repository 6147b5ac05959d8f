//! Plans of admission control.

use super::checks::{of_keys, of_responses};
use crate::check::{Subject, check};
use crate::compile::classes::checked_priority;
use crate::compile::classes::lengths::checked_payload;
use crate::compile::gathered::Gathered;
use crate::compile::network::NetworkKind;
use crate::error::LabError;
use crate::scenario::{Admission, ScenarioSource, TrafficClass};
use gingham_net::{AdmissionPlan, ChannelPlan, Plan};
use gingham_topology::Fabric;
use gingham_topology::routing::Lanes;
use std::borrow::Cow;
use std::sync::Arc;

const PS_PER_S: f64 = 1e12;

pub(crate) fn plan(
    source: &ScenarioSource,
    kind: &NetworkKind,
    channels: &[ChannelPlan],
    gathered: &mut Gathered,
) -> Result<Option<Arc<AdmissionPlan>>, LabError> {
    let Some(written) = &source.scenario.network.admission else { return Ok(None) };
    let table = Subject::of_table(source, "network.admission", written);
    check(&of_keys(), &table, gathered)?;
    let Admission { share, length, priority, best_effort_min, lease, .. } = *written;
    let asks = |class: &TrafficClass| class.streams.as_ref().is_some_and(|of| of.admission);
    let rate = |channel: &ChannelPlan| PS_PER_S / kind.switching.byte_ps(channel);
    Ok(Some(Arc::new(AdmissionPlan {
        classes: source.scenario.traffic.iter().map(asks).collect(),
        limits: channels.iter().map(|channel| rounded(share * rate(channel))).collect(),
        rates: channels.iter().map(|channel| rounded(rate(channel))).collect(),
        others_min: u16::try_from(best_effort_min).expect("a check refuses weights above 64"),
        lease,
        payload_bytes: checked_payload(length),
        priority: checked_priority(priority),
        vc_class: kind.lanes.vc_class_of_admission(),
    })))
}

/// Returns the fabric, with a port 0 on every switch if switches respond to probes.
pub(crate) fn sending_fabric<'a>(source: &ScenarioSource, fabric: &'a Fabric) -> Cow<'a, Fabric> {
    match source.scenario.network.admission {
        None => Cow::Borrowed(fabric),
        Some(_) => Cow::Owned(fabric.clone().with_ports_0()),
    }
}

pub(crate) fn sending_lanes<'a>(sending: &Fabric, lanes: &'a Lanes) -> Cow<'a, Lanes> {
    if sending.has_ports_0() {
        Cow::Owned(lanes.clone().with_ports_0(sending))
    } else {
        Cow::Borrowed(lanes)
    }
}

/// Adds port 0 to all switches if they respond to probes. Called last, because nothing else uses
/// these ports.
pub(crate) fn settled(
    source: &ScenarioSource,
    plan: Plan,
    gathered: &mut Gathered,
) -> Result<Plan, LabError> {
    if plan.admission.is_none() {
        return Ok(plan);
    }
    let plan = plan.with_ports_0();
    check(&of_responses(), &Subject::of_table(source, "", &plan), gathered)?;
    Ok(plan)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates of links are far below"
)]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}
