//! Source routes: the whole path, chosen where the packet begins.
//!
//! ```text
//!   key (s0, h3)  ──►  s0 -> s2, s2 -> s1      and the channel s1 -> h3
//!   with a host h7 of s2 in transit:  s0 -> s2, s2 -> h7, h7 -> s2, s2 -> s1
//! ```
//!
//! All hosts of a switch share their path to a destination, so a path is kept per source switch
//! and row. A row is a destination endpoint, or all endpoints of a switch where they share
//! their paths. A path leaves out the channel from the host into the fabric and the channel into
//! the destination, which each endpoint has of its own. A path that visits an in-transit host is
//! several legs in one list: a channel that ends at a host ends a leg, and that host's own
//! channel begins the next.
//!
//! Invariant: each channel begins where the one before ends; the kept part is empty only
//! at the switch of the destination, and where there is no path.

use super::graph::{Attachment, SwitchGraph};
use crate::{ChannelId, EndpointId, NodeId};

/// One path per source switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceRoutes {
    switch_count: usize,
    /// By endpoint; `None` for one that hangs on no switch.
    destinations: Vec<Option<Destination>>,
    /// Where a path begins in `channels`: by row, then by switch, with one entry at the end.
    first: Vec<usize>,
    channels: Vec<ChannelId>,
    /// In-transit hosts by row and switch; nothing at all if no path visits one.
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

/// What follows from a source switch to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Onward<'a> {
    /// From the source switch to that of the destination, through in-transit hosts.
    pub channels: &'a [ChannelId],
    /// The channel into the destination.
    pub ejection: ChannelId,
    /// In-transit hosts, which eject the packet and send it on.
    pub in_transit_hosts: u16,
}

impl<'a> Onward<'a> {
    /// Number of channels, that into the destination among them: never zero.
    #[expect(clippy::len_without_is_empty, reason = "at least the last channel is there")]
    #[inline]
    pub fn len(self) -> usize {
        self.channels.len() + 1
    }

    /// The channel at a position from 0; `None` past the end.
    #[inline]
    pub fn get(self, position: usize) -> Option<ChannelId> {
        match self.channels.get(position) {
            Some(channel) => Some(*channel),
            None => (position == self.channels.len()).then_some(self.ejection),
        }
    }

    /// All channels in order.
    pub fn iter(self) -> impl Iterator<Item = ChannelId> + 'a {
        self.channels.iter().copied().chain([self.ejection])
    }

    /// Number of switches that a packet comes through; one that it leaves for an in-transit host
    /// and comes back to counts twice.
    #[inline]
    pub fn switches(self) -> usize {
        self.len() - usize::from(self.in_transit_hosts)
    }
}

/// Where a path is kept, for whoever takes one channel of it at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPath {
    /// Place of its first channel.
    first: usize,
    /// Channels before that into the destination.
    channels: u32,
    /// The channel into the destination.
    ejection: ChannelId,
    in_transit_hosts: u16,
}

impl KeptPath {
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
    /// Where the path from the switch `source` to `to` is kept; see [`SourceRoutes::path`].
    #[inline]
    pub fn kept(&self, source: NodeId, to: EndpointId) -> Option<KeptPath> {
        let Destination { row, switch, ejection } = self.destinations[to.index()]?;
        let key = row as usize * self.switch_count + source.index();
        let (first, end) = (self.first[key], self.first[key + 1]);
        let in_transit_hosts = self.in_transit_hosts.get(key).copied().unwrap_or(0);
        let channels = u32::try_from(end - first).expect("a path has few channels");
        let exists = channels > 0 || source == switch;
        exists.then_some(KeptPath { first, channels, ejection, in_transit_hosts })
    }

    /// The channel at a position from 0 of a path of these routes, which goes so far.
    #[inline]
    pub fn channel(&self, path: KeptPath, position: u32) -> ChannelId {
        debug_assert!(position <= path.channels, "a path ends at its destination");
        if position == path.channels {
            path.ejection
        } else {
            self.channels[path.first + position as usize]
        }
    }

    /// The channels from the switch `source` to `to`. `None` where no path leads, and at a switch
    /// on which no endpoint hangs.
    #[inline]
    pub fn path(&self, source: NodeId, to: EndpointId) -> Option<Onward<'_>> {
        let Destination { row, switch, ejection } = self.destinations[to.index()]?;
        let key = row as usize * self.switch_count + source.index();
        let channels = &self.channels[self.first[key]..self.first[key + 1]];
        let in_transit_hosts = self.in_transit_hosts.get(key).copied().unwrap_or(0);
        let exists = !channels.is_empty() || source == switch;
        exists.then_some(Onward { channels, ejection, in_transit_hosts })
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

/// Takes paths row by row, and in each switch by switch.
#[derive(Debug)]
pub(crate) struct SourceRoutesBuilder {
    routes: SourceRoutes,
    rows: u32,
    /// In-transit hosts of the path that is being built.
    in_transit_hosts: u16,
}

impl SourceRoutesBuilder {
    /// Nothing routed yet.
    pub(crate) fn new(graph: &SwitchGraph) -> Self {
        let routes = SourceRoutes {
            switch_count: graph.switch_count(),
            destinations: vec![None; graph.endpoint_count()],
            first: vec![0],
            channels: Vec::new(),
            in_transit_hosts: Vec::new(),
            fall_backs: FallBacks::default(),
        };
        Self { routes, rows: 0, in_transit_hosts: 0 }
    }

    /// The paths that follow lead to these endpoints of one switch.
    pub(crate) fn begin_row(&mut self, graph: &SwitchGraph, destinations: &[EndpointId]) {
        for &to in destinations {
            let Attachment::Switch(switch) = graph.attachment(to) else {
                unreachable!("rows lead to endpoints on switches");
            };
            let destination = Destination { row: self.rows, switch, ejection: graph.ejection(to) };
            let before = self.routes.destinations[to.index()].replace(destination);
            assert!(before.is_none(), "a destination is routed once");
        }
        self.rows += 1;
    }

    /// The path goes on by `channel`.
    pub(crate) fn push(&mut self, channel: ChannelId) {
        self.routes.channels.push(channel);
    }

    /// The path goes on by these channels.
    pub(crate) fn extend(&mut self, channels: &[ChannelId]) {
        self.routes.channels.extend_from_slice(channels);
    }

    /// The path goes into a host by `ejection`, and on from there by the other direction of the
    /// same cable.
    pub(crate) fn push_in_transit(&mut self, ejection: ChannelId) {
        self.routes.channels.extend([ejection, crate::Fabric::reverse(ejection)]);
        self.in_transit_hosts += 1;
    }

    /// The path of this switch is complete, or there is none.
    pub(crate) fn end_path(&mut self) {
        self.routes.first.push(self.routes.channels.len());
        self.routes.in_transit_hosts.push(std::mem::take(&mut self.in_transit_hosts));
    }

    /// Which pairs take a longer path for want of an in-transit host.
    pub(crate) fn set_fall_backs(&mut self, fall_backs: FallBacks) {
        self.routes.fall_backs = fall_backs;
    }

    /// All paths.
    pub(crate) fn finish(mut self) -> SourceRoutes {
        let rows = usize::try_from(self.rows).expect("a row is an index");
        let paths = self.routes.first.len() - 1;
        assert_eq!(paths, rows * self.routes.switch_count, "every switch ends its path");
        if self.routes.in_transit_hosts.iter().all(|hosts| *hosts == 0) {
            self.routes.in_transit_hosts = Vec::new();
        }
        self.routes
    }
}
