//! Remaining channels of waiting packets.

use super::Waiter;
use crate::{FlowKey, PathId, Plan};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct PathCache<'a> {
    plan: &'a Plan,
    paths: BTreeMap<(FlowKey, PathId), Vec<ChannelId>>,
}

impl<'a> PathCache<'a> {
    pub(super) const fn new(plan: &'a Plan) -> Self {
        Self { plan, paths: BTreeMap::new() }
    }

    /// Returns whether a packet has yet to traverse a channel on its path or, before its path is
    /// chosen, on any possible path.
    pub(super) fn goes_over(&mut self, waiter: &Waiter, channel: ChannelId) -> bool {
        let plan = self.plan;
        let undecided = plan.routing.path_ids().filter(|_| waiter.path_id.is_none());
        waiter.path_id.into_iter().chain(undecided).any(|path_id| {
            let FlowKey { source, destination, .. } = waiter.flow;
            let path = self
                .paths
                .entry((waiter.flow, path_id))
                .or_insert_with(|| path_of(plan, path_id, source, destination));
            // A direct path contains a channel at most once.
            let behind = |at: ChannelId| path.iter().position(|passed| *passed == at);
            let passed = waiter.at.and_then(|at| behind(at.channel)).map_or(0, |place| place + 1);
            path[passed..].contains(&channel)
        })
    }
}

/// Returns the path of a packet; for a packet diverted to port 0 of a switch, only the channel to
/// that port.
fn path_of(
    plan: &Plan,
    path: PathId,
    source: EndpointId,
    destination: EndpointId,
) -> Vec<ChannelId> {
    if plan.fabric.is_port_0(destination) {
        return vec![Fabric::reverse(plan.fabric.endpoint_channel(destination))];
    }
    plan.path(path, source, destination).unwrap_or_default()
}
