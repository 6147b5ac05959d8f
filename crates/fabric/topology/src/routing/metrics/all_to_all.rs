//! Fluid bound on all-to-all traffic.
//!
//! Hosts send at equal rates, with an equal share to every other host of the connected component.
//! If each of H hosts sends at the fraction x of the reference rate, a pair gets x / (H - 1). A
//! channel with L paths and r times the reference rate then carries x L / (H - 1), which must not
//! exceed r:
//!
//! ```text
//!   x <= (H - 1) r / L     with equal links x <= (H - 1) / max L
//! ```
//!
//! The tightest connected component bounds the fabric. A host's own channel has L = H - 1 paths and
//! allows x = r, unless it also carries paths in transit. The reference is the rate of the slowest
//! host link, so x never exceeds 1. Unknown speeds count as the most common known speed (the
//! slowest in a tie); if no speed is known, all links count as equal.
//!
//! If some pairs have no route, H - 1 is replaced by the largest number of hosts that any host
//! reaches or, on a host's own channel, by the number that this host reaches.

use super::distribution::real;
use crate::routing::paths::graph::{Attachment, SwitchGraph};
use crate::{ChannelId, Fabric, LinkSpeed, NodeId};
use gingham_kernel::Rate;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Fluid bound on uniform all-to-all traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AllToAll {
    /// Largest sending rate of a host, as a fraction of the reference rate.
    pub fraction: f64,
    /// Bottleneck channel; the lowest-numbered one in a tie.
    pub bottleneck: ChannelId,
    /// Rate of the slowest host link; `None` if no speed is known.
    pub reference: Option<Rate>,
    /// Speed assumed for cables of unknown speed; `None` if all or no speeds are known.
    pub assumed: Option<AssumedSpeed>,
}

/// Stand-in for unknown cable speeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssumedSpeed {
    /// Most common known speed.
    pub speed: LinkSpeed,
    /// Number of cables of unknown speed that carry paths.
    pub cables: usize,
}

/// Computes the bound; `None` if no channel carries any path.
pub(super) fn all_to_all(
    fabric: &Fabric,
    graph: &SwitchGraph,
    channel_paths: &[u64],
) -> Option<AllToAll> {
    let hosts: Vec<_> = fabric.endpoint_ids().filter(|endpoint| graph.is_host(*endpoint)).collect();
    let used: Vec<_> = ChannelId::first(fabric.channel_count())
        .filter(|channel| channel_paths[channel.index()] > 0)
        .collect();
    let assumed = AssumedSpeed::of(fabric, &used);
    let rate = |channel: ChannelId| {
        let known = fabric.cable_of(channel).speed;
        known.or(assumed.map(|assumed| assumed.speed)).map(LinkSpeed::rate)
    };
    let links = hosts.iter().map(|host| fabric.endpoint_channel(*host));
    let reference = links.filter_map(rate).min();
    let destinations = Destinations::new(fabric, graph, channel_paths);
    let allows = |channel: ChannelId| {
        let relative_rate = match (rate(channel), reference) {
            (Some(own), Some(reference)) => {
                real(own.bytes_per_second()) / real(reference.bytes_per_second())
            }
            _ => 1.0,
        };
        let destinations = destinations.of(fabric, graph, channel);
        real(destinations) * relative_rate / real(channel_paths[channel.index()])
    };
    let bounds = used.iter().map(|channel| (allows(*channel), *channel));
    let (fraction, bottleneck) = bounds.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(AllToAll { fraction, bottleneck, reference, assumed })
}

impl AssumedSpeed {
    /// Determines the speed; `None` if the speeds of all used cables are known, or none are.
    fn of(fabric: &Fabric, used: &[ChannelId]) -> Option<Self> {
        let cables: BTreeSet<ChannelId> =
            used.iter().map(|channel| (*channel).min(Fabric::reverse(*channel))).collect();
        let is_unknown = |channel: &&ChannelId| fabric.cable_of(**channel).speed.is_none();
        let unknown = cables.iter().filter(is_unknown).count();
        let mut counts: BTreeMap<LinkSpeed, usize> = BTreeMap::new();
        for speed in fabric.cables().iter().filter_map(|cable| cable.speed) {
            *counts.entry(speed).or_default() += 1;
        }
        let rank = |(speed, count): &(&LinkSpeed, &usize)| (**count, Reverse(speed.rate()));
        let (speed, _) = counts.iter().max_by_key(rank)?;
        (unknown > 0).then_some(Self { speed: *speed, cables: unknown })
    }
}

struct Destinations {
    of_host: Vec<u64>,
    of_island: BTreeMap<NodeId, u64>,
    islands: Vec<NodeId>,
}

impl Destinations {
    fn new(fabric: &Fabric, graph: &SwitchGraph, channel_paths: &[u64]) -> Self {
        let islands = graph.islands();
        let mut hosts_of: BTreeMap<NodeId, u64> = BTreeMap::new();
        for switch in graph.switches() {
            *hosts_of.entry(islands[switch.index()]).or_default() +=
                u64::from(graph.host_count(switch));
        }
        let mut of_host = vec![0; graph.endpoint_count()];
        let mut of_island: BTreeMap<NodeId, u64> = BTreeMap::new();
        for host in fabric.endpoint_ids().filter(|endpoint| graph.is_host(*endpoint)) {
            // Paths in transit are excluded from the number of hosts reached.
            let sent = channel_paths[fabric.endpoint_channel(host).index()];
            let Attachment::Switch(switch) = graph.attachment(host) else {
                of_host[host.index()] = sent;
                continue;
            };
            let island = islands[switch.index()];
            let reached = sent.min(hosts_of[&island] - 1);
            of_host[host.index()] = reached;
            let most = of_island.entry(island).or_default();
            *most = (*most).max(reached);
        }
        Self { of_host, of_island, islands }
    }

    /// Returns the number of hosts that the host at the start of a channel reaches; for channels
    /// from switches, the largest number in the connected component.
    fn of(&self, fabric: &Fabric, graph: &SwitchGraph, channel: ChannelId) -> u64 {
        let source = fabric.source(channel);
        let sender = fabric.endpoint_at(source).filter(|end| graph.is_host(*end));
        match sender {
            Some(host) => self.of_host[host.index()],
            None => self.of_island[&self.islands[source.node.index()]],
        }
    }
}
