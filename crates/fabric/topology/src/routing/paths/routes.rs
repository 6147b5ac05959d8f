//! Common interface to routes of either form.

use super::graph::{Attachment, SwitchGraph, attachment};
use super::ports::PortSlice;
use super::source_routes::SourceRoutes;
use super::table_routes::{TableRoutes, WalkEnd, Walker};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

/// Routes of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Routes {
    /// Whole paths, chosen at the source.
    Source(SourceRoutes),
    /// One output port per switch and destination.
    Table(TableRoutes),
}

/// All channels from one endpoint to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    channels: Vec<ChannelId>,
}

impl Path {
    /// Returns the channels in order; never empty.
    pub fn channels(&self) -> &[ChannelId] {
        &self.channels
    }

    /// Returns the number of switch visits; zero between two directly cabled endpoints.
    pub fn switches(&self, fabric: &Fabric) -> usize {
        self.channels.iter().filter(|channel| ends_at_switch(fabric, **channel)).count()
    }

    /// Splits the path at its in-transit hosts.
    pub fn legs<'a>(&'a self, fabric: &'a Fabric) -> impl Iterator<Item = &'a [ChannelId]> {
        self.channels.split_inclusive(|channel| !ends_at_switch(fabric, *channel))
    }
}

pub(super) fn ends_at_switch(fabric: &Fabric, channel: ChannelId) -> bool {
    fabric.node(fabric.target(channel).node).is_switch()
}

pub(crate) fn joins_switches(fabric: &Fabric, channel: ChannelId) -> bool {
    ends_at_switch(fabric, channel) && fabric.node(fabric.source(channel).node).is_switch()
}

#[derive(Debug)]
pub(crate) struct Walk<'a> {
    pub(crate) source: NodeId,
    pub(crate) to: EndpointId,
    pub(crate) channels: &'a [ChannelId],
    pub(crate) end: WalkEnd,
}

/// Paths from all switches to destinations that share them up to the last channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteRow<'a> {
    pub(crate) switch: NodeId,
    /// Destinations on `switch`; never empty.
    pub(crate) destinations: &'a [EndpointId],
    pub(crate) paths: RowPaths<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RowPaths<'a> {
    /// By switch: output port; 0 without a route.
    Table(PortSlice<'a>),
    /// By switch: output port to the last switch; the last channel depends on the destination.
    Column(PortSlice<'a>),
    Single(&'a SourceRoutes),
}

impl RouteRow<'_> {
    /// Returns the output channel of each switch; `None` if the row stores a separate path for each
    /// switch.
    pub(crate) fn column(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
    ) -> Option<impl Iterator<Item = Option<ChannelId>>> {
        let (RowPaths::Table(ports) | RowPaths::Column(ports)) = self.paths else { return None };
        let channel = |(switch, port)| (port > 0).then(|| fabric.outgoing(switch, port)).flatten();
        Some(graph.switches().zip(ports.iter()).map(channel))
    }
}

impl Routes {
    pub(crate) fn rows<'a>(&'a self, graph: &'a SwitchGraph) -> impl Iterator<Item = RouteRow<'a>> {
        let share = |a: &EndpointId, b: &EndpointId| match self {
            Self::Source(routes) => routes.row(*a) == routes.row(*b),
            Self::Table(_) => false,
        };
        let paths = |to: EndpointId| match self {
            Self::Source(routes) => {
                routes.column_of(to).map_or(RowPaths::Single(routes), RowPaths::Column)
            }
            Self::Table(tables) => RowPaths::Table(tables.column(to)),
        };
        graph.switches().flat_map(move |switch| {
            let rows = graph.residents(switch).chunk_by(share);
            rows.map(move |destinations| RouteRow {
                switch,
                destinations,
                paths: paths(destinations[0]),
            })
        })
    }

    /// Returns whether any path has an in-transit host.
    pub fn has_in_transit_hosts(&self) -> bool {
        match self {
            Self::Source(routes) => routes.has_in_transit_hosts(),
            Self::Table(_) => false,
        }
    }

    /// Returns the path from one endpoint to another; `None` without a route, or if `from == to`.
    pub fn path(&self, fabric: &Fabric, from: EndpointId, to: EndpointId) -> Option<Path> {
        if from == to {
            return None;
        }
        let mut channels = vec![fabric.endpoint_channel(from)];
        match attachment(fabric, from) {
            Attachment::Peer(peer) if peer == to => {}
            Attachment::Peer(_) => return None,
            Attachment::Switch(switch) => match self {
                Self::Source(routes) => channels.extend(routes.path(fabric, switch, to)?.iter()),
                Self::Table(tables) => {
                    let mut walker = Walker::new(fabric);
                    let (onward, end) = walker.walk(fabric, tables, switch, to);
                    channels.extend((end == WalkEnd::Arrived).then_some(onward)?);
                }
            },
        }
        Some(Path { channels })
    }

    /// Returns the channel after `channel` on a route; `None` at its end.
    pub fn next(
        &self,
        fabric: &Fabric,
        from: EndpointId,
        to: EndpointId,
        channel: ChannelId,
    ) -> Option<ChannelId> {
        match self {
            Self::Source(_) => {
                let path = self.path(fabric, from, to)?;
                let position = path.channels.iter().position(|taken| *taken == channel)?;
                path.channels.get(position + 1).copied()
            }
            Self::Table(tables) => {
                let switch = fabric.target(channel).node;
                let switch = fabric.node(switch).is_switch().then_some(switch)?;
                fabric.outgoing(switch, tables.port(switch, to)?)
            }
        }
    }

    pub(crate) fn onward<'a>(
        &'a self,
        fabric: &Fabric,
        walker: &'a mut Walker,
        source: NodeId,
        to: EndpointId,
    ) -> (&'a [ChannelId], WalkEnd) {
        match self {
            Self::Source(routes) => walker.follow(fabric, routes, source, to),
            Self::Table(tables) => walker.walk(fabric, tables, source, to),
        }
    }

    /// Returns the number of switch visits on each path, by source and then by destination; `None`
    /// without a route.
    pub fn lengths(&self, fabric: &Fabric) -> Vec<Vec<Option<usize>>> {
        let graph = SwitchGraph::new(fabric);
        let count = graph.endpoint_count();
        let mut lengths = vec![vec![None; count]; count];
        for from in fabric.endpoint_ids() {
            if let Attachment::Peer(to) = graph.attachment(from) {
                lengths[from.index()][to.index()] = Some(0);
            }
        }
        self.walk_all(fabric, &graph, |walk| {
            if walk.end == WalkEnd::Arrived {
                let onward = |channel: &&ChannelId| ends_at_switch(fabric, **channel);
                let switches = 1 + walk.channels.iter().filter(onward).count();
                for from in walk.senders(&graph) {
                    lengths[from.index()][walk.to.index()] = Some(switches);
                }
            }
        });
        lengths
    }

    pub(crate) fn lead_between_switches(&self, fabric: &Fabric, graph: &SwitchGraph) -> bool {
        let mut rows = self.rows(graph);
        rows.any(|row| {
            let mut sources = graph
                .switches()
                .filter(|source| *source != row.switch && !graph.residents(*source).is_empty());
            match row.paths {
                RowPaths::Table(ports) | RowPaths::Column(ports) => sources.any(|source| {
                    let channel = fabric.outgoing(source, ports.at(source.index()));
                    channel.is_some_and(|channel| joins_switches(fabric, channel))
                }),
                RowPaths::Single(routes) => {
                    sources.any(|source| routes.kept(source, row.destinations[0]).is_some())
                }
            }
        })
    }

    /// Visits all paths by destination switch, destination and source switch, without source
    /// switches whose only endpoint is the destination.
    pub(crate) fn walk_all(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        mut visit: impl FnMut(&Walk<'_>),
    ) {
        let mut walker = Walker::new(fabric);
        for row in self.rows(graph) {
            self.walk_row(fabric, graph, &mut walker, &row, &mut visit);
        }
    }

    pub(crate) fn walk_row(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        walker: &mut Walker,
        row: &RouteRow<'_>,
        mut visit: impl FnMut(&Walk<'_>),
    ) {
        for &to in row.destinations {
            for source in graph.switches() {
                if graph.senders(source).all(|sender| sender == to) {
                    continue;
                }
                let (channels, end) = self.onward(fabric, walker, source, to);
                visit(&Walk { source, to, channels, end });
            }
        }
    }
}

impl Walk<'_> {
    pub(crate) fn senders<'a>(
        &'a self,
        graph: &'a SwitchGraph,
    ) -> impl Iterator<Item = EndpointId> + 'a {
        graph.senders(self.source).filter(|sender| *sender != self.to)
    }

    pub(crate) fn host_sender(&self, graph: &SwitchGraph) -> Option<EndpointId> {
        let is_host = |endpoint: &EndpointId| graph.is_host(*endpoint);
        is_host(&self.to).then(|| self.senders(graph).find(is_host))?
    }

    pub(crate) fn sender_count(&self, graph: &SwitchGraph) -> u64 {
        graph.senders(self.source).count() as u64 - u64::from(self.stays(graph))
    }

    pub(crate) fn host_pairs(&self, graph: &SwitchGraph) -> u64 {
        if graph.is_host(self.to) {
            u64::from(graph.host_count(self.source)) - u64::from(self.stays(graph))
        } else {
            0
        }
    }

    pub(crate) fn stays(&self, graph: &SwitchGraph) -> bool {
        graph.attachment(self.to) == Attachment::Switch(self.source)
    }
}
