//! Table routes: one output port per switch and destination (an InfiniBand linear forwarding table,
//! LFT, indexed by endpoint instead of LID).

use super::ports::{PortSlice, Ports};
use super::shortest_hops::ShortestHops;
use super::source_routes::SourceRoutes;
use super::switch_of;
use crate::{ChannelId, EndpointId, Fabric, NodeId, PortRef};
use std::sync::Arc;

/// Marker for a missing entry: port 0 is the switch itself and leads to no endpoint.
const NO_PORT: u16 = 0;

/// One output port per switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableRoutes {
    switch_count: usize,
    /// Output ports, by destination and then by switch.
    ports: Ports,
    /// Remaining hops; `None` without adaptive routing.
    hops: Option<Arc<ShortestHops>>,
}

/// Switch and destination between which the table path is longer than the shortest path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongerPath {
    /// First switch of the path.
    pub switch: NodeId,
    /// Destination of the path.
    pub to: EndpointId,
}

impl LongerPath {
    /// Explains the conflict with adaptive routing, and suggests a remedy.
    pub fn describe(&self, fabric: &Fabric) -> String {
        format!(
            "packets that choose at every switch take shortest ways, and this algorithm leads from {} to {} by none of them: choose \
             \"shortest-path\" or, on a mesh or torus, \"dimension-order\"",
            fabric.node(self.switch).name,
            fabric.endpoint_name(self.to)
        )
    }
}

impl TableRoutes {
    /// Creates tables without entries.
    pub fn new(fabric: &Fabric) -> Self {
        let switch_count = fabric.switches().len();
        let ports = Ports::zeros(switch_count * fabric.endpoints().len());
        Self { switch_count, ports, hops: None }
    }

    /// Enables adaptive routing: a packet may take any channel on a shortest path.
    ///
    /// # Errors
    /// Fails if a table entry for a reachable destination is not on a shortest path.
    pub fn made_adaptive(mut self, fabric: &Fabric) -> Result<Self, LongerPath> {
        let hops = ShortestHops::new(fabric);
        for to in fabric.endpoint_ids() {
            let Some(end) = switch_of(fabric, to) else { continue };
            for switch in fabric.switches() {
                let by_table = self.port(switch, to).and_then(|port| fabric.outgoing(switch, port));
                let mut onward = hops.onward(fabric, switch, end).peekable();
                if onward.peek().is_some() && onward.all(|of| Some(of) != by_table) {
                    return Err(LongerPath { switch, to });
                }
            }
        }
        self.hops = Some(Arc::new(hops));
        Ok(self)
    }

    pub(crate) fn adaptive_hops(&self) -> Option<&ShortestHops> {
        self.hops.as_deref()
    }

    /// Returns whether routing is adaptive.
    pub fn are_adaptive(&self) -> bool {
        self.hops.is_some()
    }

    /// Returns the possible next channels in port order; the flag marks the channel of the table
    /// entry. Without adaptive routing, only that channel is possible.
    pub fn onward<'a>(
        &'a self,
        fabric: &'a Fabric,
        switch: NodeId,
        to: EndpointId,
    ) -> impl Iterator<Item = (ChannelId, bool)> + 'a {
        let by_table = self.port(switch, to).and_then(|port| fabric.outgoing(switch, port));
        let end = fabric.target(fabric.endpoint_channel(to)).node;
        let hops = self.hops.as_deref().filter(|_| switch != end);
        let others = hops.into_iter().flat_map(move |hops| hops.onward(fabric, switch, end));
        let alone = by_table.filter(|_| hops.is_none());
        alone.into_iter().chain(others).map(move |channel| (channel, Some(channel) == by_table))
    }

    /// Returns the output port for packets to `to`; `None` without an entry.
    pub fn port(&self, switch: NodeId, to: EndpointId) -> Option<u16> {
        let port = self.ports.at(self.key(switch, to));
        (port != NO_PORT).then_some(port)
    }

    /// Returns the number of switches visited from `switch` on, in time proportional to the path
    /// length; `None` if the packet does not arrive.
    pub fn switches_to(&self, fabric: &Fabric, switch: NodeId, to: EndpointId) -> Option<usize> {
        let mut node = switch;
        // A path with more hops than there are switches contains a loop.
        for switches in 1..=self.switch_count {
            let target = fabric.target(fabric.outgoing(node, self.port(node, to)?)?);
            if !fabric.node(target.node).is_switch() {
                return (target == fabric.endpoint(to)).then_some(switches);
            }
            node = target.node;
        }
        None
    }

    /// Sets or removes an entry; port 0 removes it.
    pub fn set_port(&mut self, switch: NodeId, to: EndpointId, port: Option<u16>) {
        self.ports.set(self.key(switch, to), port.unwrap_or(NO_PORT));
    }

    /// Returns the output port of each switch; 0 for a missing entry.
    pub(crate) fn column(&self, to: EndpointId) -> PortSlice<'_> {
        let first = to.index() * self.switch_count;
        self.ports.slice(first..first + self.switch_count)
    }

    fn key(&self, switch: NodeId, to: EndpointId) -> usize {
        assert!(switch.index() < self.switch_count, "only switches have tables");
        to.index() * self.switch_count + switch.index()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkEnd {
    Arrived,
    NoEntry(NodeId),
    Uncabled(PortRef),
    WrongEndpoint(EndpointId),
    Loop,
}

#[derive(Debug)]
pub(crate) struct Walker {
    channels: Vec<ChannelId>,
    seen: Vec<u64>,
    walk: u64,
}

impl Walker {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self { channels: Vec::new(), seen: vec![0; fabric.switches().len()], walk: 0 }
    }

    pub(crate) fn follow(
        &mut self,
        fabric: &Fabric,
        routes: &SourceRoutes,
        source: NodeId,
        to: EndpointId,
    ) -> (&[ChannelId], WalkEnd) {
        self.channels.clear();
        let onward = routes.path(fabric, source, to);
        self.channels.extend(onward.iter().flat_map(|onward| onward.iter()));
        (&self.channels, onward.map_or(WalkEnd::NoEntry(source), |_| WalkEnd::Arrived))
    }

    /// Returns the channels from `source` on; the channel that closes a loop is listed twice.
    pub(crate) fn walk(
        &mut self,
        fabric: &Fabric,
        tables: &TableRoutes,
        source: NodeId,
        to: EndpointId,
    ) -> (&[ChannelId], WalkEnd) {
        self.walk += 1;
        self.channels.clear();
        let mut switch = source;
        let end = loop {
            let been_here = self.seen[switch.index()] == self.walk;
            self.seen[switch.index()] = self.walk;
            let Some(port) = tables.port(switch, to) else { break WalkEnd::NoEntry(switch) };
            let Some(channel) = fabric.outgoing(switch, port) else {
                break WalkEnd::Uncabled(PortRef { node: switch, port });
            };
            self.channels.push(channel);
            if been_here {
                break WalkEnd::Loop;
            }
            let peer_end = fabric.target(channel);
            if peer_end.node.index() < self.seen.len() {
                switch = peer_end.node;
                continue;
            }
            let endpoint = fabric.endpoint_at(peer_end).expect("a cabled port of no switch");
            break if endpoint == to { WalkEnd::Arrived } else { WalkEnd::WrongEndpoint(endpoint) };
        };
        (&self.channels, end)
    }
}
