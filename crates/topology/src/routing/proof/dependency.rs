//! The channel dependency graph: which buffer a packet may hold while it waits for which.
//!
//! ```text
//!   route h0 ► s0 ► s1 ► s2 ► h2     (s0 ► s1) depends on (s1 ► s2)
//!   with lanes:  lane 0, lane 1      (s0 ► s1, lane 0) depends on (s1 ► s2, lane 1)
//! ```
//!
//! Its vertices are the buffers, one a channel and lane (with one lane: the channels); an edge
//! leads from a buffer between switches to another if some route takes the second right after the
//! first. Channels from and to endpoints have no edges here: nothing waits for the first kind and
//! the second waits for nothing, so neither lies on a cycle, and a switch with many endpoints would
//! have an edge for every pair. Routes on which a packet that holds a channel waits for no other
//! than the next can deadlock only if this graph has a cycle (Dally and Seitz, "Deadlock-free
//! message routing in multiprocessor interconnection networks", IEEE Transactions on Computers
//! C-36(5), 1987).
//!
//! An endpoint takes a packet in completely, so dependencies end there: also in the middle of a
//! path that visits an in-transit host, unless that host may be full (`ejection.rs`). Then the
//! channels into it and out of it are vertices like those between switches. Table entries count
//! only where a packet of some endpoint meets them. Packets that stray hold channels too, so their
//! paths count as far as they go; a loop closes a cycle. Where a pair has several paths, the
//! dependencies of all of them are in the graph together.
//!
//! A packet that may take any of several lanes holds one of them and waits for all of the next at
//! once, and goes on when it gets one. An edge stands for each lane held and each lane wanted:
//! where there is no cycle there is no deadlock, and where sets of lanes are equal or disjoint a
//! cycle on one lane of each is a cycle on all, so that nobody in it has another way out.
//!
//! Both channels of an edge meet in one switch, so edges are collected in one row of bits an
//! incoming buffer, with a bit for each buffer that leaves the switch: O(1) an edge however many
//! routes share it.

use super::ejection::BackpressuredHosts;
use crate::routing::lanes::route_set::{Buffer, BufferId, Buffers, LanedWalk, RouteSet};
use crate::routing::lanes::set::LaneSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::table_routes::WalkEnd;
use crate::{ChannelId, Fabric, NodeId};

/// For each buffer between switches (and of hosts that may be full), those that some route takes
/// right after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DependencyGraph {
    lane_count: usize,
    /// Where the successors of a buffer begin, with one entry more than buffers.
    first: Vec<usize>,
    successors: Vec<BufferId>,
}

impl DependencyGraph {
    /// The dependencies of all routes between all endpoints.
    pub fn new<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::collect(fabric, routes.into(), |_| true)
    }

    /// The dependencies of the routes from hosts to hosts alone, for fabrics in which no packet
    /// begins or ends at aggregation nodes and routers.
    pub fn between_hosts<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::collect(fabric, routes.into(), |laned| laned.host_sender.is_some())
    }

    /// The dependencies of the routes that come to an end, be it the wrong one: those that go
    /// round for ever are left out.
    pub fn without_loops<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Self {
        Self::collect(fabric, routes.into(), |laned| laned.walk.end != WalkEnd::Loop)
    }

    fn collect(
        fabric: &Fabric,
        routes: RouteSet<'_>,
        counts: impl Fn(&LanedWalk<'_>) -> bool,
    ) -> Self {
        let graph = SwitchGraph::new(fabric);
        let backpressured = BackpressuredHosts::new(fabric, &graph, routes);
        let mut turns = Turns::new(fabric, routes.lane_count(), &backpressured);
        routes.walk_all(fabric, &graph, |laned| {
            if counts(laned) {
                backpressured.turns(fabric, &graph, routes, laned, |_, held, wanted| {
                    turns.add(held, wanted);
                });
            }
        });
        turns.into_graph(fabric)
    }

    /// A graph over buffers of one lane from its edges.
    pub(crate) fn from_edges(buffer_count: usize, edges: &[(usize, usize)]) -> Self {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        edges.dedup();
        let before = |buffer| edges.partition_point(|(from, _)| *from < buffer);
        let first = (0..=buffer_count).map(before).collect();
        let successors = edges.iter().map(|(_, to)| BufferId::new(*to)).collect();
        Self { lane_count: 1, first, successors }
    }

    /// Number of buffers: channels times lanes.
    pub fn buffer_count(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of dependencies.
    pub fn dependency_count(&self) -> usize {
        self.successors.len()
    }

    /// The buffers between switches that a packet in `buffer` may wait for, in ascending order.
    pub fn successors(&self, buffer: BufferId) -> &[BufferId] {
        &self.successors[self.first[buffer.index()]..self.first[buffer.index() + 1]]
    }

    /// Channel and lane of a buffer.
    pub fn buffer(&self, id: BufferId) -> Buffer {
        let lane = u8::try_from(id.index() % self.lane_count).expect("a lane is a small number");
        Buffer { channel: ChannelId::new(id.index() / self.lane_count), lane }
    }
}

/// The pairs of buffers that follow each other, in rows of bits.
#[derive(Debug)]
struct Turns {
    lane_count: usize,
    /// By incoming buffer: a bit for each column and lane, or nothing as long as no bit is set.
    rows: Vec<Vec<u64>>,
    /// By channel: its column among the channels that leave the same node, or `None` if nothing
    /// ever waits for it or in it.
    columns: Vec<Option<u32>>,
    /// By node: number of columns.
    widths: Vec<u32>,
    /// By channel: the node at its end.
    targets: Vec<NodeId>,
}

impl Turns {
    fn new(fabric: &Fabric, lane_count: usize, backpressured: &BackpressuredHosts) -> Self {
        let channels = || ChannelId::first(fabric.channel_count());
        let passes_on = |end| match fabric.endpoint_at(end) {
            Some(endpoint) => backpressured.may_stop(endpoint),
            None => fabric.node(end.node).is_switch(),
        };
        let mut columns = vec![None; fabric.channel_count()];
        let mut widths = vec![0; fabric.nodes().len()];
        for channel in channels() {
            let (from, to) = (fabric.source(channel), fabric.target(channel));
            if passes_on(from) && passes_on(to) {
                let width = &mut widths[from.node.index()];
                columns[channel.index()] = Some(*width);
                *width += 1;
            }
        }
        let targets = channels().map(|channel| fabric.target(channel).node).collect();
        let rows = vec![Vec::new(); columns.len() * lane_count];
        Self { lane_count, rows, columns, widths, targets }
    }

    /// The bit of a lane of a channel that leaves a node.
    fn bit(&self, column: u32, lane: u8) -> usize {
        column as usize * self.lane_count + usize::from(lane)
    }

    /// Notes that a route takes one of the buffers `wanted` right after one of `held`.
    fn add(&mut self, held: Buffers, wanted: Buffers) {
        let columns = (self.columns[held.channel.index()], self.columns[wanted.channel.index()]);
        let (Some(_), Some(column)) = columns else { return };
        let width = self.widths[self.targets[held.channel.index()].index()] as usize;
        for Buffer { channel, lane } in held.each() {
            let row = &mut self.rows[channel.index() * self.lane_count + usize::from(lane)];
            if row.is_empty() {
                row.resize((width * self.lane_count).div_ceil(64), 0);
            }
            set_bits(row, column as usize * self.lane_count, wanted.lanes);
        }
    }

    fn into_graph(self, fabric: &Fabric) -> DependencyGraph {
        let (mut first, mut successors) = (vec![0], Vec::new());
        for (buffer, row) in self.rows.iter().enumerate() {
            if !row.is_empty() {
                let node = self.targets[buffer / self.lane_count];
                successors.extend(self.wanted(fabric, node, row));
            }
            let begin = first.last().copied().unwrap_or(0);
            successors[begin..].sort_unstable();
            first.push(successors.len());
        }
        DependencyGraph { lane_count: self.lane_count, first, successors }
    }

    /// The buffers that leave a node and whose bits are set in a row.
    fn wanted<'a>(
        &'a self,
        fabric: &'a Fabric,
        node: NodeId,
        row: &'a [u64],
    ) -> impl Iterator<Item = BufferId> + 'a {
        fabric.channels_from(node).flat_map(move |channel| {
            let lanes = (0..=u8::MAX).take(self.lane_count);
            lanes.filter_map(move |lane| {
                let bit = self.bit(self.columns[channel.index()]?, lane);
                let is_set = row[bit / 64] >> (bit % 64) & 1 == 1;
                let buffer = channel.index() * self.lane_count + usize::from(lane);
                is_set.then(|| BufferId::new(buffer))
            })
        })
    }
}

/// Sets the bits of lanes from bit `first` on.
fn set_bits(row: &mut [u64], first: usize, lanes: LaneSet) {
    let (word, shift, bits) = (first / 64, first % 64, u64::from(lanes.bits()));
    row[word] |= bits << shift;
    // What does not fit into this word; nothing, where it begins at its first bit.
    let rest = if shift == 0 { 0 } else { bits >> (64 - shift) };
    if rest != 0 {
        row[word + 1] |= rest;
    }
}
