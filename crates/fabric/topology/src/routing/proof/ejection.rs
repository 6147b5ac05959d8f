//! Dependencies at in-transit hosts with limited memory.
//!
//! ```text
//!   s0 ──► s1 ──► h1 ──► s1 ──► s2       h1 ejects a packet and re-injects it
//!
//!   always:      s0 -> s1 ends its wait at h1           two legs, nothing between them
//!   until full:  s1 -> h1 waits for h1 -> s1            no space until the host has sent on
//! ```
//!
//! A host with sufficient memory can eject every packet, so dependencies end there. A host that
//! stops its input when its pool is full leaves packets in the channel into it: the one in transit,
//! and behind it packets for the host itself. They move when the host has re-injected packets of
//! its pool, so they wait for its own channel; and any packet that the host has begun to send,
//! including its own, waits for the next channel. All packets in transit share the pool of a host,
//! whatever their lanes: a packet that waits for space there waits for any of them, and thus for
//! every lane they leave on. At hosts without routes in transit dependencies end in either case.

use crate::routing::lanes::route_set::{Buffers, Ejection, LanedWalk, RouteSet};
use crate::routing::lanes::set::LaneSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::{EndpointId, Fabric};

/// Hosts that may leave packets in the channel into them.
#[derive(Debug)]
pub(super) struct BackpressuredHosts {
    /// By endpoint: output lanes of packets in transit; empty without such packets.
    leaving: Vec<LaneSet>,
    /// Whether any host may leave packets in the channel into it.
    any: bool,
}

impl BackpressuredHosts {
    /// Collects the in-transit hosts of all routes, if these eject only until they are full.
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

    /// Returns whether packets may have to wait at the end of the channel into an endpoint.
    pub(super) fn may_stop(&self, endpoint: EndpointId) -> bool {
        !self.leaving[endpoint.index()].is_empty()
    }

    /// Visits the consecutive buffers of a walk, each time with an endpoint that sends along it;
    /// including the own channels of senders that may stop others.
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
                // Includes senders of other VC classes, which can only add dependencies.
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
