//! Source routes: the whole path, chosen where the packet begins.
//!
//! ```text
//!   a path    (s0, h3)  ──►  ports 2, 5                s0[2] -> s2, s2[5] -> s1, and the channel s1 -> h3
//!             with a host h7 of s2 in transit          s0[2] -> s2, s2[7] -> h7, h7[1] -> s2, s2[5] -> s1
//!   a column  h3: s0 ──► 2, s1 ──► -, s2 ──► 5         the paths of all switches at once
//! ```
//!
//! All hosts of a switch share their path to a destination, so a path is kept per source switch
//! and row. A row is a destination endpoint, or all endpoints of a switch where they share
//! their paths. A path is kept as the port by which it leaves each node. It leaves out the channel
//! from the host into the fabric and the channel into the destination, which each endpoint has of
//! its own. A path that visits an in-transit host is several legs in one list: a channel that ends
//! at a host ends a leg, and that host's own channel begins the next.
//!
//! Where every path of a row goes on from each switch as the path of that switch does, the row is a
//! *column*: one port a switch says all of it. So it is wherever an algorithm leaves no choice,
//! and the routes of a mesh are a byte a pair rather than a byte a hop of every pair.
//!
//! Invariant: each channel begins where the one before ends; what is kept is empty only
//! at the switch of the destination, and where there is no path.

use super::graph::{Attachment, SwitchGraph};
use super::ports::{PortSlice, Ports};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

/// No switch on which an endpoint hangs.
const NO_SOURCE: u32 = u32::MAX;

/// One path per source switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceRoutes {
    /// By switch: its number among those at which packets begin, or [`NO_SOURCE`].
    sources: Vec<u32>,
    /// By endpoint; `None` for one that hangs on no switch.
    destinations: Vec<Option<Destination>>,
    rows: Vec<Row>,
    columns: Columns,
    /// Where a path ends in `ports`, from the first port of its row on: by row, then by source.
    ends: Vec<u32>,
    ports: Ports,
    /// In-transit hosts, as `ends`; nothing at all if no path visits one.
    in_transit_hosts: Vec<u16>,
    fall_backs: FallBacks,
}

/// Pairs that routes with in-transit hosts lead by longer paths than the cables would allow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FallBacks {
    /// Number of ordered pairs of hosts.
    pub pairs: u64,
    /// The switches without hosts at which their shortest paths would turn from down to up.
    pub switches: Vec<NodeId>,
}

/// What is known of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Destination {
    row: u32,
    /// The switch on which it hangs.
    switch: NodeId,
    /// The channel into it.
    ejection: ChannelId,
}

/// Where the paths of a row are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// From this place of the columns on, by switch.
    Column(usize),
    /// One by one.
    Paths {
        /// Place of the first port.
        port: usize,
        /// Place of the end of the first path.
        end: usize,
    },
}

/// By row and switch: the port by which every packet goes on, and the channels between switches
/// that are left; both 0 at the switch of the destination and where it cannot be reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Columns {
    ports: Ports,
    channels: Ports,
}

/// What follows from a source switch to a destination.
#[derive(Clone, Copy, Debug)]
pub struct Onward<'a> {
    fabric: &'a Fabric,
    source: NodeId,
    steps: Steps<'a>,
    /// Channels before that into the destination.
    channels: u32,
    ejection: ChannelId,
    /// In-transit hosts, which eject the packet and send it on.
    pub in_transit_hosts: u16,
}

/// The port by which a path leaves each node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps<'a> {
    /// By switch.
    Column(PortSlice<'a>),
    /// By its place on the path.
    Path(PortSlice<'a>),
}

impl PartialEq for Onward<'_> {
    /// The same channels, however they are kept.
    fn eq(&self, other: &Self) -> bool {
        self.in_transit_hosts == other.in_transit_hosts && self.iter().eq(other.iter())
    }
}

impl<'a> Onward<'a> {
    /// Number of channels, that into the destination among them: never zero.
    #[expect(clippy::len_without_is_empty, reason = "at least the last channel is there")]
    #[inline]
    pub fn len(self) -> usize {
        self.channels as usize + 1
    }

    /// All channels in order, from the source switch on.
    pub fn iter(self) -> impl Iterator<Item = ChannelId> + 'a {
        self.before_the_last().chain([self.ejection])
    }

    /// The same without the channel into the destination.
    pub(crate) fn before_the_last(self) -> impl Iterator<Item = ChannelId> + 'a {
        let mut node = self.source;
        (0..self.channels as usize).map(move |position| {
            let channel = self.steps.channel(self.fabric, position, node);
            node = self.fabric.target(channel).node;
            channel
        })
    }

    /// Number of switches that a packet comes through; one that it leaves for an in-transit host
    /// and comes back to counts twice.
    #[inline]
    pub fn switches(self) -> usize {
        self.len() - usize::from(self.in_transit_hosts)
    }
}

impl Steps<'_> {
    /// The channel by which a path leaves `node`, which stands at this position of it.
    #[inline]
    fn channel(self, fabric: &Fabric, position: usize, node: NodeId) -> ChannelId {
        let port = match self {
            Self::Column(ports) => ports.at(node.index()),
            Self::Path(ports) => ports.at(position),
        };
        fabric.outgoing(node, port).expect("a path leads along cables")
    }
}

/// Where a path is kept, for whoever takes one channel of it at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPath {
    place: Place,
    /// Channels before that into the destination.
    channels: u32,
    /// The channel into the destination.
    ejection: ChannelId,
    in_transit_hosts: u16,
}

/// The first port of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Column(usize),
    Path(usize),
}

impl KeptPath {
    /// A path that ends with `ejection` after so many other channels, of which a packet has come to
    /// the end: none of them can be asked for.
    pub fn ending_with(ejection: ChannelId, channels: u32, in_transit_hosts: u16) -> Self {
        Self { place: Place::Path(usize::MAX), channels, ejection, in_transit_hosts }
    }

    /// The channel into the destination.
    #[inline]
    pub fn ejection(self) -> ChannelId {
        self.ejection
    }

    /// In-transit hosts, which eject the packet and send it on.
    #[inline]
    pub fn in_transit_hosts(self) -> usize {
        self.in_transit_hosts.into()
    }

    /// The same as [`Onward::switches`].
    #[inline]
    pub fn switches(self) -> usize {
        self.channels as usize + 1 - self.in_transit_hosts()
    }
}

impl SourceRoutes {
    /// Where the path from the switch `source` to `to` is kept. `None` where no path leads, and at
    /// a switch on which no endpoint hangs.
    #[inline]
    pub fn kept(&self, source: NodeId, to: EndpointId) -> Option<KeptPath> {
        let Destination { row, switch, ejection } = self.destinations[to.index()]?;
        let number = self.sources[source.index()];
        if number == NO_SOURCE {
            return None;
        }
        let (place, channels, in_transit_hosts) = match self.rows[row as usize] {
            Row::Column(first) => {
                let channels = self.columns.channels.at(first + source.index());
                (Place::Column(first), u32::from(channels), 0)
            }
            Row::Paths { port, end } => {
                let at = end + number as usize;
                let begin = if number == 0 { 0 } else { self.ends[at - 1] };
                let in_transit_hosts = self.in_transit_hosts.get(at).copied().unwrap_or(0);
                let channels = self.ends[at] - begin;
                (Place::Path(port + begin as usize), channels, in_transit_hosts)
            }
        };
        let exists = channels > 0 || source == switch;
        exists.then_some(KeptPath { place, channels, ejection, in_transit_hosts })
    }

    /// The channel at a position from 0 of a path of these routes, which goes so far and has come
    /// to a node.
    #[inline]
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
        let port = match path.place {
            Place::Column(first) => self.columns.ports.at(first + node.index()),
            Place::Path(first) => self.ports.at(first + position as usize),
        };
        fabric.outgoing(node, port).expect("a path leads along cables")
    }

    /// How many in-transit hosts are left behind by a packet that has taken so many channels of a
    /// path from `first` on.
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

    /// The channels from the switch `source` to `to`. `None` where no path leads, and at a switch
    /// on which no endpoint hangs.
    #[inline]
    pub fn path<'a>(
        &'a self,
        fabric: &'a Fabric,
        source: NodeId,
        to: EndpointId,
    ) -> Option<Onward<'a>> {
        let KeptPath { place, channels, ejection, in_transit_hosts } = self.kept(source, to)?;
        let steps = match place {
            Place::Column(first) => Steps::Column(self.column(first)),
            Place::Path(first) => Steps::Path(self.ports.slice(first..first + channels as usize)),
        };
        Some(Onward { fabric, source, steps, channels, ejection, in_transit_hosts })
    }

    /// The ports by switch toward `to`, if they say all of its paths.
    pub(crate) fn column_of(&self, to: EndpointId) -> Option<PortSlice<'_>> {
        match self.rows[self.row(to)?] {
            Row::Column(first) => Some(self.column(first)),
            Row::Paths { .. } => None,
        }
    }

    /// The row of an endpoint on a switch.
    pub(crate) fn row(&self, to: EndpointId) -> Option<usize> {
        self.destinations[to.index()].map(|destination| destination.row as usize)
    }

    /// Whether the paths to two endpoints differ in their last channel alone, from every switch.
    pub fn share_paths(&self, one: EndpointId, other: EndpointId) -> bool {
        self.row(one).is_some() && self.row(one) == self.row(other)
    }

    fn column(&self, first: usize) -> PortSlice<'_> {
        self.columns.ports.slice(first..first + self.sources.len())
    }

    /// The pairs that take a longer path than the cables would allow, because no host could take
    /// their packets in where a shorter one turns from down to up. None but with in-transit hosts.
    pub fn fall_backs(&self) -> &FallBacks {
        &self.fall_backs
    }

    /// Whether any path leads through an in-transit host.
    #[inline]
    pub fn has_in_transit_hosts(&self) -> bool {
        !self.in_transit_hosts.is_empty()
    }
}

/// Takes rows one after the other: whole columns, or path by path, switch by switch.
#[derive(Debug)]
pub(crate) struct SourceRoutesBuilder<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    routes: SourceRoutes,
    /// The row whose paths come one by one.
    row: Option<OpenRow>,
    /// In-transit hosts of the path that is being built.
    in_transit_hosts: u16,
}

/// A row whose paths are not all there.
#[derive(Clone, Copy, Debug)]
struct OpenRow {
    /// Place of its first port.
    first: usize,
    /// Place of the end of the last path that was kept.
    end: usize,
    /// The switch whose path is being built.
    switch: usize,
}

impl<'a> SourceRoutesBuilder<'a> {
    /// Nothing routed yet.
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

    /// The paths that follow lead to these endpoints of one switch: one of every switch, each
    /// ended by [`Self::end_path`].
    pub(crate) fn begin_row(&mut self, destinations: &[EndpointId]) {
        let first = self.routes.ports.len();
        self.add_row(destinations, Row::Paths { port: first, end: self.routes.ends.len() });
        self.row = Some(OpenRow { first, end: first, switch: 0 });
    }

    /// All paths to these endpoints of one switch: by switch, the port by which each of them goes
    /// on and the channels between switches that are left.
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

    /// The path goes on by `channel`.
    pub(crate) fn push(&mut self, channel: ChannelId) {
        self.routes.ports.push(self.fabric.source(channel).port);
    }

    /// The path goes on by these channels.
    pub(crate) fn extend(&mut self, channels: &[ChannelId]) {
        for channel in channels {
            self.push(*channel);
        }
    }

    /// The path goes into a host by `ejection`, and on from there by the other direction of the
    /// same cable.
    pub(crate) fn push_in_transit(&mut self, ejection: ChannelId) {
        self.extend(&[ejection, Fabric::reverse(ejection)]);
        self.in_transit_hosts += 1;
    }

    /// The path of this switch is complete, or there is none. That of a switch on which no endpoint
    /// hangs is of no use to anybody, and not kept.
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

    /// Which pairs take a longer path for want of an in-transit host.
    pub(crate) fn set_fall_backs(&mut self, fall_backs: FallBacks) {
        self.routes.fall_backs = fall_backs;
    }

    /// All paths.
    pub(crate) fn finish(mut self) -> SourceRoutes {
        self.assert_row_is_complete();
        if self.routes.in_transit_hosts.iter().all(|hosts| *hosts == 0) {
            self.routes.in_transit_hosts = Vec::new();
        }
        self.routes
    }
}
