//! Plans of congestion controls that use the state of the network.

use super::checks::{Written, of_keys};
use crate::check::{Subject, check};
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::error::LabError;
use crate::scenario::{CongestionControl, ScenarioSource, SelfTuned};
use gingham_kernel::Span;
use gingham_net::{BLOCK_BYTES, SelfTunedPlan, Switching, ThrottlePlan};
use gingham_topology::ChannelId;

const GATHER_FLITS: u64 = 32;

pub(crate) fn plan(
    source: &ScenarioSource,
    links: Links<'_>,
    control: CongestionControl,
    gathered: &mut Gathered,
) -> Result<Option<ThrottlePlan>, LabError> {
    let of = match control {
        CongestionControl::None | CongestionControl::Credits => return Ok(None),
        CongestionControl::AtLeastOne => return Ok(Some(ThrottlePlan::AtLeastOne)),
        CongestionControl::SelfTuned(of) => of,
    };
    let gather = of.gather.unwrap_or_else(|| flit_time(links) * GATHER_FLITS);
    let side_band = of.side_band.unwrap_or(gather);
    let path = "network.adapters.congestion_control.self-tuned";
    let written = Written { tuned: of, gather, side_band };
    check(&of_keys(), &Subject::of_table(source, path, written), gathered)?;
    let SelfTuned { tuning_gathers, threshold, increase, decrease, drop, patience, .. } = of;
    let count = |count: i64| u32::try_from(count).expect("a check refuses counts above 1,000");
    Ok(Some(ThrottlePlan::SelfTuned(SelfTunedPlan {
        gather,
        side_band,
        tuning_gathers: count(tuning_gathers),
        threshold_millionths: millionths(threshold),
        increase_millionths: millionths(increase),
        decrease_millionths: millionths(decrease),
        drop_millionths: millionths(drop),
        patience: count(patience),
    })))
}

/// Returns the transmission time of a flit, or of a 64-byte block with whole packets, on the first
/// channel between two switches, or else on the first channel.
fn flit_time(links: Links<'_>) -> Span {
    let is_switch = |channel: ChannelId| {
        let ends = [links.fabric.source(channel), links.fabric.target(channel)];
        ends.iter().all(|end| links.fabric.node(end.node).is_switch())
    };
    let mut channels = ChannelId::first(links.channels.len());
    let channel = channels.find(|channel| is_switch(*channel)).unwrap_or(ChannelId::new(0));
    let channel = &links.channels[channel.index()];
    match links.kind.switching {
        Switching::Wormhole(_) | Switching::VirtualLanes(_) => channel.flit,
        Switching::Packets(_) => channel.bytes.of(BLOCK_BYTES.into()),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction is from 0 to 1"
)]
fn millionths(fraction: f64) -> u32 {
    (fraction * 1e6).round() as u32
}
