//! Channel dependency graph: buffers that a packet may wait for while it holds another.
//!
//! ```text
//!   route h0 ► s0 ► s1 ► s2 ► h2     (s0 ► s1) depends on (s1 ► s2)
//!   with lanes:  lane 0, lane 1      (s0 ► s1, lane 0) depends on (s1 ► s2, lane 1)
//! ```
//!
//! An edge leads from one buffer between switches to another if some route takes the second right
//! after the first. Channels from and to endpoints have no edges: no packet in the network waits
//! for a channel from an endpoint, or in a channel to an endpoint. If a packet that holds a channel
//! waits only for the next channel, routes can deadlock only if this graph has a cycle (Dally and
//! Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
//! Transactions on Computers C-36(5), 1987).
//!
//! An endpoint consumes a packet completely, so dependencies end at endpoints and at in-transit
//! hosts, unless the host may be full (`ejection.rs`). Unused table entries do not count; the paths
//! of lost packets do, so a forwarding loop is a cycle.
//!
//! A packet with a choice of lanes holds one lane and waits for all lanes of the next hop, with an
//! edge for each pair. If sets of lanes are equal or disjoint, a cycle on one lane of each set is a
//! cycle on all lanes, without an alternative for any packet.

use super::adaptive::AdaptiveCollector;
use super::by_destination::{Collector, Counted};
use super::by_level::LevelCollector;
use super::components::Components;
use super::ejection::BackpressuredHosts;
use super::junctions;
use super::lane_groups::LaneGroups;
use super::turns::Turns;
use crate::parallel::{Part, Threads};
use crate::routing::lanes::route_set::{Buffer, BufferId, Buffers, LanedWalk, RouteSet};
use crate::routing::lanes::{DatelineClass, LaneRule, LaneSet, Lanes, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::table_routes::WalkEnd;
use crate::routing::paths::{Routes, TableRoutes};
use crate::{ChannelId, Fabric};
use gingham_kernel::id_type;
use std::collections::BTreeSet;

id_type!(
    /// Vertex index; a vertex is a group of lanes of a channel: `channel * groups + group`.
    VertexId
);

/// Dependency graph of the buffers between switches and at hosts that may be full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DependencyGraph {
    groups: LaneGroups,
    first: Vec<usize>,
    successors: Vec<VertexId>,
}

impl DependencyGraph {
    /// Collects the dependencies of all routes between all endpoints.
    pub fn new<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::of(fabric, routes.into(), Counted::All)
    }

    /// Collects the dependencies of host-to-host routes only.
    pub fn between_hosts<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::of(fabric, routes.into(), Counted::BetweenHosts)
    }

    /// Collects the dependencies of all routes without a loop.
    pub fn without_loops<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::of(fabric, routes.into(), Counted::WithoutLoops)
    }

    fn of(fabric: &Fabric, routes: RouteSet<'_>, counted: Counted) -> Self {
        let steps =
            (fabric.switches().len() * fabric.endpoints().len() * routes.routes.len()) as u64;
        Self::collect(fabric, routes, counted, Threads::for_steps(steps))
    }

    pub(super) fn collect(
        fabric: &Fabric,
        routes: RouteSet<'_>,
        counted: Counted,
        threads: Threads,
    ) -> Self {
        let graph = SwitchGraph::new(fabric);
        let stopping = BackpressuredHosts::new(fabric, &graph, routes);
        let groups = lane_groups(routes);
        if let Some(tables) = adaptive_tables(routes) {
            assert!(!routes.over_switches, "adaptive routes have one leg");
            let collector =
                AdaptiveCollector::new(fabric, &graph, (tables, routes), &groups, counted);
            let rows = collector.collect();
            return Self::of_rows(groups, &rows);
        }
        let outgoing = outgoing(fabric);
        let (stopping, groups_of) = (&stopping, &groups);
        let task =
            Task { fabric, graph: &graph, routes, counted, stopping, groups: groups_of, threads };
        let mut turns = match routes.lanes {
            _ if stopping.any() => task.by_walks(),
            None => task.by_destinations(1),
            Some(lanes) if matches!(lanes.rule(), LaneRule::Tables { .. }) => task.by_levels(lanes),
            Some(lanes) => {
                let classes = lanes.dateline_classes();
                task.between_groups(lanes, &task.by_destinations(classes), &outgoing)
            }
        };
        if routes.over_switches {
            let counts = |laned: &LanedWalk<'_>| task.counts(laned);
            junctions::add(fabric, &graph, routes, &groups, counts, &mut turns);
        }
        Self::of_turns(fabric, groups, &turns, &outgoing)
    }

    fn of_turns(
        fabric: &Fabric,
        groups: LaneGroups,
        turns: &Turns,
        outgoing: &[Vec<ChannelId>],
    ) -> Self {
        let (mut first, mut successors) = (vec![0], Vec::new());
        for channel in ChannelId::first(fabric.channel_count()) {
            let outgoing = &outgoing[fabric.target(channel).node.index()];
            for group in 0..groups.count() {
                turns.each_after((channel, group), outgoing, |(wanted, after)| {
                    successors.push(VertexId::new(wanted.index() * groups.count() + after));
                });
                first.push(successors.len());
            }
        }
        Self { groups, first, successors }
    }

    fn of_rows(groups: LaneGroups, rows: &[Vec<usize>]) -> Self {
        let (mut first, mut successors) = (vec![0], Vec::new());
        for row in rows {
            successors.extend(row.iter().map(|vertex| VertexId::new(*vertex)));
            first.push(successors.len());
        }
        Self { groups, first, successors }
    }

    pub(crate) fn from_edges(channel_count: usize, edges: &[(usize, usize)]) -> Self {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        edges.dedup();
        let before = |channel| edges.partition_point(|(from, _)| *from < channel);
        let first = (0..=channel_count).map(before).collect();
        let successors = edges.iter().map(|(_, to)| VertexId::new(*to)).collect();
        Self { groups: LaneGroups::new(1, &[]), first, successors }
    }

    /// Returns the number of buffers: channels times lanes.
    pub fn buffer_count(&self) -> usize {
        self.vertex_count() / self.groups.count() * self.groups.lane_count()
    }

    /// Returns the number of dependencies between buffers.
    pub fn dependency_count(&self) -> usize {
        let size = |vertex: VertexId| self.members(vertex).len() as usize;
        let of = |vertex| {
            let after = self.after(vertex).iter().map(|next| size(*next)).sum::<usize>();
            size(vertex) * after
        };
        VertexId::first(self.vertex_count()).map(of).sum()
    }

    /// Returns the buffers that a packet in `buffer` may wait for, in ascending order.
    pub fn successors(&self, buffer: BufferId) -> Vec<BufferId> {
        let lanes = self.groups.lane_count();
        let each = |vertex: &VertexId| {
            let channel = self.channel(*vertex).index();
            self.members(*vertex)
                .lanes()
                .map(move |lane| BufferId::new(channel * lanes + usize::from(lane)))
        };
        let mut buffers: Vec<_> = self.after(self.vertex(buffer)).iter().flat_map(each).collect();
        buffers.sort_unstable();
        buffers
    }

    /// Counts the groups of buffers that wait for one another in cycles after removal of the
    /// channels `gone`. This is an upper bound, because packets routed through removed channels
    /// still count elsewhere.
    pub fn cyclic_groups(&self, gone: &BTreeSet<ChannelId>) -> usize {
        let left = self.without(gone);
        let components = Components::new(&left);
        let mut sizes = vec![0_usize; components.count as usize];
        let mut waits_for_itself = vec![false; sizes.len()];
        for vertex in VertexId::first(left.vertex_count()) {
            let component = components.of[vertex.index()] as usize;
            sizes[component] += 1;
            waits_for_itself[component] |= left.after(vertex).contains(&vertex);
        }
        sizes.iter().zip(waits_for_itself).filter(|(size, itself)| **size > 1 || *itself).count()
    }

    fn without(&self, gone: &BTreeSet<ChannelId>) -> Self {
        let is_left = |vertex: &VertexId| !gone.contains(&self.channel(*vertex));
        let (mut first, mut successors) = (vec![0], Vec::new());
        for vertex in VertexId::first(self.vertex_count()) {
            if is_left(&vertex) {
                successors.extend(self.after(vertex).iter().copied().filter(is_left));
            }
            first.push(successors.len());
        }
        Self { groups: self.groups.clone(), first, successors }
    }

    /// Returns the channel and lane of a buffer.
    pub fn buffer(&self, id: BufferId) -> Buffer {
        let lanes = self.groups.lane_count();
        let lane = u8::try_from(id.index() % lanes).expect("a lane is a small number");
        Buffer { channel: ChannelId::new(id.index() / lanes), lane }
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn after(&self, vertex: VertexId) -> &[VertexId] {
        &self.successors[self.first[vertex.index()]..self.first[vertex.index() + 1]]
    }

    pub(crate) fn channel(&self, vertex: VertexId) -> ChannelId {
        ChannelId::new(vertex.index() / self.groups.count())
    }

    pub(super) fn vertex(&self, buffer: BufferId) -> VertexId {
        let (lanes, groups) = (self.groups.lane_count(), self.groups.count());
        VertexId::new(buffer.index() / lanes * groups + self.groups.of(buffer.index() % lanes))
    }

    pub(super) fn lowest(&self, vertex: VertexId) -> Buffer {
        let lane = self.members(vertex).lowest().expect("a group has a lane");
        Buffer { channel: self.channel(vertex), lane }
    }

    fn members(&self, vertex: VertexId) -> LaneSet {
        self.groups.lanes(vertex.index() % self.groups.count())
    }
}

pub(super) fn adaptive_tables(routes: RouteSet<'_>) -> Option<&TableRoutes> {
    match routes.routes {
        [Routes::Table(tables)] if tables.are_adaptive() => Some(tables),
        _ => None,
    }
}

fn outgoing(fabric: &Fabric) -> Vec<Vec<ChannelId>> {
    let sorted = |node| {
        let mut channels: Vec<_> = fabric.channels_from(node).collect();
        channels.sort_unstable();
        channels
    };
    fabric.node_ids().map(sorted).collect()
}

pub(super) fn lane_groups(routes: RouteSet<'_>) -> LaneGroups {
    let sets = routes.lanes.map_or_else(|| vec![LaneSet::one(0)], Lanes::sets);
    LaneGroups::new(routes.lane_count(), &sets)
}

struct Task<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    routes: RouteSet<'a>,
    counted: Counted,
    stopping: &'a BackpressuredHosts,
    groups: &'a LaneGroups,
    threads: Threads,
}

impl Task<'_> {
    fn by_destinations(&self, classes: usize) -> Turns {
        let Self { fabric, graph, routes, counted, .. } = *self;
        self.shared(classes, |part, turns| {
            let mut collector = Collector::new(fabric, graph, routes.lanes, counted);
            for routes in routes.routes {
                collector.add(routes, part, turns);
            }
        })
    }

    fn by_levels(&self, lanes: &Lanes) -> Turns {
        let Self { fabric, graph, routes, counted, groups, .. } = *self;
        self.shared(groups.count(), |part, turns| {
            let mut collector = LevelCollector::new(fabric, graph, lanes, groups, counted);
            for (lid_offset, routes) in (0..=u8::MAX).zip(routes.routes) {
                collector.add(routes, lid_offset, part, turns);
            }
        })
    }

    fn shared(&self, states: usize, add: impl Fn(Part, &mut Turns) + Sync) -> Turns {
        let none = Turns::new(self.fabric, states, self.stopping);
        let parts = self.threads.share(|part| {
            let mut turns = none.clone();
            add(part, &mut turns);
            turns
        });
        let joined = parts.into_iter().reduce(|mut all, part| {
            all.join(&part);
            all
        });
        joined.expect("there is a part")
    }

    fn between_groups(&self, lanes: &Lanes, turns: &Turns, outgoing: &[Vec<ChannelId>]) -> Turns {
        let mut between_groups = Turns::new(self.fabric, self.groups.count(), self.stopping);
        for channel in ChannelId::first(self.fabric.channel_count()) {
            let outgoing = &outgoing[self.fabric.target(channel).node.index()];
            for class in 0..lanes.dateline_classes() {
                turns.each_after((channel, class), outgoing, |(wanted, after)| {
                    for vc_class in lanes.vc_classes() {
                        let held = buffers(lanes, vc_class, channel, class);
                        let wanted = buffers(lanes, vc_class, wanted, after);
                        between_groups.add_between(self.groups, held, wanted);
                    }
                });
            }
        }
        between_groups
    }

    fn counts(&self, laned: &LanedWalk<'_>) -> bool {
        match self.counted {
            Counted::All => true,
            Counted::BetweenHosts => laned.host_sender.is_some(),
            Counted::WithoutLoops => laned.walk.end != WalkEnd::Loop,
        }
    }

    fn by_walks(&self) -> Turns {
        let Self { fabric, graph, routes, .. } = *self;
        let mut turns = Turns::new(fabric, self.groups.count(), self.stopping);
        routes.walk_all(fabric, graph, |laned| {
            if self.counts(laned) {
                self.stopping.turns(fabric, graph, routes, laned, |_, held, wanted| {
                    turns.add_between(self.groups, held, wanted);
                });
            }
        });
        turns
    }
}

fn buffers(lanes: &Lanes, vc_class: VcClass, channel: ChannelId, dateline_class: usize) -> Buffers {
    let dateline_class = u8::try_from(dateline_class).expect("there are few dateline classes");
    let lanes = lanes.on(vc_class, DatelineClass(dateline_class), channel);
    Buffers { channel, lanes }
}
