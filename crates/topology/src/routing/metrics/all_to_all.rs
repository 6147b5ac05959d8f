//! The fluid bound on all-to-all traffic that the loads of channels imply.
//!
//! H hosts send at equal rates, each an equal share to every other host. If a host sends the
//! fraction x of the reference rate, a pair gets x / (H - 1), and a channel with L paths and
//! r times the reference rate carries x L / (H - 1), which must not exceed r. So
//!
//! ```text
//!   x <= (H - 1) r / L     for every channel; with equal links x <= (H - 1) / max L
//! ```
//!
//! A host's own channel has L = H - 1 and allows x = r; that of an in-transit host carries the
//! paths that come through it, too, both ways. The reference is the rate of the slowest host link,
//! so x never exceeds 1. If the speed of any cable that carries paths is unknown, all links count
//! as equal. What a switching kind makes of this bound, the simulation tells.

use super::distribution::real;
use crate::routing::paths::graph::SwitchGraph;
use crate::{ChannelId, Fabric, LinkSpeed};
use gingham_kernel::Rate;

/// The fluid bound on uniform all-to-all traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AllToAll {
    /// What each host can send at most, as a fraction of the reference rate.
    pub fraction: f64,
    /// The channel that sets the bound; of equals, the lowest.
    pub bottleneck: ChannelId,
    /// The rate of the slowest host link; `None` if speeds are unknown and all links
    /// count as equal.
    pub reference: Option<Rate>,
}

/// The bound; `None` if no channel carries anything.
pub(super) fn all_to_all(
    fabric: &Fabric,
    graph: &SwitchGraph,
    channel_paths: &[u64],
) -> Option<AllToAll> {
    let hosts: Vec<_> = fabric.endpoint_ids().filter(|endpoint| graph.is_host(*endpoint)).collect();
    let used: Vec<_> = ChannelId::first(fabric.channel_count())
        .filter(|channel| channel_paths[channel.index()] > 0)
        .collect();
    let rate = |channel: ChannelId| fabric.cable_of(channel).speed.map(LinkSpeed::rate);
    let known = used.iter().all(|channel| rate(*channel).is_some());
    let slowest = hosts.iter().filter_map(|host| rate(fabric.endpoint_channel(*host))).min();
    let reference = slowest.filter(|_| known);
    let allows = |channel: ChannelId| {
        let relative_rate = match (rate(channel), reference) {
            (Some(own), Some(reference)) => {
                real(own.bytes_per_second()) / real(reference.bytes_per_second())
            }
            _ => 1.0,
        };
        real(hosts.len() as u64 - 1) * relative_rate / real(channel_paths[channel.index()])
    };
    let bounds = used.iter().map(|channel| (allows(*channel), *channel));
    let (fraction, bottleneck) = bounds.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(AllToAll { fraction, bottleneck, reference })
}
