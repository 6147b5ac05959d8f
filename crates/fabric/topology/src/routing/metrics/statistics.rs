//! Statistics of routes, computed without simulation.
//!
//! All numbers count ordered pairs of host endpoints. A switch re-entered from an in-transit host
//! counts as two switches. The *distance* of a path is its number of channels between switches; a
//! path is minimal if no path over the cables has a smaller distance.

use super::all_to_all::{AllToAll, all_to_all};
use super::distribution::{Distribution, ratio};
use crate::routing::paths::destination_paths::DestinationPaths;
use crate::routing::paths::graph::{Attachment, SwitchGraph};
use crate::routing::paths::routes::{RouteRow, Routes, Walk};
use crate::routing::paths::table_routes::{WalkEnd, Walker};
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use std::cmp::Reverse;

const BUSIEST: usize = 10;

/// Path lengths, channel loads, and the bound on all-to-all traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistics {
    /// Number of ordered pairs of distinct host endpoints.
    pub host_pairs: u64,
    /// Number of pairs without a route.
    pub unreachable_pairs: u64,
    /// Routed pairs by number of switch visits.
    pub switches: Distribution,
    /// Routed pairs by distance.
    pub distance: Distribution,
    /// Routed pairs by number of in-transit hosts on their path.
    pub in_transit_hosts: Distribution,
    /// Routed pairs by least distance over the cables.
    pub least_distance: Distribution,
    /// Routed pairs with a minimal path, by distance.
    pub minimal: Distribution,
    /// Path with the largest excess over the least distance, if any; the first one in a tie.
    pub detour: Option<Detour>,
    /// Number of host-to-host paths on each channel.
    pub channel_paths: Vec<u64>,
    /// Number of channels between switches.
    pub switch_channels: u64,
    /// Total number of host-to-host paths on all channels between switches.
    pub switch_channel_paths: u64,
    /// Number of host-to-host paths in transit at each endpoint.
    pub in_transit_paths: Vec<u64>,
    /// Up to ten channels between switches, the busiest first, without idle channels.
    pub busiest: Vec<ChannelId>,
    /// Bound on all-to-all traffic; `None` if no route joins two hosts.
    pub all_to_all: Option<AllToAll>,
}

/// Path longer than the shortest path of its pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detour {
    /// Source of the path.
    pub from: EndpointId,
    /// Destination of the path.
    pub to: EndpointId,
    /// Number of channels between switches on the path.
    pub distance: usize,
    /// Number of channels between switches on a shortest path.
    pub least: usize,
}

impl Statistics {
    /// Computes the statistics of all host pairs.
    pub fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let graph = SwitchGraph::new(fabric);
        let hosts = fabric.endpoint_ids().filter(|endpoint| graph.is_host(*endpoint));
        let hosts = hosts.count() as u64;
        let mut tally = Tally::new(fabric, &graph);
        tally.add_peers();
        let (mut destination_paths, mut walker) =
            (DestinationPaths::new(&graph), Walker::new(fabric));
        for row in routes.rows(&graph) {
            if destination_paths.fill(fabric, &graph, &row) {
                tally.add_destination_paths(&row, &destination_paths);
            } else {
                routes.walk_row(fabric, &graph, &mut walker, &row, |walk| tally.add(walk));
            }
        }
        tally.add_injections();
        let channel_paths = tally.channel_paths;
        let host_pairs = hosts * hosts.saturating_sub(1);
        let between: Vec<_> = graph
            .switches()
            .flat_map(|switch| graph.hops_from(switch))
            .map(|step| step.channel)
            .collect();
        let on_channel = |channel: &ChannelId| channel_paths[channel.index()];
        Self {
            host_pairs,
            unreachable_pairs: host_pairs - tally.switches.total(),
            switches: tally.switches,
            distance: tally.distance,
            in_transit_hosts: tally.in_transit_hosts,
            least_distance: tally.least_distance,
            minimal: tally.minimal,
            detour: tally.detour,
            in_transit_paths: tally.in_transit_paths,
            switch_channels: between.len() as u64,
            switch_channel_paths: between.iter().map(on_channel).sum(),
            busiest: busiest(between, &channel_paths),
            all_to_all: all_to_all(fabric, &graph, &channel_paths),
            channel_paths,
        }
    }

    /// Returns the number of ordered host pairs with a route.
    pub fn joined_pairs(&self) -> u64 {
        self.host_pairs - self.unreachable_pairs
    }

    /// Returns the fraction of routed pairs with a minimal path; `None` without routes.
    pub fn minimal_share(&self) -> Option<f64> {
        ratio(self.minimal.total(), self.joined_pairs())
    }

    /// Returns the number of routed pairs with a path longer than the shortest.
    pub fn detour_pairs(&self) -> u64 {
        self.joined_pairs() - self.minimal.total()
    }

    /// Returns up to ten hosts with the most paths in transit, the busiest first.
    pub fn busiest_in_transit_hosts(&self) -> Vec<EndpointId> {
        let paths = |host: &EndpointId| self.in_transit_paths[host.index()];
        let mut hosts: Vec<_> =
            EndpointId::first(self.in_transit_paths.len()).filter(|host| paths(host) > 0).collect();
        hosts.sort_by_key(|host| (Reverse(paths(host)), *host));
        hosts.truncate(BUSIEST);
        hosts
    }

    /// Returns the largest number of host-to-host paths on a channel between switches.
    pub fn max_channel_paths(&self) -> u64 {
        self.busiest.first().map_or(0, |channel| self.channel_paths[channel.index()])
    }

    /// Returns the mean number of host-to-host paths on a channel between switches.
    pub fn mean_channel_paths(&self) -> Option<f64> {
        ratio(self.switch_channel_paths, self.switch_channels)
    }
}

struct Tally<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    switches: Distribution,
    distance: Distribution,
    in_transit_hosts: Distribution,
    least_distance: Distribution,
    minimal: Distribution,
    detour: Option<Detour>,
    channel_paths: Vec<u64>,
    in_transit_paths: Vec<u64>,
    walks_from: Vec<u64>,
    /// By endpoint: whether `walks_from` includes a path to it from its own switch.
    is_left_out: Vec<bool>,
    distances: Option<(NodeId, Vec<u32>)>,
}

impl<'a> Tally<'a> {
    fn new(fabric: &'a Fabric, graph: &'a SwitchGraph) -> Self {
        Self {
            fabric,
            graph,
            switches: Distribution::default(),
            distance: Distribution::default(),
            in_transit_hosts: Distribution::default(),
            least_distance: Distribution::default(),
            minimal: Distribution::default(),
            detour: None,
            channel_paths: vec![0; fabric.channel_count()],
            in_transit_paths: vec![0; graph.endpoint_count()],
            walks_from: vec![0; graph.switch_count()],
            is_left_out: vec![false; graph.endpoint_count()],
            distances: None,
        }
    }

    fn add_peers(&mut self) {
        for from in self.fabric.endpoint_ids().filter(|from| self.graph.is_host(*from)) {
            if let Attachment::Peer(to) = self.graph.attachment(from)
                && self.graph.is_host(to)
            {
                self.channel_paths[self.fabric.endpoint_channel(from).index()] += 1;
                let tallies = [&mut self.switches, &mut self.distance, &mut self.in_transit_hosts];
                for tally in tallies {
                    tally.add(0, 1);
                }
                self.least_distance.add(0, 1);
                self.minimal.add(0, 1);
            }
        }
    }

    fn add(&mut self, walk: &Walk<'_>) {
        let pairs = walk.host_pairs(self.graph);
        if walk.end != WalkEnd::Arrived || pairs == 0 {
            return;
        }
        for channel in walk.channels {
            self.channel_paths[channel.index()] += pairs;
        }
        self.walks_from[walk.source.index()] += 1;
        if walk.stays(self.graph) {
            self.is_left_out[walk.to.index()] = true;
        }
        let lengths = self.lengths(walk, pairs);
        self.add_pairs(walk.source, walk.to, lengths, pairs);
    }

    /// Adds paths that form a tree; equivalent to calling [`Self::add`] for each path.
    fn add_destination_paths(&mut self, row: &RouteRow<'_>, destination_paths: &DestinationPaths) {
        let hosts = || row.destinations.iter().copied().filter(|to| self.graph.is_host(*to));
        let (destinations, Some(to)) = (hosts().count() as u64, hosts().next()) else { return };
        let residents: Vec<EndpointId> = hosts().collect();
        let mut through = vec![0; self.graph.switch_count()];
        for source in self.graph.switches() {
            let own = u64::from(source == row.switch);
            let each = u64::from(self.graph.host_count(source)).saturating_sub(own);
            let Some(switches) = destination_paths.switches(source).filter(|_| each > 0) else {
                continue;
            };
            let pairs = each * destinations;
            through[source.index()] = pairs;
            self.walks_from[source.index()] += destinations;
            if source == row.switch {
                for to in &residents {
                    self.is_left_out[to.index()] = true;
                }
            }
            self.add_pairs(source, to, Lengths { switches, in_transit_hosts: 0 }, pairs);
        }
        for &switch in destination_paths.farthest_first() {
            let paths = through[switch.index()];
            match destination_paths.next(switch) {
                Some(channel) => {
                    self.channel_paths[channel.index()] += paths;
                    let end = self.fabric.target(channel).node;
                    if let Some(onward) = through.get_mut(end.index()) {
                        *onward += paths;
                    }
                }
                None => {
                    for to in &residents {
                        self.channel_paths[self.graph.ejection(*to).index()] +=
                            paths / destinations;
                    }
                }
            }
        }
    }

    fn add_pairs(&mut self, source: NodeId, to: EndpointId, lengths: Lengths, pairs: u64) {
        let Lengths { switches, in_transit_hosts } = lengths;
        let distance = switches - 1 - in_transit_hosts;
        self.switches.add(switches, pairs);
        self.distance.add(distance, pairs);
        self.in_transit_hosts.add(in_transit_hosts, pairs);
        let least = self.fewest_hops(source, to);
        self.least_distance.add(least, pairs);
        if distance == least {
            self.minimal.add(least, pairs);
        } else {
            self.note_detour(source, to, distance, least);
        }
    }

    fn lengths(&mut self, walk: &Walk<'_>, pairs: u64) -> Lengths {
        let mut lengths = Lengths { switches: 1, in_transit_hosts: 0 };
        let (_, before) = walk.channels.split_last().expect("a walk that arrived has channels");
        for channel in before {
            let end = self.fabric.target(*channel);
            if self.fabric.node(end.node).is_switch() {
                lengths.switches += 1;
            } else {
                let host = self.fabric.endpoint_at(end).expect("channels end at endpoints");
                self.in_transit_paths[host.index()] += pairs;
                lengths.in_transit_hosts += 1;
            }
        }
        lengths
    }

    fn note_detour(&mut self, source: NodeId, to: EndpointId, distance: usize, least: usize) {
        let is_longer = |known: Detour| distance - least > known.distance - known.least;
        if self.detour.is_none_or(is_longer) {
            let is_other_host = |from: &&EndpointId| self.graph.is_host(**from) && **from != to;
            let from = self.graph.residents(source).iter().find(is_other_host);
            let from = *from.expect("hosts send along this walk");
            self.detour = Some(Detour { from, to, distance, least });
        }
    }

    /// Adds the paths on the channels from hosts. A host uses all paths from its switch, except a
    /// path to itself.
    fn add_injections(&mut self) {
        for from in self.fabric.endpoint_ids().filter(|from| self.graph.is_host(*from)) {
            if let Attachment::Switch(switch) = self.graph.attachment(from) {
                let left_out = u64::from(self.is_left_out[from.index()]);
                let paths = self.walks_from[switch.index()] - left_out;
                self.channel_paths[self.fabric.endpoint_channel(from).index()] += paths;
            }
        }
    }

    fn fewest_hops(&mut self, source: NodeId, to: EndpointId) -> usize {
        let Attachment::Switch(last) = self.graph.attachment(to) else {
            unreachable!("walks lead to endpoints on switches");
        };
        let distances = match self.distances.take() {
            Some((switch, distances)) if switch == last => distances,
            _ => self.graph.distances(last),
        };
        let hops = distances[source.index()] as usize;
        self.distances = Some((last, distances));
        hops
    }
}

#[derive(Clone, Copy)]
struct Lengths {
    switches: usize,
    in_transit_hosts: usize,
}

fn busiest(mut channels: Vec<ChannelId>, channel_paths: &[u64]) -> Vec<ChannelId> {
    channels.retain(|channel| channel_paths[channel.index()] > 0);
    channels.sort_by_key(|channel| (Reverse(channel_paths[channel.index()]), *channel));
    channels.truncate(BUSIEST);
    channels
}
