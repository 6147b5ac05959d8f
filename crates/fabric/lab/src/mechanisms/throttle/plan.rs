//! Congestion controls that look at the network: their figures as integers.

use crate::compile::cables::DELAY_MAX;
use crate::compile::network::Links;
use crate::error::LabError;
use crate::scenario::{CongestionControl, ScenarioSource, SelfTuned};
use gingham_kernel::Span;
use gingham_net::{BLOCK_BYTES, SelfTunedPlan, Switching, ThrottlePlan};
use gingham_topology::ChannelId;
use std::ops::RangeInclusive;

/// Flit times of a gather, by default.
const GATHER_FLITS: u64 = 32;
/// Gathers of a tuning period, and periods until the best is forgotten.
const COUNTS: RangeInclusive<u32> = 1..=1_000;
const KEY: &str = "network.adapters.congestion_control.self-tuned";

/// What hosts look at before they begin a message, if they do.
pub(crate) fn plan(
    source: &ScenarioSource,
    links: Links<'_>,
    control: CongestionControl,
) -> Result<Option<ThrottlePlan>, LabError> {
    match control {
        CongestionControl::None | CongestionControl::Credits => Ok(None),
        CongestionControl::AtLeastOne => Ok(Some(ThrottlePlan::AtLeastOne)),
        CongestionControl::SelfTuned(of) => {
            Ok(Some(ThrottlePlan::SelfTuned(self_tuned(source, links, of)?)))
        }
    }
}

fn self_tuned(
    source: &ScenarioSource,
    links: Links<'_>,
    of: SelfTuned,
) -> Result<SelfTunedPlan, LabError> {
    let refuse = |key: &str, message: String| -> LabError {
        source.refuse(&format!("{KEY}.{key}"), message).into()
    };
    let count = |key: &str, written: i64| {
        let count = u32::try_from(written).ok().filter(|count| COUNTS.contains(count));
        count.ok_or_else(|| refuse(key, format!("from 1 to 1,000, not {written}")))
    };
    let fraction = |key: &str, written: f64| {
        let is_fraction = (0.0..=1.0).contains(&written);
        is_fraction
            .then(|| millionths(written))
            .ok_or_else(|| refuse(key, format!("a fraction from 0 to 1, not {written}")))
    };
    let gather = of.gather.unwrap_or_else(|| flit_time(links) * GATHER_FLITS);
    if gather == Span::ZERO || gather > DELAY_MAX {
        let message = format!(
            "buffers are counted every so often, more than 0 and at most {DELAY_MAX}, not {gather}"
        );
        return Err(refuse("gather", message));
    }
    let tuning_gathers = count("tuning_gathers", of.tuning_gathers)?;
    let period = gather * u64::from(tuning_gathers);
    let side_band = of.side_band.unwrap_or(gather);
    if side_band > period {
        let message = format!(
            "a side band slower than its tuning period: counts are {side_band} on their way, and the threshold is tuned every \
             {period}, before its last change has shown; make it faster, or raise gather or tuning_gathers"
        );
        return Err(refuse("side_band", message));
    }
    Ok(SelfTunedPlan {
        gather,
        side_band,
        tuning_gathers,
        threshold_millionths: fraction("threshold", of.threshold)?,
        increase_millionths: fraction("increase", of.increase)?,
        decrease_millionths: fraction("decrease", of.decrease)?,
        drop_millionths: fraction("drop", of.drop)?,
        patience: count("patience", of.patience)?,
    })
}

/// The time of a flit, or of a block where there are none, on the first channel between switches; on
/// the first of all where no two are joined.
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

/// A fraction in millionths, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction is from 0 to 1"
)]
fn millionths(fraction: f64) -> u32 {
    (fraction * 1e6).round() as u32
}
