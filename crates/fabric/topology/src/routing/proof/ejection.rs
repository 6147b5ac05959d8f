//! Ejection at in-transit hosts: what waits for what where a host does not always have room.
//!
//! ```text
//!   s0 ──► s1 ──► h1 ──► s1 ──► s2       h1 takes a packet in and sends it on
//!
//!   always:      s0 -> s1 ends its wait at h1           two legs, nothing between them
//!   until full:  s1 -> h1 waits for h1 -> s1            no room before the host has sent on
//! ```
//!
//! A host with memory to spare can take every packet in, so dependencies end there. One that stops
//! its input when its pool is full leaves packets in the channel into it: the one in transit, and
//! behind it those that are for the host itself. They go on when the host has sent on what is in
//! its pool, so its own channel is what they wait for; and whatever the host has begun to send,
//! packets of its own among them, waits for the next channel. All packets in transit share the pool
//! of a host, on whatever lanes they go: who waits for room there waits for any of them, so for
//! every lane on which one leaves. At hosts where no route is in transit dependencies end in either
//! case.

use crate::routing::lanes::route_set::{Buffers, Ejection, LanedWalk, RouteSet};
use crate::routing::lanes::set::LaneSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::{EndpointId, Fabric};

/// The hosts that may leave packets in the channel into them.
#[derive(Debug)]
pub(super) struct BackpressuredHosts {
    /// By endpoint: the lanes on which packets in transit leave it; none where nothing is in
    /// transit.
    leaving: Vec<LaneSet>,
    /// Whether there is any.
    any: bool,
}

impl BackpressuredHosts {
    /// The hosts at which any route is in transit, if they take in until they are full.
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

    /// Whether there is any such host.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Whether packets may have to wait at the end of the channel into an endpoint.
    pub(super) fn may_stop(&self, endpoint: EndpointId) -> bool {
        !self.leaving[endpoint.index()].is_empty()
    }

    /// The buffers that follow each other on a walk, each time with an endpoint that sends along
    /// it; among them the own channels of senders that may stop others.
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
                // Senders of other VC classes are counted in: that may only add dependencies.
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
