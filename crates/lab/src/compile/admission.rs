//! Admission control: what streams may reserve, and where it cannot work.

use super::classes::priority_of;
use super::network::NetworkKind;
use crate::error::LabError;
use crate::scenario::{Admission, ScenarioSource};
use gingham_model::{AdmissionPlan, ChannelPlan, ClassPlan, Excess, Plan};
use std::sync::Arc;

/// The longest probe.
const PROBE_MAX_BYTES: u32 = 64 << 10;

const PS_PER_S: f64 = 1e12;

/// The admission control of a scenario, if it has one.
pub(super) fn plan(
    source: &ScenarioSource,
    kind: &NetworkKind,
    channels: &[ChannelPlan],
) -> Result<Option<Arc<AdmissionPlan>>, LabError> {
    let Some(Admission { share, length, priority, .. }) = &source.scenario.network.admission else {
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
    let asks = |class: &crate::scenario::TrafficClass| {
        class.streams.as_ref().is_some_and(|streams| streams.admission)
    };
    let limit = |channel: &ChannelPlan| rounded(share * PS_PER_S / kind.switching.byte_ps(channel));
    Ok(Some(Arc::new(AdmissionPlan {
        classes: source.scenario.traffic.iter().map(asks).collect(),
        limits: channels.iter().map(limit).collect(),
        payload_bytes,
        priority,
        vc_class: kind.lanes.vc_class_of_admission(),
    })))
}

/// Refuses networks in which what a probe reserves is not what its stream uses.
pub(super) fn check(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    let Some(admission) = &plan.admission else { return Ok(()) };
    let refuse = |message: &str| -> Result<(), LabError> {
        Err(source.refuse("network.admission", message.to_owned()).into())
    };
    if plan.path_sets.len() > 1 {
        return refuse(
            "a probe reserves the one way of its stream, and here are two: leave out routing.alternative",
        );
    }
    if plan.has_in_transit_hosts() {
        return refuse("in-transit hosts keep no ledgers: route with another algorithm");
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates of links are far below"
)]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}
