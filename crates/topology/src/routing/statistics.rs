//! What routes cost and what they allow, before anything is simulated.
//!
//! Everything counts ordered pairs of host endpoints; aggregation nodes and routers neither
//! send nor receive here. The length of a path is the number of switches that it comes through.
//!
//! **All-to-all bound.** H hosts send at equal rates, each an equal share to every other host.
//! If a host sends the fraction x of the reference rate, a pair gets x / (H - 1), and a channel
//! with L paths and r times the reference rate carries x L / (H - 1), which must not exceed r. So
//!
//! ```text
//!   x <= (H - 1) r / L     for every channel; with equal links x <= (H - 1) / max L
//! ```
//!
//! A host's own channel has L = H - 1 and allows x = r. The reference is the rate of the
//! slowest host link, so x never exceeds 1. If the speed of any cable that carries paths is
//! unknown, all links count as equal. The bound is that of a fluid; what a switching kind makes
//! of it, the simulation tells.

use super::Routes;
use super::graph::{Attachment, SwitchGraph};
use super::routes::{Walk, ends_at_switch};
use super::table_routes::End;
use crate::{ChannelId, Fabric, LinkSpeed, NodeId};
use gingham_kernel::Rate;
use std::cmp::Reverse;

/// How many of the busiest channels are named.
const BUSIEST: usize = 10;

/// Path lengths, channel loads and the bound on all-to-all traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistics {
    /// Ordered pairs of distinct host endpoints.
    pub host_pairs: u64,
    /// Those that no route joins.
    pub unreachable_pairs: u64,
    /// Number of joined pairs by the number of switches on their path.
    pub pairs_by_switches: Vec<u64>,
    /// Joined pairs whose path is as short as the cables allow.
    pub minimal_pairs: u64,
    /// Number of host-to-host paths by channel.
    pub channel_paths: Vec<u64>,
    /// Number of channels between switches.
    pub switch_channels: u64,
    /// Host-to-host paths over channels between switches, each counted on every such channel.
    pub switch_channel_paths: u64,
    /// The busiest channels between switches, at most ten, busiest first; of equals, the lowest
    /// first. Idle channels are left out.
    pub busiest: Vec<ChannelId>,
    /// What all-to-all traffic may reach; `None` without two hosts that a route joins.
    pub all_to_all: Option<AllToAll>,
}

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

impl Statistics {
    /// Follows the routes of all pairs of hosts.
    pub fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let graph = SwitchGraph::new(fabric);
        let hosts = fabric.endpoint_ids().filter(|endpoint| graph.is_host(*endpoint));
        let hosts = hosts.count() as u64;
        let mut tally = Tally::new(fabric, &graph);
        tally.add_peers();
        routes.walk_all(fabric, &graph, |walk| tally.add(walk));
        tally.add_injections();
        let Tally { pairs_by_switches, minimal_pairs, channel_paths, .. } = tally;
        let host_pairs = hosts * hosts.saturating_sub(1);
        let between: Vec<_> = graph
            .switches()
            .flat_map(|switch| graph.steps(switch))
            .map(|step| step.channel)
            .collect();
        let on_channel = |channel: &ChannelId| channel_paths[channel.index()];
        Self {
            host_pairs,
            unreachable_pairs: host_pairs - pairs_by_switches.iter().sum::<u64>(),
            pairs_by_switches,
            minimal_pairs,
            switch_channels: between.len() as u64,
            switch_channel_paths: between.iter().map(on_channel).sum(),
            busiest: busiest(between, &channel_paths),
            all_to_all: all_to_all(fabric, &graph, &channel_paths),
            channel_paths,
        }
    }

    /// Ordered pairs of hosts that a route joins.
    pub fn joined_pairs(&self) -> u64 {
        self.host_pairs - self.unreachable_pairs
    }

    /// Mean number of switches on a path; `None` without paths.
    pub fn mean_switches(&self) -> Option<f64> {
        let switches: u64 = (0..).zip(&self.pairs_by_switches).map(|(n, pairs)| n * pairs).sum();
        ratio(switches, self.joined_pairs())
    }

    /// Number of switches on the longest path; `None` without paths.
    pub fn max_switches(&self) -> Option<usize> {
        self.pairs_by_switches.len().checked_sub(1)
    }

    /// Share of joined pairs whose path is as short as the cables allow; `None` without paths.
    pub fn minimal_share(&self) -> Option<f64> {
        ratio(self.minimal_pairs, self.joined_pairs())
    }

    /// Host-to-host paths over the busiest channel between switches.
    pub fn max_channel_paths(&self) -> u64 {
        self.busiest.first().map_or(0, |channel| self.channel_paths[channel.index()])
    }

    /// Mean number of host-to-host paths over the channels between switches; `None` without
    /// such channels.
    pub fn mean_channel_paths(&self) -> Option<f64> {
        ratio(self.switch_channel_paths, self.switch_channels)
    }
}

/// What is counted along the walks.
struct Tally<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    pairs_by_switches: Vec<u64>,
    minimal_pairs: u64,
    channel_paths: Vec<u64>,
    /// By switch: walks that its hosts send along.
    walks_from: Vec<u64>,
    /// By endpoint: whether one of those walks leads to itself, and so is not its own.
    is_left_out: Vec<bool>,
    /// The switch of the last walk's destination, and the hops to it from every switch.
    distances: Option<(NodeId, Vec<u32>)>,
}

impl<'a> Tally<'a> {
    fn new(fabric: &'a Fabric, graph: &'a SwitchGraph) -> Self {
        Self {
            fabric,
            graph,
            pairs_by_switches: Vec::new(),
            minimal_pairs: 0,
            channel_paths: vec![0; fabric.channel_count()],
            walks_from: vec![0; graph.switch_count()],
            is_left_out: vec![false; graph.endpoint_count()],
            distances: None,
        }
    }

    /// Hosts that one cable joins: no switch, and no shorter path.
    fn add_peers(&mut self) {
        for from in self.fabric.endpoint_ids().filter(|from| self.graph.is_host(*from)) {
            if let Attachment::Peer(to) = self.graph.attachment(from)
                && self.graph.is_host(to)
            {
                self.channel_paths[self.fabric.endpoint_channel(from).index()] += 1;
                self.count(0, 1);
                self.minimal_pairs += 1;
            }
        }
    }

    fn add(&mut self, walk: &Walk<'_>) {
        let pairs = walk.host_pairs(self.graph);
        if walk.end != End::Arrived || pairs == 0 {
            return;
        }
        for channel in walk.channels {
            self.channel_paths[channel.index()] += pairs;
        }
        self.walks_from[walk.source.index()] += 1;
        if walk.stays(self.graph) {
            self.is_left_out[walk.to.index()] = true;
        }
        let onward = |channel: &&ChannelId| ends_at_switch(self.fabric, **channel);
        let switches = 1 + walk.channels.iter().filter(onward).count();
        self.count(switches, pairs);
        if switches == 1 + self.fewest_hops(walk) {
            self.minimal_pairs += pairs;
        }
    }

    /// Every host of a switch sends along the walks from there, except to itself.
    fn add_injections(&mut self) {
        for from in self.fabric.endpoint_ids().filter(|from| self.graph.is_host(*from)) {
            if let Attachment::Switch(switch) = self.graph.attachment(from) {
                let left_out = u64::from(self.is_left_out[from.index()]);
                let paths = self.walks_from[switch.index()] - left_out;
                self.channel_paths[self.fabric.endpoint_channel(from).index()] = paths;
            }
        }
    }

    fn count(&mut self, switches: usize, pairs: u64) {
        if self.pairs_by_switches.len() <= switches {
            self.pairs_by_switches.resize(switches + 1, 0);
        }
        self.pairs_by_switches[switches] += pairs;
    }

    fn fewest_hops(&mut self, walk: &Walk<'_>) -> usize {
        let Attachment::Switch(last) = self.graph.attachment(walk.to) else {
            unreachable!("walks lead to endpoints on switches");
        };
        let distances = match self.distances.take() {
            Some((switch, distances)) if switch == last => distances,
            _ => self.graph.distances(last),
        };
        let hops = distances[walk.source.index()] as usize;
        self.distances = Some((last, distances));
        hops
    }
}

fn busiest(mut channels: Vec<ChannelId>, channel_paths: &[u64]) -> Vec<ChannelId> {
    channels.retain(|channel| channel_paths[channel.index()] > 0);
    channels.sort_by_key(|channel| (Reverse(channel_paths[channel.index()]), *channel));
    channels.truncate(BUSIEST);
    channels
}

fn all_to_all(fabric: &Fabric, graph: &SwitchGraph, channel_paths: &[u64]) -> Option<AllToAll> {
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

fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| real(numerator) / real(denominator))
}

#[expect(clippy::cast_precision_loss, reason = "statistics need few digits")]
fn real(count: u64) -> f64 {
    count as f64
}
