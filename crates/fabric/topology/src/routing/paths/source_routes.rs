//! Source routes: the source selects the whole path.
//!
//! ```text
//!   a path    (s0, h3)  ──►  ports 2, 5                s0[2] -> s2, s2[5] -> s1, then s1 -> h3
//!             via in-transit host h7 of s2             s0[2] -> s2, s2[7] -> h7, h7[1] -> s2, s2[5] -> s1
//!   a column  h3: s0 ──► 2, s1 ──► -, s2 ──► 5         the paths of all switches at once
//! ```
//!
//! For each source switch and row, a path is stored as the output port at each node, without the
//! channels of its endpoints. A row is one destination endpoint, or all endpoints of a switch that
//! share their paths.
//!
//! If every path of a row continues from each of its switches like the path of that switch, the row
//! is a *column*: one port per switch, instead of one port per hop of each path.
//!
//! Invariant: a stored path is connected, and empty only at the switch of the destination or
//! without a route.

use super::graph::{Attachment, SwitchGraph};
use super::ports::{PortSlice, Ports};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

const NO_SOURCE: u32 = u32::MAX;

/// One path per source switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceRoutes {
    sources: Vec<u32>,
    /// By endpoint: row and last channel; `None` for an endpoint that is not on a switch.
    destinations: Vec<Option<Destination>>,
    rows: Vec<Row>,
    columns: Columns,
    /// End of each path in `ports`, relative to the start of its row; by row, then by source.
    ends: Vec<u32>,
    ports: Ports,
    /// Number of in-transit hosts on each path, indexed like `ends`; empty if no path visits any.
    in_transit_hosts: Vec<u16>,
    fall_backs: FallBacks,
}

/// Pairs with routes longer than the shortest paths, for lack of an in-transit host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FallBacks {
    /// Number of ordered host pairs.
    pub pairs: u64,
    /// Switches without hosts, where shortest paths would turn from down to up.
    pub switches: Vec<NodeId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Destination {
    row: u32,
    switch: NodeId,
    ejection: ChannelId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    Column(usize),
    Paths { port: usize, end: usize },
}

/// By row and switch: output port, and number of remaining channels between switches. Both are 0 at
/// the switch of the destination and without a route.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Columns {
    ports: Ports,
    channels: Ports,
}

/// Path from a source switch to a destination endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Onward<'a> {
    fabric: &'a Fabric,
    source: NodeId,
    steps: Steps<'a>,
    /// Number of channels before the last.
    channels: u32,
    ejection: ChannelId,
    /// Number of in-transit hosts.
    pub in_transit_hosts: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps<'a> {
    Column(PortSlice<'a>),
    Path(PortSlice<'a>),
}

impl PartialEq for Onward<'_> {
    /// Compares the channels, regardless of their representation.
    fn eq(&self, other: &Self) -> bool {
        self.in_transit_hosts == other.in_transit_hosts && self.iter().eq(other.iter())
    }
}

impl<'a> Onward<'a> {
    /// Returns the number of channels, at least 1 because of the last channel.
    #[expect(clippy::len_without_is_empty, reason = "at least the last channel is there")]
    #[inline]
    pub fn len(self) -> usize {
        self.channels as usize + 1
    }

    /// Returns the channels from the source switch on.
    pub fn iter(self) -> impl Iterator<Item = ChannelId> + 'a {
        self.before_the_last().chain([self.ejection])
    }

    pub(crate) fn before_the_last(self) -> impl Iterator<Item = ChannelId> + 'a {
        let mut node = self.source;
        (0..self.channels as usize).map(move |position| {
            let channel = self.steps.channel(self.fabric, position, node);
            node = self.fabric.target(channel).node;
            channel
        })
    }

    /// Returns the number of switch visits; a switch re-entered from an in-transit host counts
    /// twice.
    #[inline]
    pub fn switches(self) -> usize {
        self.len() - usize::from(self.in_transit_hosts)
    }
}

impl Steps<'_> {
    #[inline]
    fn channel(self, fabric: &Fabric, position: usize, node: NodeId) -> ChannelId {
        let port = match self {
            Self::Column(ports) => ports.at(node.index()),
            Self::Path(ports) => ports.at(position),
        };
        fabric.outgoing(node, port).expect("a path leads along cables")
    }
}

/// Location of a stored path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPath {
    first: usize,
    channels: u32,
    ejection: ChannelId,
    in_transit_hosts: u16,
    is_in_column: bool,
}

impl KeptPath {
    /// Creates a path with a known last channel, preceded by `channels` unknown channels.
    pub fn ending_with(ejection: ChannelId, channels: u32, in_transit_hosts: u16) -> Self {
        Self { first: usize::MAX, channels, ejection, in_transit_hosts, is_in_column: false }
    }

    /// Returns whether exactly `channels` channels precede the last.
    #[inline]
    pub fn ends_after(self, channels: u32) -> bool {
        self.channels == channels
    }

    /// Returns whether only the last channel is known.
    #[inline]
    pub fn is_ending(self) -> bool {
        self.first == usize::MAX
    }

    /// Returns the last channel, which leads into the destination.
    #[inline]
    pub fn ejection(self) -> ChannelId {
        self.ejection
    }

    /// Returns the number of in-transit hosts on the path.
    #[inline]
    pub fn in_transit_hosts(self) -> usize {
        self.in_transit_hosts.into()
    }

    /// Returns the number of switch visits.
    #[inline]
    pub fn switches(self) -> usize {
        self.channels as usize + 1 - self.in_transit_hosts()
    }
}

impl SourceRoutes {
    /// Returns the location of a path; `None` without a route, and at a switch without endpoints.
    #[inline]
    pub fn kept(&self, source: NodeId, to: EndpointId) -> Option<KeptPath> {
        let Destination { row, switch, ejection } = self.destinations[to.index()]?;
        let number = self.sources[source.index()];
        if number == NO_SOURCE {
            return None;
        }
        let (first, channels, in_transit_hosts, is_in_column) = match self.rows[row as usize] {
            Row::Column(first) => {
                let channels = self.columns.channels.at(first + source.index());
                (first, u32::from(channels), 0, true)
            }
            Row::Paths { port, end } => {
                let at = end + number as usize;
                let begin = if number == 0 { 0 } else { self.ends[at - 1] };
                let in_transit_hosts = self.in_transit_hosts.get(at).copied().unwrap_or(0);
                let channels = self.ends[at] - begin;
                (port + begin as usize, channels, in_transit_hosts, false)
            }
        };
        let exists = channels > 0 || source == switch;
        exists.then_some(KeptPath { first, channels, ejection, in_transit_hosts, is_in_column })
    }

    /// Returns the channel at a position, counted from 0; `node` returns the node at that position.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub fn channel(
        &self,
        fabric: &Fabric,
        path: KeptPath,
        position: u32,
        node: impl FnOnce() -> NodeId,
    ) -> ChannelId {
        debug_assert!(position <= path.channels, "a path ends at its destination");
        if position == path.channels {
            return path.ejection;
        }
        let node = node();
        let port = if path.is_in_column {
            self.columns.ports.at(path.first + node.index())
        } else {
            self.ports.at(path.first + position as usize)
        };
        fabric.outgoing(node, port).expect("a path leads along cables")
    }

    /// Counts the in-transit hosts that a packet has left after `channels` channels from `first`.
    pub fn in_transit_hosts_before(
        &self,
        fabric: &Fabric,
        path: KeptPath,
        channels: u32,
        first: NodeId,
    ) -> u16 {
        let (mut node, mut hosts) = (first, 0);
        for position in 0..channels {
            hosts += u16::from(!fabric.node(node).is_switch());
            node = fabric.target(self.channel(fabric, path, position, || node)).node;
        }
        hosts
    }

    /// Returns a path; `None` without a route, and at a switch without endpoints.
    #[inline]
    pub fn path<'a>(
        &'a self,
        fabric: &'a Fabric,
        source: NodeId,
        to: EndpointId,
    ) -> Option<Onward<'a>> {
        let KeptPath { first, channels, ejection, in_transit_hosts, is_in_column } =
            self.kept(source, to)?;
        let steps = if is_in_column {
            Steps::Column(self.column(first))
        } else {
            Steps::Path(self.ports.slice(first..first + channels as usize))
        };
        Some(Onward { fabric, source, steps, channels, ejection, in_transit_hosts })
    }

    /// Returns the output port of each switch, if one column represents all paths to `to`.
    pub(crate) fn column_of(&self, to: EndpointId) -> Option<PortSlice<'_>> {
        match self.rows[self.row(to)?] {
            Row::Column(first) => Some(self.column(first)),
            Row::Paths { .. } => None,
        }
    }

    pub(crate) fn row(&self, to: EndpointId) -> Option<usize> {
        self.destinations[to.index()].map(|destination| destination.row as usize)
    }

    /// Returns whether paths to two endpoints differ only in their last channel.
    pub fn share_paths(&self, one: EndpointId, other: EndpointId) -> bool {
        self.row(one).is_some() && self.row(one) == self.row(other)
    }

    fn column(&self, first: usize) -> PortSlice<'_> {
        self.columns.ports.slice(first..first + self.sources.len())
    }

    /// Returns the pairs with longer routes for lack of an in-transit host.
    pub fn fall_backs(&self) -> &FallBacks {
        &self.fall_backs
    }

    /// Returns whether any path has an in-transit host.
    #[inline]
    pub fn has_in_transit_hosts(&self) -> bool {
        !self.in_transit_hosts.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct SourceRoutesBuilder<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    routes: SourceRoutes,
    row: Option<OpenRow>,
    in_transit_hosts: u16,
}

#[derive(Clone, Copy, Debug)]
struct OpenRow {
    first: usize,
    end: usize,
    switch: usize,
}

impl<'a> SourceRoutesBuilder<'a> {
    pub(crate) fn new(fabric: &'a Fabric, graph: &'a SwitchGraph) -> Self {
        let mut numbers = 0..NO_SOURCE;
        let sources = graph
            .switches()
            .map(|switch| {
                if graph.has_senders(switch) {
                    numbers.next().expect("fewer switches than numbers")
                } else {
                    NO_SOURCE
                }
            })
            .collect();
        let routes = SourceRoutes {
            sources,
            destinations: vec![None; graph.endpoint_count()],
            rows: Vec::new(),
            columns: Columns::default(),
            ends: Vec::new(),
            ports: Ports::default(),
            in_transit_hosts: Vec::new(),
            fall_backs: FallBacks::default(),
        };
        Self { fabric, graph, routes, row: None, in_transit_hosts: 0 }
    }

    /// Starts a row; the caller then adds one path per switch, each ended by [`Self::end_path`].
    pub(crate) fn begin_row(&mut self, destinations: &[EndpointId]) {
        let first = self.routes.ports.len();
        self.add_row(destinations, Row::Paths { port: first, end: self.routes.ends.len() });
        self.row = Some(OpenRow { first, end: first, switch: 0 });
    }

    /// Adds the paths to `destinations` hop by hop. `steps` yields, for each switch, the output port
    /// and the number of inter-switch channels left on the path.
    pub(crate) fn column(
        &mut self,
        destinations: &[EndpointId],
        steps: impl Iterator<Item = (u16, u32)>,
    ) {
        let first = self.routes.columns.ports.len();
        self.add_row(destinations, Row::Column(first));
        for (port, channels) in steps {
            let channels = u16::try_from(channels).expect("a path has few channels");
            self.routes.columns.ports.push(port);
            self.routes.columns.channels.push(channels);
        }
        let count = self.routes.columns.ports.len() - first;
        assert_eq!(count, self.routes.sources.len(), "a column has a port a switch");
    }

    fn add_row(&mut self, destinations: &[EndpointId], row: Row) {
        self.assert_row_is_complete();
        for &to in destinations {
            let Attachment::Switch(switch) = self.graph.attachment(to) else {
                unreachable!("rows lead to endpoints on switches");
            };
            let row = u32::try_from(self.routes.rows.len()).expect("fewer rows than endpoints");
            let destination = Destination { row, switch, ejection: self.graph.ejection(to) };
            let before = self.routes.destinations[to.index()].replace(destination);
            assert!(before.is_none(), "a destination is routed once");
        }
        self.routes.rows.push(row);
    }

    fn assert_row_is_complete(&self) {
        let switches = self.routes.sources.len();
        let is_complete = self.row.is_none_or(|row| row.switch == switches);
        assert!(is_complete, "every switch ends its path");
    }

    pub(crate) fn push(&mut self, channel: ChannelId) {
        self.routes.ports.push(self.fabric.source(channel).port);
    }

    pub(crate) fn extend(&mut self, channels: &[ChannelId]) {
        for channel in channels {
            self.push(*channel);
        }
    }

    pub(crate) fn push_in_transit(&mut self, ejection: ChannelId) {
        self.extend(&[ejection, Fabric::reverse(ejection)]);
        self.in_transit_hosts += 1;
    }

    /// Ends a path; the path of a switch without endpoints is not stored.
    pub(crate) fn end_path(&mut self) {
        let row = self.row.as_mut().expect("a path belongs to a row");
        let in_transit_hosts = std::mem::take(&mut self.in_transit_hosts);
        if self.routes.sources[row.switch] == NO_SOURCE {
            self.routes.ports.truncate(row.end);
        } else {
            row.end = self.routes.ports.len();
            let end = u32::try_from(row.end - row.first).expect("a row has fewer than 2^32 ports");
            self.routes.ends.push(end);
            self.routes.in_transit_hosts.push(in_transit_hosts);
        }
        row.switch += 1;
    }

    pub(crate) fn set_fall_backs(&mut self, fall_backs: FallBacks) {
        self.routes.fall_backs = fall_backs;
    }

    pub(crate) fn finish(mut self) -> SourceRoutes {
        self.assert_row_is_complete();
        if self.routes.in_transit_hosts.iter().all(|hosts| *hosts == 0) {
            self.routes.in_transit_hosts = Vec::new();
        }
        self.routes
    }
}
