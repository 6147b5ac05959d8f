//! Dependencies at in-transit hosts with limited memory.
//!
//! ```text
//!   s0 ──► s1 ──► h1 ──► s1 ──► s2       h1 ejects a packet and re-injects it
//!
//!   always:      no dependency at h1                    h1 accepts every packet
//!   until full:  s1 -> h1 depends on h1 -> s1           h1 may have to send a packet first
//! ```
//!
//! While its packet pool is full, a host leaves all packets, in transit or not, in the channel into
//! it. These packets wait until the host has re-injected pooled packets on its own channel; packets
//! that the host is sending wait for the next channel. All packets in transit share the pool, so a
//! packet that waits for space waits for every lane that pooled packets may take.

use crate::routing::lanes::route_set::{Buffers, Ejection, LanedWalk, RouteSet};
use crate::routing::lanes::set::LaneSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::{EndpointId, Fabric};

#[derive(Debug)]
pub(super) struct BackpressuredHosts {
    leaving: Vec<LaneSet>,
    any: bool,
}

impl BackpressuredHosts {
    /// Finds the hosts that may be full; none if in-transit hosts always eject packets.
    pub(crate) fn new(fabric: &Fabric, graph: &SwitchGraph, routes: RouteSet<'_>) -> Self {
        let mut leaving = vec![LaneSet::EMPTY; graph.endpoint_count()];
        if routes.ejection == Ejection::UntilFull {
            routes.walk_all(fabric, graph, |laned| {
                for (held, wanted) in laned.turns() {
                    if let Some(host) = fabric.endpoint_at(fabric.target(held.channel)) {
                        leaving[host.index()] = leaving[host.index()] | wanted.lanes;
                    }
                }
            });
        }
        let any = leaving.iter().any(|lanes| !lanes.is_empty());
        Self { leaving, any }
    }

    pub(super) fn any(&self) -> bool {
        self.any
    }

    pub(super) fn may_stop(&self, endpoint: EndpointId) -> bool {
        !self.leaving[endpoint.index()].is_empty()
    }

    /// Visits pairs of consecutive buffers with their sender, including the channels of senders
    /// that may be full.
    pub(crate) fn turns(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        routes: RouteSet<'_>,
        laned: &LanedWalk<'_>,
        mut visit: impl FnMut(EndpointId, Buffers, Buffers),
    ) {
        if self.any
            && let Some(first) = laned.buffers().next()
        {
            for sender in laned.walk.senders(graph).filter(|sender| self.may_stop(*sender)) {
                // Senders with other VC classes only add dependencies.
                let decided = routes.lanes.map(|lanes| lanes.first(sender, laned.vc_class));
                let channel = fabric.endpoint_channel(sender);
                let own = Buffers { channel, lanes: decided.unwrap_or(LaneSet::one(0)) };
                if !own.lanes.is_empty() {
                    visit(sender, own, first);
                }
            }
        }
        for (held, wanted) in laned.turns() {
            let host = self.any.then(|| fabric.endpoint_at(fabric.target(held.channel))).flatten();
            let leaving = host.map_or(LaneSet::EMPTY, |host| self.leaving[host.index()]);
            visit(laned.sender, held, Buffers { lanes: wanted.lanes | leaving, ..wanted });
        }
    }
}
