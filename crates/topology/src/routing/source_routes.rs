//! Source routes: the whole path, chosen where the packet begins.
//!
//! ```text
//!   key (s0, h3)  ──►  s0 -> s2, s2 -> s1, s1 -> h3
//! ```
//!
//! All hosts of a switch share their path to a destination, so a path is kept per source switch
//! and destination endpoint. It leaves out the channel from the host into the fabric, which
//! each host has of its own, and ends with the channel into the destination. A path that
//! visits a host on the way is several legs in one list: a channel that ends at a host ends a leg.
//!
//! Invariant: each channel begins where the one before ends; a path that exists has at
//! least the channel into its destination, so an empty one means that there is none.

use super::graph::SwitchGraph;
use crate::{ChannelId, EndpointId, NodeId};

/// One path per source switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceRoutes {
    switch_count: usize,
    /// The row of each destination, in the order in which rows were filled.
    row_of: Vec<Option<u32>>,
    /// Where a path begins in `channels`: by row, then by switch, with one entry at the end.
    first: Vec<usize>,
    channels: Vec<ChannelId>,
}

impl SourceRoutes {
    /// The channels from the switch `source` to `to`, the last one into `to`. `None` where no
    /// path leads, and at a switch on which no endpoint hangs.
    pub fn path(&self, source: NodeId, to: EndpointId) -> Option<&[ChannelId]> {
        let row = usize::try_from(self.row_of[to.index()]?).expect("a row is an index");
        let key = row * self.switch_count + source.index();
        let path = &self.channels[self.first[key]..self.first[key + 1]];
        (!path.is_empty()).then_some(path)
    }
}

/// Takes paths destination by destination, and for each switch by switch.
#[derive(Debug)]
pub(super) struct SourceRoutesBuilder {
    routes: SourceRoutes,
    rows: u32,
}

impl SourceRoutesBuilder {
    /// Nothing routed yet.
    pub(super) fn new(graph: &SwitchGraph) -> Self {
        let routes = SourceRoutes {
            switch_count: graph.switch_count(),
            row_of: vec![None; graph.endpoint_count()],
            first: vec![0],
            channels: Vec::new(),
        };
        Self { routes, rows: 0 }
    }

    /// The paths that follow lead to `to`.
    pub(super) fn begin_destination(&mut self, to: EndpointId) {
        let row = self.routes.row_of[to.index()].replace(self.rows);
        assert!(row.is_none(), "a destination is routed once");
        self.rows += 1;
    }

    /// The path goes on by `channel`.
    pub(super) fn push(&mut self, channel: ChannelId) {
        self.routes.channels.push(channel);
    }

    /// The path of this switch is complete, or there is none.
    pub(super) fn end_path(&mut self) {
        self.routes.first.push(self.routes.channels.len());
    }

    /// All paths.
    pub(super) fn finish(self) -> SourceRoutes {
        let rows = usize::try_from(self.rows).expect("a row is an index");
        let paths = self.routes.first.len() - 1;
        assert_eq!(paths, rows * self.routes.switch_count, "every switch ends its path");
        self.routes
    }
}
