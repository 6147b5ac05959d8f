//! Table routes: at every switch, one output port per destination (an InfiniBand linear
//! forwarding table, LFT, with endpoints in place of LIDs).
//!
//! ```text
//!   s0: h0 -> port 1, h1 -> port 2, h2 -> port 7, ...
//! ```
//!
//! A table knows where a packet goes and not where it comes from. A table need not be right:
//! one that was read from a running fabric may lead in a loop or nowhere, so following it
//! ends in one of several ways ([`WalkEnd`]).

use super::ports::{PortSlice, Ports};
use super::shortest_hops::ShortestHops;
use super::source_routes::SourceRoutes;
use super::switch_of;
use crate::{ChannelId, EndpointId, Fabric, NodeId, PortRef};
use std::sync::Arc;

/// No entry. Port 0 is a switch's own and no way to an endpoint.
const NO_PORT: u16 = 0;

/// One output port per switch and destination endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableRoutes {
    switch_count: usize,
    /// By destination, then by switch.
    ports: Ports,
    /// Where packets choose anew at every switch: the hops that are left.
    hops: Option<Arc<ShortestHops>>,
}

/// A switch and a destination between which tables lead by no shortest way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongerWay {
    /// Where the way begins.
    pub switch: NodeId,
    /// Where it leads.
    pub to: EndpointId,
}

impl LongerWay {
    /// Why packets cannot choose beside such tables, and the cure.
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
    /// Tables without entries.
    pub fn new(fabric: &Fabric) -> Self {
        let switch_count = fabric.switches().len();
        let ports = Ports::zeros(switch_count * fabric.endpoints().len());
        Self { switch_count, ports, hops: None }
    }

    /// The same tables, beside which a packet may take any channel on a shortest way.
    ///
    /// # Errors
    /// A switch with a destination to which cables lead, and the tables by no shortest way.
    pub fn made_adaptive(mut self, fabric: &Fabric) -> Result<Self, LongerWay> {
        let hops = ShortestHops::new(fabric);
        for to in fabric.endpoint_ids() {
            let Some(end) = switch_of(fabric, to) else { continue };
            for switch in fabric.switches() {
                let told = self.port(switch, to).and_then(|port| fabric.outgoing(switch, port));
                let mut onward = hops.onward(fabric, switch, end).peekable();
                if onward.peek().is_some() && onward.all(|of| Some(of) != told) {
                    return Err(LongerWay { switch, to });
                }
            }
        }
        self.hops = Some(Arc::new(hops));
        Ok(self)
    }

    /// Hops that are left, where packets choose anew at every switch.
    pub(crate) fn adaptive_hops(&self) -> Option<&ShortestHops> {
        self.hops.as_deref()
    }

    /// Whether packets choose anew at every switch.
    pub fn are_adaptive(&self) -> bool {
        self.hops.is_some()
    }

    /// Every channel by which a packet for `to` may leave a switch, in the order of ports, each with
    /// whether it is that of the tables: that one alone, unless packets choose.
    pub fn onward<'a>(
        &'a self,
        fabric: &'a Fabric,
        switch: NodeId,
        to: EndpointId,
    ) -> impl Iterator<Item = (ChannelId, bool)> + 'a {
        let told = self.port(switch, to).and_then(|port| fabric.outgoing(switch, port));
        let end = fabric.target(fabric.endpoint_channel(to)).node;
        let hops = self.hops.as_deref().filter(|_| switch != end);
        let others = hops.into_iter().flat_map(move |hops| hops.onward(fabric, switch, end));
        let alone = told.filter(|_| hops.is_none());
        alone.into_iter().chain(others).map(move |channel| (channel, Some(channel) == told))
    }

    /// The port by which `switch` forwards packets for `to`, if it has an entry.
    pub fn port(&self, switch: NodeId, to: EndpointId) -> Option<u16> {
        let port = self.ports.at(self.key(switch, to));
        (port != NO_PORT).then_some(port)
    }

    /// How many switches a packet for `to` comes through from `switch` on, that one among them;
    /// `None` where the tables do not lead there. Takes no memory, and time as the way is long.
    pub fn switches_to(&self, fabric: &Fabric, switch: NodeId, to: EndpointId) -> Option<usize> {
        let mut node = switch;
        // A way through more switches than there are is a loop.
        for switches in 1..=self.switch_count {
            let target = fabric.target(fabric.outgoing(node, self.port(node, to)?)?);
            if !fabric.node(target.node).is_switch() {
                return (target == fabric.endpoint(to)).then_some(switches);
            }
            node = target.node;
        }
        None
    }

    /// Writes or removes an entry. Port 0 is no way to an endpoint and counts as none.
    pub fn set_port(&mut self, switch: NodeId, to: EndpointId, port: Option<u16>) {
        self.ports.set(self.key(switch, to), port.unwrap_or(NO_PORT));
    }

    /// The ports by switch toward `to`, 0 where there is no entry.
    pub(crate) fn column(&self, to: EndpointId) -> PortSlice<'_> {
        let first = to.index() * self.switch_count;
        self.ports.slice(first..first + self.switch_count)
    }

    fn key(&self, switch: NodeId, to: EndpointId) -> usize {
        assert!(switch.index() < self.switch_count, "only switches have tables");
        to.index() * self.switch_count + switch.index()
    }
}

/// How following a route ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkEnd {
    /// At the destination.
    Arrived,
    /// The switch has no entry.
    NoEntry(NodeId),
    /// The entry names a port without a cable.
    Uncabled(PortRef),
    /// The entry leads into another endpoint.
    WrongEndpoint(EndpointId),
    /// The path came back to a switch; its last channel is one that it took before.
    Loop,
}

/// Follows routes, and remembers which switches the present walk has seen.
#[derive(Debug)]
pub(crate) struct Walker {
    channels: Vec<ChannelId>,
    /// The last walk that came through each switch.
    seen: Vec<u64>,
    walk: u64,
}

impl Walker {
    /// A walker for one fabric.
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self { channels: Vec::new(), seen: vec![0; fabric.switches().len()], walk: 0 }
    }

    /// The channels of a source route, and whether there is one.
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

    /// The channels from `source` on, and how they end. Where they end in a loop, the channel
    /// that closes it stands in the list twice.
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
            let far_end = fabric.target(channel);
            if far_end.node.index() < self.seen.len() {
                switch = far_end.node;
                continue;
            }
            let endpoint = fabric.endpoint_at(far_end).expect("a cabled port of no switch");
            break if endpoint == to { WalkEnd::Arrived } else { WalkEnd::WrongEndpoint(endpoint) };
        };
        (&self.channels, end)
    }
}
