//! The channel dependency graph: which channel a packet may hold while it waits for which.
//!
//! ```text
//!   route h0 ► s0 ► s1 ► s2 ► h2     (s0 ► s1) depends on (s1 ► s2)
//! ```
//!
//! Its vertices are the channels; an edge leads from one channel between switches to another if
//! some route takes the second right after the first. Channels from and to endpoints have no
//! edges here: nothing waits for the first kind and the second waits for nothing, so neither
//! lies on a cycle, and a switch with many endpoints would have an edge for every pair. Routes
//! on which a packet that holds a channel waits for
//! no other than the next can deadlock only if this graph has a cycle (Dally and Seitz,
//! "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
//! Transactions on Computers C-36(5), 1987).
//!
//! An endpoint takes a packet in completely, so dependencies end there: also in the middle of
//! a path that visits a host on the way. Table entries count only where a packet of some
//! endpoint meets them. Packets that stray hold channels too, so their paths count as
//! far as they go; a loop closes a cycle.
//!
//! Both channels of an edge meet in one switch, so edges are collected in one row of bits an
//! incoming channel, with a bit for each channel that leaves the switch: O(1) an edge however many
//! routes share it.

use super::Routes;
use super::graph::SwitchGraph;
use super::routes::Walk;
use crate::{ChannelId, Fabric, NodeId};

/// For each channel between switches, those that some route takes right after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DependencyGraph {
    /// Where the successors of a channel begin, with one entry more than channels.
    first: Vec<usize>,
    successors: Vec<ChannelId>,
}

impl DependencyGraph {
    /// The dependencies of all routes between all endpoints.
    pub fn new(fabric: &Fabric, routes: &Routes) -> Self {
        Self::collect(fabric, routes, |_, _| true)
    }

    /// The dependencies of the routes from hosts to hosts alone, for fabrics in which no packet
    /// begins or ends at aggregation nodes and routers.
    pub fn between_hosts(fabric: &Fabric, routes: &Routes) -> Self {
        Self::collect(fabric, routes, |walk, graph| walk.host_pairs(graph) > 0)
    }

    fn collect(
        fabric: &Fabric,
        routes: &Routes,
        counts: impl Fn(&Walk<'_>, &SwitchGraph) -> bool,
    ) -> Self {
        let graph = SwitchGraph::new(fabric);
        let mut turns = Turns::new(fabric);
        routes.walk_all(fabric, &graph, |walk| {
            if counts(walk, &graph) {
                for pair in walk.channels.windows(2) {
                    turns.add(pair[0], pair[1]);
                }
            }
        });
        turns.into_graph(fabric)
    }

    /// A graph over channels from its edges; for tests of what reads it.
    #[cfg(test)]
    pub(super) fn from_edges(channel_count: usize, edges: &[(usize, usize)]) -> Self {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        edges.dedup();
        let before = |channel| edges.partition_point(|(from, _)| *from < channel);
        let first = (0..=channel_count).map(before).collect();
        let successors = edges.iter().map(|(_, to)| ChannelId::new(*to)).collect();
        Self { first, successors }
    }

    /// Number of channels.
    pub fn channel_count(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of dependencies.
    pub fn dependency_count(&self) -> usize {
        self.successors.len()
    }

    /// The channels between switches that a packet in `channel` may wait for, in ascending order.
    pub fn successors(&self, channel: ChannelId) -> &[ChannelId] {
        &self.successors[self.first[channel.index()]..self.first[channel.index() + 1]]
    }
}

/// The pairs of channels that follow each other, in rows of bits.
#[derive(Debug)]
struct Turns {
    /// By incoming channel: a bit for each column, or nothing as long as no bit is set.
    rows: Vec<Vec<u64>>,
    /// By channel: its column among the channels that leave the same switch for another switch,
    /// or `None` if either end is no switch.
    columns: Vec<Option<u32>>,
    /// By switch: number of columns.
    widths: Vec<u32>,
    /// By channel: the node at its end.
    targets: Vec<NodeId>,
}

impl Turns {
    fn new(fabric: &Fabric) -> Self {
        let is_switch = |node| fabric.node(node).is_switch();
        let mut columns = vec![None; fabric.channel_count()];
        let mut widths = vec![0; fabric.switches().len()];
        for switch in fabric.switches() {
            for channel in fabric.channels_from(switch) {
                if is_switch(fabric.target(channel).node) {
                    columns[channel.index()] = Some(widths[switch.index()]);
                    widths[switch.index()] += 1;
                }
            }
        }
        let channels = ChannelId::first(fabric.channel_count());
        let targets = channels.map(|channel| fabric.target(channel).node).collect();
        Self { rows: vec![Vec::new(); columns.len()], columns, widths, targets }
    }

    /// Notes that a route takes `outgoing` right after `incoming`.
    fn add(&mut self, incoming: ChannelId, outgoing: ChannelId) {
        let columns = (self.columns[incoming.index()], self.columns[outgoing.index()]);
        let (Some(_), Some(column)) = columns else { return };
        let row = &mut self.rows[incoming.index()];
        if row.is_empty() {
            let width = self.widths[self.targets[incoming.index()].index()];
            row.resize(width.div_ceil(64) as usize, 0);
        }
        row[column as usize / 64] |= 1 << (column % 64);
    }

    fn into_graph(self, fabric: &Fabric) -> DependencyGraph {
        let (mut first, mut successors) = (vec![0], Vec::new());
        for (row, target) in self.rows.iter().zip(&self.targets) {
            if !row.is_empty() {
                let is_set = |column: u32| row[column as usize / 64] >> (column % 64) & 1 == 1;
                let follows =
                    |channel: &ChannelId| self.columns[channel.index()].is_some_and(is_set);
                successors.extend(fabric.channels_from(*target).filter(follows));
            }
            let begin = first.last().copied().unwrap_or(0);
            successors[begin..].sort_unstable();
            first.push(successors.len());
        }
        DependencyGraph { first, successors }
    }
}
